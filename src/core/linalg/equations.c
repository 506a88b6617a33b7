/*
 * equations.c
 *	  Weighted least squares by plane rotations, in double-double.
 */
#include "core/base/triangle.h"
#include "core/linalg/equations.h"

#include <string.h>


/* An entry this small beside others of its row counts as zero. */
#define NEGLIGIBLE 0x1p-53

double
wmlc_equations_scale(double sum_of_squares)
{
	return sum_of_squares > 0.0 ? ldexp(1.0, -(ilogb(sum_of_squares) / 2)) : 1.0;
}

WmlcDdSpan
wmlc_equations_row(const WmlcEquations *equations, int i)
{
	return wmlc_dd_from(equations->triangle, wmlc_triangle_index(equations->d + 1, i, i));
}

static bool
is_finite(int n, WmlcDdSpan x)
{
	for (int i = 0; i < n; i++)
	{
		if (!isfinite(x.hi[i]) || !isfinite(x.lo[i]))
			return false;
	}
	return true;
}

/* c and s with c a + s b = hypot(a, b) and c b - s a = 0, not both zero */
static void
plane_rotation(WmlcDd a, WmlcDd b, WmlcDd *c, WmlcDd *s)
{
	int			exponent = ilogb(fmax(fabs(a.hi), fabs(b.hi)));
	double		unit = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
	WmlcDd		length;

	a = wmlc_dd_scale(a, unit);
	b = wmlc_dd_scale(b, unit);
	length = wmlc_dd_sqrt(wmlc_dd_add(wmlc_dd_mul(a, a), wmlc_dd_mul(b, b)));
	*c = wmlc_dd_div(a, length);
	*s = wmlc_dd_div(b, length);
}

/* Is entry i of a row as good as zero? */
static bool
is_negligible(const WmlcEquations *equations, WmlcDdSpan row, int i)
{
	double		largest = 0.0;

	if (row.hi[i] == 0.0 || i < equations->auxiliary)
		return row.hi[i] == 0.0;
	for (int j = i + 1; j < equations->d; j++)
		largest = fabs(row.hi[j]) > largest ? fabs(row.hi[j]) : largest;
	return fabs(row.hi[i]) < NEGLIGIBLE * largest;
}

WmlcStatus
wmlc_equations_add(const WmlcEquations *equations, WmlcDdSpan row)
{
	const WmlcDdVectorLoops *loops = wmlc_dd_vector_loops();
	int			d = equations->d;

	for (int i = 0; i < d; i++)
		wmlc_dd_set(row, i, wmlc_dd_scale(wmlc_dd_get(row, i), equations->scale[i]));
	if (!is_finite(d + 1, row))
		return WMLC_NOT_FINITE;
	for (int i = 0; i < d; i++)
	{
		WmlcDdSpan	own = wmlc_equations_row(equations, i);
		WmlcDdSpan	rest = wmlc_dd_from(row, i);
		int			n = d + 1 - i;
		WmlcDd		c,
					s;

		if (is_negligible(equations, row, i))
			continue;
		if (own.hi[0] == 0.0)
		{
			memcpy(own.hi, rest.hi, n * sizeof(double));
			memcpy(own.lo, rest.lo, n * sizeof(double));
			break;
		}
		plane_rotation(wmlc_dd_get(own, 0), wmlc_dd_get(rest, 0), &c, &s);
		loops->rotate(n, c, s, own, rest);
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_equations_merge(const WmlcEquations *equations, const WmlcEquations *other, WmlcDd factor,
					 WmlcDdSpan row, WmlcPoll poll)
{
	int			d = equations->d;
	WmlcStatus	status = WMLC_OK;

	for (int i = 0; i < d && status == WMLC_OK; i++)
	{
		WmlcDdSpan	source = wmlc_equations_row(other, i);

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int j = 0; j <= d; j++)
		{
			WmlcDd		entry = j < i ? wmlc_dd(0.0) : wmlc_dd_mul(factor, wmlc_dd_get(source, j - i));

			wmlc_dd_set(row, j, j < d ? wmlc_dd_scale(entry, 1.0 / other->scale[j]) : entry);
		}
		status = wmlc_equations_add(equations, row);
	}
	return status;
}

WmlcStatus
wmlc_equations_solve(const WmlcEquations *equations, WmlcDd *w, int *rank)
{
	int			d = equations->d;

	*rank = 0;
	for (int i = d - 1; i >= 0; i--)
	{
		WmlcDdSpan	row = wmlc_equations_row(equations, i);
		WmlcDd		rest = wmlc_dd_get(row, d - i);

		if (!is_finite(d + 1 - i, row))
			return WMLC_NOT_FINITE;
		w[i] = wmlc_dd(0.0);
		if (row.hi[0] == 0.0)
			continue;
		for (int j = i + 1; j < d; j++)
			rest = wmlc_dd_sub(rest, wmlc_dd_mul(wmlc_dd_get(row, j - i), w[j]));
		w[i] = wmlc_dd_div(rest, wmlc_dd_get(row, 0));
		if (!wmlc_dd_is_finite(w[i]))
			return WMLC_NOT_FINITE;
		++*rank;
	}
	for (int i = 0; i < d; i++)
		w[i] = wmlc_dd_scale(w[i], equations->scale[i]);
	return WMLC_OK;
}
