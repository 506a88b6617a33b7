/*
 * rules.h
 *	  The rules by which sources are weighed for a target, and their words.
 *
 * With e_j the embedding of source j minus that of the target:
 *
 *	  mixture	the alpha on the simplex with the least |sum_j alpha_j e_j|
 *	  closest	all weight on the source with the least |e_j|
 *	  uniform	all sources alike
 *	  pooled	in proportion to the sources' rows
 */
#ifndef WMLC_RULES_H
#define WMLC_RULES_H

#include "core/base/words.h"

typedef enum WmlcRule
{
	WMLC_MIXTURE,
	WMLC_CLOSEST,
	WMLC_UNIFORM,
	WMLC_POOLED
} WmlcRule;

#define WMLC_RULES (WMLC_POOLED + 1)

extern const WmlcWords wmlc_rule_words;

#endif							/* WMLC_RULES_H */
