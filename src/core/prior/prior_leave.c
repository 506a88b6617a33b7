/*
 * prior_leave.c
 *	  How large the shared smooth part may be, judged by tasks that are left out.
 *
 * The likelihood takes the smooth function for the same in all tasks.  In real
 * ones it differs a little, as everything does, and hundreds of rows of a few
 * tasks then seem to tell much of a function that is theirs alone.  So the
 * penalty that the likelihood finds is but the least.  Tasks are left out in
 * groups, the mean and the smooth part are learned from the others, T staying as
 * it is, and the penalty is the one that predicts the absent tasks best:
 *
 *	  sum over groups of (squares - 2 pull.s + s'P s),	 (P_others + lambda A) s = pull of these
 *
 * where sums are those of the groups, or of all tasks but them, and s is the step
 * from the mean of all.
 */
#include <cblas.h>
#include <lapacke.h>
#include <stdlib.h>

#include "core/base/student.h"
#include "core/prior/prior_internal.h"

#define LANES WMLC_PRIOR_LANES

/* So many standard errors of many groups are chance; of few groups more, which know their own error badly. */
#define STANDARD_ERRORS 1.0
#define LEVEL 0.95
#define RATIO 2.154434690031884 /* a third of a decade */

void
wmlc_leave_layout(WmlcLeave *leave, int dims, size_t count, const WmlcPriorOptions *options,
				  WmlcArena *arena)
{
	size_t		d = options->smooth == NULL ? 0 : dims;
	size_t		slots = options->smooth == NULL ? 0 : (count + LANES - 1) / LANES * LANES;

	leave->order = wmlc_arena_take(arena, slots, sizeof(WmlcLeaveTask));
	leave->group = wmlc_arena_take(arena, slots, sizeof(int));
	leave->alpha = wmlc_arena_doubles(arena, slots);
	leave->fixed_precision = wmlc_arena_doubles(arena, wmlc_triangle_size((int) d));
	leave->fixed_pull = wmlc_arena_doubles(arena, d);
	leave->precision = wmlc_arena_doubles(arena, d * d);
	leave->part_precision = wmlc_arena_doubles(arena, d * d);
	leave->matrix = wmlc_arena_doubles(arena, d * d);
	leave->pull = wmlc_arena_doubles(arena, d);
	leave->part_pull = wmlc_arena_doubles(arena, d);
	leave->step = wmlc_arena_doubles(arena, d);
	leave->product = wmlc_arena_doubles(arena, d);
}

static int
by_noise(const void *a, const void *b)
{
	const WmlcLeaveTask *x = a;
	const WmlcLeaveTask *y = b;

	if (x->noise != y->noise)
		return x->noise < y->noise ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Deal tasks out by their noise, which depends neither on their order nor on units. */
static int
form_groups(WmlcLeave *leave, const WmlcReduced *reduced)
{
	size_t		count = 0;
	int			groups;

	for (size_t slot = 0; slot < reduced->blocks * LANES; slot++)
	{
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, slot / LANES);
		double		rows = numbers[WMLC_TASK_ROWS][slot % LANES];

		leave->alpha[slot] = numbers[WMLC_TASK_ALPHA][slot % LANES];
		leave->group[slot] = -1;
		if (leave->alpha[slot] > 0.0)
			leave->order[count++] = (WmlcLeaveTask) {slot, numbers[WMLC_TASK_WITHIN][slot % LANES] / rows};
	}
	groups = count < WMLC_LEAVE_GROUPS ? (int) count : WMLC_LEAVE_GROUPS;
	qsort(leave->order, count, sizeof(WmlcLeaveTask), by_noise);
	for (size_t i = 0; i < count; i++)
		leave->group[leave->order[i].slot] = (int) (i % groups);
	return groups;
}

/* Give the tasks of a group their weights, and the others none; a negative group is all. */
static void
select_group(const WmlcLeave *leave, WmlcReduced *reduced, int group)
{
	for (size_t slot = 0; slot < reduced->blocks * LANES; slot++)
		wmlc_reduced_numbers(reduced, slot / LANES)[WMLC_TASK_ALPHA][slot % LANES] =
			group < 0 || leave->group[slot] == group ? leave->alpha[slot] : 0.0;
}

/* The sums of the tasks that are selected, at the point's T and mean. */
static WmlcStatus
sum_selected(WmlcSweep *sweep, WmlcReduced *reduced, const WmlcPriorPoint *point,
			 double *precision, double *pull)
{
	WmlcPriorPoint part = *point;
	double		log_det,
				squares;
	WmlcStatus	status = wmlc_sum_fixed(reduced, sweep->poll);

	part.precision = precision;
	return status == WMLC_OK ? wmlc_sweep_value(sweep, &part, pull, &log_det, &squares) : status;
}

