/*
 * mlp_kernel_vector.h
 *	  The kernel of mlp_kernel.c for one vector instruction set.  Included once
 *	  per set, with these macros defined:
 *
 *	  KERNEL(part)	names of the functions
 *	  TARGET		the attributes of a function that uses the set
 *	  LANES			doubles in a vector, a divisor of WMLC_MLP_PAD
 *	  ROWS			rows of C in registers: with PANEL vectors each, and PANEL more
 *					for B and one for A, they must all fit
 *	  FMA(a, b, c)	a * b + c
 *
 * A block of C, ROWS rows by up to PANEL vectors, stays in registers while the
 * loop runs down B.  The loops over the block have constant bounds in every
 * instance and must be unrolled completely.
 */

typedef double KERNEL(_vector) __attribute__((vector_size(LANES * sizeof(double))));
typedef double KERNEL(_unaligned)
			__attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef long long KERNEL(_bits) __attribute__((vector_size(LANES * sizeof(double))));

#define VECTOR KERNEL(_vector)
#define LOAD(address) ((VECTOR) *(const KERNEL(_unaligned) *) (address))
#define STORE(address, v) (*(KERNEL(_unaligned) *) (address) = (v))
#define BROADCAST(x) ((x) - (VECTOR) {0.0})	/* no operation left: x - 0 is x */
#define KEEP_IF(condition, v) ((VECTOR) ((KERNEL(_bits)) (v) & (condition)))

/* rows x (vectors * LANES) of C, from (row, column) on */
TARGET
static inline __attribute__((always_inline)) void
KERNEL(_block) (const WmlcMlpProduct *p, int row, int column, int rows, int vectors)
{
	const double *a = p->a + row * p->a_row;
	const double *b = p->b + column;
	double	   *c = p->c + row * p->c_stride + column;
	VECTOR		sum[ROWS][PANEL];

	if (p->start == NULL)
	{
		UNROLL
		for (int i = 0; i < rows; i++)
			UNROLL
			for (int v = 0; v < vectors; v++)
				sum[i][v] = (VECTOR) {0.0};
	}
	else
	{
		const double *start = p->start + row * p->start_stride + column;

		UNROLL
		for (int i = 0; i < rows; i++)
			UNROLL
			for (int v = 0; v < vectors; v++)
				sum[i][v] = LOAD(start + i * p->start_stride + v * LANES);
	}

	for (int l = 0; l < p->depth; l++)
	{
		VECTOR		b_row[PANEL];

		UNROLL
		for (int v = 0; v < vectors; v++)
			b_row[v] = LOAD(b + v * LANES);
		UNROLL
		for (int i = 0; i < rows; i++)
		{
			VECTOR		factor = BROADCAST(a[i * p->a_row]);

			UNROLL
			for (int v = 0; v < vectors; v++)
				sum[i][v] = FMA(factor, b_row[v], sum[i][v]);
		}
		a += p->a_step;
		b += p->b_stride;
	}

	if (p->relu)
	{
		UNROLL
		for (int i = 0; i < rows; i++)
			UNROLL
			for (int v = 0; v < vectors; v++)
				sum[i][v] = KEEP_IF(~(sum[i][v] < 0.0), sum[i][v]);
	}
	if (p->mask != NULL)
	{
		const double *mask = p->mask + row * p->c_stride + column;

		UNROLL
		for (int i = 0; i < rows; i++)
			UNROLL
			for (int v = 0; v < vectors; v++)
				sum[i][v] = KEEP_IF(LOAD(mask + i * p->c_stride + v * LANES) > 0.0, sum[i][v]);
	}
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int v = 0; v < vectors; v++)
			STORE(c + i * p->c_stride + v * LANES, sum[i][v]);
}

/* All rows of C, a panel of its columns. */
TARGET
static inline __attribute__((always_inline)) void
KERNEL(_panel) (const WmlcMlpProduct *p, int column, int vectors)
{
	int			row = 0;

	for (; row + ROWS <= p->rows; row += ROWS)
		KERNEL(_block) (p, row, column, ROWS, vectors);
	for (; row < p->rows; row++)
		KERNEL(_block) (p, row, column, 1, vectors);
}

TARGET
static void
KERNEL(_product) (const WmlcMlpProduct *p)
{
	int			vectors = p->columns / LANES;
	int			panels = (vectors + PANEL - 1) / PANEL;
	int			column = 0;

	/* panels of nearly the same width: 4 + 4 vectors rather than 5 + 3 */
	for (; panels > 0; panels--)
	{
		int			width = (vectors + panels - 1) / panels;

		switch (width)
		{
			case 1:
				KERNEL(_panel) (p, column, 1);
				break;
			case 2:
				KERNEL(_panel) (p, column, 2);
				break;
			case 3:
				KERNEL(_panel) (p, column, 3);
				break;
			case 4:
				KERNEL(_panel) (p, column, 4);
				break;
			case 5:
				KERNEL(_panel) (p, column, 5);
				break;
		}
		vectors -= width;
		column += width * LANES;
	}
}

/* Always WMLC_MLP_PAD running sums, so that the order is the same everywhere. */
TARGET
static void
KERNEL(_dots) (int rows, int columns, const double *a, const double *w, double *out)
{
	for (int i = 0; i < rows; i++, a += columns)
	{
		VECTOR		sum[WMLC_MLP_PAD / LANES];
		double		part[WMLC_MLP_PAD];

		UNROLL
		for (int v = 0; v < WMLC_MLP_PAD / LANES; v++)
			sum[v] = (VECTOR) {0.0};
		for (int j = 0; j < columns; j += WMLC_MLP_PAD)
			UNROLL
			for (int v = 0; v < WMLC_MLP_PAD / LANES; v++)
				sum[v] = FMA(LOAD(a + j + v * LANES), LOAD(w + j + v * LANES), sum[v]);
		UNROLL
		for (int v = 0; v < WMLC_MLP_PAD / LANES; v++)
			STORE(part + v * LANES, sum[v]);
		out[i] += ((part[0] + part[4]) + (part[2] + part[6]))
			+ ((part[1] + part[5]) + (part[3] + part[7]));
	}
}

static const WmlcMlpKernel KERNEL(_table) =
{
	.product = KERNEL(_product),
	.dots = KERNEL(_dots),
	.transpose = transpose
};

#undef VECTOR
#undef LOAD
#undef STORE
#undef BROADCAST
#undef KEEP_IF
#undef KERNEL
#undef TARGET
#undef LANES
#undef ROWS
#undef FMA
