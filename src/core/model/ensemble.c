/*
 * ensemble.c
 *	  What many tasks have in common, and what each of them is beside it.
 */
#include "core/model/ensemble.h"

#include <math.h>
#include <string.h>

#include "core/base/gamma.h"
#include "core/model/adapt.h"
#include "core/model/objective.h"

/* Joint training of any number of tasks. */
typedef struct Fit
{
	double	   *array;
	double	   *w;
	void	   *work;
	WmlcObjectiveSum sum;
	int			rank;
} Fit;

static size_t
lay_out_fit(Fit *fit, int d, double *space)
{
	size_t		objective = wmlc_objective_doubles(WMLC_ERM, d);

	fit->array = space;
	fit->w = space + objective;
	fit->work = fit->w + d;
	return (objective + d) * sizeof(double) + wmlc_objective_workspace(WMLC_ERM, d);
}

size_t
wmlc_ensemble_workspace(int d)
{
	double		nothing;
	Fit			fit;

	return lay_out_fit(&fit, d, &nothing);
}

static void
begin_fit(Fit *fit, int d, void *work)
{
	lay_out_fit(fit, d, work);
	memset(fit->array, 0, wmlc_objective_doubles(WMLC_ERM, d) * sizeof(double));
	wmlc_objective_attach(&fit->sum, WMLC_ERM, d, fit->array);
}

static WmlcStatus
add_to_fit(Fit *fit, const WmlcGram *gram, WmlcPoll poll)
{
	WmlcObjective joint = {.kind = WMLC_ERM, .scale = WMLC_SCALE_MEAN};

	return wmlc_objective_add(&fit->sum, &joint, gram, 1.0, fit->work, poll);
}

static WmlcStatus
finish_fit(Fit *fit, WmlcPoll poll)
{
	return wmlc_objective_fit(&fit->sum, 0.0, fit->w, &fit->rank, fit->work, poll);
}

/* Least squares on one task, with its sum of squared residuals and their freedom. */
static WmlcStatus
fit_task(Fit *fit, const WmlcGram *gram, void *work, double *squares, double *degrees,
		 WmlcPoll poll)
{
	double		rows = wmlc_gram_effective_rows(gram);
	WmlcStatus	status;

	begin_fit(fit, gram->dims, work);
	status = add_to_fit(fit, gram, poll);
	if (status == WMLC_OK)
		status = finish_fit(fit, poll);
	if (status == WMLC_OK)
		status = wmlc_mse(gram, fit->w, squares);
	if (status != WMLC_OK)
		return status;
	*squares *= rows;
	*degrees = fmax(rows - fit->rank, 0.0);
	return WMLC_OK;
}

WmlcStatus
wmlc_task_fit(const WmlcGram *gram, WmlcTaskFit *task, void *work, WmlcPoll poll)
{
	Fit			fit;
	WmlcStatus	status = fit_task(&fit, gram, work, &task->squares, &task->degrees, poll);

	if (status == WMLC_OK)
	{
		memcpy(task->coefficients, fit.w, gram->dims * sizeof(double));
		task->rank = fit.rank;
	}
	return status;
}

/* Joint training of all tasks but one. */
static WmlcStatus
fit_jointly(double *coefficients, int d, size_t count, const WmlcGram *const *sources,
			size_t left_out, void *work, WmlcPoll poll)
{
	Fit			fit;
	WmlcStatus	status = WMLC_OK;

	begin_fit(&fit, d, work);
	for (size_t j = 0; j < count && status == WMLC_OK; j++)
	{
		if (j != left_out)
			status = add_to_fit(&fit, sources[j], poll);
	}
	if (status == WMLC_OK)
		status = finish_fit(&fit, poll);
	if (status == WMLC_OK)
		memcpy(coefficients, fit.w, d * sizeof(double));
	return status;
}

/*
 * The noises of many tasks.  Their logarithms vary by chance alone, like those of
 * chi-squares, and by as much more as noises differ: which, if variances are
 * drawn from an inverse chi-square, tells its degrees of freedom (Smyth 2004).
 */
typedef struct Noises
{
	double		squares;
	double		degrees;
	double		count;			/* tasks with an estimate of their own */
	double		logs;			/* their logarithms, without what chance makes of their mean */
	double		log_squares;
	double		chance;			/* variance that chance gives them */
} Noises;

