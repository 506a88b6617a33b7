/*
 * test_gram_loops.c
 *	  The loops that add rows to double-double sums, on every instruction set
 *	  this machine has: against exact integer sums, against quadruple precision,
 *	  and against each other.
 *
 * The file under test is included rather than linked, so that the processor's
 * better features can be hidden from it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "quad.h"

static inline bool feature_allowed(const char *feature);

#define wmlc_gram_add_products tested_loops
#define wmlc_gram_add_products_plain tested_loops_plain
#define wmlc_gram_add_lanes tested_add_lanes
#define wmlc_gram_add_sums tested_add_sums
#define wmlc_gram_count_not_one tested_count_not_one
#define wmlc_gram_count_not_one_plain tested_count_not_one_plain
#define __builtin_cpu_supports(feature) \
	(__builtin_cpu_supports(feature) && feature_allowed(feature))
#include "core/gram/gram_loops.c"

#define MAX_P 70
#define GUARDS 16				/* values on either side that must not change */
#define GUARD 1.2345e67

static bool avx2_allowed;
static bool avx512_allowed;

static inline bool
feature_allowed(const char *feature)
{
	return strcmp(feature, "avx512f") == 0 ? avx512_allowed : avx2_allowed;
}

/* The instruction sets to test; the plain one everywhere. */
typedef enum InstructionSet
{
	PLAIN, AVX2, AVX512, SETS
} InstructionSet;

static const char *const set_name[SETS] = {"plain", "AVX2", "AVX-512"};

/* False when this machine does not have the set. */
static bool
use_set(InstructionSet set)
{
#ifdef WMLC_VECTORS
	avx2_allowed = avx512_allowed = true;
	if ((set >= AVX2 && !has_avx2()) || (set >= AVX512 && !has_avx512()))
		return false;
#else
	if (set > PLAIN)
		return false;
#endif
	avx2_allowed = set >= AVX2;
	avx512_allowed = set >= AVX512;
	return true;
}

/* Rows and their weights, as they are made up. */
typedef struct Rows
{
	int			p;
	int			count;
	int			stride;
	double	   *z;
	double	   *weights;
} Rows;

static Rows
new_rows(int p, int count)
{
	Rows		rows = {.p = p,.count = count,.stride = p + 1};

	rows.z = calloc(count * rows.stride, sizeof(double));
	rows.weights = malloc(count * sizeof(double));
	for (int r = 0; r < count; r++)
		rows.weights[r] = 1.0;
	return rows;
}

static void
free_rows(Rows *rows)
{
	free(rows->z);
	free(rows->weights);
}

/* The triangle as a gram keeps it: hi, then lo; and guards around both. */
typedef struct Sums
{
	size_t		entries;
	double	   *memory;
	double	   *hi;
	double	   *lo;
} Sums;

static Sums
new_sums(int p, int shift)
{
	Sums		sums = {.entries = wmlc_triangle_size(p)};
	size_t		size = 2 * (GUARDS + sums.entries) + shift;

	sums.memory = malloc(size * sizeof(double));
	for (size_t k = 0; k < size; k++)
		sums.memory[k] = GUARD;
	sums.hi = sums.memory + shift + GUARDS;
	sums.lo = sums.hi + sums.entries;
	memset(sums.hi, 0, 2 * sums.entries * sizeof(double));
	return sums;
}

static bool
guards_intact(const Sums *sums)
{
	for (int k = 0; k < GUARDS; k++)
	{
		if (sums->hi[-1 - k] != GUARD || sums->lo[sums->entries + k] != GUARD)
			return false;
	}
	return true;
}

/* Every entry is what the validator of a stored gram demands. */
static bool
normalised(const Sums *sums)
{
	for (size_t k = 0; k < sums->entries; k++)
	{
		double		hi = sums->hi[k];
		double		lo = sums->lo[k];

		if (isfinite(hi) ? hi + lo != hi : lo != 0.0)
			return false;
	}
	return true;
}

static double
figure(const Sums *sums, int p, int i, int j)
{
	size_t		k = wmlc_triangle_index(p, i, j);

	return wmlc_dd_value((WmlcDd) {sums->hi[k], sums->lo[k]});
}

static bool
all_ones(const double *weights, int count)
{
	for (int r = 0; r < count; r++)
	{
		if (weights[r] != 1.0)
			return false;
	}
	return true;
}

