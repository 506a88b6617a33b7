/*
 * mlp_check.c
 *	  Whether numbers from outside are a network's.
 */
#include "core/mlp/mlp.h"

#include <math.h>

bool
wmlc_mlp_shape_valid(const WmlcMlp *net)
{
	if (net->inputs < 1 || net->inputs > WMLC_MLP_MAX_INPUTS || net->depth < 0 ||
		net->depth > WMLC_MLP_MAX_DEPTH)
		return false;
	for (int l = 0; l < WMLC_MLP_MAX_DEPTH; l++)
	{
		if (l < net->depth ? net->width[l] < 1 || net->width[l] > WMLC_MLP_MAX_WIDTH : net->width[l] != 0)
			return false;
	}
	return true;
}

const char *
wmlc_mlp_problem(const WmlcMlp *net, const double *theta)
{
	for (size_t k = 0; k < wmlc_mlp_parameters(net); k++)
	{
		if (!isfinite(theta[k]))
			return "a parameter is not finite";
	}
	for (int i = 0; i <= net->inputs && net->scale != NULL; i++)
	{
		if (!isfinite(net->shift[i]) || !isfinite(net->scale[i]) || !(net->scale[i] > 0.0))
			return "a shift or scale is out of range";
	}
	return NULL;
}
