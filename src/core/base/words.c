/*
 * words.c
 *	  Words that users choose among.
 */
#include <stdbool.h>

#include "core/base/words.h"

int
wmlc_words_count(const WmlcWords *words)
{
	return words == NULL ? 0 : wmlc_words_count(words->before) + words->count;
}

const char *
wmlc_word(const WmlcWords *words, int value)
{
	int			before = wmlc_words_count(words->before);

	return value < before ? wmlc_word(words->before, value) : words->words[value - before];
}

/* ASCII letters alone, so that no locale can make a difference. */
static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static bool
is_equal(const char *known, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
	{
		if (known[i] == '\0' || known[i] != lower(word[i]))
			return false;
	}
	return known[length] == '\0';
}

int
wmlc_word_value(const WmlcWords *words, const char *word, size_t length)
{
	for (int value = 0; value < wmlc_words_count(words); value++)
	{
		if (is_equal(wmlc_word(words, value), word, length))
			return value;
	}
	return -1;
}
