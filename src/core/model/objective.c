/*
 * objective.c
 *	  Adding up the meta-objectives of tasks.
 *
 * Every objective is joint training with a polynomial in front of each task's
 * gradient, P(T) (A w - b), T = I - eta A.  How P(T) (A, b) is computed depends
 * on `reach`, a bound on eta times the largest eigenvalue of A, and on the
 * degree of P:
 *
 * joint training	eta = 0 or degree 0: P is a number.
 *
 * correction		degree * reach <= 1/2 and many features, well conditioned: P
 *					is a small change of a constant.  The constant part is exact in
 *					double-double, the change a few products by BLAS in double.
 *
 * products			P is moderate: products of double-double matrices, powers by
 *					squaring.
 *
 * equations		P spans many orders of magnitude.  With raw features (say, a price around 1000) and
 *					the usual eta, reach is 100 and MAML with 5 steps multiplies some
 *					directions by 1e20 and others by 1: no sum of matrices, in 32
 *					digits, still knows the latter.  But w itself is not sensitive.
 *					So split the task into its eigenvectors, each an equation for
 *					w, apply P to each by itself, and collect equations (see
 *					spectral.h and equations.h).
 *
 * Where some P(T) is negative (first-order MAML with odd k and reach > 1, Reptile
 * with even k and reach > 2) the stationary point may be a saddle and no
 * least-squares solution; equations then come in two sets, by sign.
 */
#include "core/model/objective.h"

#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "core/linalg/spectral.h"
#include "core/gram/task.h"
#include "core/model/adapt.h"

/* Up to this many features precision comes before everything else. */
#define SMALL_DIMS 32

/*
 * The error of the correction is some 2^-50 of sqrt(A_ii A_jj) in entry (i, j), as
 * Cauchy and Schwarz bound the entries of a product of grams, whatever the
 * units of the features.  It is harmless if, in the sum of all tasks so far, every
 * column keeps this share of its squared length beside the others: w then
 * changes by some 1e-11.  Otherwise it could pass for information where there is
 * none.
 */
#define WELL_CONDITIONED 0x1p-10
#define CORRECTION_REACH 0.5
#define CORRECTION_DEGREE 16.0

/* See products_suffice. */
#define GROWTH_BITS 20.0
#define SHRINKING_REACH 0.5
#define SHRINKING_EXPONENT 10.0

static const char *const objective_words[] = {
	[WMLC_ERM] = "erm",
	[WMLC_MAML] = "maml",
	[WMLC_FOMAML] = "fomaml",
	[WMLC_REPTILE] = "reptile"
};

const WmlcWords wmlc_objective_words = WMLC_WORDS(objective_words);

static const char *const scale_words[] = {
	[WMLC_SCALE_MEAN] = "mean",
	[WMLC_SCALE_SUM] = "sum"
};

const WmlcWords wmlc_scale_words = WMLC_WORDS(scale_words);

typedef struct Addition
{
	const WmlcObjective *objective;
	const WmlcObjectiveSum *sum;
	WmlcTask	task;
	WmlcDd		share;			/* A = share * sum psi psi' */
	WmlcDd		rate;			/* eta * share */
	WmlcDd		weight;			/* alpha * share, in units of the sum */
	double		rows;
	double		reach;
	double	   *space;			/* behind the task in the workspace */
	WmlcPoll	poll;
} Addition;

size_t
wmlc_objective_doubles(WmlcObjectiveKind kind, int d)
{
	int			triangles = kind == WMLC_ERM ? 1 : kind == WMLC_MAML ? 3 : 4;

	return 7 + 2 * triangles * wmlc_triangle_size(d + 1) + (kind == WMLC_ERM ? 0 : 2 * d);
}

static WmlcDdSpan
take_triangle(double **space, int d)
{
	size_t		entries = wmlc_triangle_size(d + 1);
	WmlcDdSpan	triangle = {*space, *space + entries};

	*space += 2 * entries;
	return triangle;
}

void
wmlc_objective_attach(WmlcObjectiveSum *sum, WmlcObjectiveKind kind, int d, double *array)
{
	sum->d = d;
	sum->kind = kind;
	sum->alpha = array;
	sum->rows = array + 2;
	sum->indefinite = array + 3;
	sum->has_equations = array + 4;
	sum->unit = array + 5;
	array += 7;
	sum->sums = take_triangle(&array, d);
	sum->sets = kind == WMLC_ERM ? 0 : kind == WMLC_MAML ? 1 : 2;
	if (kind == WMLC_ERM)
		return;
	sum->plain = take_triangle(&array, d);
	sum->scale = array;
	sum->remainders = array + d;
	array += 2 * d;
	for (int set = 0; set < sum->sets; set++)
		sum->equations[set] = (WmlcEquations) {d, sum->scale, take_triangle(&array, d), 0};
}