/*
 * Add the rows to fresh sums, at most `block` rows in a call: side by side, with
 * padding behind the last one, and nothing behind that.  `shift` moves rows and
 * sums away from any alignment.
 */
static Sums
add_rows(const Rows *rows, int block, int shift)
{
	Sums		sums = new_sums(rows->p, shift);

	for (int r = 0; r < rows->count; r += block)
	{
		int			count = rows->count - r < block ? rows->count - r : block;
		double	   *memory = calloc(shift + count * rows->p + WMLC_ROW_PADDING, sizeof(double));
		double	   *z = memory + shift;
		const double *weights = rows->weights + r;

		for (int k = 0; k < count; k++)
			memcpy(z + k * rows->p, rows->z + (r + k) * rows->stride, rows->p * sizeof(double));
		tested_loops(rows->p, count, z, rows->p, all_ones(weights, count) ? NULL : weights,
					  sums.hi, sums.lo);
		free(memory);
	}
	return sums;
}

static int64_t
random_integer(uint64_t *seed, int bits)
{
	return (int64_t) ((check_random(seed) * 2.0 - 1.0) * (double) (INT64_C(1) << bits));
}

/* Integers whose products need up to 94 bits: the sums must be exact. */
static void
test_integers(InstructionSet set)
{
	uint64_t	seed = 1;

	for (int p = 1; p <= MAX_P; p++)
	{
		/* eight sizes of a call for each p, over all p every size many times */
		for (int k = 0; k < 8; k++)
		{
			int			count = 1 + (p + k * WMLC_LOOP_ROWS / 8) % WMLC_LOOP_ROWS;
			bool		weighted = k % 2 == 0;
			Rows		rows = new_rows(p, 2 * count);
			Sums		sums;
			int			wrong = 0;

			for (int r = 0; r < rows.count; r++)
			{
				for (int i = 0; i < p; i++)
					rows.z[r * rows.stride + i] = random_integer(&seed, r % 2 == 0 ? 35 : 8);
				if (weighted)
					rows.weights[r] = random_integer(&seed, 23) + (1 << 23);
			}
			sums = add_rows(&rows, count, p % 4);
			for (int i = 0; i < p; i++)
			{
				for (int j = i; j < p; j++)
				{
					size_t		entry = wmlc_triangle_index(p, i, j);
					__int128	exact = 0;

					for (int r = 0; r < rows.count; r++)
						exact += (__int128) rows.weights[r] *
							(__int128) rows.z[r * rows.stride + i] *
							(__int128) rows.z[r * rows.stride + j];
					wrong += (__int128) sums.hi[entry] + (__int128) sums.lo[entry] != exact;
				}
			}
			CHECK(wrong == 0, "%s, p = %d, %d rows a call: %d sums are not exact",
				  set_name[set], p, count, wrong);
			CHECK(guards_intact(&sums), "%s, p = %d, %d rows a call", set_name[set], p, count);
			CHECK(normalised(&sums), "%s, p = %d, %d rows a call", set_name[set], p, count);
			free_rows(&rows);
			free(sums.memory);
		}
	}
}

/*
 * Real numbers, against sums in quadruple precision: figures are rounded
 * correctly, and what is behind them is as exact as docs/mathematics.md promises.
 */
static void
test_reals(InstructionSet set)
{
	uint64_t	seed = 2;

	for (int p = 1; p <= MAX_P; p += 3)
	{
		for (int block = 1; block <= WMLC_LOOP_ROWS; block += WMLC_LOOP_ROWS - 1)
		{
			Rows		rows = new_rows(p, 64);
			Sums		sums;
			int			wrong = 0,
						inexact = 0;

			for (int r = 0; r < rows.count; r++)
			{
				for (int i = 0; i < p; i++)
					rows.z[r * rows.stride + i] = check_normal(&seed) * exp(3.0 * check_normal(&seed));
				rows.weights[r] = p % 2 == 0 ? check_random(&seed) : 1.0;
			}
			sums = add_rows(&rows, block, 0);
			for (int i = 0; i < p; i++)
			{
				for (int j = i; j < p; j++)
				{
					size_t		entry = wmlc_triangle_index(p, i, j);
					double		scale = sqrt(figure(&sums, p, i, i)) * sqrt(figure(&sums, p, j, j));
					Quad		sum = 0;

					for (int r = 0; r < rows.count; r++)
						sum += (Quad) rows.weights[r] * rows.z[r * rows.stride + i] *
							rows.z[r * rows.stride + j];
					wrong += figure(&sums, p, i, j) != (double) sum;
					inexact += fabs((double) (sum - sums.hi[entry] - sums.lo[entry])) >
						(0x1p-97 + rows.count * 0x1p-105) * scale;
				}
			}
			CHECK(wrong == 0, "%s, p = %d, %d rows a call: %d sums are not rounded correctly",
				  set_name[set], p, block, wrong);
			CHECK(inexact == 0, "%s, p = %d, %d rows a call: %d sums are not as exact as promised",
				  set_name[set], p, block, inexact);
			free_rows(&rows);
			free(sums.memory);
		}
	}
}

