/* SPDX-License-Identifier: MIT
 *
 * Words -> the longest of them that begins at a place in a text.  A tree of characters, all of whose steps lie in one hash table:
 * a step is (node, character) -> node, so that asking costs one look-up for each character of what fits.
 *
 * A word that begins or ends with a letter or digit of a script that parts words by spaces does not stand inside another word:
 * "car" is not in "scar".  Chinese is written without spaces, and its words stand anywhere.
 *
 * All zeroes is one without words.
 */
#ifndef PD_TERM_LONGEST_H
#define PD_TERM_LONGEST_H

#include "base/map.h"

#define PD_LONGEST_NONE UINT32_MAX

struct pd_longest {
	struct pd_map step;
	uint32_t *word;		/* by node: number of the word that ends there, or NONE */
	size_t nodes, cap;
};

/* The number that the word was added with before, or NONE.  Words are UTF-8 and not empty. */
uint32_t pd_longest_add(struct pd_longest *l, struct pd_span word, uint32_t number);
/* The number of the longest word that begins at text.p + at, and its bytes; or NONE. */
uint32_t pd_longest_find(const struct pd_longest *l, struct pd_span text, size_t at, size_t *n);
void pd_longest_release(struct pd_longest *l);

#endif
