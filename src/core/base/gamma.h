/*
 * gamma.h
 *	  Derivatives of the logarithm of the gamma function.
 */
#ifndef WMLC_GAMMA_H
#define WMLC_GAMMA_H

/* For x > 0, right to 1e-12. */
extern double wmlc_digamma(double x);
extern double wmlc_trigamma(double x);

/* The x > 0 with wmlc_trigamma(x) = y, for y > 0. */
extern double wmlc_inverse_trigamma(double y);

#endif							/* WMLC_GAMMA_H */
