/*
 * spectral.h
 *	  Orthogonal equations that say the same as a gram.
 *
 * A gram with A = sum psi psi', b = sum psi y is factored into at most d rows
 * (g_i, h_i), with g_i orthogonal to each other, A = sum g_i g_i', b = sum g_i
 * h_i.  Each g_i is an eigenvector of A, |g_i|^2 its eigenvalue: a polynomial
 * P(A) acts on the rows one by one, P(A) A = sum P(|g_i|^2) g_i g_i', with a
 * small relative error in every row, however many orders of magnitude the
 * values of P span.
 */
#ifndef WMLC_SPECTRAL_H
#define WMLC_SPECTRAL_H

#include "core/dd/dd_vector.h"
#include "core/base/status.h"

/* Bytes of workspace. */
extern size_t wmlc_spectral_workspace(int d);

/*
 * `square` is the symmetric p x p matrix (A, b; b', c), by rows `stride` apart;
 * it is destroyed and its leading rows, *rank of them, become the (g_i, h_i).
 * Where `orthogonal` is false the rows are a triangular factor's, which is
 * cheaper.  `count` is how many rows of data A sums over, as in solve.h.
 *
 * WMLC_NOT_POSITIVE: A has a clearly negative eigenvalue.
 */
extern WmlcStatus wmlc_spectral_rows(int d, int stride, WmlcDdSpan square, double count,
									 bool orthogonal, int *rank, void *work,
									 WmlcPoll poll);

/* x^n, for polynomials of eigenvalues */
static inline WmlcDd
wmlc_dd_power(WmlcDd x, unsigned n)
{
	WmlcDd		power = wmlc_dd(1.0);

	for (; n != 0; n >>= 1)
	{
		if ((n & 1) != 0)
			power = wmlc_dd_mul(power, x);
		x = wmlc_dd_mul(x, x);
	}
	return power;
}

#endif							/* WMLC_SPECTRAL_H */