static int
different_figures(const Sums *a, const Sums *b, int p, double scale)
{
	int			different = 0;

	for (int i = 0; i < p; i++)
	{
		for (int j = i; j < p; j++)
			different += figure(a, p, i, j) != figure(b, p, i, j) * scale;
	}
	return different;
}

/* Powers of two in the data change nothing but the exponents of the sums. */
static void
test_magnitudes(InstructionSet set)
{
	uint64_t	seed = 3;
	const int	p = 27;
	Rows		rows = new_rows(p, 32);
	Rows		scaled = new_rows(p, 32);

	for (int r = 0; r < rows.count; r++)
	{
		for (int i = 0; i < p; i++)
			rows.z[r * rows.stride + i] = check_normal(&seed);
	}
	for (int block = 1; block <= WMLC_LOOP_ROWS; block += WMLC_LOOP_ROWS - 1)
	{
		Sums		sums = add_rows(&rows, block, 0);

		for (int exponent = -480; exponent <= 480; exponent += 40)
		{
			Sums		scaled_sums;

			for (int k = 0; k < rows.count * rows.stride; k++)
				scaled.z[k] = ldexp(rows.z[k], exponent);
			scaled_sums = add_rows(&scaled, block, 0);
			CHECK(different_figures(&scaled_sums, &sums, p, ldexp(1.0, 2 * exponent)) == 0,
				  "%s, %d rows a call, data times 2^%d", set_name[set], block, exponent);
			free(scaled_sums.memory);
		}
		free(sums.memory);
	}
	free_rows(&rows);
	free_rows(&scaled);
}

/* Weights that undo the size of their row, as inverse variances do. */
static void
test_inverse_weights(InstructionSet set)
{
	uint64_t	seed = 4;
	const int	p = 27;
	Rows		rows = new_rows(p, 64);
	Rows		scaled = new_rows(p, 64);

	for (int block = 1; block <= WMLC_LOOP_ROWS; block += WMLC_LOOP_ROWS - 1)
	{
		for (int range = 5; range <= 200; range *= 3)
		{
			Sums		sums,
						scaled_sums;

			for (int r = 0; r < rows.count; r++)
			{
				int			exponent = (int) random_integer(&seed, 20) % range;

				for (int i = 0; i < p; i++)
				{
					double	   *z = rows.z + r * rows.stride + i;

					*z = check_normal(&seed);
					scaled.z[r * rows.stride + i] = ldexp(*z, exponent);
				}
				scaled.weights[r] = ldexp(1.0, -2 * exponent);
			}
			sums = add_rows(&rows, block, 0);
			scaled_sums = add_rows(&scaled, block, 0);
			CHECK(different_figures(&scaled_sums, &sums, p, 1.0) == 0,
				  "%s, %d rows a call, rows times 2^-%d to 2^%d", set_name[set], block, range, range);
			free(sums.memory);
			free(scaled_sums.memory);
		}
	}
	free_rows(&rows);
	free_rows(&scaled);
}

