/*
 * golden.h
 *	  The golden section: where a function of one number is least.
 */
#ifndef WMLC_GOLDEN_H
#define WMLC_GOLDEN_H

#include "core/base/status.h"

typedef double (*WmlcFunction) (void *arg, double at);

/*
 * Between from and to, where the function falls and then rises; `width` is how
 * closely.  Anywhere in between when it is interrupted.
 */
static inline double
wmlc_golden_section(WmlcFunction function, void *arg, double from, double to, double width,
					WmlcPoll poll)
{
	const double ratio = 0.6180339887498949;
	double		a = to - ratio * (to - from);
	double		b = from + ratio * (to - from);
	double		at_a = function(arg, a);
	double		at_b = function(arg, b);

	while (to - from > width && !wmlc_interrupted(poll))
	{
		if (at_a <= at_b)
		{
			to = b;
			b = a;
			at_b = at_a;
			a = to - ratio * (to - from);
			at_a = function(arg, a);
		}
		else
		{
			from = a;
			a = b;
			at_a = at_b;
			b = from + ratio * (to - from);
			at_b = function(arg, b);
		}
	}
	return 0.5 * (from + to);
}

#endif							/* WMLC_GOLDEN_H */
