/*
 * compare_choice.c
 *	  Which method to trust, from few rows of the target and from rehearsals.
 *
 * Errors are compared as logarithms of ratios, so that neither the units of the
 * response nor single hard tasks decide.  For every method:
 *
 *	  rehearsed = mean log ratio to the incumbent over the rehearsals, those of
 *				  targets like this one above all, plus 0.75 or 2 of its standard errors
 *	  validated = log ratio, over the folds, to the method that leads the
 *				  rehearsals, plus its standard error
 *	  score = (1 - a) rehearsed + a validated,	a = rows / (rows + EXCHANGE)
 *
 * The incumbent is the best, in rehearsals, of the baseline and the priors: few
 * methods that fit most families of tasks, so that it wins by merit and not
 * because it is one of a hundred.  The standard errors are those of paired
 * differences, zero for the incumbent and the leader themselves: who wants to
 * replace them must be clearly better.  Refinements are compared with the leader
 * of all others in the same way; they differ little from it, and without that
 * step chance would choose among them.
 *
 * Where there are more sources that can forecast, finalists meet them as well: a
 * refinement differs from what it refines by less than a few rehearsals tell.
 *
 * All this supposes that the target is such a task as the sources are.  Then the
 * leader's error on it is about as large as in the rehearsals.  If it is so much
 * larger that one such target in two hundred would have it, rehearsals are no
 * guide, and a = 1.
 *
 * Small tasks may want another method than large ones: products that hardly anybody
 * buys beside those that sell by the hundred.  So rehearsals of targets whose responses
 * are about as large as this one's weigh more.
 *
 * Some methods do suit the sources but not this target: a mixture cannot leave
 * their hull, nor can all sources alike adapt.  Who errs on the rows that the target
 * knows as hardly any source's would have it err does not compete, as long as others
 * do better.
 *
 * Cautions, EXCHANGE, LIKE and USUAL were chosen by held-out error on real and synthetic
 * families of tasks, with targets like and unlike the others.
 */
#include "core/compare/compare_choice.h"

#include <math.h>

#include "core/base/student.h"

/*
 * By how many standard errors a method must be better in rehearsals.  A hundred
 * methods try, some of them by luck.  Rows that are made up judge by the whole
 * distribution that they come from; real ones are few, and have outliers.
 */
#define CAUTION_MADE_UP 0.75
#define CAUTION 2.0

/* As many rows of the target count as much as the rehearsals. */
#define EXCHANGE 120.0

/* Probability of the interval in which the leader's log error should fall. */
#define USUAL 0.99

/* Among so many methods, beside the incumbents, further rehearsals decide. */
#define FINALISTS 24

/* Scores, which are logarithms of squared errors, that differ by less are equal. */
#define EQUAL 1e-3

/* An error below this share of the response's mean square is as good as none. */
#define NEGLIGIBLE 1e-12

/* Nor does it matter below this share of what the best methods are off by on average: 3 % of an RMSE. */
#define IMMATERIAL 1e-3

/* Tasks whose responses are so many times larger tell half as much of each other. */
#define LIKE 2.0

/* Squared predictions may exceed squared responses by this factor. */
#define IMPLAUSIBLE 100.0

static double
square(double x)
{
	return x * x;
}

WmlcErrors
wmlc_rehearsal_errors(int method_count, size_t trials, double size, const double *errors,
					  const double *responses, const double *likeness, bool made_up)
{
	double		sum = 0.0;

	for (size_t i = 0; i < trials; i++)
	{
		double		least = INFINITY;

		for (int k = 0; k < method_count; k++)
			least = fmin(least, errors[i * method_count + k]);
		if (!isinf(least))
			sum += least / (double) trials;
	}
	return (WmlcErrors) {
		.trials = trials,
		.size = size,
		.errors = errors,
		.responses = responses,
		.likeness = likeness,
		.immaterial = IMMATERIAL * sum,
		.made_up = made_up
	};
}

double
wmlc_likeness(double response, double other)
{
	double		ratio = 0.5 * log(fmax(response, 0x1p-1000) / fmax(other, 0x1p-1000)) / log(LIKE);

	return 1.0 / (1.0 + ratio * ratio);
}

/* Not below what is negligible, so that it has a logarithm. */
static double
positive_error(const WmlcErrors *errors, int method_count, size_t trial, int method)
{
	double		least = fmax(fmax(NEGLIGIBLE * errors->responses[trial], errors->immaterial), 0x1p-1000);

	return fmax(errors->errors[trial * method_count + method], least);
}

/*
 * The standard error of a sum of one term per fold, whose expectations are 0,
 * from the sum of their squares.
 */
