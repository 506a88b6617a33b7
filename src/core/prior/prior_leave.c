/*
 * prior_leave.c
 *	  How large the shared smooth part may be, judged by tasks that are left out.
 *
 * The likelihood takes the smooth function for the same in all tasks.  In real
 * ones it differs a little, as everything does, and hundreds of rows of a few
 * tasks then seem to tell much of a function that is theirs alone.  So the
 * penalty that the likelihood finds is but the least.  Tasks are left out in
 * groups, the mean and the smooth part are learned from the others, T staying as
 * it is: the mean of all moves by s, (P_others + lambda A) s = pull of the others.
 * That leaves q_j(lambda) of the squares of an absent task, and q_j in the end,
 * without a smooth part.
 *
 * A penalty must do well in two views.  One is the sum of all q_j(lambda).  Large
 * tasks decide there, and what suits them may be a disturbance many times the
 * noise of the small ones.  So the other is what a typical task gains, the sum of
 *
 *	  (q_j(lambda) - q_j) / (q_j(lambda) + q_j),
 *
 * half the logarithm of their ratio where it is small, and bounded, so that no task has
 * much to say that happens to be predicted exactly.  The larger penalty is taken.
 */
#include <cblas.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/student.h"
#include "core/prior/prior_lanes.h"

/* So many standard errors of many groups are chance; of few groups more, which know their own error badly. */
#define STANDARD_ERRORS 1.0
#define LEVEL 0.999
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
	leave->steps = wmlc_arena_doubles(arena, (size_t) WMLC_LEAVE_GROUPS * WMLC_LEAVE_PENALTIES * d);
}

static double *
steps_of(const WmlcLeave *leave, int group, int penalty, int r)
{
	return leave->steps + (size_t) (group * WMLC_LEAVE_PENALTIES + penalty) * r;
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

/* From the mean of all tasks to that of all but a group. */
static void
find_step(WmlcLeave *leave, const WmlcSmooth *smooth, int r, double penalty, double *step)
{
	size_t		square = (size_t) r * r;

	for (size_t k = 0; k < square; k++)
		leave->matrix[k] = leave->precision[k] - leave->part_precision[k];
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, smooth->count, penalty,
				smooth->direction, r, 1.0, leave->matrix, r);
	for (int i = 0; i < r; i++)
		step[i] = leave->pull[i] - leave->part_pull[i];
	cblas_dgemv(CblasColMajor, CblasNoTrans, r, smooth->count, -penalty, smooth->direction, r,
				smooth->value, 1, 1.0, step, 1);
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, leave->matrix, r) != 0)
	{
		/* all squares come out as this, which is less than nothing */
		step[0] = NAN;
		return;
	}
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, leave->matrix, r,
				step, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, leave->matrix, r,
				step, 1);
}

/* Squares of a block of tasks, each if the tasks of other groups say the mean, for every penalty. */
ALWAYS_INLINE void
predict_block_body(WmlcLeave *leave, WmlcSweep *sweep, const WmlcPriorPoint *point, size_t block,
				   int penalties, WmlcLanes *squares)
{
	const WmlcReduced *reduced = sweep->reduced;
	int			r = reduced->rank;
	int			h = reduced->height;
	const WmlcLanes *task = reduced->tasks + block * wmlc_reduced_stride(r);
	const WmlcLanes *beta = task + wmlc_triangle_size(r);
	const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, block);
	WmlcLanes	scale = numbers[WMLC_TASK_SCALE];
	WmlcLanes	gain = numbers[WMLC_TASK_GAIN];
	WmlcLanes  *step = sweep->score;

	(void) whiten(sweep, task, point);
	for (int k = 0; k < penalties; k++)
	{
		WmlcLanes	sum = scale * scale * numbers[WMLC_TASK_WITHIN];

		for (int lane = 0; lane < LANES; lane++)
		{
			int			group = leave->group[block * LANES + lane];
			const double *own = group < 0 ? NULL : steps_of(leave, group, k, r);

			for (int j = 0; j < r; j++)
				step[j][lane] = own == NULL ? 0.0 : own[j];
		}
		for (int i = 0; i < h; i++)
		{
			const WmlcLanes *row = sweep->white + (size_t) i * (r + 1);
			WmlcLanes	left = row[r];

			listen(sweep, i, r);
			for (int j = 0; j < r; j++)
				left -= row[j] * step[j];
			sum += left * left;
		}
		for (int i = h; i < r; i++)
		{
			const WmlcLanes *row = task + wmlc_triangle_index(r, i, i) - i;
			WmlcLanes	left = beta[i];

			listen(sweep, i, r);
			for (int j = i; j < r; j++)
				left -= row[j] * (step[j] + point->mean[j]);
			sum += scale * scale * (left * left);
		}
		squares[k] = gain * gain * sum;
	}
}

LANES_FUNCTION(predict_block, (WmlcLeave *leave, WmlcSweep *sweep, const WmlcPriorPoint *point, size_t block, int penalties, WmlcLanes *squares),
			   (leave, sweep, point, block, penalties, squares))

