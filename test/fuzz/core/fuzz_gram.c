/*
 * fuzz_gram.c
 *	  Bytes as a gram: from a damaged page, of which only the head is checked, and from
 *	  input functions, which check all of it.
 */
#include "fuzz.h"

#include "core/gram/gram.h"

static WmlcGram *
copy_of(const WmlcGram *gram)
{
	WmlcGram   *copy = allocate(wmlc_gram_bytes(gram->dims));

	memcpy(copy, gram, wmlc_gram_bytes(gram->dims));
	return copy;
}

/* Everything that reads a gram, none of which may leave it. */
static void
read_all(const WmlcGram *gram)
{
	int			p = gram->dims + 1;
	double	   *key = allocate(wmlc_gram_bytes(gram->dims));
	WmlcDd	   *matrix = allocate(p * p * sizeof(WmlcDd));

	wmlc_gram_key(gram, key);
	for (int i = 0; i < p && gram->dims > 0; i++)
	{
		for (int j = 0; j < p; j++)
		{
			(void) wmlc_gram_figure(gram, i, j);
			(void) wmlc_gram_moment(gram, i, j);
		}
	}
	(void) wmlc_gram_weight(gram);
	(void) wmlc_gram_q(gram);
	(void) wmlc_gram_h(gram);
	(void) wmlc_gram_is_finite(gram);
	(void) wmlc_gram_effective_rows(gram);
	if (gram->constant >= 0)
	{
		WmlcGram   *result = allocate(wmlc_gram_bytes(gram->dims));
		void	   *work = allocate(wmlc_gram_transform_workspace(gram->dims, p));

		wmlc_gram_standardizer(gram, matrix);
		(void) wmlc_gram_transform(gram, matrix, p, result, work, NULL);
		free(result);
		free(work);
	}
	free(key);
	free(matrix);
}

/* Changes; of a valid gram they make a valid one. */
static void
change(const WmlcGram *gram, bool valid)
{
	size_t		bytes = wmlc_gram_bytes(gram->dims);
	WmlcGram   *sum = copy_of(gram);
	WmlcGram   *scaled = copy_of(gram);
	WmlcGram   *more = copy_of(gram);
	double		row[8 + WMLC_ROW_PADDING] = {1.0, 2.0, 3.0};

	require(wmlc_gram_compare(gram, sum) == 0, "a gram is equal to itself");
	for (int i = 0; i < 4; i++)
	{
		if (wmlc_gram_merge(sum, gram) != WMLC_OK)
			break;
		require(!valid || wmlc_gram_invalid(sum, bytes) == NULL, "the sum of grams is one");
	}
	if (wmlc_gram_subtract(sum, gram) == WMLC_OK)
		require(!valid || wmlc_gram_head_invalid(sum, wmlc_gram_bytes(sum->dims)) == NULL, "what is left of a gram is one");
	if (wmlc_gram_scale(scaled, 0.5) == WMLC_OK)
		require(!valid || wmlc_gram_invalid(scaled, bytes) == NULL, "a scaled gram is one");
	if (gram->dims > 0 && wmlc_gram_add_row(more, row, 1.0) == WMLC_OK)
		require(!valid || wmlc_gram_invalid(more, bytes) == NULL, "a gram with one more row is one");
	free(sum);
	free(scaled);
	free(more);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Bytes		bytes = {data, size};
	int			dims = take_byte(&bytes) % 8;
	size_t		length = wmlc_gram_bytes(dims);
	WmlcGram   *gram = allocate(length);

	/* any bytes, or a gram with words changed */
	if (take_byte(&bytes) < 64)
		take(&bytes, gram, length);
	else
	{
		wmlc_gram_init(gram, dims);
		for (int i = 0; i < 6 && dims > 0; i++)
		{
			double		row[8 + WMLC_ROW_PADDING] = {1.0, i, i * i, 1.0 / (1 + i), -i, i * 0.3, 7.0, i - 3.0};

			(void) wmlc_gram_add_row(gram, row, 1.0 + i % 2);
		}
		change_words(&bytes, gram, length);
	}
	if (wmlc_gram_head_invalid(gram, length) == NULL)
	{
		bool		valid = wmlc_gram_invalid(gram, length) == NULL;

		read_all(gram);
		change(gram, valid);
		(void) wmlc_gram_upgrade(gram);
	}
	free(gram);
	return 0;
}
