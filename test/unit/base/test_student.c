/*
 * test_student.c
 *	  Quantiles of Student's t against closed forms, and against their own tails.
 */
#include "check.h"
#include "core/base/student.h"

/* With 1 and 2 degrees of freedom, and with infinitely many, there are formulas. */
static void
test_closed_forms(void)
{
	for (double x = 0.0; x < 50.0; x += 0.37)
	{
		CHECK_NEAR(wmlc_student_tail(x, 1.0), atan2(1.0, x) / M_PI, 1e-14);
		CHECK_NEAR(wmlc_student_tail(x, 2.0), 0.5 * (1.0 - x / sqrt(2.0 + x * x)), 1e-14);
		CHECK_NEAR(wmlc_student_tail(x, INFINITY), 0.5 * erfc(x / sqrt(2.0)), 1e-14);
	}
}

/* The bound of a level leaves half of the rest on each side. */
static void
test_inverse(void)
{
	const double degrees[] = {1.0, 1.5, 3.0, 9.7, 30.0, 1000.0, INFINITY};

	for (int k = 0; k < 7; k++)
		for (double level = 0.05; level < 1.0; level += 0.045)
		{
			double		x = wmlc_student_bound(level, degrees[k]);

			CHECK(fabs(2.0 * wmlc_student_tail(x, degrees[k]) - (1.0 - level)) <= 1e-13,
				  "level %g, %g degrees: %g", level, degrees[k], x);
		}
	CHECK_NEAR(wmlc_student_bound(0.95, INFINITY), 1.959963984540054, 1e-14);
	CHECK_NEAR(wmlc_student_bound(0.95, 10.0), 2.228138851986274, 1e-13);
	CHECK(wmlc_student_bound(0.0, 5.0) == 0.0, "level 0");
	CHECK(isinf(wmlc_student_bound(1.0, 5.0)), "level 1");
}

int
main(void)
{
	test_closed_forms();
	test_inverse();
	return check_summary();
}