static double
standard_error(double squares, size_t folds)
{
	return sqrt(squares * (double) folds / ((double) folds - 1.0));
}

static void
judge_by_folds(const WmlcErrors *folds, int method_count, int method, WmlcVerdict *verdict)
{
	double		mean = folds->trials == 0 ? NAN : 0.0;
	double		squares = 0.0;

	for (size_t i = 0; i < folds->trials; i++)
		mean += folds->shares[i] * folds->errors[i * method_count + method];
	verdict->rmse = sqrt(mean);
	if (!(mean > 0.0) || isinf(mean))
	{
		verdict->spread = mean;
		return;
	}
	for (size_t i = 0; i < folds->trials; i++)
		squares += square(folds->shares[i] * (folds->errors[i * method_count + method] - mean));

	/* that of the mean square, divided by the derivative of the square */
	verdict->spread = standard_error(squares, folds->trials) / (2.0 * verdict->rmse);
}

/* Mean squared error over the folds, but positive. */
static double
fold_error(const WmlcErrors *folds, int method_count, int method)
{
	double		mean = 0.0;

	for (size_t i = 0; i < folds->trials; i++)
		mean += folds->shares[i] * positive_error(folds, method_count, i, method);
	return mean;
}

/* Log ratio to another method over the folds, plus its standard error. */
static double
validated(const WmlcErrors *folds, int method_count, int method, int leader)
{
	double		mean = fold_error(folds, method_count, method);
	double		leader_mean = fold_error(folds, method_count, leader);
	double		squares = 0.0;

	for (size_t i = 0; i < folds->trials; i++)
		squares += square(folds->shares[i] *
						  (positive_error(folds, method_count, i, method) / mean -
						   positive_error(folds, method_count, i, leader) / leader_mean));
	return log(mean / leader_mean) + standard_error(squares, folds->trials);
}

static double
likeness_of(const WmlcErrors *rehearsals, size_t trial)
{
	return rehearsals->likeness == NULL ? 1.0 : rehearsals->likeness[trial];
}

/*
 * Mean log ratio to another method over the rehearsals, those of targets like this one above
 * all, plus so many standard errors.  Weights w of trials are worth (sum w)^2 / sum w^2 of them.
 */
static double
rehearsed(const WmlcErrors *rehearsals, int method_count, int method, int other, double caution)
{
	double		weight = 0.0,
				weight_squares = 0.0,
				sum = 0.0,
				square_sum = 0.0,	/* of squared weights times ratios, */
				squares = 0.0;	/* and squares of both */
	double		mean,
				count;

	for (size_t i = 0; i < rehearsals->trials; i++)
	{
		double		likeness = likeness_of(rehearsals, i);
		double		ratio = likeness * log(positive_error(rehearsals, method_count, i, method) /
										   positive_error(rehearsals, method_count, i, other));

		weight += likeness;
		weight_squares += likeness * likeness;
		sum += ratio;
		square_sum += likeness * ratio;
		squares += ratio * ratio;
	}
	mean = sum / weight;
	count = square(weight) / weight_squares;
	if (caution == 0.0 || count < 2.0)
		return mean;
	squares = fmax(squares - mean * (2.0 * square_sum - mean * weight_squares), 0.0);
	return mean + caution * sqrt(squares * count / (count - 1.0)) / weight;
}

/* Mean and variance of a method's log errors. */
static void
log_moments(const WmlcErrors *errors, int method_count, int method, double *mean, double *variance)
{
	double		count = (double) errors->trials;
	double		sum = 0.0;
	double		squares = 0.0;

	for (size_t i = 0; i < errors->trials; i++)
	{
		double		error = log(positive_error(errors, method_count, i, method));

		sum += error;
		squares += error * error;
	}
	*mean = sum / count;
	*variance = fmax(squares - sum * sum / count, 0.0) / (count - 1.0);
}

/*
 * The log error up to which a method's target is a usual one.  The errors in the
 * rehearsals tell; that of the target may have a further variance of its own.
 */
static double
usual_log_error(const WmlcErrors *rehearsals, int method_count, int method, double own_variance)
{
	double		mean,
				variance;

	log_moments(rehearsals, method_count, method, &mean, &variance);
	variance = variance * (1.0 + 1.0 / rehearsals->size) + own_variance;
	return mean + wmlc_student_bound(USUAL, rehearsals->size - 1.0) * sqrt(variance);
}

/*
 * Is the leader's error on the target larger than rehearsals lead to expect?  The
 * log of a mean of squares has itself a variance of about 2 / rows.
 */
