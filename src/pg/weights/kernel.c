/*
 * kernel.c
 *	  Kernels, distances and embeddings of grams.
 */
#include "postgres.h"

#include <math.h>

#include "core/weights/embedding.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"

PG_FUNCTION_INFO_V1(wml_kernel);
PG_FUNCTION_INFO_V1(wml_distance);
PG_FUNCTION_INFO_V1(wml_gram_distance);
PG_FUNCTION_INFO_V1(wml_embedding);

/* A number of the two grams; squares of squares overflow before the grams do. */
static Datum
compare_pair(FunctionCallInfo fcinfo, double (*compare) (const WmlcGram *, const WmlcGram *, WmlcLoss), WmlcLoss loss)
{
	const WmlcGram *a = PG_GETARG_GRAM(0);
	const WmlcGram *b = PG_GETARG_GRAM(1);
	double		value;

	wml_gram_check_solvable(a, "first");
	wml_gram_check_solvable(b, "second");
	wml_gram_check_same_dims(a, b);
	value = compare(a, b, loss);
	if (!isfinite(value))
		wml_check(WMLC_NOT_FINITE);
	PG_RETURN_FLOAT8(value);
}

static WmlcLoss
get_loss(FunctionCallInfo fcinfo)
{
	return wml_arg_word(PG_GETARG_TEXT_PP(2), &wmlc_loss_words, "loss");
}

Datum
wml_kernel(PG_FUNCTION_ARGS)
{
	return compare_pair(fcinfo, wmlc_kernel, get_loss(fcinfo));
}

Datum
wml_distance(PG_FUNCTION_ARGS)
{
	return compare_pair(fcinfo, wmlc_distance, get_loss(fcinfo));
}

/* The operator <->, for square loss. */
Datum
wml_gram_distance(PG_FUNCTION_ARGS)
{
	return compare_pair(fcinfo, wmlc_distance, WMLC_SQUARE);
}

Datum
wml_embedding(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	WmlcLoss	loss = wml_arg_word(PG_GETARG_TEXT_PP(1), &wmlc_loss_words, "loss");
	ArrayType  *result;
	double	   *element;

	wml_gram_check_solvable(gram, "embedded");
	result = wml_array_new_vector((int) wmlc_embedding_dims(loss, gram->dims), &element);
	wmlc_embedding(gram, loss, element);
	PG_RETURN_ARRAYTYPE_P(result);
}