/* Values that are not finite, or not after squaring, end up where plain sums put them. */
static void
test_not_finite(InstructionSet set)
{
	static const double special[] = {INFINITY, -INFINITY, NAN, 1e200, -1e200, 0x1p1023, 0.0};
	const int	specials = sizeof(special) / sizeof(special[0]);
	uint64_t	seed = 5;

	for (int trial = 0; trial < 2000; trial++)
	{
		int			p = 1 + (int) (check_random(&seed) * 40);
		int			block = 1 + (int) (check_random(&seed) * WMLC_LOOP_ROWS);
		int			odd = (int) (check_random(&seed) * 4);
		Rows		rows = new_rows(p, 24);
		Sums		sums;
		int			wrong = 0;

		for (int r = 0; r < rows.count; r++)
		{
			for (int i = 0; i < p; i++)
				rows.z[r * rows.stride + i] = check_normal(&seed);
		}
		for (; odd > 0; odd--)
		{
			int			r = (int) (check_random(&seed) * rows.count);
			int			i = (int) (check_random(&seed) * (p + 1));
			double		value = special[(int) (check_random(&seed) * specials)];

			if (i < p)
				rows.z[r * rows.stride + i] = value;
			else
				rows.weights[r] = fabs(value);
		}
		sums = add_rows(&rows, block, 0);
		for (int i = 0; i < p; i++)
		{
			for (int j = i; j < p; j++)
			{
				double		plain = 0.0;
				double		sum = figure(&sums, p, i, j);

				for (int r = 0; r < rows.count; r++)
					plain += rows.weights[r] * rows.z[r * rows.stride + i] *
						rows.z[r * rows.stride + j];
				if (isnan(plain))
					wrong += !isnan(sum);
				else if (isinf(plain))
					wrong += sum != plain;
				else
					wrong += !(fabs(sum - plain) <= 1e-12 * (1.0 + fabs(plain)) || fabs(plain) > 1e100);
			}
		}
		CHECK(wrong == 0, "%s, p = %d, %d rows a call, trial %d: %d sums",
			  set_name[set], p, block, trial, wrong);
		CHECK(normalised(&sums), "%s, p = %d, %d rows a call, trial %d",
			  set_name[set], p, block, trial);
		CHECK(guards_intact(&sums), "%s, p = %d, %d rows a call", set_name[set], p, block);
		free_rows(&rows);
		free(sums.memory);
	}
}

/* Rows that come and go: no sum is ever left in a form the validator refuses. */
static void
test_cancellation(InstructionSet set)
{
	uint64_t	seed = 6;
	const int	p = 7;
	Rows		rows = new_rows(p, 3);

	for (int trial = 0; trial < 20000; trial++)
	{
		Sums		sums;

		for (int k = 0; k < p; k++)
		{
			double		value = check_normal(&seed);

			rows.z[k] = value;
			rows.z[rows.stride + k] = value * (1.0 + (double) random_integer(&seed, 3) * 0x1p-52);
			rows.z[2 * rows.stride + k] = ldexp(check_normal(&seed), -27 + (int) random_integer(&seed, 2));
		}
		rows.weights[0] = 1.0 + (double) random_integer(&seed, 3) * 0x1p-52;
		rows.weights[1] = -1.0;
		rows.weights[2] = (double) random_integer(&seed, 1);
		sums = add_rows(&rows, 1, 0);
		if (!normalised(&sums))
			CHECK(false, "%s, trial %d", set_name[set], trial);
		free(sums.memory);
	}
	CHECK(true, "rows came and went");
	free_rows(&rows);
}

/* Sums of rows that are merged are those of all rows, whatever is in them. */
static void
test_add_sums(InstructionSet set)
{
	static const double special[] = {INFINITY, -INFINITY, NAN};
	uint64_t	seed = 8;

	for (int p = 1; p <= MAX_P; p++)
	{
		for (int trial = 0; trial < 6; trial++)
		{
			Rows		rows = new_rows(p, 16);
			Rows		part = rows;
			Sums		whole,
						first,
						second;

			for (int k = 0; k < rows.count * rows.stride; k++)
				rows.z[k] = (double) random_integer(&seed, 30);
			if (trial < 3)
				rows.z[(int) (check_random(&seed) * rows.count) * rows.stride + p / 2] = special[trial];
			whole = add_rows(&rows, 8, trial);
			part.count = 9;
			first = add_rows(&part, 8, trial);
			part.z += 9 * rows.stride;
			part.count = 7;
			second = add_rows(&part, 8, trial + 1);
			tested_add_sums(first.entries, second.hi, second.lo, first.hi, first.lo);
			for (size_t k = 0; k < whole.entries; k++)
			{
				if (!(isnan(whole.hi[k]) ? isnan(first.hi[k]) : first.hi[k] == whole.hi[k]) ||
					first.lo[k] != whole.lo[k])
				{
					CHECK(false, "%s, p = %d, trial %d, entry %zu", set_name[set], p, trial, k);
					break;
				}
			}
			CHECK(guards_intact(&first) && normalised(&first), "%s, p = %d, trial %d", set_name[set], p, trial);
			free_rows(&rows);
			free(whole.memory);
			free(first.memory);
			free(second.memory);
		}
	}
}