static bool
is_flag(double value)
{
	return value == 0.0 || value == 1.0;
}

static bool
is_power_of_two(double value)
{
	int			exponent;

	return value > 0.0 && frexp(value, &exponent) == 0.5;
}

/* Without a branch for each entry: every addition of a task asks. */
static bool
is_zero(const double *array, size_t count)
{
	int			others = 0;

	for (size_t i = 0; i < count; i++)
		others |= array[i] != 0.0;
	return others == 0;
}

const char *
wmlc_objective_invalid(const WmlcObjectiveSum *sum)
{
	size_t		entries = wmlc_triangle_size(sum->d + 1);
	bool		has_equations = *sum->has_equations != 0.0;

	if (!(sum->alpha[0] >= 0.0) || !(*sum->rows >= 0.0) || !(sum->unit[0] >= 0.0))
		return "its weights or rows are negative";
	if (!is_flag(*sum->indefinite) || !is_flag(*sum->has_equations))
		return "a flag is neither 0 nor 1";
	if ((*sum->indefinite != 0.0 && sum->sets < 2) || (has_equations && sum->sets < 1))
		return "it has equations that its model cannot have";
	for (int i = 0; i < sum->d && sum->sets > 0; i++)
	{
		if (has_equations ? !is_power_of_two(sum->scale[i]) : sum->scale[i] != 0.0)
			return "the scale of its equations is out of range";
	}
	for (int set = 0; set < sum->sets && !has_equations; set++)
	{
		if (!is_zero(sum->equations[set].triangle.hi, 2 * entries))
			return "it has equations that it does not count";
	}
	return NULL;
}

size_t
wmlc_objective_workspace(WmlcObjectiveKind kind, int d)
{
	size_t		add = (wmlc_task_doubles(d) + 4 * wmlc_objective_matrix_doubles(d)) * sizeof(double)
		+ wmlc_spectral_workspace(d);
	size_t		fit = wmlc_objective_fit_workspace(kind, d);

	return kind != WMLC_ERM && add > fit ? add : fit;
}

/* The degree of P in T. */
static double
degree(const WmlcObjective *objective)
{
	double		k = objective->steps;

	switch (objective->kind)
	{
		case WMLC_MAML:
			return 2.0 * k;
		case WMLC_FOMAML:
			return k;
		case WMLC_REPTILE:
			return k - 1.0;
		case WMLC_ERM:
			break;
	}
	return 0.0;
}

/* P(1) */
static double
value_at_one(const WmlcObjective *objective)
{
	return objective->kind == WMLC_REPTILE ? objective->steps : 1.0;
}

/* Could P(T) have a negative eigenvalue? */
static bool
may_be_negative(const Addition *add)
{
	bool		odd = add->objective->steps % 2 != 0;

	return (add->objective->kind == WMLC_FOMAML && odd && add->reach > 1.0) ||
		(add->objective->kind == WMLC_REPTILE && !odd && add->reach > 2.0);
}

/*
 * Do products of matrices keep what P(T) makes of the small eigenvalues?  They
 * lose digits where it multiplies large ones by more than 2^20; and where it all
 * but cancels some direction, with eta times an eigenvalue close to 1 and an
 * exponent of 3 or more.  The latter is rare and, unless the task is alone, of no
 * consequence, so that with many features we do not pay for it.
 */
static bool
products_suffice(const Addition *add)
{
	double		exponent = degree(add->objective);
	bool		grows = exponent * log2(fmax(add->reach - 1.0, 1.0)) > GROWTH_BITS;
	bool		shrinks = exponent > 2.0 &&
		(add->reach > SHRINKING_REACH || exponent * add->reach > SHRINKING_EXPONENT);

	return !grows && (!shrinks || add->task.d > SMALL_DIMS);
}

