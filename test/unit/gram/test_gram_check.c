/*
 * test_gram_check.c
 *	  What the validator accepts and refuses, counts at the end of their range,
 *	  and grams of the first version of the format.
 */
#include "gram/gram_fixture.h"

/* Counts near the end of their range. */
static void
test_count_overflow(void)
{
	uint64_t	seed = 20;
	Rows		rows = rows_random(2, 10, &seed);

	for (int which = 0; which < 3; which++)
	{
		WmlcGram   *gram = gram_of(&rows);
		WmlcGram   *other = gram_of(&rows);

		if (which == 0)
			gram->rows = INT64_MAX;
		else if (which == 1)
			gram->skipped = other->skipped = INT64_MAX / 2 + 1;
		else
		{
			gram->rows = INT64_MAX;
			gram->weightless = INT64_MAX - 1;
			other->weightless = 9;
		}
		CHECK(wmlc_gram_merge(gram, other) == WMLC_COUNT_OVERFLOW, "count %d", which);
		free(gram);
		free(other);
	}
	for (int weighted = 0; weighted < 2; weighted++)
	{
		WmlcGram   *gram = gram_of(&rows);

		gram->rows = INT64_MAX - 1;
		CHECK(wmlc_gram_add_row(gram, rows_at(&rows, 0), weighted) == WMLC_OK, "the last row");
		CHECK(wmlc_gram_add_row(gram, rows_at(&rows, 0), weighted) == WMLC_COUNT_OVERFLOW &&
			  gram->rows == INT64_MAX, "one more");
		free(gram);
	}
	rows_free(&rows);
}

