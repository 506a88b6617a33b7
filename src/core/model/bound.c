/*
 * bound.c
 *	  The terms of the bounds; see bound.h.
 */
#include "core/model/adapt.h"
#include "core/model/bound.h"

double
wmlc_loss_ball(WmlcLoss loss, double radius)
{
	return loss == WMLC_HINGE ? hypot(radius, 1.0) : (radius * radius + 1.0) / 2.0;
}

double
wmlc_risk(const WmlcGram *gram, WmlcLoss loss, const double *w)
{
	int			d = gram->dims;
	WmlcDd		risk = {1.0, 0.0};
	double		mse;

	if (loss == WMLC_SQUARE)
		return wmlc_mse(gram, w, &mse) == WMLC_OK ? mse / 2.0 : NAN;
	for (int i = 0; i < d; i++)
		risk = wmlc_dd_sub(risk, wmlc_dd_mul_d(wmlc_gram_moment(gram, i, d), w[i]));
	return wmlc_dd_value(risk);
}

double
wmlc_rademacher(const WmlcGram *target, WmlcLoss loss)
{
	double		rows = (double) wmlc_gram_weighted_rows(target);
	WmlcDd		kernel = loss == WMLC_HINGE
		? wmlc_dd_add_d(wmlc_dd_div(wmlc_gram_h(target), target->weight), 1.0)
		: wmlc_dd_div(wmlc_gram_q(target), target->weight);

	return sqrt(wmlc_dd_value(kernel) / rows);
}

double
wmlc_deviation(double range, double epsilon, double rows)
{
	return 3.0 * range * sqrt(log(2.0 / epsilon) / (2.0 * rows));
}
