/* SPDX-License-Identifier: MIT
 *
 * Lines that hints left -> the shelf of a page: siblings that each name a price and lead somewhere, as a shop shows its
 * goods.  Where one holds more than all else that a page says, the goods are what the page is about.
 */
#ifndef PD_TOPIC_SHELF_H
#define PD_TOPIC_SHELF_H

#include "base/map.h"
#include "topic/lines.h"

/* Of the lines before one. */
struct pd_shelf_sum {
	uint32_t prices;	/* how many name a price */
	uint32_t left;		/* how many no rule dropped */
};

struct pd_shelf {
	size_t first, end;	/* its lines */
	uint64_t mass;		/* of its goods; 0: the page has no shelf */
	size_t goods;
	struct pd_shelf_sum *sums;	/* lines + 1 */
	struct pd_map alike;	/* hash of a text -> how many of its lines have it */
	size_t cap;
};

/* The richest shelf, in boxes that still have lines that `why` (one a line) does not drop. */
void pd_shelf_find(struct pd_shelf *s, const struct pd_blocks *in, const struct pd_lines *l, const char *const *why);
/* Does line i of the shelf say what most of its goods say: "Add to cart"? */
bool pd_shelf_same(const struct pd_shelf *s, const struct pd_blocks *in, const struct pd_lines *l, size_t i);
void pd_shelf_release(struct pd_shelf *s);

#endif
