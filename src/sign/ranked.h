/* SPDX-License-Identifier: MIT
 *
 * A page's terms by how much they say of it.  In: its words.  Out: each term once that is no stop word, with how often it stands on
 * the page; and, when the method has given them weights, in order: the heaviest first, of equal ones the first by code point.  The
 * terms' text lies in the words.
 */
#ifndef PD_SIGN_RANKED_H
#define PD_SIGN_RANKED_H

#include "base/map.h"
#include "sign/views.h"

struct pd_ranked_term {
	struct pd_span text;
	uint64_t hash;
	uint32_t count;
	double weight;
};

struct pd_ranked {
	struct pd_ranked_term *v;
	size_t n, cap;
	struct pd_map place;		/* hash -> place in v, from 1; until they are sorted */
};

/* Replaces what `r` held; weights are 0. */
void pd_ranked_count(struct pd_ranked *r, const struct pd_words *w);
void pd_ranked_sort(struct pd_ranked *r);
/* The first n in bytewise order, which is that of code points. */
void pd_ranked_sort_text(struct pd_ranked *r, size_t n);
/* The first n, nothing between them. */
void pd_ranked_join(const struct pd_ranked *r, size_t n, struct pd_buf *out);
/* The first n, one a line: weight, how often, text. */
void pd_ranked_explain(const struct pd_ranked *r, size_t n, struct pd_buf *out);
void pd_ranked_release(struct pd_ranked *r);

#endif
