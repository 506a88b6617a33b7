/*
 * decimal_table.c
 *	  The tables behind the decimal form of doubles.
 */
#include "decimal_internal.h"

WmlcDecimalTable wmlc_decimal_table;

/* floor(log2(10^n)) */
static int
log2_of_ten_to(int n)
{
	return (n * 1741647) >> 19;
}

/* number *= factor / divisor, which leaves it below 2^192 */
#define LIMBS 6

static void
scale_number(uint32_t number[LIMBS], uint32_t factor, uint32_t divisor)
{
	uint64_t	rest = 0;

	for (int i = 0; i < LIMBS; i++)
	{
		rest += (uint64_t) number[i] * factor;
		number[i] = (uint32_t) rest;
		rest >>= 32;
	}
	for (int i = LIMBS - 1; i >= 0; i--)
	{
		rest = rest << 32 | number[i];
		number[i] = (uint32_t) (rest / divisor);
		rest %= divisor;
	}
}

/* The step 2^q 10^n, for a power of ten scaled to have its first bit set. */
static void
set_step(int q, int n, const uint32_t power[LIMBS])
{
	uint128		bits = 0;

	for (int i = LIMBS - 1; i >= LIMBS - 4; i--)
		bits = bits << 32 | power[i];
	wmlc_decimal_table.step[q + EXPONENT_BIAS] = bits >> -(q + log2_of_ten_to(n) + 1);
}

/*
 * The powers of ten go from 1 upwards and downwards.  Up to 10^53 they are
 * exact; for the others, all errors together stay far below what is cut off.
 */
static void
compute_steps(void)
{
	uint32_t	large[LIMBS] = {[LIMBS - 1] = UINT32_C(1) << 31};
	uint32_t	small[LIMBS] = {[LIMBS - 1] = UINT32_C(1) << 31};

	for (int q = -1, n = 0; q > -EXPONENT_BIAS; q--)
	{
		for (; n < -1 - log10_of_two_to(q); n++)
			scale_number(large, 10, 1 << (log2_of_ten_to(n + 1) - log2_of_ten_to(n)));
		set_step(q, n, large);
	}
	for (int q = 0, n = 0; q < EXPONENTS - EXPONENT_BIAS; q++)
	{
		for (; n > -1 - log10_of_two_to(q); n--)
			scale_number(small, 1 << (log2_of_ten_to(n) - log2_of_ten_to(n - 1)), 10);
		set_step(q, n, small);
	}
}

void
wmlc_decimal_prepare(void)
{
	compute_steps();
	for (uint32_t i = 0; i < TEN_TO_4; i++)
		wmlc_decimal_table.digits[i] = i / 1000 << 24 | i / 100 % 10 << 16 | i / 10 % 10 << 8 | i % 10;
	wmlc_decimal_table.ready = true;
}
