/*
 * polls.c
 *	  How long a backend goes without asking whether to stop.
 *
 * While a query runs, a timer of processor time sets InterruptPending at every
 * tick.  CHECK_FOR_INTERRUPTS() takes it back, so a tick that still finds it set
 * belongs to a stretch in which a cancel would not have been heard.
 */
#include "postgres.h"

#include <execinfo.h>
#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

PG_MODULE_MAGIC;

#define MILLISECONDS_PER_TICK 4
#define MILLISECONDS_TO_TRACE 500

void		_PG_init(void);

static volatile sig_atomic_t deaf;	/* ticks since the last poll */
static volatile sig_atomic_t longest;
static volatile sig_atomic_t watched;	/* has anybody asked? */

/* Where a long stretch was found, for the server's log: names of functions, no memory taken. */
static void
trace(void)
{
	static const char head[] = "not cancellable for half a second:\n";
	void	   *frames[40];

	if (write(STDERR_FILENO, head, sizeof(head) - 1) > 0)
		backtrace_symbols_fd(frames, backtrace(frames, lengthof(frames)), STDERR_FILENO);
}

static void
tick(int signal)
{
	deaf = InterruptPending ? deaf + 1 : 0;
	if (deaf > longest)
		longest = deaf;
	if (watched && deaf == MILLISECONDS_TO_TRACE / MILLISECONDS_PER_TICK)
		trace();
	InterruptPending = true;
}

void
_PG_init(void)
{
	struct sigaction action = {.sa_handler = tick,.sa_flags = SA_RESTART};
	struct itimerval timer = {{0, MILLISECONDS_PER_TICK * 1000}, {0, MILLISECONDS_PER_TICK * 1000}};
	void	   *frame;

	(void) backtrace(&frame, 1);	/* loads what it needs now */
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
}

/* The longest stretch since the last call, in milliseconds */
PG_FUNCTION_INFO_V1(longest_stretch);

Datum
longest_stretch(PG_FUNCTION_ARGS)
{
	int			found = longest;

	longest = deaf = 0;
	watched = true;
	PG_RETURN_FLOAT8((double) found * MILLISECONDS_PER_TICK);
}

/*
 * kernel(size int): a matrix close to the largest array that there can be.  The
 * server's own functions would copy it several times without asking.
 */
PG_FUNCTION_INFO_V1(kernel);

Datum
kernel(PG_FUNCTION_ARGS)
{
	int			size = PG_GETARG_INT32(0);
	Size		bytes = ARR_OVERHEAD_NONULLS(2) + (Size) size * size * sizeof(double);
	ArrayType  *array = (ArrayType *) palloc(bytes);
	double	   *element;

	SET_VARSIZE(array, bytes);
	array->ndim = 2;
	array->dataoffset = 0;
	array->elemtype = FLOAT8OID;
	ARR_DIMS(array)[0] = ARR_DIMS(array)[1] = size;
	ARR_LBOUND(array)[0] = ARR_LBOUND(array)[1] = 1;
	element = (double *) ARR_DATA_PTR(array);
	for (int i = 0; i < size; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < size; j++)
			*element++ = exp(-abs(i - j) / 300.0);
	}
	PG_RETURN_ARRAYTYPE_P(array);
}
