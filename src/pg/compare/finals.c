/*
 * finals.c
 *	  Further rehearsals of the methods that could still win.
 *
 * In rehearsals that forecast, methods that are good differ by a few per cent, and
 * 64 sources do not tell which is the better one: another 64 would choose another.
 * All of a grid before all of the sources would take long; a few methods do not.
 */
#include "postgres.h"

#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/compare/contest.h"

/*
 * At most so many rehearsals follow, and fewer where they have many sources to learn
 * from: trials times sources.
 */
#define FINALS 192
#define MOST_PAIRS 100000

/* What the finals are held with; the first rehearsals are behind them. */
typedef struct Finals
{
	WmlContest *contest;
	const WmlcErrors *rehearsals;
	WmlContest	race;			/* of the finalists alone */
	int		   *numbers;		/* of the finalists in the contest */
	double	   *errors;			/* of all rehearsals, the first ones too */
	double	   *responses;
	double	   *likeness;
} Finals;

/* The sources that can forecast and have not done so. */
static void
create_trials(Finals *finals)
{
	const WmlContest *contest = finals->contest;
	const WmlcTrial *past = contest->trials + wml_contest_rehearsals(contest);
	size_t		count = contest->comparison.source_count;
	bool	   *able = (bool *) wml_allocate(count, sizeof(bool));
	size_t		able_count = 0;
	size_t		seen = 0;
	size_t		wanted;
	size_t		done = 0;

	for (size_t j = 0; j < count; j++)
		able[j] = contest->rests[j] != NULL;
	for (size_t i = 0; i < contest->rehearsal_count; i++)
		able[past[i].left_out] = false;
	for (size_t j = 0; j < count; j++)
		able_count += able[j];
	wanted = Min(able_count, FINALS);
	wanted = Min(wanted, MOST_PAIRS / Min(count, WMLC_MOST_REHEARSED));
	finals->race.trials = (WmlcTrial *) wml_allocate(wanted, sizeof(WmlcTrial));
	for (size_t j = 0; j < count && done < wanted; j++)
	{
		if (able[j] && seen++ * wanted / able_count >= done)
			finals->race.trials[done++] = wml_contest_forecast(contest, j);
	}
	finals->race.comparison.trial_count = done;
	pfree(able);
}

static void
create_grid(Finals *finals)
{
	const WmlContest *contest = finals->contest;
	const WmlcGrid *all = &contest->grid;
	int			count = 0;

	finals->race.grid = (WmlcGrid) {
		.learners = (WmlcLearner *) wml_allocate(all->learner_count, sizeof(WmlcLearner)),
		.weightings = (WmlcWeighting *) wml_allocate(all->weighting_count, sizeof(WmlcWeighting)),
		.methods = (WmlcMethod *) wml_allocate(all->method_count, sizeof(WmlcMethod))
	};
	finals->numbers = (int *) wml_allocate(all->method_count, sizeof(int));
	wmlc_grid_select(all, contest->finalists, &finals->race.grid);
	for (int i = 0; i < all->method_count; i++)
	{
		if (contest->finalists[i])
			finals->numbers[count++] = i;
	}
}

/* What the finalists did before, and then what they have done now. */
static void
collect(Finals *finals)
{
	int			count = finals->race.grid.method_count;
	int			all = finals->contest->grid.method_count;
	size_t		past = finals->rehearsals->trials;
	size_t		trials = past + finals->race.comparison.trial_count;

	finals->errors = (double *) wml_allocate(trials * count, sizeof(double));
	finals->responses = (double *) wml_allocate(trials, sizeof(double));
	finals->likeness = (double *) wml_allocate(trials, sizeof(double));
	for (size_t i = 0; i < past; i++)
	{
		finals->responses[i] = finals->rehearsals->responses[i];
		finals->likeness[i] = finals->rehearsals->likeness[i];
		for (int k = 0; k < count; k++)
			finals->errors[i * count + k] = finals->rehearsals->errors[i * all + finals->numbers[k]];
	}
	memcpy(finals->errors + past * count, finals->race.errors, (trials - past) * count * sizeof(double));
	wml_contest_sizes(finals->contest, finals->race.trials, trials - past,
					  finals->responses + past, finals->likeness + past);
}

/*
 * The verdicts on the finalists are those on all rehearsals.  The others met the
 * first ones only, where they did so many times worse than the one chosen.
 */
static void
put_verdicts(const Finals *finals, const WmlcVerdict *verdicts, int winner)
{
	WmlContest *contest = finals->contest;
	double		ratio = verdicts[winner].rehearsal /
		contest->verdicts[finals->numbers[winner]].rehearsal;

	for (int i = 0; i < contest->grid.method_count; i++)
	{
		if (!contest->finalists[i])
			contest->verdicts[i].rehearsal *= ratio;
	}
	for (int k = 0; k < finals->race.grid.method_count; k++)
	{
		WmlcVerdict *verdict = &contest->verdicts[finals->numbers[k]];
		WmlcStatus *status = &contest->statuses[finals->numbers[k]];

		verdict->rehearsal = verdicts[k].rehearsal;
		verdict->score = verdicts[k].score;
		*status = *status == WMLC_OK ? finals->race.statuses[k] : *status;
	}
}

/* Choose among the finalists, by all rehearsals. */
static void
choose(Finals *finals, const WmlcStanding *standings)
{
	int			count = finals->race.grid.method_count;
	int			winner;
	WmlcErrors	folds = {.trials = 0};
	size_t		more = finals->race.comparison.trial_count;
	WmlcErrors	rehearsals = wmlc_rehearsal_errors(count, finals->rehearsals->trials + more,
												   finals->rehearsals->size + (double) more,
												   finals->errors, finals->responses, finals->likeness, false);
	WmlcVerdict *verdicts = (WmlcVerdict *) wml_allocate(count, sizeof(WmlcVerdict));
	WmlcStanding *chances = (WmlcStanding *) wml_allocate(count, sizeof(WmlcStanding));

	for (int k = 0; k < count; k++)
		chances[k] = standings[finals->numbers[k]];
	winner = wmlc_choose(count, WMLC_BASELINE_UNIFORM, &folds, &rehearsals, chances, verdicts);
	put_verdicts(finals, verdicts, winner);
	finals->contest->chosen = finals->numbers[winner];
}

void
wml_hold_finals(WmlContest *contest, const WmlcErrors *rehearsals, const WmlcStanding *standings)
{
	Finals		finals = {.contest = contest, .rehearsals = rehearsals, .race = *contest};

	create_trials(&finals);
	if (finals.race.comparison.trial_count == 0)
		return;
	contest->finalists = (bool *) wml_allocate(contest->grid.method_count, sizeof(bool));
	wmlc_find_finalists(contest->grid.method_count, WMLC_BASELINE_UNIFORM, contest->chosen,
						rehearsals, standings, contest->verdicts, contest->finalists);
	create_grid(&finals);
	wml_run_contest(&finals.race, "the best methods");
	collect(&finals);
	choose(&finals, standings);
	pfree(finals.race.work);
	pfree(finals.race.coefficients);
}
