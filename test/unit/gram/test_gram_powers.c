/*
 * test_gram_powers.c
 *	  The fourth powers of rows, with and without special instructions, against
 *	  quadruple precision and where numbers are not finite.
 *
 * The file under test is included rather than linked, so that the processor's
 * better features can be hidden from it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "quad.h"

/* What the processor may show: nothing, AVX2, or AVX-512 as well. */
static int	sets_allowed;

__attribute__((unused))
static inline bool
feature_allowed(const char *feature)
{
	return sets_allowed > (strcmp(feature, "avx512f") == 0);
}

#define wmlc_gram_powers tested_powers
#define wmlc_gram_powers_plain tested_powers_plain
#define __builtin_cpu_supports(feature) \
	(__builtin_cpu_supports(feature) && feature_allowed(feature))
#include "core/gram/gram_powers.c"

#define MAX_DIMS 70
#define MAX_ROWS 13				/* with fours and with eights, some are left */

typedef struct Sample
{
	int			dims;
	int			count;
	double		z[MAX_ROWS * (MAX_DIMS + 1)];
	double		weights[MAX_ROWS];
} Sample;

static double *
row_of(Sample *sample, int r)
{
	return sample->z + r * (sample->dims + 1);
}

static Sample
random_sample(int dims, int count, double size, uint64_t *seed)
{
	Sample		sample = {.dims = dims,.count = count};

	for (int r = 0; r < count; r++)
	{
		sample.weights[r] = 3.0 * check_random(seed);
		for (int i = 0; i <= dims; i++)
			row_of(&sample, r)[i] = check_normal(seed) * size;
	}
	return sample;
}

/* Reads no further than it may: the rows are copied to memory that ends with them. */
static WmlcPowers
powers_of(const Sample *sample, bool weighted)
{
	size_t		bytes = (size_t) sample->count * (sample->dims + 1) * sizeof(double);
	double	   *rows = memcpy(malloc(bytes), sample->z, bytes);
	WmlcPowers	powers = tested_powers(sample->dims, sample->count, rows, sample->dims + 1,
									   weighted ? sample->weights : NULL);

	free(rows);
	return powers;
}

static void
test_against_quad(void)
{
	uint64_t	seed = 1;

	for (int dims = 1; dims <= MAX_DIMS; dims++)
	{
		for (int trial = 0; trial < 26; trial++)
		{
			bool		weighted = trial % 2 == 1;
			double		size = pow(10.0, (trial % 7 - 3) * 20);
			Sample		sample = random_sample(dims, 1 + trial % MAX_ROWS, size, &seed);
			WmlcPowers	powers = powers_of(&sample, weighted);
			Quad		q = 0,
						h = 0;
			double		max_norm = 0.0,
						max_response = 0.0;

			for (int r = 0; r < sample.count; r++)
			{
				Quad		weight = weighted ? sample.weights[r] : 1.0;
				Quad		norm = 0,
							square = (Quad) row_of(&sample, r)[dims] * row_of(&sample, r)[dims];

				for (int i = 0; i < dims; i++)
					norm += (Quad) row_of(&sample, r)[i] * row_of(&sample, r)[i];
				q += weight * (norm + square) * (norm + square);
				h += weight * square * norm;
				max_norm = fmax(max_norm, (double) norm);
				max_response = fmax(max_response, fabs(row_of(&sample, r)[dims]));
			}
			CHECK(wmlc_dd_value(powers.q) == (double) q, "%d features, trial %d", dims, trial);
			CHECK(wmlc_dd_value(powers.h) == (double) h, "%d features, trial %d", dims, trial);
			CHECK(powers.max_norm_square == max_norm, "%d features, trial %d", dims, trial);
			CHECK(powers.max_response == max_response, "%d features, trial %d", dims, trial);
		}
	}
}

/* One odd value among the rows: NaN and what overflows show in the sums, and in the bounds. */
static void
test_not_finite(void)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, 1e100, 1e200};
	uint64_t	seed = 2;

	for (int count = 1; count <= MAX_ROWS; count++)
	{
		for (int r = 0; r < count; r++)
		{
			for (int k = 0; k < 10; k++)
			{
				bool		in_response = k % 2 == 1;
				double		value = odd[k / 2];
				Sample		sample = random_sample(3, count, 1.0, &seed);
				WmlcPowers	powers;
				double		largest;

				row_of(&sample, r)[in_response ? 3 : 1] = value;
				powers = powers_of(&sample, false);
				largest = in_response ? powers.max_response : powers.max_norm_square;
				CHECK(isnan(value) ? isnan(powers.q.hi) : isinf(powers.q.hi),
					  "%g in row %d of %d: q is %g", value, r, count, powers.q.hi);
				CHECK(isfinite(in_response ? value : value * value) ? largest >= fabs(value)
					  : isinf(largest) && largest > 0.0,
					  "%g in row %d of %d: bound is %g", value, r, count, largest);
				CHECK(isfinite(in_response ? powers.max_norm_square : powers.max_response),
					  "%g in row %d of %d: other bound", value, r, count);
			}
		}
	}
}

int
main(void)
{
	for (sets_allowed = 0; sets_allowed < 3; sets_allowed++)
	{
		test_against_quad();
		test_not_finite();
	}
	return check_summary();
}
