/*
 * test_decimal.c
 *	  The shortest decimal form of doubles, against the definition of it in
 *	  exact integers of many words.
 */
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"

#include "check.h"

static uint64_t seed = 11;

static uint64_t
random_bits(void)
{
	uint64_t	high = (uint64_t) (check_random(&seed) * 0x1p32);

	return high << 32 | (uint64_t) (check_random(&seed) * 0x1p32);
}

static double
double_of(uint64_t bits)
{
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Integers below 2^1280: any 64 bits times any power of ten or two that occurs. */
#define WORDS 40
#define MAX_POWER 345

typedef struct Integer
{
	uint32_t	word[WORDS];
} Integer;

static Integer power_of_ten[MAX_POWER + 1];

static Integer
times(const Integer *a, uint64_t factor)
{
	Integer		result;
	__uint128_t carry = 0;

	for (int i = 0; i < WORDS; i++)
	{
		carry += (__uint128_t) a->word[i] * factor;
		result.word[i] = (uint32_t) carry;
		carry >>= 32;
	}
	return result;
}

static Integer
times_power_of_two(const Integer *a, int power)
{
	Integer		scaled = times(a, UINT64_C(1) << power % 32);
	Integer		result = {{0}};

	for (int i = power / 32; i < WORDS; i++)
		result.word[i] = scaled.word[i - power / 32];
	return result;
}

static void
compute_powers_of_ten(void)
{
	power_of_ten[0] = (Integer) {{1}};
	for (int n = 1; n <= MAX_POWER; n++)
		power_of_ten[n] = times(&power_of_ten[n - 1], 10);
}

/* The sign of a 10^e - b 2^q. */
static int
compare(uint64_t a, int e, uint64_t b, int q)
{
	Integer		left = times(&power_of_ten[e > 0 ? e : 0], a);
	Integer		right = times(&power_of_ten[e < 0 ? -e : 0], b);

	if (q < 0)
		left = times_power_of_two(&left, -q);
	else
		right = times_power_of_two(&right, q);
	for (int i = WORDS - 1; i >= 0; i--)
		if (left.word[i] != right.word[i])
			return left.word[i] < right.word[i] ? -1 : 1;
	return 0;
}

/* A finite double as 4c 2^q, with the ends of its interval in the same unit. */
typedef struct Interval
{
	uint64_t	below;
	uint64_t	value;
	uint64_t	above;
	int			q;
} Interval;

static Interval
interval_of(double value)
{
	int			exponent;
	uint64_t	c = (uint64_t) ldexp(frexp(fabs(value), &exponent), 53);
	Interval	result;

	exponent -= 53;
	if (exponent < -1074)
	{
		c >>= -1074 - exponent;
		exponent = -1074;
	}
	result.value = 4 * c;
	result.above = 4 * c + 2;
	result.below = c == UINT64_C(1) << 52 && exponent > -1074 ? 4 * c - 1 : 4 * c - 2;
	result.q = exponent - 2;
	return result;
}

static bool
is_inside(uint64_t digits, int e, const Interval *interval)
{
	return compare(digits, e, interval->below, interval->q) > 0 &&
		compare(digits, e, interval->above, interval->q) < 0;
}

/* The digits without zeros at the end, as an integer times 10^e. */
static uint64_t
scan_digits(const char *text, int *e)
{
	uint64_t	digits = 0;
	int			zeros = 0;
	bool		behind_point = false;

	*e = 0;
	for (text += *text == '-'; *text != '\0' && *text != 'e'; text++)
	{
		if (*text == '.')
		{
			behind_point = true;
			continue;
		}
		*e -= behind_point;
		zeros++;
		if (*text != '0')
		{
			for (; zeros > 0 && digits != 0; zeros--)
				digits *= 10;
			zeros = 0;
			digits = digits + (uint64_t) (*text - '0');
		}
	}
	*e += zeros + (*text == 'e' ? atoi(text + 1) : 0);
	return digits;
}

/* The text of digits 10^e, in the plainest way: as %g but with its own limits. */
static void
write_plainly(char *out, bool negative, uint64_t digits, int e)
{
	char		text[32];
	int			count = sprintf(text, "%llu", (unsigned long long) digits);
	int			first = e + count - 1;

	out += sprintf(out, "%s", negative ? "-" : "");
	if (first < -4 || first >= 15)
		sprintf(out, "%c%s%se%c%02d", text[0], count > 1 ? "." : "", text + 1,
				first < 0 ? '-' : '+', abs(first));
	else if (first < 0)
		sprintf(out, "0.%.*s%s", -first - 1, "000", text);
	else if (e >= 0)
		sprintf(out, "%s%.*s", text, e, "00000000000000");
	else
		sprintf(out, "%.*s.%s", first + 1, text, text + first + 1);
}

/* What is wrong with the decimal form of a finite value other than zero, or NULL. */
static const char *
problem_of(double value)
{
	static char text[WMLC_DECIMAL_LENGTH + 8];
	char		plain[400];
	Interval	interval = interval_of(value);
	uint64_t	digits;
	int			length,
				e,
				side;

	memset(text, '#', sizeof(text));
	length = wmlc_decimal(value, text);
	if (length > WMLC_DECIMAL_LENGTH || text[WMLC_DECIMAL_LENGTH] != '#')
		return "too long";
	text[length] = '\0';
	if (strtod(text, NULL) != value)
		return "another value";
	digits = scan_digits(text, &e);
	if (digits == 0 || digits >= UINT64_C(100000000000000000))
		return "no digits, or too many";
	write_plainly(plain, value < 0.0, digits, e);
	if (strcmp(text, plain) != 0)
		return "layout";

	if (!is_inside(digits, e, &interval))
		return "not inside";
	if (is_inside(digits - digits % 10, e, &interval) || is_inside(digits - digits % 10 + 10, e, &interval))
		return "not the shortest";
	side = compare(2 * digits - 1, e, interval.value, interval.q + 1);
	if ((side > 0 || (side == 0 && digits % 2 != 0)) && is_inside(digits - 1, e, &interval))
		return "not the nearest, which is below";
	side = compare(2 * digits + 1, e, interval.value, interval.q + 1);
	if ((side < 0 || (side == 0 && digits % 2 != 0)) && is_inside(digits + 1, e, &interval))
		return "not the nearest, which is above";
	return NULL;
}

/* Checks many values and reports the first that is wrong. */
static int	wrong;

static void
check_value(double value)
{
	const char *problem = value == 0.0 || !isfinite(value) ? NULL : problem_of(value);

	if (problem != NULL && wrong++ == 0)
	{
		char		text[WMLC_DECIMAL_LENGTH];
		int			length = wmlc_decimal(value, text);

		printf("%a as %.*s: %s\n", value, length, text, problem);
	}
}

static void
check_text(double value, const char *expected)
{
	char		text[WMLC_DECIMAL_LENGTH];
	int			length = wmlc_decimal(value, text);

	CHECK((size_t) length == strlen(expected) && memcmp(text, expected, strlen(expected)) == 0,
		  "%.*s instead of %s", length, text, expected);
}

static void
test_known(void)
{
	check_text(0.0, "0");
	check_text(-0.0, "-0");
	check_text(INFINITY, "Infinity");
	check_text(-INFINITY, "-Infinity");
	check_text(NAN, "NaN");
	check_text(-NAN, "NaN");
	check_text(1.0, "1");
	check_text(-1.0, "-1");
	check_text(0.1, "0.1");
	check_text(0.5, "0.5");
	check_text(1.25, "1.25");
	check_text(10.0, "10");
	check_text(1234567.0, "1234567");
	check_text(12345678.0, "12345678");
	check_text(123456789.0, "123456789");
	check_text(1234567.25, "1234567.25");
	check_text(12345678.25, "12345678.25");
	check_text(123456789.25, "123456789.25");
	check_text(12345678.9012345678, "12345678.901234567");
	check_text(-0.00012345678901234567, "-0.00012345678901234567");
	check_text(-1.2345678901234567e-123, "-1.2345678901234567e-123");

	/* where the layout changes */
	check_text(0.001, "0.001");
	check_text(0.0001, "0.0001");
	check_text(0.00001, "1e-05");
	check_text(nextafter(0.0001, 0.0), "9.999999999999999e-05");
	check_text(1e14, "100000000000000");
	check_text(1e15, "1e+15");
	check_text(1e16, "1e+16");
	check_text(1e17, "1e+17");
	check_text(nextafter(1e15, 0.0), "999999999999999.9");
	check_text(123456789012345.0, "123456789012345");
	check_text(1234567890123456.0, "1.234567890123456e+15");
	check_text(1e22, "1e+22");
	check_text(1e99, "1e+99");
	check_text(1e100, "1e+100");
	check_text(1e-99, "1e-99");
	check_text(1e-100, "1e-100");

	/* both ends of the range, and the smaller steps below powers of two */
	check_text(DBL_MAX, "1.7976931348623157e+308");
	check_text(DBL_MIN, "2.2250738585072014e-308");
	check_text(nextafter(DBL_MIN, 0.0), "2.225073858507201e-308");
	check_text(0x1p-1074, "5e-324");
	check_text(0x1p-1073, "1e-323");
	check_text(0x3p-1074, "1.5e-323");
	check_text(0x1p-44, "5.684341886080802e-14");
	check_text(0x1p-854, "8.32498966371959e-258");
	check_text(0x1p1023, "8.98846567431158e+307");

	/* An end of the interval does not count, though it would read back. */
	check_text(1e23, "9.999999999999999e+22");
	check_text(2e23, "1.9999999999999998e+23");
	check_text(0x1p53, "9.007199254740992e+15");
	check_text(9007199254740993.0, "9.007199254740992e+15");
	check_text(9007199254740995.0, "9.007199254740996e+15");
	check_text(18014398509481992.0, "1.8014398509481992e+16");

	/* from the middle to the even digit */
	check_text(562949953421312.25, "562949953421312.2");
	check_text(562949953421312.75, "562949953421312.8");
}

/* Where an end of the interval, or the middle between two digits, is nearest to being met. */
static void
test_hard(void)
{
	static const struct
	{
		int64_t		c;
		int			q;
	}			hard[] = {
		{6898586531774200, -549}, {5539753864394442, 706}, {4662377310054807, -702},
		{5539753864394442, 707}, {5657214278064574, -917}, {5224462102115359, -242},
		{5592117679628511, 164}, {6685530990800801, -866}, {4523334317446900, 486},
		{5654167896808625, 489}, {5789867926332032, 479}, {6080469016670379, -381},
	};

	for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
	{
		check_value(ldexp((double) hard[i].c, hard[i].q));
		check_value(ldexp((double) (hard[i].c + 1), hard[i].q));
	}
	CHECK(wrong == 0, "%d hard values", wrong);
}

static void
test_regular(void)
{
	for (int exponent = 0; exponent < 0x7ff; exponent++)
		for (int i = -3; i <= 3; i++)
			check_value(double_of(((uint64_t) exponent << 52) + (uint64_t) i));
	CHECK(wrong == 0, "%d values about powers of two", wrong);

	for (int e = -330; e <= 308; e++)
	{
		char		text[16];

		for (int i = 1; i < 100; i += 7)
		{
			double		value;

			sprintf(text, "%de%d", i, e);
			value = strtod(text, NULL);
			check_value(value);
			check_value(-nextafter(value, 0.0));
		}
	}
	CHECK(wrong == 0, "%d values about powers of ten", wrong);

	for (int i = 1; i < 10000; i++)
	{
		check_value(i * 0x1p-1074);
		check_value(i);
		check_value(0x1p53 + i);
		check_value(i * 0.125);
		check_value(0x1p50 + i * 0.25);
		check_value(i / 1000.0);
	}
	CHECK(wrong == 0, "%d small multiples", wrong);
}

static void
test_random(void)
{
	for (int i = 0; i < 120000; i++)
		check_value(double_of(random_bits()));
	CHECK(wrong == 0, "%d random bits", wrong);
	for (int i = 0; i < 60000; i++)
		check_value(check_random(&seed));
	CHECK(wrong == 0, "%d numbers below 1", wrong);
	for (int i = 0; i < 60000; i++)
		check_value((double) (random_bits() >> (int) (64 * check_random(&seed))));
	CHECK(wrong == 0, "%d integers", wrong);
	for (int i = 0; i < 60000; i++)
		check_value(ldexp((double) (random_bits() >> 40), (int) (200 * check_random(&seed)) - 100));
	CHECK(wrong == 0, "%d numbers of few bits", wrong);
}

/* A sum is written as its two numbers are, whichever way it goes. */
static void
check_sum(double hi, double lo)
{
	char		sum[WMLC_DECIMAL_DD_LENGTH + 1];
	char		parts[WMLC_DECIMAL_DD_LENGTH + 1];
	int			length;

	sum[WMLC_DECIMAL_DD_LENGTH] = '#';
	sum[wmlc_decimal_dd((WmlcDd) {hi, lo}, sum)] = '\0';
	length = wmlc_decimal(hi, parts);
	if (lo != 0.0)
	{
		if (!signbit(lo))
			parts[length++] = '+';
		length += wmlc_decimal(lo, parts + length);
	}
	parts[length] = '\0';
	if (strcmp(sum, parts) != 0 && wrong++ == 0)
		printf("%s instead of %s\n", sum, parts);
}

static void
test_sums(void)
{
	static const double part[] = {
		0.0, -0.0, 1.0, -2.0, 0.1, -0.3, 12345.678, 1e-17, -1.2345678901234567e-123,
		1e300, 0x1p-1074, -DBL_MAX, INFINITY
	};
	const int	count = sizeof(part) / sizeof(part[0]);

	for (int i = 0; i < count; i++)
		for (int j = 0; j < count; j++)
			check_sum(part[i], part[j]);
	for (int i = 0; i < 10000; i++)
		check_sum(check_normal(&seed), 1e-17 * check_normal(&seed));
	CHECK(wrong == 0, "%d sums", wrong);
}

int
main(void)
{
	compute_powers_of_ten();
	test_known();
	test_hard();
	test_regular();
	test_random();
	test_sums();
	return check_summary();
}
