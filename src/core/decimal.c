/*
 * decimal.c
 *	  The shortest decimal form of a double, as characters.
 */
#include <string.h>

#include "decimal.h"
#include "decimal_internal.h"

/* One digit in each byte, the first in the highest. */
typedef struct Digits
{
	uint64_t	left;
	uint64_t	right;
	uint64_t	last;
	int			count;			/* without zeros at the end */
} Digits;

/* How many bytes are zero at the lower end of a number that is not. */
static inline int
zero_bytes(uint64_t number)
{
	return (int) ((unsigned) __builtin_ctzll(number) / 8);
}

ALWAYS_INLINE Digits
split_digits(Decimal decimal)
{
	uint64_t	first4 = decimal.first16 / TEN_TO_12;
	uint64_t	first8 = decimal.first16 / TEN_TO_8;
	uint64_t	first12 = decimal.first16 / TEN_TO_4;
	uint64_t	has_last = decimal.last != 0;
	const uint32_t *four = wmlc_decimal_table.digits;
	Digits		result;

	result.left = (uint64_t) four[first4] << 32 | four[first8 - first4 * TEN_TO_4];
	result.right = (uint64_t) four[first12 - first8 * TEN_TO_4] << 32 |
		four[decimal.first16 - first12 * TEN_TO_4];
	result.last = decimal.last;
	if (UNLIKELY((result.right | has_last) == 0))
		result.count = 8 - zero_bytes(result.left);
	else
		result.count = 16 + (int) has_last - zero_bytes(result.right | -has_last);
	return result;
}

static inline void
put_eight(char *out, uint64_t bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	bytes = __builtin_bswap64(bytes);
#endif
	memcpy(out, &bytes, 8);
}

static inline char *
put_exponent(char *out, int exponent)
{
	unsigned	size = exponent < 0 ? -exponent : exponent;

	*out++ = 'e';
	*out++ = exponent < 0 ? '-' : '+';
	if (size >= 100)
		*out++ = '0' + size / 100;
	*out++ = '0' + size / 10 % 10;
	*out++ = '0' + size % 10;
	return out;
}

/* In PostgreSQL's layout, which is that of printf's %.15g. */
ALWAYS_INLINE char *
put_digits(char *out, Digits digits, int exponent)
{
	const uint64_t zeros = UINT64_C(0x3030303030303030);
	uint64_t	left = digits.left | zeros;
	uint64_t	right = digits.right | zeros;
	char		last = (char) (digits.last | '0');
	int			count = digits.count;
	int			point = exponent + 1;	/* so many digits before the point */

	if (exponent < -4 || exponent >= 15)
	{
		put_eight(out + 1, left);
		put_eight(out + 9, right);
		out[17] = last;
		out[0] = (char) (left >> 56);
		out[1] = '.';
		return put_exponent(out + count + (count > 1), exponent);
	}
	if (exponent < 0)
	{
		memcpy(out, "0.000", 5);
		out += 1 - exponent;
		put_eight(out, left);
		put_eight(out + 8, right);
		out[16] = last;
		return out + count;
	}

	/* Make room for the point: all digits behind it move by one byte. */
	out[16] = (char) right;
	out[17] = last;
	if (point < 8)
	{
		uint64_t	behind = ~UINT64_C(0) >> (8 * point);

		right = left << 56 | right >> 8;
		left = (left & ~behind) | (left & behind) >> 8;
	}
	else
	{
		uint64_t	behind = ~UINT64_C(0) >> (8 * (point - 8));

		right = (right & ~behind) | (right & behind) >> 8;
	}
	put_eight(out, left);
	put_eight(out + 8, right);
	out[point] = '.';
	count += count > point;
	return out + (count > point ? count : point);
}

static inline uint64_t
bits_of(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline uint64_t
fraction_of(uint64_t bits)
{
	return bits & (HIDDEN_BIT - 1);
}

static inline int
exponent_of(uint64_t bits)
{
	return (int) (bits >> FRACTION_BITS) & EXPONENTS;
}

/* Neither a power of two nor at the ends of the range. */
static inline bool
is_common(uint64_t bits)
{
	return fraction_of(bits) != 0 && (unsigned) exponent_of(bits) - 2 < EXPONENTS - 2;
}

ALWAYS_INLINE Decimal
common_decimal(uint64_t bits)
{
	return shortest_decimal(fraction_of(bits) | HIDDEN_BIT, exponent_of(bits), false);
}

static __attribute__((noinline)) char *
put_uncommon(char *out, uint64_t bits)
{
	uint64_t	fraction = fraction_of(bits);
	int			exponent = exponent_of(bits);
	Decimal		decimal;

	if (exponent == EXPONENTS && fraction != 0)
		return (char *) memcpy(out, "NaN", 3) + 3;
	*out = '-';
	out += bits >> 63;
	if (exponent == EXPONENTS)
		return (char *) memcpy(out, "Infinity", 8) + 8;
	if (exponent == 0 && fraction == 0)
		return (char *) memcpy(out, "0", 1) + 1;

	if (!wmlc_decimal_table.ready)
		wmlc_decimal_prepare();
	if (exponent == 0)
		decimal = shortest_decimal(fraction, 1, false);
	else if (exponent == 1 || fraction != 0)
		decimal = common_decimal(bits);
	else
		decimal = shortest_decimal(2 * HIDDEN_BIT, exponent - 1, true);
	return put_digits(out, split_digits(decimal), decimal.exponent);
}

int
wmlc_decimal(double value, char *out)
{
	uint64_t	bits = bits_of(value);
	char	   *end;

	if (is_common(bits) && wmlc_decimal_table.ready)
	{
		Decimal		decimal = common_decimal(bits);

		*out = '-';
		end = put_digits(out + (bits >> 63), split_digits(decimal), decimal.exponent);
	}
	else
		end = put_uncommon(out, bits);
	return (int) (end - out);
}

/* Side by side, two numbers take less time than one after the other. */
int
wmlc_decimal_dd(WmlcDd value, char *out)
{
	uint64_t	hi_bits = bits_of(value.hi);
	uint64_t	lo_bits = bits_of(value.lo);
	int			length;

	if (is_common(hi_bits) && is_common(lo_bits) && wmlc_decimal_table.ready)
	{
		Decimal		hi = common_decimal(hi_bits);
		Decimal		lo = common_decimal(lo_bits);
		Digits		hi_digits = split_digits(hi);
		Digits		lo_digits = split_digits(lo);
		char	   *end;

		*out = '-';
		end = put_digits(out + (hi_bits >> 63), hi_digits, hi.exponent);
		*end = lo_bits >> 63 ? '-' : '+';
		end = put_digits(end + 1, lo_digits, lo.exponent);
		return (int) (end - out);
	}

	length = wmlc_decimal(value.hi, out);
	if (value.lo != 0.0)
	{
		if (!signbit(value.lo))
			out[length++] = '+';
		length += wmlc_decimal(value.lo, out + length);
	}
	return length;
}
