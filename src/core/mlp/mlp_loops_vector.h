/*
 * mlp_loops_vector.h
 *	  The loops of mlp_loops.c for one vector instruction set.  Included once
 *	  per set, with these macros defined:
 *
 *	  LOOPS(part)	names of the functions
 *	  TARGET		the attributes of a function that uses the set
 *	  LANES			doubles in a vector, a divisor of WMLC_MLP_PAD
 *	  ROWS			rows of C in registers: with PANEL vectors each, and PANEL more
 *					for B and one for A, they must all fit
 *	  SKIP_ZEROS	whether to skip the zeros of A
 *	  FMA(a, b, c)	a * b + c
 *
 * A block of C, ROWS rows by up to PANEL vectors, stays in registers while the
 * loop runs down B.  The loops over the block have constant bounds in every
 * instance and must be unrolled completely.
 *
 * Rows of A have their zeros in different places, so skipping them means to go
 * row by row, with twice as many vectors of C in registers.  With wide vectors
 * a row has too few of them to hide the latency of their sums, and nothing is
 * gained.
 */

typedef double LOOPS(_vector) __attribute__((vector_size(LANES * sizeof(double))));
typedef double LOOPS(_unaligned)
			__attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef unsigned long long LOOPS(_bits) __attribute__((vector_size(LANES * sizeof(double))));

#define VECTOR LOOPS(_vector)
#define LOAD(address) ((VECTOR) *(const LOOPS(_unaligned) *) (address))
#define STORE(address, v) (*(LOOPS(_unaligned) *) (address) = (v))
#define BROADCAST(x) ((x) - (VECTOR) {0.0})	/* no operation left: x - 0 is x */
#define KEEP_IF(condition, v) ((VECTOR) ((LOOPS(_bits)) (v) & (LOOPS(_bits)) (condition)))
#define EACH_VECTOR \
	UNROLL for (int g = 0; g < 2; g++) UNROLL for (int v = 0; v < half; v++)

/* rows x (vectors * LANES) of C, from (row, column) on */
TARGET
static inline __attribute__((always_inline)) void
LOOPS(_block) (const WmlcMlpProduct *p, int row, int column, int rows, int vectors)
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
LOOPS(_panel) (const WmlcMlpProduct *p, int column, int vectors)
{
	int			row = 0;

	for (; row + ROWS <= p->rows; row += ROWS)
		LOOPS(_block) (p, row, column, ROWS, vectors);
	for (; row < p->rows; row++)
		LOOPS(_block) (p, row, column, 1, vectors);
}

TARGET
static void
LOOPS(_dense) (const WmlcMlpProduct *p)
{
	int			vectors = p->columns / LANES;
	int			column = 0;

	/* panels of nearly the same width: 4 + 4 vectors rather than 5 + 3 */
	for (int panels = (vectors + PANEL - 1) / PANEL; panels > 0; panels--)
	{
		int			width = (vectors + panels - 1) / panels;

#define DENSE_PANEL(constant) LOOPS(_panel) (p, column, constant)
		WITH_CONSTANT(width, DENSE_PANEL)
		vectors -= width;
		column += width * LANES;
	}
}

#if SKIP_ZEROS

/* Bit l of nonzero[i] tells whether element (i, l) of A is not 0. */
TARGET
static void
LOOPS(_find_nonzero) (const WmlcMlpProduct *p, uint64_t *nonzero)
{
	int			row = 0;

	/* A by columns: a vector is the same bit of several rows */
	for (; p->a_row == 1 && row + LANES <= p->rows; row += LANES)
	{
		LOOPS(_bits) bits = {0};
		LOOPS(_bits) bit = 1 - (LOOPS(_bits)) {0};

		for (int l = 0; l < p->depth; l++, bit += bit)
			bits |= bit & (LOOPS(_bits)) (LOAD(p->a + row + l * p->a_step) != 0.0);
		UNROLL
		for (int i = 0; i < LANES; i++)
			nonzero[row + i] = bits[i];
	}

	/* A by rows: a vector is several bits of the same row */
	for (; row < p->rows; row++)
	{
		const double *a = p->a + row * p->a_row;
		LOOPS(_bits) bits = {0};
		LOOPS(_bits) bit;
		uint64_t	all = 0;
		int			l = 0;

		UNROLL
		for (int i = 0; i < LANES; i++)
			bit[i] = 1ULL << i;
		for (; p->a_step == 1 && l + LANES <= p->depth; l += LANES, bit <<= LANES)
			bits |= bit & (LOOPS(_bits)) (LOAD(a + l) != 0.0);
		UNROLL
		for (int i = 0; i < LANES; i++)
			all |= bits[i];
		for (; l < p->depth; l++)
			all |= (uint64_t) (a[l * p->a_step] != 0.0) << l;
		nonzero[row] = all;
	}
}

