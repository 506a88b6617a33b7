/*
 * test_mlp_check.c
 *	  Shapes and numbers that are a network's, and each way in which they are not.
 */
#include <math.h>

#include "check.h"
#include "core/mlp/mlp.h"

static void
test_shapes(void)
{
	WmlcMlp		good[] = {
		{.inputs = 1},
		{.inputs = WMLC_MLP_MAX_INPUTS,.depth = 1,.width = {1}},
		{.inputs = 3,.depth = 8,.width = {1, 2, 3, 4, 5, 6, 7, WMLC_MLP_MAX_WIDTH}}
	};
	WmlcMlp		bad[] = {
		{.inputs = 0},
		{.inputs = -1},
		{.inputs = WMLC_MLP_MAX_INPUTS + 1},
		{.inputs = 1,.depth = -1},
		{.inputs = 1,.depth = WMLC_MLP_MAX_DEPTH + 1},
		{.inputs = 1,.depth = 1},
		{.inputs = 1,.depth = 2,.width = {3, -3}},
		{.inputs = 1,.depth = 1,.width = {WMLC_MLP_MAX_WIDTH + 1}},
		{.inputs = 1,.depth = 1,.width = {3, 3}}
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(wmlc_mlp_shape_valid(&good[i]), "good shape %zu", i);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!wmlc_mlp_shape_valid(&bad[i]), "bad shape %zu", i);
}

static void
test_numbers(void)
{
	double		shift[] = {0.0, 1.0, -2.0};
	double		scale[] = {1.0, 0.5, 2.0};
	double		theta[100] = {0.0};
	WmlcMlp		net = {.inputs = 2,.depth = 1,.width = {3},.shift = shift,.scale = scale};
	size_t		last = wmlc_mlp_parameters(&net) - 1;

	CHECK(wmlc_mlp_problem(&net, theta) == NULL, "valid");
	theta[last + 1] = NAN;
	CHECK(wmlc_mlp_problem(&net, theta) == NULL, "beyond the end");
	theta[last] = INFINITY;
	CHECK(wmlc_mlp_problem(&net, theta) != NULL, "infinite parameter");
	theta[last] = NAN;
	CHECK(wmlc_mlp_problem(&net, theta) != NULL, "NaN");
	theta[last] = 0.0;
	scale[2] = 0.0;
	CHECK(wmlc_mlp_problem(&net, theta) != NULL, "no scale");
	scale[2] = INFINITY;
	CHECK(wmlc_mlp_problem(&net, theta) != NULL, "infinite scale");
	scale[2] = 1.0;
	shift[2] = NAN;
	CHECK(wmlc_mlp_problem(&net, theta) != NULL, "NaN for a shift");
	net.shift = net.scale = NULL;
	CHECK(wmlc_mlp_problem(&net, theta) == NULL, "values as they are");
}

int
main(void)
{
	test_shapes();
	test_numbers();
	return check_summary();
}
