/* SPDX-License-Identifier: MIT
 *
 * Dumps and a test set in, the pages that hold items of it out: rows of verdicts, by which `apply` removes them.
 *
 * A page holds an item when a run of N words of the item stands in the visible text of the page, word for word after folding
 * (term/terms.h), marks and white space aside.  An item of fewer words, but enough to say something, counts as a whole; one of
 * fewer than that is left out, and counted.  Found by hashes that roll over the words of a page, then compared with the item's
 * own words: no other page is named.  The test set lies in memory, about 60 bytes for each of its words; dumps do not.
 */
#ifndef PD_WALK_DECONTAMINATE_H
#define PD_WALK_DECONTAMINATE_H

#include "walk/walk.h"

struct pd_decontaminate_options {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it; of the dumps */
	char **tests;			/* files of items, as `walk` reads dumps */
	int n_tests;
	const char *test_field;		/* of JSONL: the text of an item; NULL: as for the dumps */
	int words;			/* of a run */
	int least;			/* words that a shorter item must have */
	double share;			/* of its runs that a page must hold of an item; 0: one */
};

/* As pd_walk. */
int pd_decontaminate(const struct pd_decontaminate_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_err *e);

#endif
