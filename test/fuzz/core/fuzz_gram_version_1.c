/*
 * fuzz_gram_version_1.c
 *	  Bytes as a gram of the first version of the format.
 */
#include "fuzz.h"

#include "core/gram/gram.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int			dims = wmlc_gram_dims_version_1(data, size);
	WmlcGram   *gram;

	if (dims < 0 || dims > 16)
		return 0;
	gram = allocate(wmlc_gram_bytes(dims));
	wmlc_gram_from_version_1(data, gram);
	if (wmlc_gram_upgrade(gram) == NULL && wmlc_gram_head_invalid(gram, wmlc_gram_bytes(dims)) == NULL)
	{
		(void) wmlc_gram_invalid(gram, wmlc_gram_bytes(dims));
		(void) wmlc_gram_is_finite(gram);
		(void) wmlc_gram_effective_rows(gram);
	}
	free(gram);
	return 0;
}
