/*
 * dd.h
 *	  Double-double arithmetic: an unevaluated sum hi + lo of two doubles with
 *	  |lo| <= ulp(hi) / 2, about 106 bits.
 *
 * Built on error-free transformations (Dekker 1971, Knuth TAOCP 4.2.2): the
 * rounding error of a sum or a product of doubles is itself a double and can
 * be computed.  This needs every operation rounded to double exactly once, so
 * the build must use neither -ffast-math nor x87 registers nor contraction of
 * a * b + c (the Makefile says -ffp-contract=off).
 *
 * A value whose hi is not finite carries lo = 0 or garbage in lo; read such a
 * value through wmlc_dd_value(), which then answers hi alone.
 */
#ifndef WMLC_DD_H
#define WMLC_DD_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "core/base/fma.h"

#if defined(__FAST_MATH__) || (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
#error "wml needs strict double arithmetic: no -ffast-math, no x87"
#endif

typedef struct WmlcDd
{
	double		hi;
	double		lo;
} WmlcDd;

static inline WmlcDd
wmlc_dd(double a)
{
	return (WmlcDd) {a, 0.0};
}

/* a + b exactly */
static inline WmlcDd
wmlc_two_sum(double a, double b)
{
	double		s = a + b;
	double		bb = s - a;

	return (WmlcDd) {s, (a - (s - bb)) + (b - bb)};
}

/* a + b exactly, provided |a| >= |b| or a = 0 */
static inline WmlcDd
wmlc_quick_two_sum(double a, double b)
{
	double		s = a + b;

	return (WmlcDd) {s, b - (s - a)};
}

/*
 * a * b exactly.  Without fused multiply-add in the instruction set, fma() is
 * a slow library call, so split both factors into halves instead (Veltkamp,
 * Dekker); huge factors are scaled down first because the splitter overflows.
 */
static inline WmlcDd
wmlc_two_prod(double a, double b)
{
	double		p = a * b;
#ifdef WMLC_FAST_FMA
	return (WmlcDd) {p, __builtin_fma(a, b, -p)};
#else
	const double splitter = 134217729.0;	/* 2^27 + 1 */
	const double huge_factor = 0x1p995;
	double		scale = 1.0;
	double		p1,
				t,
				a1,
				a2,
				b1,
				b2;

	if (__builtin_expect(fabs(a) > huge_factor, 0))
	{
		a *= 0x1p-53;
		scale = 0x1p53;
	}
	if (__builtin_expect(fabs(b) > huge_factor, 0))
	{
		b *= 0x1p-53;
		scale *= 0x1p53;
	}
	p1 = p / scale;
	t = splitter * a;
	a1 = t - (t - a);
	a2 = a - a1;
	t = splitter * b;
	b1 = t - (t - b);
	b2 = b - b1;
	return (WmlcDd) {p, scale * (((a1 * b1 - p1) + a1 * b2 + a2 * b1) + a2 * b2)};
#endif
}

static inline WmlcDd
wmlc_dd_neg(WmlcDd a)
{
	return (WmlcDd) {-a.hi, -a.lo};
}

/* The accurate addition: error 2 * 2^-106 |a + b| even when a and b cancel. */
static inline WmlcDd
wmlc_dd_add(WmlcDd a, WmlcDd b)
{
	WmlcDd		s = wmlc_two_sum(a.hi, b.hi);
	WmlcDd		t = wmlc_two_sum(a.lo, b.lo);

	s = wmlc_quick_two_sum(s.hi, s.lo + t.hi);
	return wmlc_quick_two_sum(s.hi, s.lo + t.lo);
}

static inline WmlcDd
wmlc_dd_sub(WmlcDd a, WmlcDd b)
{
	return wmlc_dd_add(a, wmlc_dd_neg(b));
}

static inline WmlcDd
wmlc_dd_add_d(WmlcDd a, double b)
{
	WmlcDd		s = wmlc_two_sum(a.hi, b);

	return wmlc_quick_two_sum(s.hi, s.lo + a.lo);
}

static inline WmlcDd
wmlc_dd_mul(WmlcDd a, WmlcDd b)
{
	WmlcDd		p = wmlc_two_prod(a.hi, b.hi);

	return wmlc_quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline WmlcDd
wmlc_dd_mul_d(WmlcDd a, double b)
{
	WmlcDd		p = wmlc_two_prod(a.hi, b);

	return wmlc_quick_two_sum(p.hi, p.lo + a.lo * b);
}

/* Multiplication by a power of two is exact. */
static inline WmlcDd
wmlc_dd_scale(WmlcDd a, double power_of_two)
{
	return (WmlcDd) {a.hi * power_of_two, a.lo * power_of_two};
}

/* Long division with three quotient digits of 53 bits. */
static inline WmlcDd
wmlc_dd_div(WmlcDd a, WmlcDd b)
{
	double		q1 = a.hi / b.hi;
	WmlcDd		r = wmlc_dd_sub(a, wmlc_dd_mul_d(b, q1));
	double		q2 = r.hi / b.hi;
	double		q3;

	r = wmlc_dd_sub(r, wmlc_dd_mul_d(b, q2));
	q3 = r.hi / b.hi;
	return wmlc_dd_add_d(wmlc_quick_two_sum(q1, q2), q3);
}

/* One Newton step on the double square root (Karp, Markstein 1997). */
static inline WmlcDd
wmlc_dd_sqrt(WmlcDd a)
{
	double		x,
				ax;

	if (a.hi <= 0.0)
		return wmlc_dd(a.hi == 0.0 ? 0.0 : NAN);
	x = 1.0 / sqrt(a.hi);
	ax = a.hi * x;
	return wmlc_dd_add_d(wmlc_dd(ax), wmlc_dd_sub(a, wmlc_two_prod(ax, ax)).hi * (x * 0.5));
}

static inline bool
wmlc_dd_is_finite(WmlcDd a)
{
	return isfinite(a.hi);
}

/* The nearest double; an overflowed or NaN sum stays what hi says. */
static inline double
wmlc_dd_value(WmlcDd a)
{
	return isfinite(a.hi) ? a.hi + a.lo : a.hi;
}

/* Restore |lo| <= ulp(hi) / 2 after lo has collected corrections of its own. */
static inline WmlcDd
wmlc_dd_normalize(WmlcDd a)
{
	WmlcDd		s;

	if (!isfinite(a.hi))
		return wmlc_dd(a.hi);
	s = wmlc_two_sum(a.hi, a.lo);
	return isfinite(s.hi) ? s : wmlc_dd(s.hi);
}

#endif							/* WMLC_DD_H */