/* triangle += factor * weight * (A, b) */
static void
add_gram(const Addition *add, const WmlcGram *gram, double factor, WmlcDdSpan triangle)
{
	int			entries = (int) wmlc_gram_entries(gram->dims);
	WmlcDdSpan	sums = {(double *) gram->sums, (double *) gram->sums + entries};

	wmlc_dd_vector_loops()->add_multiple(entries, wmlc_dd_mul_d(add->weight, factor), sums,
										   triangle);
}

/* sum += weight * the upper triangle of a matrix with a vector as column d */
static void
add_matrix(const Addition *add, WmlcDdSpan matrix)
{
	int			d = add->sum->d;

	for (int i = 0; i < d; i++)
		add->task.loops->add_multiple(d + 1 - i, add->weight,
										wmlc_dd_from(matrix, (size_t) i * add->task.stride + i),
										wmlc_dd_from(add->sum->sums,
													 wmlc_triangle_index(d + 1, i, i)));
}

/* The n-th matrix, rows as far apart as the task's, behind the task. */
static WmlcDdSpan
matrix_space(const Addition *add, int n)
{
	double	   *space = add->space + n * wmlc_objective_matrix_doubles(add->sum->d);

	return (WmlcDdSpan) {space, space + wmlc_objective_matrix_doubles(add->sum->d) / 2};
}

/* Does every column of the plain sum surely keep a fair share of itself? */
static bool
is_well_conditioned(const WmlcObjectiveSum *sum)
{
	for (int i = 0; i < sum->d; i++)
	{
		double		square = sum->plain.hi[wmlc_triangle_index(sum->d + 1, i, i)];

		if (!(sum->remainders[i] >= WELL_CONDITIONED * square))
			return false;
	}
	return true;
}

/*
 * What a column keeps of itself beside those before it, a Schur complement, is
 * in a sum of grams at least the sum of what it keeps in each.  Few tasks have to
 * be factored before those that follow can do without.
 */
static void
add_remainders(const Addition *add)
{
	int			d = add->task.d;
	int			stride = add->task.stride;
	double	   *factor = add->space;

	memcpy(factor, add->task.sums.hi, (size_t) d * stride * sizeof(double));
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', d, factor, stride) != 0)
		return;
	for (int i = 0; i < d; i++)
	{
		double		root = factor[(size_t) i * stride + i];

		add->sum->remainders[i] += add->weight.hi * root * root;
	}
}

static bool
correction_suffices(const Addition *add)
{
	double		exponent = degree(add->objective);

	if (add->sum->d <= SMALL_DIMS || exponent > CORRECTION_DEGREE ||
		exponent * add->reach > CORRECTION_REACH)
		return false;
	if (!is_well_conditioned(add->sum))
		add_remainders(add);
	return is_well_conditioned(add->sum);
}

/*
 * Add (P(T) - P(1)) (A, b), by Horner's rule: with P_0 = 1 and P_i+1 = T P_i (+ 1
 * for Reptile), the difference E_i = (P_i(T) - P_i(1)) (A, b) follows E_i+1 = E_i -
 * eta A (P_i(1) (A, b) + E_i).  It is small from the start, and so is its error.
 */
static WmlcStatus
add_correction(const Addition *add)
{
	const double *sums = add->task.sums.hi;
	int			d = add->task.d;
	int			stride = add->task.stride;
	int			entries = d * stride;
	int			last = (int) degree(add->objective);
	WmlcDdSpan	difference = matrix_space(add, 0);
	double	   *sum_and_difference = matrix_space(add, 1).hi;

	for (int i = 0; i < last; i++)
	{
		double		constant = add->objective->kind == WMLC_REPTILE ? i + 1.0 : 1.0;

		if (wmlc_interrupted(add->poll))
			return WMLC_INTERRUPTED;
		if (i > 0)
		{
			memcpy(sum_and_difference, difference.hi, entries * sizeof(double));
			cblas_daxpy(entries, constant, sums, 1, sum_and_difference, 1);
		}

		/* our rows are columns to BLAS, so the factors change places */
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, stride, d, d, -add->rate.hi,
					i == 0 ? sums : sum_and_difference, stride, sums, stride,
					i == 0 ? 0.0 : 1.0, difference.hi, stride);
	}
	memset(difference.lo, 0, entries * sizeof(double));
	add_matrix(add, difference);
	return WMLC_OK;
}

/*
 * The upper triangle of result = x y for symmetric matrices that commute, so
 * that the product is symmetric too; y may have a vector as column d.
 */
