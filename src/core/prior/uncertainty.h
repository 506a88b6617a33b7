/*
 * uncertainty.h
 *	  What the sources leave open about a prior, in the posterior of a task.
 *
 * A posterior takes mu and S for known.  With H = dm/dmu and C the sampling covariance of mu, not
 * knowing mu adds H C H' to the variance.  What not knowing S adds has the form H E H', too.
 *
 * Each of J sources tells its coefficients with an error, so what S is estimated from are squares of
 * variables with a covariance of T = J C, the spread and the noise of a typical source, with n = J - 1
 * degrees of freedom.  To the order of 1 / n, the error of m for want of S, and the error of V, which
 * is a concave function of S, add up to
 *
 *	  E = ((D + q) T + 2 T P T) / n,		q = tr T P,		D = r'P T P r,
 *
 * (Kackar, Harville 1984; Prasad, Rao 1990).  Here r are the residuals about mu and P = X'(s2 I + X S X')^-1
 * X, the task's information about its coefficients; q says in how many directions of T the rows tell
 * them, and D, expected to be about q, how far they lie from mu.  Where rows tell q directions exactly and
 * sources have no noise, the others follow from these as in a regression over n + 1 sources, and the
 * variance is exactly (n + D) / (n - q) times S.  So with k, the eigenvalues of T P,
 *
 *	  1 + E / T = (n + D + 3 k) / (n - (q - k))
 *
 * in the direction that belongs to k; and what comes of it has n - (q - k) degrees of freedom, and k
 * more, because the task's own distance D has entered.  To the first order the shares are as above.  They
 * are bounded by taking P at an S that is larger by two standard errors: with many rows and a small S
 * they are not small, and a series in them is no good.  If S is diagonal, directions tell nothing of each
 * other, and only k and its share of D count.
 *
 * An evenness of e makes S that of n + e tasks, the e ones with the same spread everywhere.  Then
 *
 *	- coefficients of the regression are drawn towards zero: of what they cost a share of
 *	  b = (n - e) / (n + e) is left, -1 where there is no regression at all and the scale alone is
 *	  learned from D; so n becomes n + e, n - (q - k) becomes n + e - b (q - k) and 3 k, (b + 2) k.  That
 *	  joins the two limits, and nothing proves it between them;
 *	- a variance has (n + e) / (1 + e / n p) degrees of freedom, n without evenness and n p, of all p
 *	  directions together, if the spread is the same in all of them;
 *	- squares that are shared out more evenly than they were are fewer: the trace of S is too small by
 *	  e / n times the squared coefficient of variation of its eigenvalues, as its equation says
 *	  (prior_newton.c).
 *
 * Where there are fewer degrees of freedom than directions, S is zero in some of them, which is
 * chance: the sources say nothing there.  The best guess is that the spread is there what it is
 * elsewhere, in units of the noise of a typical source, T - S.  So as many tasks of even spread are
 * added to T, but not to S, as are missing: e = p - n.  But where S is at zero, m stays where it is and
 * has no error from following S.  So of E / T no more is left there than a power of S / T, whose exponent,
 * (e + 1/2) / 2 (n + e), is fitted.  Besides, "two standard errors" and, if S is diagonal, one k of three
 * were chosen by simulation.  Maximum likelihood divides by J what has n degrees of freedom, which
 * makes T too small.
 *
 * Features without spread have no T, and the T of the others is theirs were the former known.  The
 * error of mu is C times n / (n - (q - k)).
 */
#ifndef WMLC_UNCERTAINTY_H
#define WMLC_UNCERTAINTY_H

#include "core/prior/posterior.h"

extern size_t wmlc_uncertainty_workspace(int dims);

/*
 * Given a posterior that is complete otherwise, `residual`, its R (w_ols - mu), and the task's descriptor:
 * mean_factor becomes the factor of C and E, and tasks_left the degrees of freedom.
 */
extern WmlcStatus wmlc_add_uncertainty(WmlcPosterior *posterior, const double *residual,
									   const double *descriptor, void *work);

/* n: degrees of freedom that the sources have for S */
extern double wmlc_source_degrees(const WmlcPrior *prior);

#endif							/* WMLC_UNCERTAINTY_H */
