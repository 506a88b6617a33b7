/*
 * compare_naive.h
 *	  The methods of a comparison from rows, by their definitions, in long
 *	  double.
 */
#ifndef WML_UNIT_COMPARE_NAIVE_H
#define WML_UNIT_COMPARE_NAIVE_H

#include "core/compare/compare.h"

#include "compare/compare_fixture.h"

#define D 3
#define P (D + 1)
#define SOURCES 6
#define EMBEDDING (P * P)

typedef long double Real;

/* A task as moments: M = sum z z' / n. */
typedef struct Moments
{
	int			rows;
	Real		m[P][P];
} Moments;

static inline Moments
moments_of(const Rows *rows, int from, int to)
{
	Moments		result = {.rows = to - from};

	for (int r = from; r < to; r++)
	{
		for (int i = 0; i < P; i++)
		{
			for (int j = 0; j < P; j++)
				result.m[i][j] += (Real) rows_at(rows, r)[i] * rows_at(rows, r)[j] / result.rows;
		}
	}
	return result;
}

/* x = a^-1 b for a positive definite a of size n */
static inline void
solve(int n, Real a[P][P], const Real *b, Real *x)
{
	Real		work[P][P + 1];

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
			work[i][j] = a[i][j];
		work[i][n] = b[i];
	}
	for (int k = 0; k < n; k++)
	{
		for (int i = 0; i < n; i++)
		{
			Real		factor = work[i][k] / work[k][k];

			for (int j = k; j <= n && i != k; j++)
				work[i][j] -= factor * work[k][j];
		}
	}
	for (int i = 0; i < n; i++)
		x[i] = work[i][n] / work[i][i];
}

/* The lower triangular R with R a R' = I, of the first n coordinates. */
static inline void
whitening_matrix(int n, Real a[P][P], Real r[P][P])
{
	Real		l[P][P] = {{0}};

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j <= i; j++)
		{
			Real		rest = a[i][j];

			for (int k = 0; k < j; k++)
				rest -= l[i][k] * l[j][k];
			l[i][j] = i == j ? sqrtl(rest) : rest / l[j][j];
		}
	}
	for (int j = 0; j < n; j++)
	{
		for (int i = 0; i < n; i++)
		{
			Real		rest = i == j ? 1 : 0;

			for (int k = 0; k < i; k++)
				rest -= l[i][k] * r[k][j];
			r[i][j] = rest / l[i][i];
		}
	}
}

/* Moments of the rows r z; r is P x P. */
static inline Moments
transformed(const Moments *from, Real r[P][P])
{
	Moments		to = {.rows = from->rows};

	for (int i = 0; i < P; i++)
	{
		for (int j = 0; j < P; j++)
		{
			for (int k = 0; k < P; k++)
			{
				for (int l = 0; l < P; l++)
					to.m[i][j] += r[i][k] * from->m[k][l] * r[j][l];
			}
		}
	}
	return to;
}

static inline void
pool(int count, const Moments *tasks, Real m[P][P])
{
	Real		rows = 0;

	memset(m, 0, P * P * sizeof(Real));
	for (int t = 0; t < count; t++)
		rows += tasks[t].rows;
	for (int t = 0; t < count; t++)
	{
		for (int i = 0; i < P; i++)
		{
			for (int j = 0; j < P; j++)
				m[i][j] += tasks[t].rows / rows * tasks[t].m[i][j];
		}
	}
}

/*
 * min | sum alpha_j E_j - E_T |^2 + ridge |alpha|^2 over the simplex: weight goes
 * from the source with the steepest ascent to that with the steepest descent
 * until there is no difference left.
 */
static inline void
mixture(int count, Real e[SOURCES][EMBEDDING], Real ridge, Real *alpha)
{
	for (int j = 0; j < count; j++)
		alpha[j] = 1.0L / count;
	for (int step = 0; step < 200000; step++)
	{
		Real		sum[EMBEDDING] = {0};
		Real		gradient[SOURCES];
		int			down = 0;
		int			up = -1;
		Real		slope,
					curvature = 2 * ridge;

		for (int j = 0; j < count; j++)
		{
			for (int k = 0; k < EMBEDDING; k++)
				sum[k] += alpha[j] * e[j][k];
		}
		for (int j = 0; j < count; j++)
		{
			gradient[j] = ridge * alpha[j];
			for (int k = 0; k < EMBEDDING; k++)
				gradient[j] += sum[k] * e[j][k];
			if (gradient[j] < gradient[down])
				down = j;
			if (alpha[j] > 0 && (up < 0 || gradient[j] > gradient[up]))
				up = j;
		}
		slope = gradient[up] - gradient[down];
		if (slope <= 1e-17L * fabsl(gradient[up]))
			return;
		for (int k = 0; k < EMBEDDING; k++)
			curvature += (e[up][k] - e[down][k]) * (e[up][k] - e[down][k]);
		slope = slope / curvature < alpha[up] ? slope / curvature : alpha[up];
		alpha[up] -= slope;
		alpha[down] += slope;
	}
	CHECK(false, "no mixture found");
}

/*
 * Sampling variance of the mean embedding of rows: from fourth moments, or in a
 * whitened basis, where grams do not have them, (tr M)^2 + |M|^2 - 2 |m|^4, which
 * is right for normal z with mean m.
 */
