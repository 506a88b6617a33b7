/*
 * quad.h
 *	  Small dense linear algebra in quadruple precision, as an independent
 *	  oracle.
 */
#ifndef WML_UNIT_QUAD_H
#define WML_UNIT_QUAD_H

#include <stdlib.h>
#include <string.h>

#ifdef __SIZEOF_FLOAT128__
typedef __float128 Quad;
#else
typedef long double Quad;		/* as wide where the other does not exist */
#endif

#define QUAD_MAX 48

typedef struct QuadMatrix
{
	int			n;
	Quad		at[QUAD_MAX][QUAD_MAX];
} QuadMatrix;

static inline Quad
quad_abs(Quad x)
{
	return x < 0 ? -x : x;
}

static inline void
quad_identity(QuadMatrix *m, int n)
{
	m->n = n;
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
			m->at[i][j] = i == j;
	}
}

/* c = a b; c is neither of them */
static inline void
quad_multiply(const QuadMatrix *a, const QuadMatrix *b, QuadMatrix *c)
{
	c->n = a->n;
	for (int i = 0; i < a->n; i++)
	{
		for (int j = 0; j < a->n; j++)
		{
			c->at[i][j] = 0;
			for (int k = 0; k < a->n; k++)
				c->at[i][j] += a->at[i][k] * b->at[k][j];
		}
	}
}

static inline void
quad_apply(const QuadMatrix *a, const Quad *x, Quad *y)
{
	for (int i = 0; i < a->n; i++)
	{
		y[i] = 0;
		for (int j = 0; j < a->n; j++)
			y[i] += a->at[i][j] * x[j];
	}
}

/* x = a^-1 x by elimination with partial pivoting; a is used up */
static inline void
quad_solve(QuadMatrix *a, Quad *x)
{
	int			n = a->n;

	for (int k = 0; k < n; k++)
	{
		int			pivot = k;

		for (int i = k + 1; i < n; i++)
		{
			if (quad_abs(a->at[i][k]) > quad_abs(a->at[pivot][k]))
				pivot = i;
		}
		for (int j = 0; j < n; j++)
		{
			Quad		t = a->at[k][j];

			a->at[k][j] = a->at[pivot][j];
			a->at[pivot][j] = t;
		}
		if (pivot != k)
		{
			Quad		t = x[k];

			x[k] = x[pivot];
			x[pivot] = t;
		}
		for (int i = k + 1; i < n; i++)
		{
			Quad		factor = a->at[i][k] / a->at[k][k];

			for (int j = k; j < n; j++)
				a->at[i][j] -= factor * a->at[k][j];
			x[i] -= factor * x[k];
		}
	}
	for (int i = n - 1; i >= 0; i--)
	{
		for (int j = i + 1; j < n; j++)
			x[i] -= a->at[i][j] * x[j];
		x[i] /= a->at[i][i];
	}
}

#endif							/* WML_UNIT_QUAD_H */
