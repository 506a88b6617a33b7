/*
 * judge.c
 *	  How well coefficients predict the rows behind a gram, without the rows.
 */
#include "judge.h"

/* A square below this share of what it is the difference of is rounding. */
#define NOISE 0x1p-96

/* (w, -1)' G (w, -1) / W */
WmlcDd
wmlc_mean_square_error(const WmlcGram *gram, const double *w)
{
	int			d = gram->dims;
	WmlcDd		error = {0.0, 0.0};

	for (int i = 0; i <= d; i++)
	{
		double		vi = i < d ? w[i] : -1.0;
		WmlcDd		inner = {0.0, 0.0};

		if (vi == 0.0)
			continue;
		for (int j = 0; j <= d; j++)
			inner = wmlc_dd_add(inner, wmlc_dd_mul_d(wmlc_gram_sum(gram, i, j), j < d ? w[j] : -1.0));
		error = wmlc_dd_add(error, wmlc_dd_mul_d(inner, vi));
	}
	if (error.hi <= 0.0)
		return wmlc_dd(0.0);
	return wmlc_dd_div(error, gram->weight);
}

WmlcDd
wmlc_response_variance(const WmlcGram *gram)
{
	int			y = gram->dims;
	WmlcDd		square = wmlc_gram_moment(gram, y, y);
	WmlcDd		mean;
	WmlcDd		variance;

	if (gram->constant < 0)
		return square;
	mean = wmlc_gram_moment(gram, y, gram->constant);
	variance = wmlc_dd_sub(square, wmlc_dd_mul(mean, mean));
	return variance.hi > NOISE * square.hi ? variance : wmlc_dd(0.0);
}

double
wmlc_r_squared(const WmlcGram *gram, const double *w)
{
	WmlcDd		variance = wmlc_response_variance(gram);

	if (variance.hi == 0.0)
		return NAN;
	return wmlc_dd_value(wmlc_dd_sub(wmlc_dd(1.0),
									 wmlc_dd_div(wmlc_mean_square_error(gram, w), variance)));
}