static bool
is_strange(const WmlcErrors *folds, const WmlcErrors *rehearsals, int method_count, int leader)
{
	return rehearsals->size >= 2.0 &&
		log(fold_error(folds, method_count, leader)) >
		usual_log_error(rehearsals, method_count, leader, 2.0 / folds->size);
}

/*
 * The best of the methods down to some standing; of several that are as good as
 * equal, so that rounding would tell between them, the first and simplest.  The
 * baseline stands in where there is none, even if it is barred.
 */
static int
find_best(int method_count, int baseline, const WmlcStanding *standings, WmlcStanding lowest,
		  const WmlcVerdict *verdicts)
{
	bool		competes = standings[baseline] <= lowest;
	double		least = competes ? verdicts[baseline].score : INFINITY;

	for (int i = 0; i < method_count; i++)
	{
		if (standings[i] <= lowest && !isinf(verdicts[i].rmse))
			least = fmin(least, verdicts[i].score);
	}
	if (isinf(least) || (competes && !(verdicts[baseline].score > least)))
		return baseline;
	for (int i = 0; i < method_count; i++)
	{
		if (standings[i] <= lowest && !isinf(verdicts[i].rmse) && verdicts[i].score <= least + EQUAL)
			return i;
	}
	return baseline;
}

/* The best of the incumbents in rehearsals. */
static int
find_incumbent(int method_count, int baseline, const WmlcErrors *rehearsals,
			   const WmlcStanding *standings)
{
	int			best = baseline;
	double		least = 0.0;

	for (int i = 0; i < method_count; i++)
	{
		double		mean = standings[i] != WMLC_INCUMBENT ? 0.0
			: rehearsed(rehearsals, method_count, i, baseline, 0.0);

		if (mean < least)
		{
			least = mean;
			best = i;
		}
	}
	return best;
}

/* The scores of all methods in the rehearsals; returns who leads them. */
static int
score_by_rehearsals(int method_count, int baseline, const WmlcErrors *rehearsals,
					const WmlcStanding *standings, WmlcVerdict *verdicts)
{
	double		caution = rehearsals->made_up ? CAUTION_MADE_UP : CAUTION;
	int			incumbent = find_incumbent(method_count, baseline, rehearsals, standings);
	int			leader;

	for (int i = 0; i < method_count; i++)
		verdicts[i].score = rehearsed(rehearsals, method_count, i, incumbent, caution);
	leader = find_best(method_count, baseline, standings, WMLC_CANDIDATE, verdicts);
	for (int i = 0; i < method_count; i++)
	{
		if (standings[i] == WMLC_REFINEMENT)
			verdicts[i].score = verdicts[leader].score +
				rehearsed(rehearsals, method_count, i, leader, caution);
	}
	return find_best(method_count, baseline, standings, WMLC_REFINEMENT, verdicts);
}

int
wmlc_choose(int method_count, int baseline, const WmlcErrors *folds,
			const WmlcErrors *rehearsals, const WmlcStanding *standings, WmlcVerdict *verdicts)
{
	bool		rehearse = rehearsals->trials > 0;
	WmlcErrors	alike = *rehearsals;
	double		share = 1.0;
	int			leader = baseline;

	alike.likeness = NULL;
	for (int i = 0; i < method_count; i++)
	{
		judge_by_folds(folds, method_count, i, &verdicts[i]);
		verdicts[i].rehearsal = !rehearse ? NAN
			: exp(0.5 * rehearsed(&alike, method_count, i, baseline, 0.0));
		verdicts[i].score = 0.0;
	}
	if (rehearse)
		leader = score_by_rehearsals(method_count, baseline, rehearsals, standings, verdicts);
	if (folds->size == 0.0)
		share = 0.0;
	else if (rehearse && !is_strange(folds, rehearsals, method_count, leader))
		share = folds->size / (folds->size + EXCHANGE);
	for (int i = 0; i < method_count && share > 0.0; i++)
		verdicts[i].score = (1.0 - share) * verdicts[i].score +
			share * validated(folds, method_count, i, leader);
	return find_best(method_count, baseline, standings, WMLC_REFINEMENT, verdicts);
}

/* The best in rehearsals of those that may yet win and are not among the finalists, or -1. */
static int
find_next_finalist(int method_count, int chosen, const WmlcErrors *rehearsals,
				   const WmlcStanding *standings, const WmlcVerdict *verdicts, const bool *finalists)
{
	int			best = -1;

	for (int i = 0; i < method_count; i++)
	{
		if (finalists[i] || standings[i] == WMLC_BARRED || isinf(verdicts[i].rmse) ||
			(best >= 0 && verdicts[i].rehearsal >= verdicts[best].rehearsal))
			continue;
		if (rehearsed(rehearsals, method_count, i, chosen, -CAUTION) < 0.0)
			best = i;
	}
	return best;
}

