/*
 * mlp.c
 *	  Using a network: wml_embed, wml_predict, wml_adapt, wml_adapt_path.
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"

#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/mlp/mlp.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_mlp_embed);
PG_FUNCTION_INFO_V1(wml_mlp_predict);
PG_FUNCTION_INFO_V1(wml_mlp_adapt);
PG_FUNCTION_INFO_V1(wml_mlp_adapt_path);

/* The network that the last call has fetched, and where from. */
typedef struct FetchedMlp
{
	struct varatt_external from;
	WmlMlp	   *mlp;
} FetchedMlp;

/*
 * The network, out of line as it mostly is, is fetched once for all rows.  What
 * lies at a place stays the same as long as someone can still see it.
 */
static WmlMlp *
get_network(FunctionCallInfo fcinfo)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(0);
	FetchedMlp *fetched = (FetchedMlp *) fcinfo->flinfo->fn_extra;
	struct varatt_external from;
	MemoryContext old_context;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
		return PG_GETARG_MLP(0);
	VARATT_EXTERNAL_GET_POINTER(from, value);
	if (fetched != NULL && memcmp(&fetched->from, &from, sizeof(from)) == 0)
		return fetched->mlp;

	fcinfo->flinfo->fn_extra = NULL;
	if (fetched != NULL)
	{
		pfree(fetched->mlp);
		pfree(fetched);
	}
	old_context = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	fetched = (FetchedMlp *) palloc(sizeof(FetchedMlp));
	fetched->from = from;
	fetched->mlp = PG_GETARG_MLP(0);
	fcinfo->flinfo->fn_extra = fetched;
	MemoryContextSwitchTo(old_context);
	return fetched->mlp;
}

/* The inputs of one row; NULL when one of them is. */
static double *
get_inputs(FunctionCallInfo fcinfo, const WmlMlp *mlp)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	double	   *x;
	int			count;

	if (array_contains_nulls(array))
		return NULL;
	x = wml_array_vector(array, "x", &count);
	if (count != mlp->inputs)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("inputs do not match the network"),
				 errdetail("There are %d inputs, the network has %d.", count, mlp->inputs)));
	return x;
}

Datum
wml_mlp_embed(PG_FUNCTION_ARGS)
{
	WmlMlp	   *mlp = get_network(fcinfo);
	WmlMlpView	view = wml_mlp_view(mlp);
	double	   *x = get_inputs(fcinfo, mlp);
	double	   *psi;
	ArrayType  *result;

	if (x == NULL)
		PG_RETURN_NULL();
	result = wml_array_new_vector(wmlc_mlp_basis(&view.net), &psi);
	wmlc_mlp_embed(&view.net, view.theta, x, psi, palloc(wmlc_mlp_predict_workspace(&view.net)));
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_mlp_predict(PG_FUNCTION_ARGS)
{
	WmlMlp	   *mlp = get_network(fcinfo);
	WmlMlpView	view = wml_mlp_view(mlp);
	double	   *x = get_inputs(fcinfo, mlp);

	if (x == NULL)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(wmlc_mlp_predict(&view.net, view.theta, x,
									  palloc(wmlc_mlp_predict_workspace(&view.net))));
}

/* The arguments (model, x, y, eta, steps), checked; the network is a copy. */
typedef struct Adaptation
{
	WmlMlp	   *mlp;
	WmlMlpView	view;
	WmlcMlpRows rows;
	double		eta;
	int			steps;
} Adaptation;

static Adaptation
get_adaptation(FunctionCallInfo fcinfo)
{
	Adaptation	adaptation;
	WmlMlp	   *mlp = PG_GETARG_MLP(0);
	int			rows,
				columns,
				count;

	adaptation.rows.x = wml_array_matrix(PG_GETARG_ARRAYTYPE_P(1), "x", &rows, &columns);
	adaptation.rows.y = wml_array_vector(PG_GETARG_ARRAYTYPE_P(2), "y", &count);
	adaptation.rows.count = rows;
	adaptation.eta = wml_check_not_negative(PG_GETARG_FLOAT8(3), "eta");
	adaptation.steps = wml_check_steps(PG_GETARG_INT32(4));
	if (rows != count || columns != mlp->inputs)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows do not match the network"),
				 errdetail("There are %d rows of %d inputs and %d responses; the network has %d inputs.",
						   rows, columns, count, mlp->inputs)));
	wml_array_check_finite(adaptation.rows.x, (int64) rows * columns, "inputs");
	wml_array_check_finite(adaptation.rows.y, rows, "responses");
	adaptation.mlp = (WmlMlp *) memcpy(palloc(VARSIZE(mlp)), mlp, VARSIZE(mlp));
	adaptation.view = wml_mlp_view(adaptation.mlp);
	return adaptation;
}

/* Descend; the errors of all steps go to mse unless it is NULL. */
static void
descend(const Adaptation *adaptation, double *mse)
{
	int			diverged_at;

	wml_check(wmlc_mlp_adapt(&adaptation->view.net, adaptation->view.theta, &adaptation->rows,
							 adaptation->eta, adaptation->steps, NULL, mse, &diverged_at, wml_poll,
							 wml_allocate(wmlc_mlp_adapt_workspace(&adaptation->view.net), 1)));
	if (diverged_at > 0)
		ereport(WML_WARNING,
				(errmsg("adaptation diverges with a step size of %g", adaptation->eta),
				 errdetail("It diverged at step %d. The best network so far is kept.", diverged_at),
				 errhint("Use a smaller eta or fewer steps.")));
}

Datum
wml_mlp_adapt(PG_FUNCTION_ARGS)
{
	Adaptation	adaptation = get_adaptation(fcinfo);

	descend(&adaptation, NULL);
	PG_RETURN_POINTER(adaptation.mlp);
}

Datum
wml_mlp_adapt_path(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	Adaptation	adaptation;
	double	   *mse;

	for (int i = 0; i < 5; i++)
	{
		if (PG_ARGISNULL(i))
			return (Datum) 0;
	}
	adaptation = get_adaptation(fcinfo);
	mse = (double *) palloc((adaptation.steps + 1) * sizeof(double));
	descend(&adaptation, mse);
	for (int step = 0; step <= adaptation.steps; step++)
	{
		Datum		values[2] = {Int32GetDatum(step), Float8GetDatum(mse[step])};
		bool		nulls[2] = {false, isnan(mse[step])};

		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}
