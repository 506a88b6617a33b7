/*
 * test_dd_vector.c
 *	  Vector operations on double-doubles: against quadruple precision, and fast
 *	  loops against plain ones, bit by bit.
 *
 * The file under test is included rather than linked, so that the processor's
 * widest registers can be hidden from it.
 */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "quad.h"

static bool wide_registers = true;

#define wmlc_dd_vector_loops tested_loops
#define wmlc_dd_vector_loops_plain tested_loops_plain
#define __builtin_cpu_supports(feature) \
	(__builtin_cpu_supports(feature) && (wide_registers || strcmp(feature, "avx512f") != 0))
#include "core/dd/dd_vector.c"

#define MAX_N 40
#define GUARD 1.2345e67			/* behind the end, must not change */

static uint64_t seed = 5;

typedef struct Vector
{
	double		hi[MAX_N + 1];
	double		lo[MAX_N + 1];
} Vector;

static WmlcDdSpan
span(Vector *v)
{
	return (WmlcDdSpan) {v->hi, v->lo};
}

static void
random_vector(Vector *v, int n)
{
	for (int i = 0; i < n; i++)
	{
		double		size = ldexp(1.0, (int) (check_random(&seed) * 40) - 20);

		v->hi[i] = check_normal(&seed) * size;
		v->lo[i] = v->hi[i] * 0x1p-54 * (2.0 * check_random(&seed) - 1.0);
	}
	v->hi[n] = v->lo[n] = GUARD;
}

static Quad
quad(const Vector *v, int i)
{
	return (Quad) v->hi[i] + v->lo[i];
}

static bool
same(const Vector *a, const Vector *b, int n)
{
	return memcmp(a->hi, b->hi, (n + 1) * sizeof(double)) == 0 &&
		memcmp(a->lo, b->lo, (n + 1) * sizeof(double)) == 0;
}

static void
check_entry(const char *what, const Vector *v, int i, Quad exact, Quad size)
{
	CHECK(quad_abs(quad(v, i) - exact) <= size * 0x1p-100, "%s: entry %d off by %g of %g", what, i,
		  (double) (quad(v, i) - exact), (double) size);
}

static void
test_add_multiple(const WmlcDdVectorLoops *loops, int n)
{
	Vector		x,
				y,
				sum,
				plain;
	WmlcDd		a = {1.0 / 3.0, 1.0 / 3.0 * 0x1p-54};

	random_vector(&x, n);
	random_vector(&y, n);
	sum = plain = y;
	loops->add_multiple(n, a, span(&x), span(&sum));
	wmlc_dd_vector_loops_plain.add_multiple(n, a, span(&x), span(&plain));
	CHECK(same(&sum, &plain, n), "add_multiple of %d differs", n);
	for (int i = 0; i < n; i++)
	{
		Quad		product = ((Quad) a.hi + a.lo) * quad(&x, i);

		check_entry("add_multiple", &sum, i, quad(&y, i) + product,
					quad_abs(quad(&y, i)) + quad_abs(product));
	}
}

static void
test_rotate(const WmlcDdVectorLoops *loops, int n)
{
	Vector		x,
				y,
				turned[2],
				plain[2];
	WmlcDd		c = {0.6, 0x1.1p-56};
	WmlcDd		s = {0.8, -0x1.3p-55};

	random_vector(&x, n);
	random_vector(&y, n);
	turned[0] = plain[0] = x;
	turned[1] = plain[1] = y;
	loops->rotate(n, c, s, span(&turned[0]), span(&turned[1]));
	wmlc_dd_vector_loops_plain.rotate(n, c, s, span(&plain[0]), span(&plain[1]));
	CHECK(same(&turned[0], &plain[0], n) && same(&turned[1], &plain[1], n),
		  "rotate of %d differs", n);
	for (int i = 0; i < n; i++)
	{
		Quad		cosine = (Quad) c.hi + c.lo;
		Quad		sine = (Quad) s.hi + s.lo;
		Quad		size = quad_abs(quad(&x, i)) + quad_abs(quad(&y, i));

		check_entry("rotate", &turned[0], i, cosine * quad(&x, i) + sine * quad(&y, i), size);
		check_entry("rotate", &turned[1], i, cosine * quad(&y, i) - sine * quad(&x, i), size);
	}
}

static void
test_combine(const WmlcDdVectorLoops *loops, int rows, int n)
{
	Vector		matrix[5],
				weights,
				result,
				plain;
	double		hi[5 * MAX_N],
				lo[5 * MAX_N];

	random_vector(&weights, rows);
	for (int k = 0; k < rows; k++)
	{
		random_vector(&matrix[k], n);
		memcpy(hi + k * n, matrix[k].hi, n * sizeof(double));
		memcpy(lo + k * n, matrix[k].lo, n * sizeof(double));
	}
	random_vector(&result, n);
	plain = result;
	loops->combine(rows, span(&weights), (WmlcDdSpan) {hi, lo}, n, n, span(&result));
	wmlc_dd_vector_loops_plain.combine(rows, span(&weights), (WmlcDdSpan) {hi, lo}, n, n,
										 span(&plain));
	CHECK(same(&result, &plain, n), "combine of %d rows of %d differs", rows, n);
	for (int i = 0; i < n; i++)
	{
		Quad		exact = 0,
					size = 0;

		for (int k = 0; k < rows; k++)
		{
			exact += quad(&weights, k) * quad(&matrix[k], i);
			size += quad_abs(quad(&weights, k) * quad(&matrix[k], i));
		}
		check_entry("combine", &result, i, exact, size);
	}
}

static void
test_loops(const WmlcDdVectorLoops *loops)
{
	for (int n = 0; n <= 13; n++)
	{
		for (int round = 0; round < 20; round++)
		{
			test_add_multiple(loops, n);
			test_rotate(loops, n);
		}
	}
	for (int n = WMLC_DD_LANES; n <= MAX_N; n += WMLC_DD_LANES)
	{
		for (int rows = 0; rows <= 5; rows++)
			test_combine(loops, rows, n);
	}
}

int
main(void)
{
	test_loops(wmlc_dd_vector_loops());
	wide_registers = false;
	test_loops(wmlc_dd_vector_loops());
	for (int n = 1; n < 20; n++)
		CHECK(wmlc_dd_stride(n) >= n && wmlc_dd_stride(n) < n + WMLC_DD_LANES &&
			  wmlc_dd_stride(n) % WMLC_DD_LANES == 0, "stride of %d", n);
	return check_summary();
}
