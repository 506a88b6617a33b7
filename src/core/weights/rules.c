/*
 * rules.c
 *	  The words of the rules by which sources are weighed.
 */
#include "core/weights/rules.h"

static const char *const words[] = {
	[WMLC_MIXTURE] = "mixture",
	[WMLC_CLOSEST] = "closest",
	[WMLC_UNIFORM] = "uniform",
	[WMLC_POOLED] = "pooled"
};

const WmlcWords wmlc_rule_words = WMLC_WORDS(words);
