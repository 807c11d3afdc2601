/* SPDX-License-Identifier: MIT
 *
 * What a site repeats, seen from one page: the lines of the page get keys, and those that the page's host is known to
 * repeat (boilerplate.h) are taken out before the extractor decides.
 *
 * A line has two keys: of its text as it stands, and of its path, the tags and classes of the boxes around it from the
 * page down.  Both are XXH3-64, as the table holds them.
 */
#ifndef PD_TOPIC_SITE_H
#define PD_TOPIC_SITE_H

#include "topic/lines.h"

/* What is known of one host: keys in ascending order, borrowed from the table. */
struct pd_site {
	const uint64_t *lines, *paths;
	size_t n_lines, n_paths;
};

struct pd_site_keys {
	uint64_t *boxes;	/* box -> its path; one a box */
	size_t cap_boxes;
	struct pd_buf scratch;
};

void pd_site_keys_release(struct pd_site_keys *k);
/* The paths of all boxes of a page. */
void pd_site_paths(struct pd_site_keys *k, const struct pd_blocks *in);
/* The key of a line's text. */
uint64_t pd_site_line(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l);
/* Does it hold a letter?  What does not (numbers, prices, dates) is never known as repeated by its text. */
bool pd_site_letter(const struct pd_blocks *in, const struct pd_line *l);

/* Marks what the site repeats: such lines weigh nothing from here on, so that no rule counts them.  Titles stay.
 * Returns how much text outside links was marked, in bytes. */
uint64_t pd_site_mark(struct pd_site_keys *k, const struct pd_site *s, const struct pd_blocks *in, struct pd_lines *l);

#endif
