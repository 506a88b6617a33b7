/*
 * check.h
 *	  The few lines a unit test of the core needs: count, report, summarise.
 */
#ifndef WML_UNIT_CHECK_H
#define WML_UNIT_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static int	checks_passed = 0;
static int	checks_failed = 0;

#define CHECK(cond, ...) \
	do { \
		if (cond) \
			checks_passed++; \
		else \
		{ \
			checks_failed++; \
			printf("%s:%d: failed: %s: ", __FILE__, __LINE__, #cond); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

/* |actual - expected| <= tolerance * max(1, |expected|) */
#define CHECK_NEAR(actual, expected, tolerance) \
	do { \
		double a_ = (actual); \
		double e_ = (expected); \
		double scale_ = fabs(e_) > 1.0 ? fabs(e_) : 1.0; \
		CHECK(fabs(a_ - e_) <= (tolerance) * scale_, "%.17g instead of %.17g", a_, e_); \
	} while (0)

/* A small deterministic generator (Knuth's MMIX constants), uniform on [0, 1). */
static inline double
check_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double) (*state >> 11) * 0x1p-53;
}

/* Standard normal, Box and Muller. */
static inline double
check_normal(uint64_t *state)
{
	double		u = check_random(state);
	double		v = check_random(state);

	return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}

static inline int
check_summary(void)
{
	printf("%d passed, %d failed\n", checks_passed, checks_failed);
	return checks_failed == 0 ? 0 : 1;
}

#endif							/* WML_UNIT_CHECK_H */
