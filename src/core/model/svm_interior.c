/*
 * svm_interior.c
 *	  The support vector machine of svm.h by an interior-point method, for
 *	  features of unlike size, with which coordinate descent makes no headway.
 *
 * With z_i = y_i x_i, loss_i >= 0 and slack_i = z_i.w - 1 + loss_i >= 0, the
 * solution has a_i slack_i = 0 and (cost_i - a_i) loss_i = 0.  Newton's method
 * for products equal to a target that goes to zero leads to
 *
 *		(Z Z' + diag(theta)) da = rhs,	theta = loss / (cost - a) + slack / a
 *
 * which by w = Z'a is a system (I + Z' diag(1/theta) Z) dw = Z' (rhs / theta) of
 * d equations (Ferris and Munson, "Interior-point methods for massive support
 * vector machines", 2002).  The sum of all products is the duality gap.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/model/svm.h"

/* Each step shrinks the products to this share, as far as it can be made. */
#define CENTERING 0.1

/* Share of the way to the boundary that a step may go. */
#define TO_BOUNDARY 0.99

#define MAX_STEPS 100

/* Rows that are gathered for one call of BLAS. */
#define BLOCK 64

typedef struct Interior
{
	WmlcSvm    *svm;
	double	   *loss;
	double	   *slack;
	double	   *rhs;
	double	   *da;
	double	   *w;				/* goes its own way to Z'a: rounding keeps them apart */
	double	   *matrix;			/* d x d */
	double	   *dw;
	double	   *block;			/* BLOCK x d */
	double		target;			/* of the products */
} Interior;

size_t
wmlc_svm_interior_workspace(size_t rows, int dims)
{
	return (4 * rows + (size_t) dims * dims + 2 * (size_t) dims + (size_t) BLOCK * dims) * sizeof(double);
}

/* Rows that the method has nothing to decide about. */
static inline bool
is_settled(const WmlcSvm *svm, size_t i)
{
	return !(svm->square[i] > 0.0 && svm->cost[i] > 0.0);
}

/* y_i v.x_i */
static double
margin(const WmlcSvm *svm, const double *v, size_t i)
{
	return svm->y[i] * cblas_ddot(svm->dims, v, 1, svm->x + i * svm->dims, 1);
}

/* w = Z'a */
static void
refresh_w(WmlcSvm *svm)
{
	memset(svm->w, 0, svm->dims * sizeof(double));
	for (size_t i = 0; i < svm->rows; i++)
		cblas_daxpy(svm->dims, svm->dual[i] * svm->y[i], svm->x + i * svm->dims, 1, svm->w, 1);
}

/*
 * Halfway between the bounds of a, or lower so that no margin is large; losses
 * and slacks that fit w.
 */
static void
start_inside(Interior *interior)
{
	WmlcSvm    *svm = interior->svm;
	double		largest = 1.0;

	for (size_t i = 0; i < svm->rows; i++)
	{
		if (!is_settled(svm, i))
			svm->dual[i] = svm->cost[i] / 2.0;
	}
	refresh_w(svm);
	for (size_t i = 0; i < svm->rows; i++)
		largest = fmax(largest, fabs(margin(svm, svm->w, i)));
	for (size_t i = 0; i < svm->rows; i++)
	{
		if (!is_settled(svm, i))
			svm->dual[i] /= largest;
	}
	refresh_w(svm);
	memcpy(interior->w, svm->w, svm->dims * sizeof(double));
	for (size_t i = 0; i < svm->rows; i++)
	{
		double		excess = margin(svm, svm->w, i) - 1.0;

		interior->loss[i] = 1.0 + fmax(0.0, -excess);
		interior->slack[i] = 1.0 + fmax(0.0, excess);
	}
}

/* The sum of the products, and how many there are. */
static double
sum_products(const Interior *interior, double *count)
{
	const WmlcSvm *svm = interior->svm;
	double		sum = 0.0;

	*count = 0.0;
	for (size_t i = 0; i < svm->rows; i++)
	{
		if (is_settled(svm, i))
			continue;
		sum += svm->dual[i] * interior->slack[i] + (svm->cost[i] - svm->dual[i]) * interior->loss[i];
		*count += 2.0;
	}
	return sum;
}

static double
theta_of(const Interior *interior, size_t i)
{
	const WmlcSvm *svm = interior->svm;

	return interior->loss[i] / (svm->cost[i] - svm->dual[i]) + interior->slack[i] / svm->dual[i];
}

