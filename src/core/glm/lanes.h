/*
 * lanes.h
 *	  Eight numbers side by side, for loops that are compiled once for every set
 *	  of instructions that pays.
 */
#ifndef WMLC_GLM_LANES_H
#define WMLC_GLM_LANES_H

#include <math.h>
#include <stdint.h>

#include "core/base/machine.h"

#define LANES 8
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef double Lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef uint64_t Bits __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* Vectors are passed between inlined functions only: no calling convention matters. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* The function `name`, which does what the inlined name_body does, for each set of instructions. */
#define LANES_VERSION(type, name, version, attributes, parameters, arguments) \
	attributes static type name##version parameters { return name##_body arguments; }

#ifdef WMLC_VECTORS
#define LANES_FUNCTION(linkage, type, name, parameters, arguments) \
	LANES_VERSION(type, name, _plain, , parameters, arguments) \
	LANES_VERSION(type, name, _avx2, __attribute__((target("avx2"))), parameters, arguments) \
	LANES_VERSION(type, name, _avx512, __attribute__((target("avx512f"))), parameters, arguments) \
	linkage type \
	name parameters \
	{ \
		if (__builtin_cpu_supports("avx512f")) \
			return name##_avx512 arguments; \
		if (__builtin_cpu_supports("avx2")) \
			return name##_avx2 arguments; \
		return name##_plain arguments; \
	}
#else
#define LANES_FUNCTION(linkage, type, name, parameters, arguments) \
	linkage type name parameters { return name##_body arguments; }
#endif

ALWAYS_INLINE Lanes
load(const double *from)
{
	return *(const Lanes *) from;
}

ALWAYS_INLINE void
store(double *to, Lanes x)
{
	*(Lanes *) to = x;
}

ALWAYS_INLINE Lanes
absolute(Lanes x)
{
	return (Lanes) ((Bits) x & UINT64_C(0x7fffffffffffffff));
}

ALWAYS_INLINE Lanes
square_root(Lanes x)
{
	for (int l = 0; l < LANES; l++)
		x[l] = sqrt(x[l]);
	return x;
}

ALWAYS_INLINE Lanes
all(double x)
{
	return (Lanes) {0.0} + x;
}

/* x where the mask is set, y elsewhere */
ALWAYS_INLINE Lanes
choose(Bits mask, Lanes x, Lanes y)
{
	return (Lanes) (((Bits) x & mask) | ((Bits) y & ~mask));
}

ALWAYS_INLINE Lanes
larger(Lanes x, Lanes y)
{
	return choose((Bits) (x > y), x, y);
}

ALWAYS_INLINE Lanes
smaller(Lanes x, Lanes y)
{
	return choose((Bits) (x < y), x, y);
}

ALWAYS_INLINE double
largest_lane(Lanes x)
{
	double		result = x[0];

	for (int l = 1; l < LANES; l++)
		result = x[l] > result ? x[l] : result;
	return result;
}

/* exp(x) for |x| <= 700: x = n log 2 + r, and Taylor's series for r */
ALWAYS_INLINE Lanes
exponential(Lanes x)
{
	static const double inverse_factorial[] = {
		1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
		1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0
	};
	const double magic = 0x1.8p52;
	Lanes		shifted = x * 1.4426950408889634 + magic;
	Lanes		n = shifted - magic;
	Lanes		r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
	Lanes		sum = all(inverse_factorial[0]);

#pragma GCC unroll 14
	for (int i = 1; i < 14; i++)
		sum = sum * r + inverse_factorial[i];
	return sum * (Lanes) (((Bits) shifted + 1023) << 52);
}

/* log(x) for x positive and normal: the exponent, and a series of (m - 1) / (m + 1) */
ALWAYS_INLINE Lanes
logarithm(Lanes x)
{
	Bits		bits = (Bits) x;
	Bits		high = bits - UINT64_C(0x3fe6a09e667f3bcd); /* sqrt(1/2) */
	Lanes		mantissa = (Lanes) (bits - (high & UINT64_C(0xfff0000000000000)));
	Lanes		exponent = (Lanes) (((high + UINT64_C(0x4000000000000000)) >> 52) |
									UINT64_C(0x4330000000000000)) - (0x1p52 + 1024.0);
	Lanes		f = (mantissa - 1.0) / (mantissa + 1.0);
	Lanes		square = f * f;
	Lanes		sum = all(1.0 / 21.0);

#pragma GCC unroll 10
	for (int k = 19; k >= 1; k -= 2)
		sum = sum * square + 1.0 / k;
	return exponent * 0.69314718055994531 + 2.0 * f * sum;
}

/* Sums over nodes t h and -t h of t^0 up to t^4 times what is there. */
typedef struct PowerSums
{
	Lanes		zeroth;
	Lanes		first;
	Lanes		second;
	Lanes		third;
	Lanes		fourth;
} PowerSums;

/* What is in the middle. */
ALWAYS_INLINE PowerSums
start_powers(Lanes middle)
{
	return (PowerSums) {middle, all(0.0), all(0.0), all(0.0), all(0.0)};
}

ALWAYS_INLINE void
add_powers(PowerSums *sums, double t, Lanes above, Lanes below)
{
	Lanes		even = above + below;
	Lanes		odd = t * (above - below);

	sums->zeroth += even;
	sums->first += odd;
	even *= t * t;
	sums->second += even;
	sums->third += t * t * odd;
	sums->fourth += t * t * even;
}

#endif							/* WMLC_GLM_LANES_H */