static int
by_squares(const void *a, const void *b)
{
	const WmlcLeaveTask *x = a;
	const WmlcLeaveTask *y = b;

	if (x->squares != y->squares)
		return x->squares < y->squares ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/*
 * Deal tasks out by how well the mean of all predicts them, which depends neither
 * on their order nor on units, and is not zero even where a task has few rows.
 */
static WmlcStatus
form_groups(WmlcLeave *leave, WmlcSweep *sweep, const WmlcReduced *reduced,
			const WmlcPriorPoint *point, int *groups)
{
	WmlcLanes	squares[WMLC_LEAVE_PENALTIES];
	size_t		count = 0;

	for (size_t slot = 0; slot < reduced->blocks * LANES; slot++)
	{
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, slot / LANES);
		int			lane = slot % LANES;

		if (lane == 0)
		{
			for (int k = 0; k < LANES; k++)
				leave->group[slot + k] = -1;
			if (wmlc_interrupted(sweep->poll))
				return WMLC_INTERRUPTED;
			predict_block(leave, sweep, point, slot / LANES, 1, squares);
		}
		leave->alpha[slot] = numbers[WMLC_TASK_ALPHA][lane];
		if (leave->alpha[slot] > 0.0)
			leave->order[count++] = (WmlcLeaveTask) {slot, squares[0][lane] / numbers[WMLC_TASK_ROWS][lane]};
	}
	*groups = count < WMLC_LEAVE_GROUPS ? (int) count : WMLC_LEAVE_GROUPS;
	qsort(leave->order, count, sizeof(WmlcLeaveTask), by_squares);
	for (size_t i = 0; i < count; i++)
		leave->group[leave->order[i].slot] = (int) (i % *groups);
	return sweep->interrupted ? WMLC_INTERRUPTED : WMLC_OK;
}

/* Steps for each group and penalty. */
static WmlcStatus
find_steps(WmlcLeave *leave, WmlcSmooth *smooth, WmlcSweep *sweep, WmlcReduced *reduced,
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
			find_step(leave, smooth, reduced->rank,
					  k < WMLC_LEAVE_PENALTIES - 1 ? penalty : wmlc_smooth_most(reduced),
					  steps_of(leave, g, k, reduced->rank));
		}
	}
	select_group(leave, reduced, -1);
	return status;
}

/* The scores of all penalties for each group. */
static WmlcStatus
score_penalties(WmlcLeave *leave, WmlcSweep *sweep, const WmlcReduced *reduced,
				const WmlcPriorPoint *point)
{
	WmlcLanes	squares[WMLC_LEAVE_PENALTIES];

	memset(leave->scores, 0, sizeof(leave->scores));
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		if (wmlc_interrupted(sweep->poll))
			return WMLC_INTERRUPTED;
		predict_block(leave, sweep, point, b, WMLC_LEAVE_PENALTIES, squares);
		if (sweep->interrupted)
			return WMLC_INTERRUPTED;
		for (int lane = 0; lane < LANES; lane++)
		{
			size_t		slot = b * LANES + lane;
			double		flat = squares[WMLC_LEAVE_PENALTIES - 1][lane];

			if (leave->group[slot] < 0)
				continue;
			for (int k = 0; k < WMLC_LEAVE_PENALTIES; k++)
			{
				double		change = squares[k][lane] - flat;
				double	   *scores = leave->scores[leave->group[slot]][k];

				scores[WMLC_LEAVE_TOTAL] += leave->alpha[slot] * change;
				if (change != 0.0)
					scores[WMLC_LEAVE_TYPICAL] += leave->alpha[slot] * change / (squares[k][lane] + flat);
			}
		}
	}
	return WMLC_OK;
}

/*
 * The best penalty on average, or a larger one that chance may have made to look
 * a little worse.
 */
static int
choose_penalty(const WmlcLeave *leave, int groups, int view)
{
	double		totals[WMLC_LEAVE_PENALTIES] = {0.0};
	double		errors = STANDARD_ERRORS * wmlc_student_bound(LEVEL, fmax(groups - 1.0, 1.0))
		/ wmlc_student_bound(LEVEL, INFINITY);
	int			best = WMLC_LEAVE_PENALTIES - 1;
	int			choice;

	for (int k = 0; k < WMLC_LEAVE_PENALTIES; k++)
	{
		for (int g = 0; g < groups; g++)
			totals[k] += leave->scores[g][k][view];
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
			double		difference = leave->scores[g][k][view] - leave->scores[g][best][view] - mean;

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
	int			groups;
	int			choice,
				typical;
	WmlcStatus	status = form_groups(leave, sweep, reduced, point, &groups);

	if (status != WMLC_OK)
		return status;
	reduced->fixed_precision = leave->fixed_precision;
	reduced->fixed_pull = leave->fixed_pull;
	wmlc_smooth_values(smooth, reduced->rank, point->mean);
	status = find_steps(leave, smooth, sweep, reduced, point, groups);
	if (status == WMLC_OK)
		status = score_penalties(leave, sweep, reduced, point);
	reduced->fixed_precision = fixed_precision;
	reduced->fixed_pull = fixed_pull;
	reduced->fixed_squares = fixed_squares;
	if (status != WMLC_OK)
		return status;
	choice = choose_penalty(leave, groups, WMLC_LEAVE_TOTAL);
	typical = choose_penalty(leave, groups, WMLC_LEAVE_TYPICAL);
	if (choice < typical)
		choice = typical;
	for (int k = 0; k < choice; k++)
		smooth->penalty *= RATIO;
	if (choice == WMLC_LEAVE_PENALTIES - 1)
		smooth->penalty = wmlc_smooth_most(reduced);
	return WMLC_OK;
}
