/* SPDX-License-Identifier: MIT
 *
 * Lines kept -> those that say again, elsewhere on the page, what was said before: a layout for each width of screen, a
 * post that quotes another, a notice under each of them.  The first of them is enough: nothing is lost.
 */
#ifndef PD_TOPIC_COPIES_H
#define PD_TOPIC_COPIES_H

#include "base/map.h"
#include "topic/lines.h"

/* A line that was kept, and which of them it repeats. */
struct pd_copy {
	uint32_t line, of;
};

struct pd_copies {
	struct pd_copy *v;	/* lines that were kept, in order */
	size_t n, cap;
	struct pd_map first;	/* hash of a text -> where it stands first, from 1 */
};

/* Lines that `why` (one a line) keeps and that are copies get the rule `rule`. */
void pd_copies_drop(struct pd_copies *c, const struct pd_blocks *in, const struct pd_lines *l, const char **why, const char *rule);
void pd_copies_release(struct pd_copies *c);

#endif