static inline Real
sampling_variance(const Rows *rows, int from, int to, bool whitened, Real r[P][P])
{
	Real		n = to - from;
	Real		fourth = 0;
	Real		trace = 0;
	Real		norm = 0;
	Real		mean = 0;
	Moments		plain = moments_of(rows, from, to);
	Moments		moments = transformed(&plain, r);

	for (int i = 0; i < P; i++)
	{
		Real		entry = 0;

		for (int j = 0; j < P; j++)
		{
			entry += r[i][j] * plain.m[j][0];
			norm += moments.m[i][j] * moments.m[i][j];
		}
		mean += entry * entry;
		trace += moments.m[i][i];
	}
	if (whitened)
		return (trace * trace + norm - 2 * mean * mean) / (n - 1);
	for (int k = from; k < to; k++)
	{
		Real		length = 0;

		for (int i = 0; i < P; i++)
			length += (Real) rows_at(rows, k)[i] * rows_at(rows, k)[i];
		fourth += length * length;
	}
	return (fourth / n - norm) / (n - 1);
}

/* What one method makes of a trial, by its definition. */
typedef struct Problem
{
	int			count;			/* of sources that take part */
	Moments		sources[SOURCES];
	Moments		all[SOURCES + 1];	/* all sources, and the whole target */
	Moments		known;
	const Rows *target;
	int			from;			/* the known rows */
	int			to;
} Problem;

static inline void
weigh_naively(const Problem *problem, const WmlcWeighting *weighting, Real *alpha)
{
	Real		basis[P][P] = {{0}};
	Real		pooled[P][P];
	Real		e[SOURCES][EMBEDDING];
	Moments		target;
	int			closest = 0;
	Real		square[SOURCES] = {0};
	Real		rows = 0;

	for (int i = 0; i < P; i++)
		basis[i][i] = 1;
	pool(SOURCES, problem->all, pooled);
	if (weighting->whiten)
		whitening_matrix(P, pooled, basis);
	target = transformed(&problem->known, basis);
	for (int j = 0; j < problem->count; j++)
	{
		Moments		source = transformed(&problem->sources[j], basis);

		for (int k = 0; k < EMBEDDING; k++)
		{
			e[j][k] = (&source.m[0][0])[k] - (&target.m[0][0])[k];
			square[j] += e[j][k] * e[j][k];
		}
		if (square[j] < square[closest])
			closest = j;
		rows += problem->sources[j].rows;
	}
	for (int j = 0; j < problem->count; j++)
	{
		if (weighting->rule == WMLC_UNIFORM)
			alpha[j] = 1.0L / problem->count;
		else if (weighting->rule == WMLC_POOLED)
			alpha[j] = problem->sources[j].rows / rows;
		else
			alpha[j] = j == closest;
	}
	if (weighting->rule == WMLC_MIXTURE)
		mixture(problem->count, e, weighting->shrink == 0.0 ? 0 : weighting->shrink *
				sampling_variance(problem->target, problem->from, problem->to, weighting->whiten,
								  basis), alpha);
}

/* Add weight (P A, P b), P = T^power, T = I - eta A, to the equations. */
static inline void
add_naively(const Moments *task, Real weight, Real eta, int power, Real a[P][P], Real *b)
{
	Real		x[D][P];

	for (int i = 0; i < D; i++)
	{
		for (int j = 0; j < P; j++)
			x[i][j] = task->m[i][j];
	}
	for (; power > 0; power--)
	{
		Real		y[D][P];

		for (int i = 0; i < D; i++)
		{
			for (int j = 0; j < P; j++)
			{
				y[i][j] = x[i][j];
				for (int k = 0; k < D; k++)
					y[i][j] -= eta * task->m[i][k] * x[k][j];
			}
		}
		memcpy(x, y, sizeof(x));
	}
	for (int i = 0; i < D; i++)
	{
		for (int j = 0; j < D; j++)
			a[i][j] += weight * x[i][j];
		b[i] += weight * x[i][D];
	}
}

/* Of inner steps as in the objective: one, and none for joint training. */
static inline int
power_of(int kind)
{
	return kind == WMLC_MAML ? 2 : kind == WMLC_FOMAML ? 1 : 0;
}

static inline void
learn_naively(const Problem *problem, const WmlcLearner *learner, const WmlcWeighting *weighting,
			  const WmlcMethod *method, Real *w)
{
	bool		joint = !isinf(method->source_rows);
	Real		alpha[SOURCES];
	Real		basis[P][P] = {{0}};
	Real		pooled[P][P];
	Real		a[P][P] = {{0}};
	Real		b[D] = {0};
	Real		v[D];
	Real		total = 0;
	Moments		known;

	for (int i = 0; i < P; i++)
		basis[i][i] = 1;
	pool(SOURCES + 1, problem->all, pooled);
	if (learner->whiten)
		whitening_matrix(D, pooled, basis);
	known = transformed(&problem->known, basis);
	weigh_naively(problem, weighting, alpha);
	for (int j = 0; j < problem->count && method->source_rows > 0; j++)
	{
		Moments		source = transformed(&problem->sources[j], basis);
		Real		weight = joint ? alpha[j] * method->source_rows : alpha[j];

		add_naively(&source, weight, learner->eta, power_of(learner->kind), a, b);
		total += weight;
	}
	if (joint)
	{
		add_naively(&known, known.rows, 0, 0, a, b);
		total += known.rows;
	}
	for (int i = 0; i < D; i++)
		a[i][i] += method->ridge * total;
	solve(D, a, b, v);
	for (int step = 0; step < method->adapt_steps; step++)
	{
		Real		gradient[D];

		for (int i = 0; i < D; i++)
		{
			gradient[i] = -known.m[i][D];
			for (int k = 0; k < D; k++)
				gradient[i] += known.m[i][k] * v[k];
		}
		for (int i = 0; i < D; i++)
			v[i] -= learner->eta * gradient[i];
	}
	for (int i = 0; i < D; i++)
	{
		w[i] = 0;
		for (int k = 0; k < D; k++)
			w[i] += basis[k][i] * v[k];
	}
}

#endif							/* WML_UNIT_COMPARE_NAIVE_H */
