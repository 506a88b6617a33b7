/*
 * mlp_type.c
 *	  Text and binary form of wml_mlp, and its training history.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "utils/memutils.h"

#include "pg/base/error.h"
#include "pg/mlp/mlp.h"
#include "pg/base/srf.h"
#include "pg/base/text.h"

PG_FUNCTION_INFO_V1(wml_mlp_in);
PG_FUNCTION_INFO_V1(wml_mlp_out);
PG_FUNCTION_INFO_V1(wml_mlp_send);
PG_FUNCTION_INFO_V1(wml_mlp_recv);
PG_FUNCTION_INFO_V1(wml_mlp_history);

static Size
mlp_numbers(const WmlcMlp *net, bool standardized, int records)
{
	return (standardized ? 2 * ((Size) net->inputs + 1) : 0) + wmlc_mlp_parameters(net) +
		(Size) records * WML_MLP_RECORD_NUMBERS;
}

static Size
mlp_size(const WmlcMlp *net, bool standardized, int records)
{
	return offsetof(WmlMlp, numbers) + mlp_numbers(net, standardized, records) * sizeof(double);
}

WmlMlp *
wml_mlp_create(const WmlcMlp *net, bool standardized, int records)
{
	Size		size = mlp_size(net, standardized, records);
	WmlMlp	   *mlp;

	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("network is too large")));
	mlp = (WmlMlp *) palloc0(size);
	SET_VARSIZE(mlp, size);
	mlp->version = WML_MLP_VERSION;
	mlp->flags = standardized ? WML_MLP_STANDARDIZED : 0;
	mlp->inputs = net->inputs;
	mlp->depth = net->depth;
	for (int l = 0; l < net->depth; l++)
		mlp->width[l] = net->width[l];
	mlp->records = records;
	return mlp;
}

/* The shape alone; false when it is out of range. */
static bool
read_shape(const WmlMlp *mlp, WmlcMlp *net)
{
	memset(net, 0, sizeof(*net));
	net->inputs = mlp->inputs;
	net->depth = mlp->depth;
	for (int l = 0; l < WMLC_MLP_MAX_DEPTH; l++)
		net->width[l] = mlp->width[l];
	return wmlc_mlp_shape_valid(net) && mlp->records >= 0 && mlp->records <= 100000 &&
		(mlp->flags & ~WML_MLP_STANDARDIZED) == 0 && mlp->reserved == 0;
}

WmlMlpView
wml_mlp_view(WmlMlp *mlp)
{
	WmlMlpView	view;
	double	   *next = mlp->numbers;

	(void) read_shape(mlp, &view.net);
	view.shift = view.scale = NULL;
	if (mlp->flags & WML_MLP_STANDARDIZED)
	{
		view.shift = next;
		view.scale = next + mlp->inputs + 1;
		next += 2 * (mlp->inputs + 1);
	}
	view.net.shift = view.shift;
	view.net.scale = view.scale;
	view.theta = next;
	view.history = next + wmlc_mlp_parameters(&view.net);
	return view;
}

WmlMlp *
wml_mlp_from_datum(Datum datum)
{
	WmlMlp	   *mlp = (WmlMlp *) PG_DETOAST_DATUM(datum);
	WmlcMlp		net;

	if (VARSIZE(mlp) < offsetof(WmlMlp, numbers) || mlp->version != WML_MLP_VERSION ||
		!read_shape(mlp, &net) ||
		VARSIZE(mlp) != mlp_size(&net, (mlp->flags & WML_MLP_STANDARDIZED) != 0, mlp->records))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored network has an unknown version or a wrong length")));
	return mlp;
}

/* A record that training may have left; no distance is NaN. */
static bool
record_valid(const double *record)
{
	return record[0] >= 1.0 && record[0] <= PG_INT32_MAX && isfinite(record[1]) && record[1] >= 0.0 &&
		!(record[2] < 0.0) && record[3] >= 1.0 && record[3] <= PG_INT32_MAX;
}

