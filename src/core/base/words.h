/*
 * words.h
 *	  Words that users choose among: one table for each vocabulary, with the
 *	  values of its enum as places.
 */
#ifndef WMLC_WORDS_H
#define WMLC_WORDS_H

#include <stddef.h>

typedef struct WmlcWords
{
	const struct WmlcWords *before; /* a vocabulary that this one goes on from, or NULL */
	const char *const *words;	/* the first of them has the value after those before */
	int			count;
} WmlcWords;

/* The vocabulary of an array of words. */
#define WMLC_WORDS(array) \
	{.words = (array), .count = (int) (sizeof(array) / sizeof((array)[0]))}

/* One that has the words of another vocabulary, too. */
#define WMLC_MORE_WORDS(first, array) \
	{.before = (first), .words = (array), .count = (int) (sizeof(array) / sizeof((array)[0]))}

/* How many there are; their values are 0 and up. */
extern int	wmlc_words_count(const WmlcWords *words);

/* The word of a value. */
extern const char *wmlc_word(const WmlcWords *words, int value);

/* The value of a word in any case, or -1. */
extern int	wmlc_word_value(const WmlcWords *words, const char *word, size_t length);

#endif							/* WMLC_WORDS_H */
