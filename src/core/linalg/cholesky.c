/*
 * cholesky.c
 *	  Cholesky factor of a symmetric matrix of double-doubles.
 *
 * The left-looking form: an entry of the factor is one dot product away from
 * the matrix.  Compared with updating the whole trailing block after every
 * column it rounds once per entry instead of k times, and writes it once.
 */
#include "core/linalg/cholesky.h"

/* Entry (i, k), given the reciprocal of the pivot. */
static void
set_entry(const WmlcDdLoops *loops, WmlcSquare square, int k, int i, WmlcDd reciprocal,
		  WmlcDdSpan remainder)
{
	WmlcDdSpan	row_k = wmlc_square_row(square, k);
	WmlcDdSpan	row_i = wmlc_square_row(square, i);
	WmlcDd		entry = wmlc_dd_get(row_i, k);

	entry = wmlc_dd_sub(entry, loops->dot(k, row_i, row_k));
	entry = wmlc_dd_mul(entry, reciprocal);
	wmlc_dd_set(row_i, k, entry);
	wmlc_dd_set(row_k, i, entry);
	wmlc_dd_set(remainder, i, wmlc_dd_sub(wmlc_dd_get(remainder, i),
										  wmlc_dd_mul(entry, entry)));
}

void
wmlc_cholesky_column(const WmlcDdLoops *loops, WmlcSquare square, int k, int n,
					 WmlcDdSpan remainder)
{
	WmlcDd		pivot = wmlc_dd_sqrt(wmlc_dd_get(remainder, k));
	WmlcDd		reciprocal = wmlc_dd_div(wmlc_dd(1.0), pivot);

	wmlc_dd_set(wmlc_square_row(square, k), k, pivot);
	for (int i = k + 1; i < n; i++)
		set_entry(loops, square, k, i, reciprocal, remainder);
}

void
wmlc_cholesky_entry(const WmlcDdLoops *loops, WmlcSquare square, int k, int i,
					WmlcDdSpan remainder)
{
	WmlcDd		pivot = wmlc_dd_get(wmlc_square_row(square, k), k);

	set_entry(loops, square, k, i, wmlc_dd_div(wmlc_dd(1.0), pivot), remainder);
}

void
wmlc_cholesky_forward(const WmlcDdLoops *loops, WmlcSquare factor, int first,
					  int n, WmlcDdSpan x)
{
	WmlcDdSpan	known = wmlc_dd_from(x, first);

	for (int i = first; i < n; i++)
	{
		WmlcDdSpan	row = wmlc_square_row(factor, i);
		WmlcDd		sum = loops->dot(i - first, wmlc_dd_from(row, first), known);

		wmlc_dd_set(x, i, wmlc_dd_div(wmlc_dd_sub(wmlc_dd_get(x, i), sum),
									  wmlc_dd_get(row, i)));
	}
}

void
wmlc_cholesky_solve(const WmlcDdLoops *loops, WmlcSquare factor, int n, WmlcDdSpan x)
{
	wmlc_cholesky_forward(loops, factor, 0, n, x);
	for (int i = n - 1; i >= 0; i--)
	{
		WmlcDdSpan	row = wmlc_square_row(factor, i);
		WmlcDd		sum = loops->dot(n - 1 - i, wmlc_dd_from(row, i + 1),
									   wmlc_dd_from(x, i + 1));

		wmlc_dd_set(x, i, wmlc_dd_div(wmlc_dd_sub(wmlc_dd_get(x, i), sum),
									  wmlc_dd_get(row, i)));
	}
}
