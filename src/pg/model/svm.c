/*
 * svm.c
 *	  Support vector machines on the rows of a query: wml_svm_train.
 *
 * Other than the models made from grams, this one needs the rows themselves,
 * which stay in memory while the machine is trained.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "core/gram/gram.h"
#include "core/model/svm.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/base/query.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_svm_train);

/* Passes after which another method is tried. */
#define PATIENCE 100

enum
{
	ARG_QUERY,
	ARG_COST,
	ARG_TOLERANCE,
	ARG_PASSES,
	ARG_SEED
};

static const char *const argument_names[] = {"query", "cost", "tolerance", "passes", "seed"};

/* Check the rows' classes and weights; the costs of all rows. */
static double *
row_costs(const WmlQueryRows *rows, double cost)
{
	double	   *costs;

	if (rows->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query returned no rows to learn from"),
				 errdetail("It returned " INT64_FORMAT " rows with NULL.", rows->skipped)));
	if (rows->inputs > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many features: %d", rows->inputs),
				 errdetail("The maximum is %d.", WMLC_MAX_DIMS)));
	costs = (double *) wml_allocate(rows->count, sizeof(double));
	for (int64 i = 0; i < rows->count; i++)
	{
		double		weight = rows->weight != NULL ? rows->weight[i] : 1.0;

		CHECK_FOR_INTERRUPTS();
		if (fabs(rows->y[i]) != 1.0)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("class must be -1 or 1: %g", rows->y[i])));
		costs[i] = cost * wml_check_not_negative(weight, "weight");
	}
	return costs;
}

static bool
has_converged(const WmlcSvm *svm, double tolerance)
{
	return svm->gap <= tolerance * svm->objective;
}

/*
 * Pass over the rows until the gap is small; returns the number of passes.
 * Features of unlike size make the passes useless, but not the interior-point
 * method, whose turn comes when they have not led to the end in good time.
 */
static int
train(WmlcSvm *svm, double tolerance, int passes)
{
	WmlProgress progress = {0};
	bool		tried_interior = false;
	int			next = 1;		/* pass after which to look at the gap */

	for (int pass = 1;; pass++)
	{
		wml_check(wmlc_svm_pass(svm, wml_poll));
		if (pass < next && pass < passes)
			continue;

		/* certifying costs as much as a pass, so the more passes, the rarer */
		next = pass + 1 + pass / 8;
		wml_check(wmlc_svm_certify(svm, NULL, wml_poll));
		if (!has_converged(svm, tolerance) && pass >= PATIENCE && !tried_interior)
		{
			void	   *work = wml_allocate(wmlc_svm_interior_workspace(svm->rows, svm->dims), 1);

			wml_check(wmlc_svm_interior(svm, tolerance, work, wml_poll));
			tried_interior = true;
		}
		if (has_converged(svm, tolerance))
			return pass;
		if (pass >= passes)
		{
			ereport(WML_WARNING,
					(errmsg("support vector machine stopped after %d passes", pass),
					 errdetail("Its objective is %g, at most %g above the minimum.", svm->objective, svm->gap),
					 errhint("Increase passes, standardise the features, or use a smaller cost.")));
			return pass;
		}
		if (wml_progress_due(&progress))
			ereport(NOTICE,
					(errmsg("pass %d: objective %g, at most %g above the minimum", pass, svm->objective, svm->gap)));
	}
}

/* wml_svm_train(query, cost, tolerance, passes, seed) */
Datum
wml_svm_train(PG_FUNCTION_ARGS)
{
	WmlQueryRows rows;
	WmlcSvm		svm;
	ArrayType  *coefficients;
	double	   *w;
	double		cost,
				tolerance;
	int			passes;

	if (PG_ARGISNULL(ARG_QUERY))
		PG_RETURN_NULL();
	for (int i = ARG_COST; i <= ARG_SEED; i++)
		wml_require_arg(fcinfo, i, argument_names[i]);
	cost = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_COST), "cost");
	tolerance = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_TOLERANCE), "tolerance");
	passes = PG_GETARG_INT32(ARG_PASSES);
	if (passes < 1 || passes > WML_MAX_STEPS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("passes must be between 1 and %d: %d", WML_MAX_STEPS, passes)));

	rows = wml_query_rows(text_to_cstring(PG_GETARG_TEXT_PP(ARG_QUERY)), WML_QUERY_WEIGHTS,
						  "training set");
	wml_check(wmlc_svm_start(&svm, rows.x, rows.y, row_costs(&rows, cost), rows.count, rows.inputs,
							 (uint64_t) PG_GETARG_INT64(ARG_SEED),
							 wml_allocate(wmlc_svm_workspace(rows.count, rows.inputs), 1)));
	passes = train(&svm, tolerance, passes);
	coefficients = wml_array_new_vector(rows.inputs, &w);
	memcpy(w, svm.w, rows.inputs * sizeof(double));
	{
		Datum		values[7] = {
			PointerGetDatum(coefficients),
			Float8GetDatum(svm.objective),
			Float8GetDatum(svm.gap),
			Int64GetDatum(rows.count),
			Int64GetDatum(rows.skipped),
			Int64GetDatum((int64) svm.support),
			Int32GetDatum(passes)
		};

		return wml_composite(fcinfo, values, NULL);
	}
}
