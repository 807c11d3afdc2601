/* SPDX-License-Identifier: MIT
 *
 * * Lines that no hint dropped -> the shelf of a page: sibling boxes that each contain a price and a link, as a shop
 * shows its goods.  If a shelf holds more text than the rest of the page, its goods are the main text.
 *
 * A price is a currency sign next to a digit, in a short line.  Prices are summed over lines, so the prices of a box
 * take constant time, and the children of each box are examined once.
 */
#ifndef PD_TOPIC_SHELF_H
#define PD_TOPIC_SHELF_H

#include "base/map.h"
#include "topic/lines.h"

/* Sums over all lines before a line. */
struct pd_shelf_sum {
	uint32_t prices; /* number of lines with a price */
	uint32_t left;	 /* number of lines that no rule dropped */
};

struct pd_shelf {
	size_t first, end; /* its lines */
	uint64_t mass;	   /* mass of its goods; 0: the page has no shelf */
	size_t goods;
	struct pd_shelf_sum *sums; /* lines + 1 */
	struct pd_map alike;	   /* hash of a text -> number of its lines */
	size_t cap;
};

/* Find the shelf with the largest mass, in boxes with lines that `why` (one entry per line) does not drop. */
void pd_shelf_find(struct pd_shelf *s, const struct pd_blocks *in, const struct pd_topic_lines *l, const char *const *why);
/* Return whether most goods have the text of line i of the shelf, such as "Add to cart". */
bool pd_shelf_is_control(const struct pd_shelf *s, const struct pd_blocks *in, const struct pd_topic_lines *l, size_t i);
void pd_shelf_release(struct pd_shelf *s);

#endif
