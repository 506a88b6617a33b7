/*
 * decimal_internal.h
 *	  The digits of the shortest decimal that reads back as a given double.
 *
 * A double c 2^q stands for all numbers nearer to it than to its neighbours:
 * for the interval from half a step 2^q below to half a step above.  Of the
 * decimals strictly inside, we want those with the fewest digits, and of these
 * the nearest.  Let 10^k <= 2^q < 10^(k+1).  Then at most one multiple of
 * 10^(k+1) is inside, and if one is, that is the answer.  If none is, the
 * answer is the nearest multiple of 10^k.  (Raffaello Giulietti, The Schubfach
 * way to render doubles, 2020.)
 *
 * We count in units of 10^(k+1).  In these, the value is c times the step, an
 * integer and a fraction, computed with an error below 2^-74.  That decides all
 * cases: by the continued fractions of the steps, an end of the interval keeps
 * at least 2^-63 away from any integer that it does not meet, and ten times the
 * fraction at least 2^-65 from the middle between two digits.
 */
#ifndef WMLC_DECIMAL_INTERNAL_H
#define WMLC_DECIMAL_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#define UNLIKELY(condition) __builtin_expect(condition, 0)
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef unsigned __int128 uint128;

/* The parts of a double, such that c is an integer. */
#define FRACTION_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << FRACTION_BITS)
#define EXPONENTS 0x7ff			/* the last one is for infinity and NaN */
#define EXPONENT_BIAS 1075

#define TEN_TO_4 UINT64_C(10000)
#define TEN_TO_8 UINT64_C(100000000)
#define TEN_TO_12 UINT64_C(1000000000000)
#define TEN_TO_15 UINT64_C(1000000000000000)

/*
 * Computed once in the life of a process, in less than 0.1 ms, rather than
 * written down as pages of numbers that nobody could check.
 */
typedef struct WmlcDecimalTable
{
	bool		ready;
	uint128		step[EXPONENTS];	/* 2^q / 10^(k+1), a fraction */
	uint32_t	digits[TEN_TO_4];	/* four, the first in the highest byte */
} WmlcDecimalTable;

extern WmlcDecimalTable wmlc_decimal_table;
extern void wmlc_decimal_prepare(void);

/* floor(log10(2^n)) */
static inline int
log10_of_two_to(int n)
{
	return (n * 1262611) >> 22;
}

/* 17 digits, of which the first is not zero and stands for 10^exponent. */
typedef struct Decimal
{
	uint64_t	first16;
	uint64_t	last;
	int			exponent;
} Decimal;

/*
 * The decimal for c 2^q, without branches on what is as good as random.  At a
 * power of two, the step below is half the step above; c 2^q then counts in
 * the step below, so that c is 2^53.
 */
ALWAYS_INLINE Decimal
shortest_decimal(uint64_t c, int exponent, bool power_of_two)
{
	const uint64_t middle = UINT64_C(1) << 63;
	uint128		step = wmlc_decimal_table.step[exponent];
	uint128		low = (uint128) c * (uint64_t) step;
	uint128		value = (uint128) c * (uint64_t) (step >> 64) + (uint64_t) (low >> 64);
	uint64_t	integer = (uint64_t) (value >> 64);
	uint64_t	fraction = (uint64_t) value;

	/*
	 * Is the integer inside the interval, or the next one?  The fraction and
	 * half a step are cut off to 64 bits, so that each may be 1 too small: an
	 * end that meets an integer seems to miss it by 1, any other by more.
	 */
	uint64_t	half_step = (uint64_t) (step >> 65);
	bool		inside = fraction < half_step - 1;
	bool		next_inside = ~fraction < (power_of_two ? 2 * half_step : half_step) - 1;

	/* If not, one more digit is needed; the rest is what remains behind it. */
	uint128		tenfold = (uint128) fraction * 10;
	uint64_t	digit = (uint64_t) (tenfold >> 64);
	uint64_t	rest = (uint64_t) tenfold;
	uint64_t	is_short;
	Decimal		result;

	/*
	 * Round to the nearest digit, and from the middle to an even one.  The
	 * rest may be 10 too small: near the middle, all bits are needed.
	 */
	if (UNLIKELY(middle - rest <= 10))
	{
		low = (uint128) (uint64_t) low * 10;
		rest += (uint64_t) (low >> 64);
		digit += ((uint128) rest << 64 | (uint64_t) low) > ((uint128) middle << 64) - digit % 2;
	}
	else
		digit += rest >> 63;

	/* If both are, the first is nearer, but the next may have fewer digits. */
	if (power_of_two && inside)
		next_inside &= integer % 10 == 9;
	integer += next_inside;
	digit &= (uint64_t) (inside | next_inside) - 1;

	/* The integer has 16 digits, or 15 and then all bits are set here. */
	is_short = (uint64_t) ((int64_t) (integer - TEN_TO_15) >> 63);
	result.first16 = integer + ((9 * integer + digit) & is_short);
	result.last = digit & ~is_short;
	result.exponent = log10_of_two_to(exponent - EXPONENT_BIAS) + 16 + (int) is_short;

	/* Only the smallest doubles have fewer. */
	for (; exponent == 1 && result.first16 < TEN_TO_15; result.first16 *= 10)
		result.exponent--;
	return result;
}

#endif							/* WMLC_DECIMAL_INTERNAL_H */