/* Ones are counted where they are, and nothing behind the features is. */
static void
test_count_not_one(InstructionSet set)
{
	static const double values[] = {1.0, 1.0, 0.0, -1.0, 1.0 + 0x1p-52, NAN, INFINITY};
	uint64_t	seed = 71;

	for (int trial = 0; trial < 500; trial++)
	{
		int			d = 1 + trial % 40;
		int			count = 1 + trial % WMLC_LOOP_ROWS;
		double		rows[41 * WMLC_LOOP_ROWS + WMLC_ROW_PADDING] = {0.0};
		int64_t		counts[42];
		int64_t		expected[42];

		for (int i = 0; i < 42; i++)
			counts[i] = expected[i] = i % 3 == 0 ? WMLC_UNKNOWN_COUNT : i;
		for (int k = 0; k < (d + 1) * count; k++)
		{
			rows[k] = values[(int) (check_random(&seed) * 7)];
			if (k % (d + 1) < d)
				expected[k % (d + 1)] += rows[k] != 1.0;
		}
		tested_count_not_one(d, count, rows, d + 1, counts);
		CHECK(memcmp(counts, expected, sizeof(counts)) == 0, "%s: %d features, %d rows", set_name[set], d, count);
	}
}

/* Grams side by side are those of their rows alone, but for the last bits of lo; some weigh nothing. */
static void
test_lanes(InstructionSet set)
{
	static const double special[] = {INFINITY, NAN, 1e200, 0x1p1023, 1e-200};
	uint64_t	seed = 73;

	for (int trial = 0; trial < 300; trial++)
	{
		int			p = 1 + trial % 9;
		int			count = 1 + trial % 23;
		size_t		entries = wmlc_triangle_size(p);
		double	   *rows = malloc(count * (p + 1) * WMLC_GRAM_LANES * sizeof(double));
		double	   *sums = calloc(2 * entries * WMLC_GRAM_LANES + 1, sizeof(double));
		int			wrong = 0;

		sums[2 * entries * WMLC_GRAM_LANES] = GUARD;
		for (int k = 0; k < count * (p + 1) * WMLC_GRAM_LANES; k++)
			rows[k] = trial % 5 == 0 && check_random(&seed) < 0.01 ? special[trial / 5 % 5] : check_normal(&seed);
		for (int k = 0; k < count * WMLC_GRAM_LANES; k++)
			rows[(k / WMLC_GRAM_LANES * (p + 1) + p) * WMLC_GRAM_LANES + k % WMLC_GRAM_LANES] =
				check_random(&seed) < 0.2 ? 0.0 : check_random(&seed);
		tested_add_lanes(p, count, rows, sums, sums + entries * WMLC_GRAM_LANES);
		for (int l = 0; l < WMLC_GRAM_LANES; l++)
		{
			Sums		alone = new_sums(p, 0);

			for (int r = 0; r < count; r++)
			{
				double		z[9];
				const double *row = rows + r * (p + 1) * WMLC_GRAM_LANES + l;

				for (int k = 0; k < p; k++)
					z[k] = row[k * WMLC_GRAM_LANES];
				tested_loops_plain(p, 1, z, p, &row[p * WMLC_GRAM_LANES], alone.hi, alone.lo);
			}
			for (size_t e = 0; e < entries; e++)
			{
				double		hi = sums[e * WMLC_GRAM_LANES + l];
				double		lo = sums[(entries + e) * WMLC_GRAM_LANES + l];

				if (isfinite(alone.hi[e]))
					wrong += hi != alone.hi[e] || fabs(lo - alone.lo[e]) > 1e-28 * fabs(hi);
				else
					wrong += isfinite(hi) || isnan(hi) != isnan(alone.hi[e]) || lo != 0.0;
			}
			free(alone.memory);
		}
		CHECK(wrong == 0, "%s, p = %d, %d rows, trial %d: %d sums", set_name[set], p, count, trial, wrong);
		CHECK(sums[2 * entries * WMLC_GRAM_LANES] == GUARD, "%s: beyond the end", set_name[set]);
		free(rows);
		free(sums);
	}
}

int
main(void)
{
	for (InstructionSet set = PLAIN; set < SETS; set++)
	{
		if (!use_set(set))
			continue;
		test_integers(set);
		test_reals(set);
		test_magnitudes(set);
		test_inverse_weights(set);
		test_not_finite(set);
		test_cancellation(set);
		test_add_sums(set);
		test_count_not_one(set);
		test_lanes(set);
	}
	return check_summary();
}
