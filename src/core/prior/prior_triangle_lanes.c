/*
 * prior_triangle_lanes.c
 *	  Triangles of tasks in the pooled basis, WMLC_PRIOR_LANES tasks side by side.
 *
 * What prior_triangle.c and the product with the basis do for one task, for
 * grams that leave no doubt: every pivot stands well above rounding.  Others are
 * left to the careful way.  One task of three columns at a time takes three times
 * as long as a task does here.
 */
#include "core/prior/prior_lanes.h"

typedef struct LanesDd
{
	WmlcLanes	hi;
	WmlcLanes	lo;
} LanesDd;

ALWAYS_INLINE LanesDd
quick_two_sum(WmlcLanes a, WmlcLanes b)
{
	WmlcLanes	s = a + b;

	return (LanesDd) {s, b - (s - a)};
}

ALWAYS_INLINE LanesDd
two_sum(WmlcLanes a, WmlcLanes b)
{
	WmlcLanes	s = a + b;
	WmlcLanes	bb = s - a;

	return (LanesDd) {s, (a - (s - bb)) + (b - bb)};
}

/* As wmlc_two_prod; factors are scaled, so none is huge. */
ALWAYS_INLINE LanesDd
two_prod(WmlcLanes a, WmlcLanes b)
{
	const double splitter = 134217729.0;	/* 2^27 + 1 */
	WmlcLanes	p = a * b;
	WmlcLanes	t = splitter * a;
	WmlcLanes	a1 = t - (t - a);
	WmlcLanes	a2 = a - a1;
	WmlcLanes	b1,
				b2;

	t = splitter * b;
	b1 = t - (t - b);
	b2 = b - b1;
	return (LanesDd) {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

ALWAYS_INLINE LanesDd
sum_of(LanesDd a, LanesDd b)
{
	LanesDd		s = two_sum(a.hi, b.hi);
	LanesDd		t = two_sum(a.lo, b.lo);

	s = quick_two_sum(s.hi, s.lo + t.hi);
	return quick_two_sum(s.hi, s.lo + t.lo);
}

ALWAYS_INLINE LanesDd
difference(LanesDd a, LanesDd b)
{
	return sum_of(a, (LanesDd) {-b.hi, -b.lo});
}

ALWAYS_INLINE LanesDd
product(LanesDd a, LanesDd b)
{
	LanesDd		p = two_prod(a.hi, b.hi);

	return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* The square root of a, which is positive, and its reciprocal: Newton's step on those of doubles. */
ALWAYS_INLINE LanesDd
find_root(LanesDd a, LanesDd *reciprocal)
{
	LanesDd		root,
				error;
	WmlcLanes	x,
				ax;

	for (int l = 0; l < LANES; l++)
		x[l] = 1.0 / sqrt(a.hi[l]);
	ax = a.hi * x;
	error = difference(a, two_prod(ax, ax));
	root = quick_two_sum(ax, error.hi * (x * 0.5));
	error = difference((LanesDd) {(WmlcLanes) {0.0} + 1.0, {0.0}},
					 product(root, (LanesDd) {x, {0.0}}));
	*reciprocal = quick_two_sum(x, error.hi * x);
	return root;
}

/* Entries of the sums, scaled; entry (i, k), k <= i, stands at a[i][k]. */
ALWAYS_INLINE void
load(const WmlcTriangleGroup *group, LanesDd a[][WMLC_MOST_GROUP_SIZE])
{
	int			p = group->p;

	for (int i = 0; i < group->size; i++)
		for (int k = 0; k <= i; k++)
		{
			int			row = group->index[i];
			int			column = group->index[k];
			size_t		at = row <= column ? wmlc_triangle_index(p, row, column)
				: wmlc_triangle_index(p, column, row);
			double		unit = group->scale[row] * group->scale[column];
			WmlcLanes	hi,
						lo;

			for (int l = 0; l < LANES; l++)
			{
				hi[l] = group->hi[l][at] * unit;
				lo[l] = group->lo[l] == NULL ? 0.0 : group->lo[l][at] * unit;
			}
			a[i][k] = two_sum(hi, lo);
		}
}

/* R'R = a; column k of a below the diagonal becomes row k of R.  Lanes with a pivot in doubt are marked. */
ALWAYS_INLINE unsigned
factor(int size, LanesDd a[][WMLC_MOST_GROUP_SIZE])
{
	LanesDd		remainder[WMLC_MOST_GROUP_SIZE];
	WmlcLanes	diagonal[WMLC_MOST_GROUP_SIZE];
	unsigned	hard = 0;

	for (int i = 0; i < size; i++)
	{
		remainder[i] = a[i][i];
		diagonal[i] = a[i][i].hi;
	}
	for (int k = 0; k < size; k++)
	{
		LanesDd		reciprocal;

		for (int l = 0; l < LANES; l++)
		{
			double		pivot = remainder[k].hi[l];

			if (pivot > WMLC_SMALL_UNPIVOTED * diagonal[k][l] && pivot > WMLC_LEAST_GROUP_PIVOT
				&& pivot < WMLC_LARGEST_GROUP_PIVOT)
				continue;
			hard |= 1U << l;
			remainder[k].hi[l] = 1.0;
			remainder[k].lo[l] = 0.0;
		}
		a[k][k] = find_root(remainder[k], &reciprocal);
		for (int i = k + 1; i < size; i++)
		{
			LanesDd		entry = a[i][k];

			for (int j = 0; j < k; j++)
				entry = difference(entry, product(a[i][j], a[k][j]));
			a[i][k] = entry = product(entry, reciprocal);
			remainder[i] = difference(remainder[i], product(entry, entry));
		}
	}
	return hard;
}

ALWAYS_INLINE void
read_group_body(WmlcTriangleGroup *group, WmlcLanes *block)
{
	LanesDd		a[WMLC_MOST_GROUP_SIZE][WMLC_MOST_GROUP_SIZE];
	int			r = group->size - 1;

	load(group, a);
	group->hard = factor(group->size, a);
	for (int i = 0; i < r; i++)
		for (int j = i; j <= r; j++)
		{
			WmlcDdSpan	column = wmlc_square_row(group->basis, j);
			LanesDd		sum = {{0.0}, {0.0}};

			for (int t = i; t <= j; t++)
			{
				WmlcDd		entry = wmlc_dd_get(column, t);

				sum = sum_of(sum, product(a[t][i], (LanesDd) {
					(WmlcLanes) {0.0} + entry.hi, (WmlcLanes) {0.0} + entry.lo
				}));
			}
			if (j < r)
				block[wmlc_triangle_index(r, i, j)] = sum.hi + sum.lo;
			else
				block[wmlc_triangle_size(r) + i] = (sum.hi + sum.lo) / group->unit;
		}
	group->residual = a[r][r].hi / group->unit;
}

LANES_FUNCTION(read_group, (WmlcTriangleGroup *group, WmlcLanes *block), (group, block))

void
wmlc_triangle_group(WmlcTriangleGroup *group, WmlcLanes *block)
{
	read_group(group, block);
}