static void
add_noise(Noises *noises, double squares, double degrees)
{
	double		own;

	if (!(degrees > 0.0))
		return;
	noises->squares += squares;
	noises->degrees += degrees;
	if (!(squares > 0.0))
		return;
	own = log(squares / degrees) - wmlc_digamma(0.5 * degrees) + log(0.5 * degrees);
	noises->count += 1.0;
	noises->logs += own;
	noises->log_squares += own * own;
	noises->chance += wmlc_trigamma(0.5 * degrees);
}

static void
put_noise(const Noises *noises, WmlcEnsemble *ensemble)
{
	double		count = noises->count;
	double		excess = count < 2.0 ? 0.0
		: (noises->log_squares - noises->logs * noises->logs / count) / (count - 1.0) -
		noises->chance / count;

	ensemble->degrees = noises->degrees;
	ensemble->noise = noises->degrees > 0.0 ? noises->squares / noises->degrees : 0.0;
	ensemble->lent = excess > 0.0 ? 2.0 * wmlc_inverse_trigamma(excess) : INFINITY;
}

WmlcStatus
wmlc_ensemble(WmlcEnsemble *ensemble, int d, size_t count, const WmlcGram *const *sources,
			  void *work, WmlcPoll poll)
{
	Noises		noises = {0};

	for (size_t j = 0; j < count; j++)
	{
		Fit			fit;
		double		squares = 0.0;
		double		degrees = 0.0;
		WmlcStatus	status = fit_task(&fit, sources[j], work, &squares, &degrees, poll);

		if (status != WMLC_OK)
			return status;
		add_noise(&noises, squares, degrees);
	}
	put_noise(&noises, ensemble);
	return fit_jointly(ensemble->coefficients, d, count, sources, count, work, poll);
}

WmlcStatus
wmlc_ensemble_of_fits(WmlcEnsemble *ensemble, int d, size_t count, const WmlcGram *const *sources,
					  const WmlcTaskFit *tasks, size_t left_out, void *work, WmlcPoll poll)
{
	Noises		noises = {0};

	for (size_t j = 0; j < count; j++)
	{
		if (j != left_out)
			add_noise(&noises, tasks[j].squares, tasks[j].degrees);
	}
	put_noise(&noises, ensemble);
	return fit_jointly(ensemble->coefficients, d, count, sources, left_out, work, poll);
}

WmlcStatus
wmlc_task_coefficients(const WmlcGram *gram, double *coefficients, void *work, WmlcPoll poll)
{
	Fit			fit;
	double		squares,
				degrees;
	WmlcStatus	status = fit_task(&fit, gram, work, &squares, &degrees, poll);

	if (status == WMLC_OK)
		memcpy(coefficients, fit.w, gram->dims * sizeof(double));
	return status;
}

/* (v - w)'A (v - w), A the second moment of the features */
static double
squared_distance(const WmlcGram *gram, const double *v, const double *w)
{
	double		sum = 0.0;

	for (int i = 0; i < gram->dims; i++)
	{
		for (int j = 0; j < gram->dims; j++)
			sum += (v[i] - w[i]) * (v[j] - w[j]) * wmlc_dd_value(wmlc_gram_moment(gram, i, j));
	}
	return fmax(sum, 0.0);
}

void
wmlc_ensemble_shrink(const WmlcEnsemble *ensemble, const WmlcGram *gram, const WmlcTaskFit *task,
					 double *coefficients, double *noise)
{
	double		rows = wmlc_gram_effective_rows(gram);
	double		distance = squared_distance(gram, task->coefficients, ensemble->coefficients);
	double		keep;

	*noise = isinf(ensemble->lent) || task->degrees == 0.0 ? ensemble->noise
		: (task->squares + ensemble->lent * ensemble->noise) / (task->degrees + ensemble->lent);
	keep = distance > 0.0 ? sqrt(fmax(1.0 - task->rank * *noise / rows / distance, 0.0)) : 0.0;
	for (int i = 0; i < gram->dims; i++)
		coefficients[i] = ensemble->coefficients[i] +
			keep * (task->coefficients[i] - ensemble->coefficients[i]);
}

WmlcStatus
wmlc_ensemble_member(const WmlcEnsemble *ensemble, const WmlcGram *gram, double *coefficients,
					 double *noise, void *work, WmlcPoll poll)
{
	WmlcTaskFit task = {.coefficients = coefficients};
	WmlcStatus	status = wmlc_task_fit(gram, &task, work, poll);

	if (status == WMLC_OK)
		wmlc_ensemble_shrink(ensemble, gram, &task, coefficients, noise);
	return status;
}