static void
test_validator(void)
{
	uint64_t	seed = 21;
	Rows		rows = rows_random(2, 10, &seed);
	WmlcGram   *gram = gram_of(&rows);
	size_t		bytes = wmlc_gram_bytes(2);

	CHECK(wmlc_gram_invalid(gram, bytes) == NULL, "valid");
	CHECK(wmlc_gram_invalid(gram, bytes - 8) != NULL, "too short");
	CHECK(wmlc_gram_invalid(gram, bytes + 8) != NULL, "too long");
	CHECK(wmlc_gram_invalid(gram, sizeof(WmlcGram) - 1) != NULL, "less than its head");

#define INVALID(change) \
	do { \
		WmlcGram *broken = gram_copy(gram); \
		change; \
		CHECK(!valid(broken), "%s", #change); \
		free(broken); \
	} while (0)
#define VALID(change) \
	do { \
		WmlcGram *changed = gram_copy(gram); \
		change; \
		CHECK(valid(changed), "%s", #change); \
		free(changed); \
	} while (0)

	INVALID(broken->constant = -2);
	INVALID(broken->constant = 2);
	INVALID(broken->constant = 1);
	INVALID(broken->constant = -1);
	INVALID(broken->exceptions = -1);
	INVALID(broken->exceptions = 11);
	INVALID(broken->weight_exponent = 1);
	INVALID(broken->weight_exponent = INT64_MIN);
	INVALID(wmlc_gram_not_one(broken)[1] = 11);
	INVALID(wmlc_gram_not_one(broken)[0] = 1);
	INVALID((wmlc_gram_not_one(broken)[1] = 0, broken->constant = 1));
	INVALID(wmlc_gram_bad(broken)[1] = 1);
	INVALID((broken->exceptions = 1, wmlc_gram_bad(broken)[1] = -1));
	INVALID((broken->exceptions = 1, wmlc_gram_bad(broken)[3] = 2));
	INVALID(broken->rows = -1);
	INVALID(broken->rows = INT64_MIN);
	INVALID(broken->skipped = -1);
	INVALID(broken->weightless = -1);
	INVALID(broken->weightless = 11);
	INVALID(broken->weightless = 10);	/* then there are sums of no rows */
	INVALID(broken->rows = 0);
	INVALID(broken->weight = wmlc_dd(0.0));
	INVALID(broken->weight.hi = -1.0);
	INVALID(broken->weight.lo = 1.0);
	INVALID(broken->weight.lo = NAN);
	INVALID(broken->weight_squares.hi = -1.0);
	INVALID(broken->q.hi = -1.0);
	INVALID(broken->q = ((WmlcDd) {NAN, 1.0}));
	INVALID(broken->h.hi = -1.0);
	INVALID(broken->h.lo = INFINITY);
	INVALID(broken->max_norm_square = -1.0);
	INVALID(broken->max_norm_square = NAN);
	INVALID(broken->max_response = NAN);
	for (int k = 0; k < 6; k++)
	{
		INVALID(broken->sums[6 + k] = broken->sums[k] * 0x1p-50);
		INVALID(broken->sums[6 + k] = NAN);
		INVALID((broken->sums[k] = INFINITY, broken->sums[6 + k] = 1.0));
		VALID((changed->sums[k] = INFINITY, changed->sums[6 + k] = 0.0));
		VALID((changed->sums[k] = NAN, changed->sums[6 + k] = 0.0));
	}
	INVALID(broken->sums[0] = -10.0);
	INVALID(broken->sums[3] = -10.0);
	INVALID(broken->sums[5] = -10.0);
	VALID(wmlc_gram_not_one(changed)[1] = WMLC_UNKNOWN_COUNT);
	VALID(changed->exceptions = 2);
	VALID((changed->exceptions = 2, wmlc_gram_bad(changed)[0] = 20));
	VALID(changed->weight_exponent = 640);
	VALID(changed->q = wmlc_dd(NAN));
	VALID(changed->max_norm_square = INFINITY);
#undef INVALID
#undef VALID

	for (int dims = -2; dims <= 0; dims++)
	{
		gram->dims = dims;
		CHECK(wmlc_gram_invalid(gram, sizeof(WmlcGram)) != NULL, "%d features", dims);
	}
	gram->dims = WMLC_MAX_DIMS + 1;
	CHECK(wmlc_gram_invalid(gram, wmlc_gram_bytes(WMLC_MAX_DIMS + 1)) != NULL, "too many features");
	gram->dims = INT32_MAX;
	CHECK(wmlc_gram_invalid(gram, bytes) != NULL, "far too many features");
	wmlc_gram_init(gram, 0);
	gram->skipped = 3;
	CHECK(valid(gram), "only skipped rows");
	gram->weight.hi = 1.0;
	CHECK(!valid(gram), "weight without rows");
	free(gram);
	rows_free(&rows);
}

/* As the first version stored it: the same fields without the counts. */
static void *
version_1(const WmlcGram *gram, size_t *length)
{
	size_t		head = offsetof(WmlcGram, exceptions);
	size_t		tail = offsetof(WmlcGram, sums) - offsetof(WmlcGram, weight);
	size_t		sums = 2 * wmlc_gram_entries(gram->dims) * sizeof(double);
	char	   *bytes = malloc(head + tail + sums);

	memcpy(bytes, gram, head);
	memcpy(bytes + head, &gram->weight, tail);
	memcpy(bytes + head + tail, gram->sums, sums);
	*length = head + tail + sums;
	return bytes;
}

/* Every figure is the same to the bit; constants are known again, and others are not. */
static void
test_version_1(void)
{
	uint64_t	seed = 26;

	for (int trial = 0; trial < 200; trial++)
	{
		int			dims = 1 + trial % 7;
		Rows		rows = rows_random(dims, 12, &seed);
		Rows		more = rows_random(dims, 12, &seed);
		WmlcGram   *gram,
				   *other,
				   *result = gram_new(dims);
		size_t		length;
		void	   *bytes;

		if (trial % 2 == 0)
			rows_weigh(&rows, &seed);
		for (int r = 0; r < rows.count; r++)
		{
			if (trial % 3 > 0)
				rows_at(&rows, r)[trial % dims] = trial % 3;
			rows_at(&more, r)[0] = 7.0;
		}
		gram = gram_of(&rows);
		if (trial % 5 == 0)
			gram->sums[0] = INFINITY, gram->sums[wmlc_gram_entries(dims)] = 0.0;
		bytes = version_1(gram, &length);
		CHECK(wmlc_gram_dims_version_1(bytes, length) == dims, "%d features", dims);
		CHECK(wmlc_gram_dims_version_1(bytes, length - 1) == -1 &&
			  wmlc_gram_dims_version_1(bytes, length + 8) == -1 &&
			  wmlc_gram_dims_version_1(bytes, 8) == -1, "another length");
		wmlc_gram_from_version_1(bytes, result);
		CHECK(wmlc_gram_upgrade(result) == NULL && valid(result), "trial %d", trial);
		CHECK(memcmp(gram->sums, result->sums, 2 * wmlc_gram_entries(dims) * sizeof(double)) == 0 &&
			  memcmp(&gram->weight, &result->weight, offsetof(WmlcGram, sums) - offsetof(WmlcGram, weight)) == 0 &&
			  memcmp(gram, result, offsetof(WmlcGram, exceptions)) == 0, "trial %d", trial);
		CHECK(wmlc_gram_equal(gram, result), "trial %d", trial);

		/* a constant comes back in such a gram, too */
		other = gram_of(&more);
		if (trial % 5 != 0)
		{
			CHECK(wmlc_gram_merge(result, other) == WMLC_OK && wmlc_gram_subtract(result, other) == WMLC_OK,
				  "trial %d", trial);
			CHECK(result->constant == gram->constant && valid(result), "trial %d: %d instead of %d", trial,
				  result->constant, gram->constant);
		}
		result->constant = dims;
		CHECK(wmlc_gram_upgrade(result) != NULL, "a constant that is none");
		result->constant = -1;
		result->rows = INT64_MAX;
		result->weightless = -1;
		CHECK(wmlc_gram_upgrade(result) != NULL, "more rows than there are");
		free(gram);
		free(other);
		free(result);
		free(bytes);
		rows_free(&rows);
		rows_free(&more);
	}
}

int
main(void)
{
	test_count_overflow();
	test_validator();
	test_version_1();
	return check_summary();
}