static WmlcStatus
multiply_upper(const Addition *add, WmlcDdSpan x, WmlcDdSpan y, WmlcDdSpan result)
{
	int			d = add->task.d;
	int			stride = add->task.stride;

	for (int i = 0; i < d; i++)
	{
		int			first = i / WMLC_DD_LANES * WMLC_DD_LANES;
		size_t		row = (size_t) i * stride;

		if (wmlc_interrupted(add->poll))
			return WMLC_INTERRUPTED;
		add->task.loops->combine(d, wmlc_dd_from(x, row), wmlc_dd_from(y, first), stride,
								   stride - first, wmlc_dd_from(result, row + first));
	}
	return WMLC_OK;
}

static WmlcStatus
multiply(const Addition *add, WmlcDdSpan x, WmlcDdSpan y, WmlcDdSpan result)
{
	WmlcStatus	status = multiply_upper(add, x, y, result);

	wmlc_mirror_upper(add->task.d, add->task.stride, result);
	return status;
}

static void
exchange(WmlcDdSpan *x, WmlcDdSpan *y)
{
	WmlcDdSpan	t = *x;

	*x = *y;
	*y = t;
}

/* matrix = I, or I - eta A when `rate` is not zero */
static void
set_identity_minus(const Addition *add, WmlcDd rate, WmlcDdSpan matrix)
{
	memset(matrix.hi, 0, wmlc_objective_matrix_doubles(add->task.d) * sizeof(double));
	for (int i = 0; i < add->task.d; i++)
	{
		WmlcDdSpan	row = wmlc_dd_from(matrix, (size_t) i * add->task.stride);

		add->task.loops->add_multiple(add->task.d, wmlc_dd_neg(rate),
										wmlc_task_row(&add->task, i), row);
		wmlc_dd_set(row, i, wmlc_dd_add_d(wmlc_dd_get(row, i), 1.0));
	}
}

static int
highest_bit(unsigned n)
{
	int			bit = 0;

	while (n >> bit > 1)
		bit++;
	return bit;
}

/*
 * *power = T^k and, unless `series` is NULL, *series = 1 + T + ... + T^(k-1), for k
 * >= 1, by doubling from the highest bit of k down.  The three spans may change
 * places.
 */
static WmlcStatus
inner_power(const Addition *add, WmlcDdSpan base, unsigned k, WmlcDdSpan *power,
			WmlcDdSpan *series, WmlcDdSpan *spare)
{
	int			entries = add->task.d * add->task.stride;
	WmlcStatus	status = WMLC_OK;

	memcpy(power->hi, base.hi, wmlc_objective_matrix_doubles(add->task.d) * sizeof(double));
	if (series != NULL)
		set_identity_minus(add, wmlc_dd(0.0), *series);
	for (int bit = highest_bit(k) - 1; bit >= 0 && status == WMLC_OK; bit--)
	{
		if (series != NULL)
		{
			status = multiply(add, *power, *series, *spare);
			add->task.loops->add_multiple(entries, wmlc_dd(1.0), *spare, *series);
		}
		if (status == WMLC_OK)
			status = multiply(add, *power, *power, *spare);
		exchange(power, spare);
		if ((k >> bit & 1) != 0 && status == WMLC_OK)
		{
			if (series != NULL)
				add->task.loops->add_multiple(entries, wmlc_dd(1.0), *power, *series);
			status = multiply(add, *power, base, *spare);
			exchange(power, spare);
		}
	}
	return status;
}

/* Add P(T) (A, b), all in double-double. */
static WmlcStatus
add_products(const Addition *add)
{
	bool		reptile = add->objective->kind == WMLC_REPTILE;
	WmlcDdSpan	base = matrix_space(add, 0);
	WmlcDdSpan	power = matrix_space(add, 1);
	WmlcDdSpan	spare = matrix_space(add, 2);
	WmlcDdSpan	series = matrix_space(add, 3);
	WmlcDdSpan	factor;
	WmlcStatus	status;

	set_identity_minus(add, add->rate, base);
	status = inner_power(add, base, add->objective->steps, &power, reptile ? &series : NULL,
						 &spare);
	factor = reptile ? series : power;
	if (status == WMLC_OK)
		status = multiply(add, factor, add->task.sums, spare);
	if (status == WMLC_OK && add->objective->kind == WMLC_MAML)
	{
		exchange(&spare, &base);
		status = multiply_upper(add, factor, base, spare);
	}
	if (status == WMLC_OK)
		add_matrix(add, spare);
	return status;
}