int
wmlc_find_finalists(int method_count, int baseline, int chosen, const WmlcErrors *rehearsals,
					const WmlcStanding *standings, const WmlcVerdict *verdicts, bool *finalists)
{
	int			count = 0;

	for (int i = 0; i < method_count; i++)
	{
		finalists[i] = i == baseline || i == chosen ||
			(standings[i] == WMLC_INCUMBENT && !isinf(verdicts[i].rmse));
		count += finalists[i];
	}
	for (int n = 0; n < FINALISTS; n++)
	{
		int			next = find_next_finalist(method_count, chosen, rehearsals, standings, verdicts,
											  finalists);

		if (next < 0)
			break;
		finalists[next] = true;
		count++;
	}
	return count;
}

/* The mean squared error of a method on the unknown rows of the rehearsals. */
static double
rehearsed_error(int method_count, int method, const WmlcErrors *rehearsals)
{
	double		mean = 0.0;

	for (size_t i = 0; i < rehearsals->trials; i++)
		mean += rehearsals->errors[i * method_count + method] / (double) rehearsals->trials;
	return mean;
}

void
wmlc_bar_misfits(int method_count, const WmlcErrors *rehearsals, const WmlcFits *fits,
				 WmlcStanding *standings)
{
	WmlcErrors	known = *rehearsals;
	bool		others = false;
	double		typical,
				variance;

	known.errors = fits->rehearsed;
	for (int i = 0; i < method_count; i++)
	{
		log_moments(rehearsals, method_count, i, &typical, &variance);
		fits->misfits[i] = rehearsals->trials > 1 && rehearsals->size >= 2.0 &&
			log(fits->target[i]) > fmax(typical, usual_log_error(&known, method_count, i, 0.0));
		others |= !fits->misfits[i] && standings[i] != WMLC_BARRED;
	}
	for (int i = 0; i < method_count && others; i++)
	{
		if (fits->misfits[i])
			standings[i] = WMLC_BARRED;
	}
}

/*
 * The mean squared error to expect of a method: in rehearsals, over the folds, or on
 * the rows that it knows, what is most.
 */
static double
expected_error(int method_count, int method, const WmlcErrors *folds, const WmlcErrors *rehearsals,
			   const WmlcFits *fits)
{
	double		validated_error = 0.0;

	for (size_t i = 0; i < folds->trials; i++)
		validated_error += folds->shares[i] * folds->errors[i * method_count + method];
	return fmax(fmax(validated_error, fits->target[method]),
				rehearsed_error(method_count, method, rehearsals));
}

/* Mean square over the rows of a gram of (a - b).psi; b may be NULL for 0. */
static double
mean_square(const WmlcGram *gram, const double *a, const double *b)
{
	double		sum = 0.0;

	for (int i = 0; i < gram->dims; i++)
	{
		double		left = a[i] - (b == NULL ? 0.0 : b[i]);

		for (int j = 0; j < gram->dims; j++)
			sum += left * (a[j] - (b == NULL ? 0.0 : b[j])) * wmlc_dd_value(wmlc_gram_moment(gram, i, j));
	}
	return sum;
}

void
wmlc_bar_strays(int method_count, int baseline, const WmlcErrors *folds,
				const WmlcErrors *rehearsals, const WmlcFits *fits,
				const WmlcGram *pooled_sources, const double *coefficients,
				WmlcStanding *standings)
{
	int			d = pooled_sources->dims;
	int			incumbent;
	double		allowed;

	if (rehearsals->trials == 0 || !rehearsals->made_up)
		return;
	incumbent = find_incumbent(method_count, baseline, rehearsals, standings);
	if (fits->misfits[incumbent])
		return;
	allowed = sqrt(expected_error(method_count, incumbent, folds, rehearsals, fits));
	for (int i = 0; i < method_count; i++)
	{
		if (standings[i] != WMLC_INCUMBENT &&
			sqrt(mean_square(pooled_sources, coefficients + (size_t) i * d,
							 coefficients + (size_t) incumbent * d)) >
			allowed + sqrt(expected_error(method_count, i, folds, rehearsals, fits)))
			standings[i] = WMLC_BARRED;
	}
}

bool
wmlc_is_plausible(const WmlcGram *pooled_sources, const WmlcGram *target, const double *w)
{
	int			d = target->dims;
	double		response = fmax(wmlc_dd_value(wmlc_gram_moment(pooled_sources, d, d)),
								wmlc_dd_value(wmlc_gram_moment(target, d, d)));

	return mean_square(pooled_sources, w, NULL) <= IMPLAUSIBLE * response;
}