/* Why the numbers are no network's, or NULL; nothing in them is trusted. */
static const char *
mlp_invalid(WmlMlp *mlp)
{
	WmlMlpView	view = wml_mlp_view(mlp);
	const char *problem = wmlc_mlp_problem(&view.net, view.theta);

	if (problem != NULL)
		return problem;
	for (int r = 0; r < mlp->records; r++)
	{
		if (!record_valid(view.history + (Size) r * WML_MLP_RECORD_NUMBERS))
			return "a record of its history is out of range";
	}
	return NULL;
}

static void
append_list(StringInfo out, const char *name, const double *numbers, Size count)
{
	appendStringInfo(out, " %s=[", name);
	wml_append_doubles(out, numbers, count);
	appendStringInfoChar(out, ']');
}

Datum
wml_mlp_out(PG_FUNCTION_ARGS)
{
	WmlMlp	   *mlp = PG_GETARG_MLP(0);
	WmlMlpView	view = wml_mlp_view(mlp);
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "{v=%d inputs=%d hidden=[", WML_MLP_VERSION, mlp->inputs);
	for (int l = 0; l < mlp->depth; l++)
		appendStringInfo(&out, l == 0 ? "%d" : " %d", mlp->width[l]);
	appendStringInfo(&out, "] standardized=%d records=%d", mlp->flags & WML_MLP_STANDARDIZED, mlp->records);
	if (view.shift != NULL)
	{
		append_list(&out, "shift", view.shift, mlp->inputs + 1);
		append_list(&out, "scale", view.scale, mlp->inputs + 1);
	}
	append_list(&out, "parameters", view.theta, wmlc_mlp_parameters(&view.net));
	append_list(&out, "history", view.history, (Size) mlp->records * WML_MLP_RECORD_NUMBERS);
	appendStringInfoChar(&out, '}');
	PG_RETURN_CSTRING(out.data);
}

static bool
scan_list(const char **at, const char *name, double *numbers, Size count)
{
	return wml_scan_word(at, name) && wml_scan_doubles(at, numbers, count) && wml_scan_word(at, "]");
}

/* The head of the text as a network without numbers. */
static bool
scan_shape(const char **at, WmlMlp *shape)
{
	int64		version,
				inputs,
				width,
				standardized,
				records;
	WmlcMlp		net;

	memset(shape, 0, sizeof(*shape));
	if (!wml_scan_word(at, "{") || !wml_scan_count(at, "v=", &version) || version != WML_MLP_VERSION ||
		!wml_scan_count(at, "inputs=", &inputs) || inputs > WMLC_MLP_MAX_INPUTS ||
		!wml_scan_word(at, "hidden=["))
		return false;
	while (!wml_scan_word(at, "]"))
	{
		if (shape->depth == WMLC_MLP_MAX_DEPTH || !wml_scan_count(at, "", &width) ||
			width > WMLC_MLP_MAX_WIDTH)
			return false;
		shape->width[shape->depth++] = (int32) width;
	}
	if (!wml_scan_count(at, "standardized=", &standardized) || standardized > 1 ||
		!wml_scan_count(at, "records=", &records) || records > 100000)
		return false;
	shape->inputs = (int32) inputs;
	shape->flags = standardized ? WML_MLP_STANDARDIZED : 0;
	shape->records = (int32) records;
	return read_shape(shape, &net);
}

static bool
scan_numbers(const char **at, WmlMlp *mlp)
{
	WmlMlpView	view = wml_mlp_view(mlp);

	if (view.shift != NULL &&
		(!scan_list(at, "shift=[", view.shift, mlp->inputs + 1) ||
		 !scan_list(at, "scale=[", view.scale, mlp->inputs + 1)))
		return false;
	return scan_list(at, "parameters=[", view.theta, wmlc_mlp_parameters(&view.net)) &&
		scan_list(at, "history=[", view.history, (Size) mlp->records * WML_MLP_RECORD_NUMBERS) &&
		wml_scan_end(at);
}

