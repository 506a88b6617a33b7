/*
 * test_prior_triangle_lanes.c
 *	  Triangles of tasks side by side are those of each task by itself, times the
 *	  basis; tasks with dependent features are left to the careful way.
 */
#include <stdlib.h>

#include "check.h"
#include "core/prior/prior_internal.h"

#define FEATURES 3
#define SIZE (FEATURES + 1)
#define ENTRIES (SIZE * (SIZE + 1) / 2)

/* Sums of rows with an offset; the last feature is twice the second if `dependent`. */
static void
draw_sums(int rows, bool dependent, double *hi, double *lo, uint64_t *seed)
{
	WmlcDd		sum[ENTRIES];

	for (int k = 0; k < ENTRIES; k++)
		sum[k] = wmlc_dd(0.0);
	for (int n = 0; n < rows; n++)
	{
		double		z[SIZE] = {1.0};

		for (int i = 1; i < SIZE; i++)
			z[i] = 1000.0 + check_normal(seed);
		if (dependent)
			z[FEATURES - 1] = 2.0 * z[1];
		for (int i = 0, k = 0; i < SIZE; i++)
			for (int j = i; j < SIZE; j++, k++)
				sum[k] = wmlc_dd_add(sum[k], wmlc_two_prod(z[i], z[j]));
	}
	for (int k = 0; k < ENTRIES; k++)
	{
		hi[k] = sum[k].hi;
		lo[k] = sum[k].lo;
	}
}

/* What one task has, by prior_triangle.c and double-double dot products. */
static void
check_task(const WmlcTriangleGroup *group, const WmlcLanes *block, int lane, WmlcTriangle *part)
{
	CHECK(wmlc_triangle_read(part, &(WmlcTriangleSource) {
		.p = group->p, .hi = group->hi[lane], .lo = group->lo[lane], .rows = 20.0,
		.index = group->index, .scale = group->scale
	}, NULL) == WMLC_OK, "triangle");
	for (int i = 0; i < FEATURES; i++)
		for (int j = i; j < SIZE; j++)
		{
			double		right = wmlc_dd_value(part->loops->dot(j - i + 1, wmlc_dd_from(wmlc_square_row(part->square, i), i),
															   wmlc_dd_from(wmlc_square_row(group->basis, j), i)));
			double		found = j < FEATURES ? block[wmlc_triangle_index(FEATURES, i, j)][lane]
				: group->unit * block[wmlc_triangle_size(FEATURES) + i][lane];

			CHECK_NEAR(found, right, 1e-13 * (1.0 + fabs(right)));
		}
	CHECK_NEAR(group->residual[lane] * group->unit, wmlc_triangle_get(part, FEATURES, FEATURES).hi, 1e-12);
}

int
main(void)
{
	static const int index[SIZE] = {2, 0, 1, 3};
	static const double scale[SIZE] = {1.0, 0x1p-10, 0x1p-10, 0x1p-10};
	uint64_t	seed = 3;

	for (int repeat = 0; repeat < 50; repeat++)
	{
		double		hi[WMLC_PRIOR_LANES][ENTRIES],
					lo[WMLC_PRIOR_LANES][ENTRIES];
		WmlcLanes	block[ENTRIES + WMLC_TASK_NUMBERS];
		WmlcArena	measure = {NULL, 0};
		WmlcTriangle part;
		WmlcTriangleGroup group = {.p = SIZE, .size = SIZE, .index = index, .scale = scale, .unit = 0.3};

		wmlc_triangle_layout(&part, SIZE, &measure);
		(void) wmlc_arena_span(&measure, SIZE * SIZE);
		{
			WmlcArena	arena = {malloc(measure.used), 0};
			void	   *space = arena.base;

			wmlc_triangle_layout(&part, SIZE, &arena);
			group.basis = (WmlcSquare) {SIZE, wmlc_arena_span(&arena, SIZE * SIZE)};
			for (int i = 0; i < SIZE; i++)
				for (int k = 0; k < SIZE; k++)
					wmlc_dd_set(wmlc_square_row(group.basis, i), k,
								k > i ? wmlc_dd(0.0) : wmlc_two_sum(check_normal(&seed), 1e-17 * check_normal(&seed)));
			for (int l = 0; l < WMLC_PRIOR_LANES; l++)
			{
				draw_sums(20, repeat % 2 == 1 && l == 2, hi[l], lo[l], &seed);
				group.hi[l] = hi[l];
				group.lo[l] = lo[l];
			}
			wmlc_triangle_group(&group, block);
			CHECK(group.hard == (repeat % 2 == 1 ? 4U : 0U), "hard: %u", group.hard);
			for (int l = 0; l < WMLC_PRIOR_LANES; l++)
				if (!(group.hard & (1U << l)))
					check_task(&group, block, l, &part);
			free(space);
		}
	}
	return check_summary();
}
