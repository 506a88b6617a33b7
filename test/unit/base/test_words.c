/*
 * test_words.c
 *	  Vocabularies: words and values belong together, in any case of letters.
 */
#include <string.h>

#include "check.h"
#include "core/base/words.h"

static const char *const first[] = {"square", "hinge"};
static const char *const more[] = {"bound"};
static const WmlcWords short_list = WMLC_WORDS(first);
static const WmlcWords long_list = WMLC_MORE_WORDS(&short_list, more);

static int
find(const WmlcWords *words, const char *word)
{
	return wmlc_word_value(words, word, strlen(word));
}

static void
test_round_trip(void)
{
	CHECK(wmlc_words_count(&short_list) == 2, "%d", wmlc_words_count(&short_list));
	CHECK(wmlc_words_count(&long_list) == 3, "%d", wmlc_words_count(&long_list));
	for (int i = 0; i < wmlc_words_count(&long_list); i++)
		CHECK(find(&long_list, wmlc_word(&long_list, i)) == i, "%s", wmlc_word(&long_list, i));
	CHECK(strcmp(wmlc_word(&long_list, 2), "bound") == 0, "%s", wmlc_word(&long_list, 2));
}

static void
test_case(void)
{
	CHECK(find(&short_list, "Hinge") == 1 && find(&short_list, "HINGE") == 1, "letters in any case");
	CHECK(find(&short_list, "[INGE") == -1 && find(&short_list, "Hing\xe9") == -1, "letters alone");
}

static void
test_unknown(void)
{
	CHECK(find(&short_list, "bound") == -1, "a word of the longer list");
	CHECK(find(&long_list, "") == -1 && find(&long_list, "hing") == -1 &&
		  find(&long_list, "hinges") == -1 && find(&long_list, " hinge") == -1, "not quite the word");

	/* the length counts, not a NUL */
	CHECK(wmlc_word_value(&long_list, "hinges", 5) == 1, "a word within text");
	CHECK(wmlc_word_value(&long_list, "hinge\0", 6) == -1, "NUL is no end");
}

int
main(void)
{
	test_round_trip();
	test_case();
	test_unknown();
	return check_summary();
}