static WmlMlp *
create_from_shape(const WmlMlp *shape)
{
	WmlcMlp		net;

	(void) read_shape(shape, &net);
	return wml_mlp_create(&net, (shape->flags & WML_MLP_STANDARDIZED) != 0, shape->records);
}

Datum
wml_mlp_in(PG_FUNCTION_ARGS)
{
	const char *at = PG_GETARG_CSTRING(0);
	WmlMlp		shape;
	WmlMlp	   *mlp = NULL;
	const char *problem;

	if (scan_shape(&at, &shape))
		mlp = create_from_shape(&shape);
	if (mlp == NULL || !scan_numbers(&at, mlp))
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid input syntax for type %s", "wml_mlp"),
						 errhint("Use wml_mlp_train to make networks; their text form begins with {v=%d inputs=.",
								 WML_MLP_VERSION)));
	problem = mlp_invalid(mlp);
	if (problem != NULL)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid value for type %s", "wml_mlp"),
						 errdetail("The network is not valid: %s.", problem)));
	PG_RETURN_POINTER(mlp);
}

Datum
wml_mlp_send(PG_FUNCTION_ARGS)
{
	WmlMlp	   *mlp = PG_GETARG_MLP(0);
	WmlMlpView	view = wml_mlp_view(mlp);
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint16(&buffer, WML_MLP_VERSION);
	pq_sendint16(&buffer, mlp->flags);
	pq_sendint32(&buffer, mlp->inputs);
	pq_sendint32(&buffer, mlp->depth);
	for (int l = 0; l < WMLC_MLP_MAX_DEPTH; l++)
		pq_sendint32(&buffer, mlp->width[l]);
	pq_sendint32(&buffer, mlp->records);
	wml_send_doubles(&buffer, mlp->numbers, mlp_numbers(&view.net, view.shift != NULL, mlp->records));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

Datum
wml_mlp_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	WmlMlp		shape;
	WmlMlp	   *mlp;
	WmlcMlp		net;
	const char *problem;

	memset(&shape, 0, sizeof(shape));
	shape.version = (uint16) pq_getmsgint(buffer, 2);
	shape.flags = (uint16) pq_getmsgint(buffer, 2);
	shape.inputs = (int32) pq_getmsgint(buffer, 4);
	shape.depth = (int32) pq_getmsgint(buffer, 4);
	for (int l = 0; l < WMLC_MLP_MAX_DEPTH; l++)
		shape.width[l] = (int32) pq_getmsgint(buffer, 4);
	shape.records = (int32) pq_getmsgint(buffer, 4);
	if (shape.version != WML_MLP_VERSION || !read_shape(&shape, &net) ||
		mlp_numbers(&net, (shape.flags & WML_MLP_STANDARDIZED) != 0, shape.records) * sizeof(double)
		!= (Size) (buffer->len - buffer->cursor))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("unsupported version or size of type %s", "wml_mlp")));
	mlp = create_from_shape(&shape);
	wml_receive_doubles(buffer, mlp->numbers, (VARSIZE(mlp) - offsetof(WmlMlp, numbers)) / sizeof(double));
	pq_getmsgend(buffer);
	problem = mlp_invalid(mlp);
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type %s", "wml_mlp"),
				 errdetail("The network is not valid: %s.", problem)));
	PG_RETURN_POINTER(mlp);
}

Datum
wml_mlp_history(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	WmlMlp	   *mlp;
	WmlMlpView	view;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	mlp = PG_GETARG_MLP(0);
	view = wml_mlp_view(mlp);
	for (int r = 0; r < mlp->records; r++)
	{
		const double *record = view.history + (Size) r * WML_MLP_RECORD_NUMBERS;
		Datum		values[4];
		bool		nulls[4] = {false, false, isnan(record[2]), false};

		if (!record_valid(record))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("stored history of a network is not valid")));
		values[0] = Int64GetDatum((int64) record[0]);
		values[1] = Float8GetDatum(sqrt(record[1]));
		values[2] = Float8GetDatum(record[2]);
		values[3] = Int32GetDatum((int32) record[3]);
		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}
