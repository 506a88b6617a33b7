/*
 * stack.c
 *	  The aggregate wml_stack: the weighted mean of the sources' shrunken
 *	  coefficients, which is the model of stacked weights.
 *
 * What the sources have in common is known only when all have been seen, so
 * the state keeps their grams.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "core/model/ensemble.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/gram/gram.h"

PG_FUNCTION_INFO_V1(wml_stack_accum);
PG_FUNCTION_INFO_V1(wml_stack_final);

typedef struct Stack
{
	size_t		count;
	size_t		capacity;
	const WmlcGram **grams;
	double	   *alpha;
} Stack;

static void
add_task(Stack *stack, const WmlcGram *gram, double alpha)
{
	WmlGram    *copy = wml_gram_create(gram->dims);

	if (stack->count == stack->capacity)
	{
		stack->capacity *= 2;
		stack->grams = (const WmlcGram **) repalloc_huge(stack->grams, stack->capacity * sizeof(WmlcGram *));
		stack->alpha = (double *) repalloc_huge(stack->alpha, stack->capacity * sizeof(double));
	}
	wml_check(wmlc_gram_merge(&copy->body, gram));
	stack->grams[stack->count] = &copy->body;
	stack->alpha[stack->count++] = alpha;
}

/* wml_stack_accum(state, gram, alpha) */
Datum
wml_stack_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	Stack	   *stack = PG_ARGISNULL(0) ? NULL : (Stack *) PG_GETARG_POINTER(0);
	MemoryContext old_context;
	const WmlcGram *gram;
	double		alpha;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return wml_unchanged_state(fcinfo);
	gram = PG_GETARG_GRAM(1);
	alpha = wml_check_not_negative(PG_GETARG_FLOAT8(2), "alpha");
	wml_gram_check_solvable(gram, "source");
	old_context = MemoryContextSwitchTo(context);
	if (stack == NULL)
	{
		stack = (Stack *) palloc0(sizeof(Stack));
		stack->capacity = 64;
		stack->grams = (const WmlcGram **) palloc(stack->capacity * sizeof(WmlcGram *));
		stack->alpha = (double *) palloc(stack->capacity * sizeof(double));
	}
	else
		wml_gram_check_same_dims(gram, stack->grams[0]);
	add_task(stack, gram, alpha);
	MemoryContextSwitchTo(old_context);
	PG_RETURN_POINTER(stack);
}

Datum
wml_stack_final(PG_FUNCTION_ARGS)
{
	Stack	   *stack = PG_ARGISNULL(0) ? NULL : (Stack *) PG_GETARG_POINTER(0);
	WmlcEnsemble ensemble;
	ArrayType  *result;
	double	   *w;
	double	   *member;
	double		total = 0.0;
	double		noise;
	void	   *work;
	int			d;

	(void) wml_aggregate_context(fcinfo);
	if (stack == NULL)
		PG_RETURN_NULL();
	d = stack->grams[0]->dims;
	for (size_t j = 0; j < stack->count; j++)
		total += stack->alpha[j];
	if (total == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks are zero"),
				 errhint("At least one task needs a positive alpha.")));
	work = wml_allocate(wmlc_ensemble_workspace(d), 1);
	member = (double *) palloc(d * sizeof(double));
	ensemble.coefficients = (double *) palloc(d * sizeof(double));
	wml_check(wmlc_ensemble(&ensemble, d, stack->count, stack->grams, work, wml_poll));
	result = wml_array_new_vector(d, &w);
	memset(w, 0, d * sizeof(double));
	for (size_t j = 0; j < stack->count; j++)
	{
		if (stack->alpha[j] == 0.0)
			continue;
		wml_check(wmlc_ensemble_member(&ensemble, stack->grams[j], member, &noise, work, wml_poll));
		for (int i = 0; i < d; i++)
			w[i] += stack->alpha[j] / total * member[i];
	}
	wml_array_check_finite(w, d, "coefficients");
	PG_RETURN_ARRAYTYPE_P(result);
}
