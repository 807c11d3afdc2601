/* SPDX-License-Identifier: MIT
 *
 * Dumps and a test set -> the pages that contain items of it: rows of verdicts with which `apply` removes them.
 *
 * A page contains an item if a run of N words of the item occurs in the visible text of the page, word for word after
 * folding (term/terms.h), ignoring marks and white space.  An item with fewer words, but at least `least`, is compared
 * as a whole; a shorter one is skipped and counted.  Candidates are found by hashes that roll over the words of a page
 * and then compared with the item's words, so there are no false results.  The test set is in memory, with about 60
 * bytes per word; dumps are not.
 */
#ifndef PD_WALK_DECONTAMINATE_H
#define PD_WALK_DECONTAMINATE_H

#include "run/walk.h"

struct pd_decontaminate_options {
	struct pd_walk_options walk; /* first member: the options of pages are parsed into it; for the dumps */
	char **tests;		     /* files of items, read like dumps */
	int n_tests;
	const char *test_field; /* of JSONL: the member with the text of an item; NULL: as for the dumps */
	int words;		/* of a run */
	int least;		/* minimum number of words of a shorter item */
	double share;		/* share of an item's runs that a page must contain; 0: one run */
};

/* Returns as pd_walk. */
int pd_decontaminate(const struct pd_decontaminate_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_err *e);

#endif
