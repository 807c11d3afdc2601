/* SPDX-License-Identifier: MIT
 *
 * Lines in a row are a copy when they are equal to lines in a row that stand before them in another home.  Short ones are
 * none (headings, labels, "yes"), and neither is what one flow repeats: a song's refrain, the meals of a week.  What the site
 * repeats goes anyway, and must not take the page's own text along.
 */
#include "topic/copies.h"

#include <stdlib.h>

#include "base/hash.h"

enum { NO_COPY = UINT32_MAX };

static void find_firsts(struct pd_copies *c, const struct pd_blocks *in, const struct pd_lines *l, const char *const *why)
{
	c->n = 0;
	pd_map_clear(&c->first, l->n);
	for (size_t i = 0; i < l->n; i++) {
		if (why[i] || l->v[i].site)
			continue;
		struct pd_span text = pd_line_text(in, &l->v[i]);
		uint32_t *first = pd_map_put(&c->first, pd_hash64(text.p, text.n)), of = NO_COPY;
		if (!*first)
			*first = (uint32_t)c->n + 1;
		else if (l->v[c->v[*first - 1].line].home != l->v[i].home)
			of = *first - 1;
		c->v = pd_grow(c->v, c->n, &c->cap, sizeof *c->v);
		c->v[c->n++] = (struct pd_copy){ .line = (uint32_t)i, .of = of };
	}
}

void pd_copies_drop(struct pd_copies *c, const struct pd_blocks *in, const struct pd_lines *l, const char **why, const char *rule)
{
	find_firsts(c, in, l, why);
	for (size_t i = 0, end; i < c->n; i = end) {
		uint64_t mass = l->v[c->v[i].line].mass;
		for (end = i + 1; end < c->n && c->v[i].of != NO_COPY && c->v[end].of == c->v[end - 1].of + 1; end++)
			mass += l->v[c->v[end].line].mass;
		for (size_t k = i; k < end && c->v[i].of != NO_COPY && mass >= l->weights->copy_mass; k++)
			why[c->v[k].line] = rule;
	}
}

void pd_copies_release(struct pd_copies *c)
{
	free(c->v);
	pd_map_release(&c->first);
}
