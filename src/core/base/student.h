/*
 * student.h
 *	  Quantiles of Student's t and of the normal distribution.
 */
#ifndef WMLC_STUDENT_H
#define WMLC_STUDENT_H

/* P(t > x) for x >= 0; degrees > 0 need not be whole, and may be infinite. */
extern double wmlc_student_tail(double x, double degrees);

/* P(F > x) for x >= 0, and P(chi^2 > x); degrees > 0 need not be whole. */
extern double wmlc_f_tail(double x, double numerator, double denominator);
extern double wmlc_chi_square_tail(double x, double degrees);

/*
 * The x that |t| stays below with probability `level`: 1.96 for 0.95 and
 * infinite degrees.  0 for level 0, infinity for level 1.
 */
extern double wmlc_student_bound(double level, double degrees);

/*
 * The same bound for many degrees of freedom and one level, from a Chebyshev
 * series of its logarithm in 1 / degrees; as exact, but for a few units of the
 * thirteenth digit.  Below one degree of freedom it is the bound itself.
 */
#define WMLC_STUDENT_TERMS 40

typedef struct WmlcStudentTable
{
	double		level;
	double		terms[WMLC_STUDENT_TERMS];
} WmlcStudentTable;

extern void wmlc_student_table(double level, WmlcStudentTable *table);
extern double wmlc_student_look_up(const WmlcStudentTable *table, double degrees);

#endif							/* WMLC_STUDENT_H */