/* 1 + x + ... + x^(n-1), for n >= 1, by doubling as in inner_power */
static WmlcDd
power_series(WmlcDd x, unsigned n)
{
	WmlcDd		power = x;
	WmlcDd		sum = wmlc_dd(1.0);

	for (int bit = highest_bit(n) - 1; bit >= 0; bit--)
	{
		sum = wmlc_dd_add(sum, wmlc_dd_mul(power, sum));
		power = wmlc_dd_mul(power, power);
		if ((n >> bit & 1) != 0)
		{
			sum = wmlc_dd_add(sum, power);
			power = wmlc_dd_mul(power, x);
		}
	}
	return sum;
}

/* The square root of |P(t)|, and whether P(t) is negative. */
static WmlcDd
root_of_factor(const WmlcObjective *objective, WmlcDd t, bool *negative)
{
	unsigned	k = objective->steps;
	bool		below_zero = t.hi < 0.0;
	WmlcDd		absolute = below_zero ? wmlc_dd_neg(t) : t;
	WmlcDd		series;

	*negative = false;
	if (objective->kind == WMLC_MAML)
		return wmlc_dd_power(absolute, k);
	if (objective->kind == WMLC_FOMAML)
	{
		*negative = below_zero && k % 2 != 0;
		return k % 2 == 0 ? wmlc_dd_power(absolute, k / 2)
			: wmlc_dd_sqrt(wmlc_dd_power(absolute, k));
	}
	series = power_series(t, k);
	*negative = series.hi < 0.0;
	return wmlc_dd_sqrt(*negative ? wmlc_dd_neg(series) : series);
}

/* With the first equations the scale of their columns is settled. */
static void
begin_equations(const WmlcObjectiveSum *sum)
{
	if (*sum->has_equations != 0.0)
		return;
	for (int i = 0; i < sum->d; i++)
		sum->scale[i] = wmlc_equations_scale(sum->plain.hi[wmlc_triangle_index(sum->d + 1, i, i)]);
	*sum->has_equations = 1.0;
}

/* Add the eigenvectors of A as equations of weight P(1 - eta eigenvalue). */
static WmlcStatus
add_equations(const Addition *add)
{
	const WmlcTask *task = &add->task;
	const WmlcObjectiveSum *sum = add->sum;
	int			d = task->d;
	WmlcDd		root_of_weight = wmlc_dd_sqrt(add->weight);
	int			rank;
	WmlcStatus	status = wmlc_spectral_rows(d, task->stride, task->sums, add->rows, true, &rank,
											add->space, add->poll);

	begin_equations(sum);
	for (int i = 0; i < rank && status == WMLC_OK; i++)
	{
		WmlcDdSpan	row = wmlc_task_row(task, i);
		WmlcDd		square = wmlc_dd_loops()->dot(d, row, row);
		WmlcDd		t = wmlc_dd_sub(wmlc_dd(1.0), wmlc_dd_mul(add->rate, square));
		bool		negative;
		WmlcDd		root = root_of_factor(add->objective, t, &negative);
		WmlcDd		factor = wmlc_dd_mul(root_of_weight, root);

		for (int j = 0; j <= d; j++)
			wmlc_dd_set(row, j, wmlc_dd_mul(wmlc_dd_get(row, j), factor));
		status = wmlc_equations_add(&sum->equations[negative ? 1 : 0], row);
		if (negative)
			*sum->indefinite = 1.0;
	}
	return status;
}

static void
add_alpha(const WmlcObjectiveSum *sum, WmlcDd alpha)
{
	WmlcDd		total = wmlc_dd_add((WmlcDd) {sum->alpha[0], sum->alpha[1]}, alpha);

	sum->alpha[0] = total.hi;
	sum->alpha[1] = total.lo;
}

/*
 * A weight in units of the sum.  The first weight is the unit, but for a power
 * of two that keeps numbers as large as they are: so the sums of one task, or of
 * tasks whose rows all have the same weight, enter without another rounding,
 * which an ill-conditioned system would magnify.
 */
static WmlcDd
in_units(const WmlcObjectiveSum *sum, WmlcDd weight)
{
	if (weight.hi == 0.0)
		return weight;
	if (sum->unit[0] == 0.0)
	{
		int			exponent;

		sum->unit[0] = frexp(weight.hi, &exponent);
		sum->unit[1] = ldexp(weight.lo, -exponent);
	}
	return wmlc_dd_div(weight, (WmlcDd) {sum->unit[0], sum->unit[1]});
}

