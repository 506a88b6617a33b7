/*
 * mlp_bound.c
 *	  The weights that minimise the bound on the target's risk,
 *
 *		B(alpha) = sum_j alpha_j L_j + 1/2 |omega|^2 gamma(alpha),
 *
 * where omega = (w, c, -1), so that L_j = 1/2 omega' M_j omega, and the loss of
 * one row, 1/2 (omega.z)^2, has the norm 1/2 |omega|^2 in the space of the
 * kernel.
 *
 * With kappa = 1/2 |omega|^2, U = omega omega' / |omega|^2 and e_j = M_j - M_T,
 * up to a constant
 *
 *		B = kappa (<U, sum_j alpha_j e_j> + gamma)
 *		  = kappa min_s (<U, sum_j alpha_j e_j> + (gamma^2 + s^2) / 2s),
 *
 * and for a given s the minimum over alpha is that of |sum_j alpha_j (e_j + s U)|,
 * the mixture nearest to a shifted target.  The whole is convex in (alpha, s)
 * jointly, and at the minimum s = gamma.  On a face of the simplex gamma^2 is
 * linear in s^2, so the secant method on s^2 ends as soon as it has met the
 * right face twice.
 *
 * With shrinking, gamma^2 + shrink v |alpha|^2 takes the place of gamma^2.
 * With whitening, omega is taken to the white basis along with z: L'omega.
 *
 * The network's own step leaves gamma out.  Descending it, too, looks natural
 * and is a trap: gamma is least for a basis that tells nothing apart, and with
 * a target far from all sources training ends in a constant.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/mlp/mlp_internal.h"

#define MAX_SECANT_STEPS 50
#define SECANT_TOLERANCE 1e-9	/* of s^2, relative to the largest distance squared */

/* The current output's omega in the basis of the points, and its length squared. */
static double
find_omega(WmlcMlpEmbedding *embedding)
{
	const WmlcMlpEngine *engine = &embedding->meta->engine;
	const WmlcMlpLayer *output = &engine->layer[engine->depth];
	const double *w = embedding->meta->theta.w;
	double	   *omega = embedding->omega;
	int			p = embedding->p;

	memcpy(omega, w + output->weights, (p - 2) * sizeof(double));
	omega[p - 2] = w[output->bias];
	omega[p - 1] = -1.0;

	/* L' omega; BLAS sees the rows of L as columns of L' */
	if (embedding->meta->options->whiten)
		cblas_dtrmv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, p, embedding->factor,
					embedding->stride, omega, 1);
	return cblas_ddot(p, omega, 1, omega, 1);
}

/* U, packed as the points are. */
static void
pack_omega_square(WmlcMlpEmbedding *embedding, double square)
{
	const double *omega = embedding->omega;
	size_t		k = 0;

	for (int i = 0; i < embedding->p; i++)
	{
		for (int j = 0; j < i; j++)
			embedding->omega_square[k++] = M_SQRT2 * omega[i] * omega[j] / square;
		embedding->omega_square[k++] = omega[i] * omega[i] / square;
	}
}

static void
shift_points(WmlcMlpEmbedding *embedding, size_t count, double by)
{
	for (size_t j = 0; j < count; j++)
		cblas_daxpy((int) embedding->dims, by, embedding->omega_square, 1,
					embedding->points + j * embedding->dims, 1);
}

static double
largest_square(const WmlcMlpEmbedding *embedding, size_t count)
{
	double		largest = 0.0;

	for (size_t j = 0; j < count; j++)
	{
		const double *point = embedding->points + j * embedding->dims;

		largest = fmax(largest, cblas_ddot((int) embedding->dims, point, 1, point, 1));
	}
	return largest;
}

/*
 * Minimise over alpha for this s, from points shifted by *shift so far.
 * Returns gamma^2 (with its shrinking) and leaves mixture and distance behind.
 */
static WmlcStatus
weights_for(WmlcMlpEmbedding *embedding, size_t count, double s, double *shift,
			double *alpha, double *gamma_square)
{
	WmlcStatus	status;
	double		square;

	shift_points(embedding, count, s - *shift);
	*shift = s;
	status = wmlc_mlp_weigh_points(embedding, count, alpha);
	if (status != WMLC_OK)
		return status;
	wmlc_mlp_mix(embedding, count, alpha);
	cblas_daxpy((int) embedding->dims, -s, embedding->omega_square, 1, embedding->mixture, 1);
	square = cblas_ddot((int) embedding->dims, embedding->mixture, 1, embedding->mixture, 1);
	embedding->distance = sqrt(square);
	*gamma_square = square + wmlc_weighting_ridge(&embedding->weighting, embedding->variance) *
		cblas_ddot((int) count, alpha, 1, alpha, 1);
	return WMLC_OK;
}

/*
 * gamma^2 - s^2 is positive below the solution and negative above it, and the
 * largest distance is above it: a bracket, which the secant may not leave.
 */
WmlcStatus
wmlc_mlp_bound_weights(WmlcMlpEmbedding *embedding, size_t count, double *alpha)
{
	double		square = find_omega(embedding);
	double		largest = largest_square(embedding, count);
	double		low = 0.0;
	double		high = largest;
	double		t = largest;
	double		last_t = 0.0;
	double		last_excess = 0.0;
	double		shift = 0.0;

	if (!(square > 0.0))
	{
		square = 1.0;
		memset(embedding->omega, 0, embedding->p * sizeof(double));
	}
	pack_omega_square(embedding, square);
	for (int step = 0; step < MAX_SECANT_STEPS; step++)
	{
		double		gamma_square;
		double		excess;
		double		next;
		WmlcStatus	status = weights_for(embedding, count, sqrt(t), &shift, alpha, &gamma_square);

		if (status != WMLC_OK)
			return status;
		excess = gamma_square - t;
		if (fabs(excess) <= SECANT_TOLERANCE * largest)
			break;
		if (excess > 0.0)
			low = t;
		else
			high = t;

		/* first the fixed-point step, which never passes the solution */
		next = step == 0 ? gamma_square
			: t - excess * (t - last_t) / (excess - last_excess);
		if (!(next > low && next < high))
			next = 0.5 * (low + high);
		last_t = t;
		last_excess = excess;
		t = next;
	}
	return WMLC_OK;
}