/* The system's matrix and right side. */
static WmlcStatus
build_system(Interior *interior, WmlcPoll poll)
{
	WmlcSvm    *svm = interior->svm;
	int			d = svm->dims;
	int			filled = 0;

	memset(interior->matrix, 0, (size_t) d * d * sizeof(double));
	refresh_w(svm);
	for (int k = 0; k < d; k++)
	{
		interior->matrix[(size_t) k * d + k] = 1.0;
		interior->dw[k] = svm->w[k] - interior->w[k];
	}
	for (size_t i = 0; i < svm->rows; i++)
	{
		if (!is_settled(svm, i))
		{
			const double *x = svm->x + i * d;
			double		theta = theta_of(interior, i);
			double		infeasible = margin(svm, interior->w, i) - 1.0 + interior->loss[i] - interior->slack[i];

			interior->rhs[i] = interior->target / svm->dual[i] - interior->slack[i] -
				(interior->target / (svm->cost[i] - svm->dual[i]) - interior->loss[i]) - infeasible;
			cblas_daxpy(d, svm->y[i] * interior->rhs[i] / theta, x, 1, interior->dw, 1);
			for (int k = 0; k < d; k++)
				interior->block[(size_t) filled * d + k] = x[k] / sqrt(theta);
			filled++;
		}
		if (filled == BLOCK || i + 1 == svm->rows)
		{
			cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, d, filled, 1.0, interior->block, d,
						1.0, interior->matrix, d);
			filled = 0;
			if (wmlc_interrupted(poll))
				return WMLC_INTERRUPTED;
		}
	}
	return WMLC_OK;
}

/* Largest step up to 1 that keeps value + step * change above 0. */
static inline double
limit_step(double step, double value, double change)
{
	return change < 0.0 ? fmin(step, -TO_BOUNDARY * value / change) : step;
}

static double
slack_change(const Interior *interior, size_t i)
{
	double		a = interior->svm->dual[i];

	return (interior->target - interior->slack[i] * (a + interior->da[i])) / a;
}

static double
loss_change(const Interior *interior, size_t i)
{
	double		room = interior->svm->cost[i] - interior->svm->dual[i];

	return (interior->target - interior->loss[i] * (room - interior->da[i])) / room;
}

/* Go along the solution dw of the system. */
static void
make_step(Interior *interior)
{
	WmlcSvm    *svm = interior->svm;
	double		step = 1.0;

	for (size_t i = 0; i < svm->rows; i++)
	{
		if (is_settled(svm, i))
			continue;
		interior->da[i] = (interior->rhs[i] - margin(svm, interior->dw, i)) / theta_of(interior, i);
		step = limit_step(step, svm->dual[i], interior->da[i]);
		step = limit_step(step, svm->cost[i] - svm->dual[i], -interior->da[i]);
		step = limit_step(step, interior->slack[i], slack_change(interior, i));
		step = limit_step(step, interior->loss[i], loss_change(interior, i));
	}
	for (size_t i = 0; i < svm->rows; i++)
	{
		double		slack;

		if (is_settled(svm, i))
			continue;
		slack = slack_change(interior, i);
		interior->loss[i] += step * loss_change(interior, i);
		interior->slack[i] += step * slack;
		svm->dual[i] = fmin(svm->dual[i] + step * interior->da[i], svm->cost[i] * (1.0 - 0x1p-52));
	}
	cblas_daxpy(svm->dims, step, interior->dw, 1, interior->w, 1);
}

WmlcStatus
wmlc_svm_interior(WmlcSvm *svm, double tolerance, void *work, WmlcPoll poll)
{
	Interior	interior = {.svm = svm};
	int			d = svm->dims;

	interior.loss = work;
	interior.slack = interior.loss + svm->rows;
	interior.rhs = interior.slack + svm->rows;
	interior.da = interior.rhs + svm->rows;
	interior.matrix = interior.da + svm->rows;
	interior.dw = interior.matrix + (size_t) d * d;
	interior.w = interior.dw + d;
	interior.block = interior.w + d;

	start_inside(&interior);
	for (int step = 0; step < MAX_STEPS; step++)
	{
		double		count;
		double		sum = sum_products(&interior, &count);
		WmlcStatus	status;

		status = wmlc_svm_certify(svm, interior.w, poll);
		if (status != WMLC_OK || svm->gap <= tolerance * svm->objective)
			return status;
		interior.target = CENTERING * sum / count;
		status = build_system(&interior, poll);
		if (status != WMLC_OK)
			return status;
		if (LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'U', d, 1, interior.matrix, d, interior.dw, d) != 0)
			return WMLC_OK;		/* no digits are left; the gap says how far it came */
		make_step(&interior);
	}
	return wmlc_svm_certify(svm, interior.w, poll);
}
