/*
 * fuzz_rows.c
 *	  Rows of any numbers: whatever comes and goes, what is there is a gram.
 */
#include "fuzz.h"

#include "core/gram/gram.h"

enum
{
	ADD,
	RETRACT,
	MERGE,
	SUBTRACT,
	ACTIONS
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Bytes		bytes = {data, size};
	int			dims = 1 + take_byte(&bytes) % 4;
	size_t		length = wmlc_gram_bytes(dims);
	WmlcGram   *gram = allocate(length);
	WmlcGram   *other = allocate(length);
	WmlcGramWatch *watch = allocate(wmlc_gram_watch_bytes(dims));

	wmlc_gram_init(gram, dims);
	wmlc_gram_init(other, dims);
	wmlc_gram_watch(watch, gram);
	while (bytes.left > 0)
	{
		int			action = take_byte(&bytes) % ACTIONS;
		double		weight = take_byte(&bytes) < 200 ? 1.0 : take_double(&bytes);
		double		z[5 + WMLC_ROW_PADDING] = {0};

		for (int i = 0; i <= dims; i++)
			z[i] = take_double(&bytes);
		if (weight < 0.0)
			weight = -weight;
		if (action == ADD)
		{
			if (wmlc_gram_add_row(gram, z, weight) != WMLC_OK)
				break;
			wmlc_gram_watch_row(watch, gram, weight);
		}
		if (action == RETRACT && gram->rows > 0 && !wmlc_gram_retract(gram, z, weight, watch))
			break;
		if (action == MERGE && (wmlc_gram_add_row(other, z, weight) != WMLC_OK || wmlc_gram_merge(gram, other) != WMLC_OK))
			break;
		if (action == SUBTRACT && wmlc_gram_subtract(gram, other) != WMLC_OK)
			break;
		if (gram->dims != dims)
			break;
		if (action != RETRACT)
			require(wmlc_gram_head_invalid(gram, length) == NULL, "rows make a gram");
	}
	free(gram);
	free(other);
	free(watch);
	return 0;
}
