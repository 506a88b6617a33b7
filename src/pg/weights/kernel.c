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

static void
check_pair(const WmlcGram *a, const WmlcGram *b)
{
	wml_gram_check_solvable(a, "first");
	wml_gram_check_solvable(b, "second");
	wml_gram_check_same_dims(a, b);
}

/* Squares of squares overflow before the gram does. */
static double
check_finite(double value)
{
	if (!isfinite(value))
		wml_check(WMLC_NOT_FINITE);
	return value;
}

Datum
wml_kernel(PG_FUNCTION_ARGS)
{
	const WmlcGram *a = PG_GETARG_GRAM(0);
	const WmlcGram *b = PG_GETARG_GRAM(1);

	check_pair(a, b);
	PG_RETURN_FLOAT8(check_finite(wmlc_kernel(a, b, wml_arg_word(PG_GETARG_TEXT_PP(2), &wmlc_loss_words, "loss"))));
}

Datum
wml_distance(PG_FUNCTION_ARGS)
{
	const WmlcGram *a = PG_GETARG_GRAM(0);
	const WmlcGram *b = PG_GETARG_GRAM(1);

	check_pair(a, b);
	PG_RETURN_FLOAT8(check_finite(wmlc_distance(a, b, wml_arg_word(PG_GETARG_TEXT_PP(2), &wmlc_loss_words, "loss"))));
}

/* The operator <->, for square loss. */
Datum
wml_gram_distance(PG_FUNCTION_ARGS)
{
	const WmlcGram *a = PG_GETARG_GRAM(0);
	const WmlcGram *b = PG_GETARG_GRAM(1);

	check_pair(a, b);
	PG_RETURN_FLOAT8(check_finite(wmlc_distance(a, b, WMLC_SQUARE)));
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
