/*
 * keep.c
 *	  Changing the gram of a task by the rows that came and went, as long as the
 *	  result is that of a recount.
 *
 * What leaves takes digits along.  So beside a gram stand the largest values
 * that its sums have had since it was counted, the peaks: once a sum is much
 * smaller than its peak, it has lost too many, and the answer is NULL: count
 * anew.  Rows that come only make sums of squares larger, so the peaks need
 * to be looked after only when some leave.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "core/dd/dd.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"

PG_FUNCTION_INFO_V1(wml_gram_change);
PG_FUNCTION_INFO_V1(wml_gram_peaks);
PG_FUNCTION_INFO_V1(wml_usable);
PG_FUNCTION_INFO_V1(wml_constant_features);

/* As for moving windows, see core/gram/gram_retract.c. */
#define DIGITS_LIMIT 0x1p-10

/* A variance below this fraction of the mean square is what rounding leaves of none. */
#define NO_VARIANCE 0x1p-90

#define SCALARS 4

static int
peak_count(int dims)
{
	return SCALARS + dims + 1;
}

/* The sums that are watched, in the order of the peaks. */
static WmlcDd
watched(const WmlcGram *gram, int i)
{
	switch (i)
	{
		case 0:
			return gram->weight;
		case 1:
			return gram->weight_squares;
		case 2:
			return gram->q;
		case 3:
			return gram->h;
		default:
			return wmlc_gram_sum(gram, i - SCALARS, i - SCALARS);
	}
}

/* a + b, either of which may be missing; NULL when both are. */
static WmlGram *
sum_of(const WmlcGram *a, const WmlcGram *b)
{
	WmlGram    *result;

	if (a == NULL && b == NULL)
		return NULL;
	if (a != NULL && b != NULL && a->dims != 0 && b->dims != 0)
		wml_gram_check_same_dims(a, b);
	result = wml_gram_create(Max(a != NULL ? a->dims : 0, b != NULL ? b->dims : 0));
	if (a != NULL)
		wml_check(wmlc_gram_merge(&result->body, a));
	if (b != NULL)
		wml_check(wmlc_gram_merge(&result->body, b));
	return result;
}

/*
 * The peaks so far, raised by what the sums are before rows leave.  Peaks of
 * another length than this gram's are of no use.
 */
static double *
raised_peaks(ArrayType *old, const WmlcGram *before)
{
	int			count = peak_count(before->dims);
	double	   *peaks = (double *) palloc(count * sizeof(double));
	bool		usable = old != NULL && ARR_NDIM(old) == 1 && ARR_DIMS(old)[0] == count &&
		!array_contains_nulls(old);

	for (int i = 0; i < count; i++)
	{
		double		peak = usable ? ((double *) ARR_DATA_PTR(old))[i] : 0.0;
		double		now = watched(before, i).hi;

		peaks[i] = now <= peak ? peak : now;
	}
	return peaks;
}

/*
 * Nothing is left of a sum.  That is certain where it counted: what small
 * fractions there had been beside whole numbers would show in the low part.
 */
static bool
vanished_exactly(WmlcDd before, WmlcDd removed)
{
	return before.hi == removed.hi && before.lo == 0.0 && removed.lo == 0.0 &&
		before.hi < 0x1p53 && before.hi == floor(before.hi);
}

static bool
has_digits(const WmlcGram *before, const WmlcGram *removed, const WmlcGram *after,
		   const double *peaks)
{
	for (int i = 0; i < peak_count(before->dims); i++)
	{
		double		value = watched(after, i).hi;

		if (isfinite(value) && value >= DIGITS_LIMIT * peaks[i])
			continue;
		if (value != 0.0 || !vanished_exactly(watched(before, i), watched(removed, i)))
			return false;
	}
	return true;
}

#define GETARG_GRAM_OR_NULL(n) (PG_ARGISNULL(n) ? NULL : PG_GETARG_GRAM(n))

/*
 * wml_gram_change(gram, peaks, added, removed): the gram of the rows of gram
 * and added without those of removed; NULL when that cannot be told without
 * a recount.
 */
Datum
wml_gram_change(PG_FUNCTION_ARGS)
{
	const WmlcGram *removed = GETARG_GRAM_OR_NULL(3);
	WmlGram    *before = sum_of(GETARG_GRAM_OR_NULL(0), GETARG_GRAM_OR_NULL(2));
	WmlGram    *after;

	if (before == NULL)
		PG_RETURN_NULL();
	if (removed == NULL)
		PG_RETURN_GRAM(before);
	if (removed->dims != 0 && removed->dims != before->body.dims)
		PG_RETURN_NULL();
	after = sum_of(&before->body, NULL);
	if (wmlc_gram_subtract(&after->body, removed) != WMLC_OK)
		PG_RETURN_NULL();
	if (after->body.dims != 0 && removed->dims != 0 &&
		!has_digits(&before->body, removed, &after->body,
					raised_peaks(PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), &before->body)))
		PG_RETURN_NULL();
	SET_VARSIZE(after, wml_gram_size(after->body.dims));
	PG_RETURN_GRAM(after);
}

/* wml_gram_peaks(gram, peaks, added, removed): the peaks after that change. */
Datum
wml_gram_peaks(PG_FUNCTION_ARGS)
{
	WmlGram    *before;
	double	   *peaks;
	ArrayType  *result;
	double	   *out;

	if (PG_ARGISNULL(3))
	{
		if (PG_ARGISNULL(1))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	}
	before = sum_of(GETARG_GRAM_OR_NULL(0), GETARG_GRAM_OR_NULL(2));
	if (before == NULL || before->body.dims == 0)
		PG_RETURN_NULL();
	peaks = raised_peaks(PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), &before->body);
	result = wml_array_new_vector(peak_count(before->body.dims), &out);
	memcpy(out, peaks, peak_count(before->body.dims) * sizeof(double));
	PG_RETURN_ARRAYTYPE_P(result);
}

/* wml_usable(gram): can a model be fitted to it?  It has rows, and no NaN or infinity. */
Datum
wml_usable(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);

	PG_RETURN_BOOL(wmlc_gram_weighted_rows(gram) > 0 && wmlc_gram_is_finite(gram));
}

/*
 * wml_constant_features(gram): the places of the features that do not vary, as
 * far as all the digits of the gram can tell.  The first one is the constant.
 */
Datum
wml_constant_features(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	Datum	   *places = (Datum *) palloc(Max(gram->dims, 1) * sizeof(Datum));
	int			count = 0;

	for (int i = 0; i < gram->dims; i++)
	{
		WmlcDd		mean = wmlc_gram_moment(gram, i, 0);
		WmlcDd		square = wmlc_gram_moment(gram, i, i);

		if (wmlc_dd_sub(square, wmlc_dd_mul(mean, mean)).hi <= NO_VARIANCE * square.hi)
			places[count++] = Int32GetDatum(i + 1);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(places, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}