/* What the absent group's squares change by if the others say the mean. */
static double
predict_group(WmlcLeave *leave, const WmlcSmooth *smooth, int r, double penalty)
{
	size_t		square = (size_t) r * r;
	double		change;

	for (size_t k = 0; k < square; k++)
		leave->matrix[k] = leave->precision[k] - leave->part_precision[k];
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, smooth->count, penalty,
				smooth->direction, r, 1.0, leave->matrix, r);
	for (int i = 0; i < r; i++)
		leave->step[i] = leave->pull[i] - leave->part_pull[i];
	cblas_dgemv(CblasColMajor, CblasNoTrans, r, smooth->count, -penalty, smooth->direction, r,
				smooth->value, 1, 1.0, leave->step, 1);
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, leave->matrix, r) != 0)
		return INFINITY;
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, leave->matrix, r,
				leave->step, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, leave->matrix, r,
				leave->step, 1);
	cblas_dsymv(CblasColMajor, CblasLower, r, 1.0, leave->part_precision, r, leave->step, 1, 0.0,
				leave->product, 1);
	change = cblas_ddot(r, leave->product, 1, leave->step, 1)
		- 2.0 * cblas_ddot(r, leave->part_pull, 1, leave->step, 1);
	return isfinite(change) ? change : INFINITY;
}

/* The scores of all penalties for each group. */
static WmlcStatus
score_penalties(WmlcLeave *leave, WmlcSmooth *smooth, WmlcSweep *sweep, WmlcReduced *reduced,
				const WmlcPriorPoint *point, int groups)
{
	WmlcStatus	status = sum_selected(sweep, reduced, point, leave->precision, leave->pull);

	for (int g = 0; g < groups && status == WMLC_OK; g++)
	{
		double		penalty = smooth->penalty;

		select_group(leave, reduced, g);
		status = sum_selected(sweep, reduced, point, leave->part_precision, leave->part_pull);
		for (int k = 0; k < WMLC_LEAVE_PENALTIES && status == WMLC_OK; k++, penalty *= RATIO)
		{
			if (wmlc_interrupted(sweep->poll))
				status = WMLC_INTERRUPTED;
			leave->scores[g][k] = predict_group(leave, smooth, reduced->rank,
									   k < WMLC_LEAVE_PENALTIES - 1 ? penalty : wmlc_smooth_most(reduced));
		}
	}
	select_group(leave, reduced, -1);
	return status;
}

/*
 * The best penalty on average, or a larger one that chance may have made to look
 * a little worse.
 */
static int
choose_penalty(const WmlcLeave *leave, int groups)
{
	double		totals[WMLC_LEAVE_PENALTIES] = {0.0};
	double		errors = STANDARD_ERRORS * wmlc_student_bound(LEVEL, fmax(groups - 1.0, 1.0))
		/ wmlc_student_bound(LEVEL, INFINITY);
	int			best = 0;
	int			choice;

	for (int k = 0; k < WMLC_LEAVE_PENALTIES; k++)
	{
		for (int g = 0; g < groups; g++)
			totals[k] += leave->scores[g][k];
		if (totals[k] < totals[best])
			best = k;
	}
	choice = best;
	for (int k = best + 1; k < WMLC_LEAVE_PENALTIES; k++)
	{
		double		mean = (totals[k] - totals[best]) / groups;
		double		squares = 0.0;

		for (int g = 0; g < groups; g++)
		{
			double		difference = leave->scores[g][k] - leave->scores[g][best] - mean;

			squares += difference * difference;
		}
		if (mean <= errors * sqrt(squares / groups / fmax(groups - 1.0, 1.0)))
			choice = k;
	}
	return choice;
}

WmlcStatus
wmlc_leave_choose(WmlcLeave *leave, WmlcSmooth *smooth, WmlcSweep *sweep, WmlcReduced *reduced,
				  const WmlcPriorPoint *point)
{
	double	   *fixed_precision = reduced->fixed_precision;
	double	   *fixed_pull = reduced->fixed_pull;
	double		fixed_squares = reduced->fixed_squares;
	int			groups = form_groups(leave, reduced);
	int			choice;
	WmlcStatus	status;

	reduced->fixed_precision = leave->fixed_precision;
	reduced->fixed_pull = leave->fixed_pull;
	wmlc_smooth_values(smooth, reduced->rank, point->mean);
	status = score_penalties(leave, smooth, sweep, reduced, point, groups);
	reduced->fixed_precision = fixed_precision;
	reduced->fixed_pull = fixed_pull;
	reduced->fixed_squares = fixed_squares;
	if (status != WMLC_OK)
		return status;
	choice = choose_penalty(leave, groups);
	for (int k = 0; k < choice; k++)
		smooth->penalty *= RATIO;
	if (choice == WMLC_LEAVE_PENALTIES - 1)
		smooth->penalty = wmlc_smooth_most(reduced);
	return WMLC_OK;
}