/* One row of C, 2 * half vectors of it from `column` on. */
TARGET
static inline __attribute__((always_inline)) void
LOOPS(_sparse_row) (const WmlcMlpProduct *p, int row, int column, int half, uint64_t nonzero)
{
	const double *a = p->a + row * p->a_row;
	const double *b = p->b + column;
	double	   *c = p->c + row * p->c_stride + column;
	VECTOR		sum[2][PANEL];

	EACH_VECTOR
		sum[g][v] = (VECTOR) {0.0};
	if (p->start != NULL)
	{
		const double *start = p->start + row * p->start_stride + column;

		EACH_VECTOR
			sum[g][v] = LOAD(start + (g * half + v) * LANES);
	}
	for (; nonzero != 0; nonzero &= nonzero - 1)
	{
		ptrdiff_t	l = __builtin_ctzll(nonzero);
		const double *b_row = b + l * p->b_stride;
		VECTOR		factor = BROADCAST(a[l * p->a_step]);

		EACH_VECTOR
			sum[g][v] = FMA(factor, LOAD(b_row + (g * half + v) * LANES), sum[g][v]);
	}
	if (p->relu)
		EACH_VECTOR
			sum[g][v] = KEEP_IF(~(sum[g][v] < 0.0), sum[g][v]);
	if (p->mask != NULL)
	{
		const double *mask = p->mask + row * p->c_stride + column;

		EACH_VECTOR
			sum[g][v] = KEEP_IF(LOAD(mask + (g * half + v) * LANES) > 0.0, sum[g][v]);
	}
	EACH_VECTOR
		STORE(c + (g * half + v) * LANES, sum[g][v]);
}

TARGET
static inline __attribute__((always_inline)) void
LOOPS(_sparse_panel) (const WmlcMlpProduct *p, int column, int half, const uint64_t *nonzero)
{
	for (int row = 0; row < p->rows; row++)
		LOOPS(_sparse_row) (p, row, column, half, nonzero[row]);
}

/* A product of at most 64 rows and a depth of at most 64. */
TARGET
static void
LOOPS(_sparse) (const WmlcMlpProduct *p)
{
	uint64_t	nonzero[64];
	int			count = 0;
	int			halves = p->columns / LANES / 2;
	int			column = 0;

	LOOPS(_find_nonzero) (p, nonzero);
	for (int row = 0; row < p->rows; row++)
		count += __builtin_popcountll(nonzero[row]);
	if (count > SPARSE * p->rows * p->depth)
	{
		LOOPS(_dense) (p);
		return;
	}
	for (int panels = (halves + PANEL - 1) / PANEL; panels > 0; panels--)
	{
		int			half = (halves + panels - 1) / panels;

#define SPARSE_PANEL(constant) LOOPS(_sparse_panel) (p, column, constant, nonzero)
		WITH_CONSTANT(half, SPARSE_PANEL)
		halves -= half;
		column += 2 * half * LANES;
	}
}

/* In pieces of which a word holds the zeros of a row of A. */
TARGET
static void
LOOPS(_product) (const WmlcMlpProduct *p)
{
	if (p->depth < 8 || p->rows < 4)
	{
		LOOPS(_dense) (p);
		return;
	}
	for (int row = 0; row < p->rows; row += 64)
		for (int l = 0; l < p->depth; l += 64)
		{
			WmlcMlpProduct piece = *p;

			piece.rows = p->rows - row < 64 ? p->rows - row : 64;
			piece.depth = p->depth - l < 64 ? p->depth - l : 64;
			piece.a += row * p->a_row + l * p->a_step;
			piece.b += l * p->b_stride;
			piece.c += row * p->c_stride;
			if (p->start != NULL)
				piece.start += row * p->start_stride;
			if (l > 0)
			{
				piece.start = piece.c;
				piece.start_stride = p->c_stride;
			}
			piece.relu = p->relu && l + 64 >= p->depth;
			piece.mask = p->mask != NULL && l + 64 >= p->depth ? p->mask + row * p->c_stride : NULL;
			LOOPS(_sparse) (&piece);
		}
}

#else

TARGET
static void
LOOPS(_product) (const WmlcMlpProduct *p)
{
	LOOPS(_dense) (p);
}

#endif							/* SKIP_ZEROS */

/* Always WMLC_MLP_PAD running sums, so that the order is the same everywhere. */
TARGET
static void
LOOPS(_dots) (int rows, int columns, const double *a, const double *w, double *out)
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

static const WmlcMlpLoops LOOPS(_table) =
{
	.product = LOOPS(_product),
	.dots = LOOPS(_dots),
	.transpose = transpose
};

#undef VECTOR
#undef LOAD
#undef STORE
#undef BROADCAST
#undef KEEP_IF
#undef EACH_VECTOR
#undef DENSE_PANEL
#undef SPARSE_PANEL
#undef LOOPS
#undef TARGET
#undef LANES
#undef ROWS
#undef SKIP_ZEROS
#undef FMA
