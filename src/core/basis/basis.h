/*
 * basis.h
 *	  Basis expansions of a row: random Fourier features, monomials, seasonal
 *	  harmonics.
 *
 * The same arguments give the same bits on every machine.  Coefficients outlive
 * the server that fitted them, and parallel workers and shards must agree, so
 * nothing here depends on the platform's mathematical library: sine, cosine and
 * logarithm are our own, made of correctly rounded operations.
 */
#ifndef WMLC_BASIS_H
#define WMLC_BASIS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/dd/dd.h"

/*
 * Random Fourier features (Rahimi and Recht 2007),
 *
 *	  out_j = sqrt(2 / m) cos(omega_j . x + phase_j),  j < m,
 *
 * omega_j normal with mean 0 and standard deviation 1 / lengthscale in each of
 * its k coordinates, phase_j uniform over a full turn.  Their inner products
 * approximate the Gaussian kernel exp(-|x - x'|^2 / (2 lengthscale^2)).
 *
 * omega_j and phase_j depend on seed, j and coordinate alone: more features or
 * coordinates leave the first ones as they are.  The phase omega . x is right to
 * about k 2^-53 of its size, in turns.  What is not finite in x gives NaN.
 * Frequencies are drawn once for many rows.
 */
extern size_t wmlc_rff_doubles(int k, int m);
extern WmlcStatus wmlc_rff_prepare(int k, int m, double lengthscale, uint64_t seed,
								   double *frequencies, WmlcPoll poll);
extern WmlcStatus wmlc_rff_apply(int k, const double *x, int m, const double *frequencies,
								 double *out, WmlcPoll poll);

/*
 * All monomials in x_0 ... x_(k-1) up to a total degree, in graded lexicographic
 * order: 1; x_0, x_1, ...; x_0^2, x_0 x_1, ..., x_1^2, ...; and so on.
 */
extern void wmlc_poly(int k, const double *x, int degree, double *out);

/* How many: k + degree over degree, or -1 when that exceeds an int. */
extern int	wmlc_poly_count(int k, int degree);

/*
 * 1, cos a, sin a, cos 2a, sin 2a, ..., cos ha, sin ha with a = 2 pi t / period and
 * h harmonics: 2 h + 1 values, exact to the last digit or so however many periods
 * t spans.  The period is finite and positive.
 */
extern void wmlc_fourier(double t, double period, int harmonics, double *out);

/* Sine and cosine of 2 pi turns, within one unit in the last place. */
extern void wmlc_sincos_turns(WmlcDd turns, double *sine, double *cosine);

/* Natural logarithm of a positive normal number, within 2 units in the last place. */
extern double wmlc_log(double x);

#endif							/* WMLC_BASIS_H */
