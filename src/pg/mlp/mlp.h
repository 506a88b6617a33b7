/*
 * mlp.h
 *	  The SQL type wml_mlp: a trained network and the history of its training.
 */
#ifndef WML_MLP_H
#define WML_MLP_H

#include "postgres.h"

#include "fmgr.h"

#include "core/mlp/mlp.h"
#include "pg/base/compat.h"

#define WML_MLP_VERSION 1

/* Inputs and response are shifted and scaled before the network sees them. */
#define WML_MLP_STANDARDIZED 1

/* A history record on disk: iteration, mse, distance, sources. */
#define WML_MLP_RECORD_NUMBERS 4

/*
 * On disk.  The numbers are shift and scale (inputs + 1 each, standardized
 * networks only), the parameters, and the history.
 */
typedef struct WmlMlp
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint16		version;
	uint16		flags;
	int32		inputs;
	int32		depth;
	int32		width[WMLC_MLP_MAX_DEPTH];
	int32		records;
	int32		reserved;		/* zero */
	double		numbers[FLEXIBLE_ARRAY_MEMBER];
} WmlMlp;

/* The network behind the bytes, and where its parts lie. */
typedef struct WmlMlpView
{
	WmlcMlp		net;
	double	   *shift;			/* NULL unless standardized */
	double	   *scale;
	double	   *theta;
	double	   *history;
} WmlMlpView;

/* A new network with room for everything; the widths are in `net`. */
extern WmlMlp *wml_mlp_create(const WmlcMlp *net, bool standardized, int records);

extern WmlMlpView wml_mlp_view(WmlMlp *mlp);

/* The network behind a datum, with its version checked. */
extern WmlMlp *wml_mlp_from_datum(Datum datum);

#define PG_GETARG_MLP(n) wml_mlp_from_datum(PG_GETARG_DATUM(n))

#endif							/* WML_MLP_H */