/* eta times the share of the rows' sums that A is. */
static WmlcStatus
step_rate(Addition *add, const WmlcGram *gram, void *work)
{
	double		stable;
	WmlcStatus	status;

	add->rate = wmlc_dd_mul_d(add->share, add->objective->eta);
	if (!(add->objective->share > 0.0) || degree(add->objective) <= 0.0)
		return WMLC_OK;
	status = wmlc_largest_stable_eta(gram, &stable, work);

	/* the largest step on means; that on sums is smaller as they are larger */
	add->rate = isfinite(stable)
		? wmlc_dd_div(wmlc_dd(add->objective->share * stable), gram->weight) : wmlc_dd(0.0);
	return status;
}

WmlcStatus
wmlc_objective_add(const WmlcObjectiveSum *sum, const WmlcObjective *objective,
				   const WmlcGram *gram, double alpha, void *work, WmlcPoll poll)
{
	Addition	add = {.objective = objective, .sum = sum, .poll = poll};
	double		exponent = degree(objective);
	double		factor = value_at_one(objective);
	WmlcStatus	status;

	if (gram->dims != sum->d)
		return WMLC_DIMENSION_MISMATCH;
	if (alpha == 0.0)
		return WMLC_OK;
	if (!wmlc_gram_has_means(gram))
		return WMLC_NOT_FINITE;

	add.share = objective->scale == WMLC_SCALE_SUM ? wmlc_dd(1.0)
		: wmlc_dd_div(wmlc_dd(1.0), gram->weight);
	add.weight = in_units(sum, objective->scale == WMLC_SCALE_SUM ? wmlc_dd(alpha)
						  : wmlc_dd_div(wmlc_dd(alpha), gram->weight));
	status = step_rate(&add, gram, work);
	if (status != WMLC_OK)
		return status;
	add.rows = (double) wmlc_gram_weighted_rows(gram);
	add_alpha(sum, wmlc_dd(alpha));
	*sum->rows += add.rows;

	if (sum->kind != WMLC_ERM)
		add_gram(&add, gram, 1.0, sum->plain);
	if (add.rate.hi == 0.0 || exponent <= 0.0)
	{
		add_gram(&add, gram, factor, sum->sums);
		return WMLC_OK;
	}

	wmlc_task_load(&add.task, gram, work);
	add.space = (double *) work + wmlc_task_doubles(sum->d);
	add.reach = add.rate.hi * wmlc_task_norm(&add.task);
	if (correction_suffices(&add))
	{
		add_gram(&add, gram, factor, sum->sums);
		return add_correction(&add);
	}
	if (!products_suffice(&add))
		return add_equations(&add);
	if (may_be_negative(&add))
		*sum->indefinite = 1.0;
	return add_products(&add);
}

WmlcStatus
wmlc_objective_merge(const WmlcObjectiveSum *sum, const WmlcObjectiveSum *other, double factor,
					 void *work, WmlcPoll poll)
{
	const WmlcDdVectorLoops *loops = wmlc_dd_vector_loops();
	int			entries = (int) wmlc_triangle_size(sum->d + 1);
	double	   *row = work;
	WmlcDd		weight;
	WmlcStatus	status = WMLC_OK;

	if (factor == 0.0)
		return WMLC_OK;
	weight = in_units(sum, wmlc_dd_mul_d((WmlcDd) {other->unit[0], other->unit[1]}, factor));
	add_alpha(sum, wmlc_dd_mul_d((WmlcDd) {other->alpha[0], other->alpha[1]}, factor));
	*sum->rows += *other->rows;
	*sum->indefinite = fmax(*sum->indefinite, *other->indefinite);
	loops->add_multiple(entries, weight, other->sums, sum->sums);
	if (sum->kind != WMLC_ERM)
	{
		loops->add_multiple(entries, weight, other->plain, sum->plain);
		cblas_daxpy(sum->d, weight.hi, other->remainders, 1, sum->remainders, 1);
	}
	if (*other->has_equations == 0.0)
		return WMLC_OK;
	begin_equations(sum);
	for (int set = 0; set < sum->sets && status == WMLC_OK; set++)
		status = wmlc_equations_merge(&sum->equations[set], &other->equations[set],
									  wmlc_dd_sqrt(weight),
									  (WmlcDdSpan) {row, row + sum->d + 1}, poll);
	return status;
}
