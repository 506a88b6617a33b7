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

/* Tails of F and chi-square where they are known otherwise, and the table of bounds. */
static void
test_relatives(void)
{
	for (double x = 0.01; x < 60.0; x *= 1.7)
	{
		CHECK_NEAR(wmlc_chi_square_tail(x, 2.0), exp(-0.5 * x), 1e-13);
		CHECK_NEAR(wmlc_chi_square_tail(x, 1.0), erfc(sqrt(0.5 * x)), 1e-13);
		CHECK_NEAR(wmlc_chi_square_tail(x, 4.0), exp(-0.5 * x) * (1.0 + 0.5 * x), 1e-13);
		for (double degrees = 1.0; degrees < 300.0; degrees *= 2.5)
		{
			CHECK_NEAR(wmlc_f_tail(x, 1.0, degrees), 2.0 * wmlc_student_tail(sqrt(x), degrees),
					   1e-12);
			CHECK_NEAR(wmlc_f_tail(x, degrees, 3.0) + wmlc_f_tail(1.0 / x, 3.0, degrees), 1.0,
					   1e-12);
		}
	}
	for (double level = 0.5; level < 0.9999; level = 1.0 - 0.5 * (1.0 - level))
	{
		WmlcStudentTable table;

		wmlc_student_table(level, &table);
		for (double degrees = 0.5; degrees < 1e7; degrees *= 1.3)
			CHECK(fabs(wmlc_student_look_up(&table, degrees)
					   / wmlc_student_bound(level, degrees) - 1.0) < 1e-11, "level %g, %g degrees",
				  level, degrees);
	}
}

int
main(void)
{
	test_closed_forms();
	test_inverse();
	test_relatives();
	return check_summary();
}
