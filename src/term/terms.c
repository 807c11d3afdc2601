/* SPDX-License-Identifier: MIT
 *
 * The sequence of terms: one text, and where each term lies in it.
 */
#include "term/terms.h"

#include <stdlib.h>

#include "base/hash.h"

void pd_terms_clear(struct pd_terms *t)
{
	pd_buf_clear(&t->text);
	t->n = 0;
	t->stopped = 0;
}

void pd_terms_release(struct pd_terms *t)
{
	pd_buf_release(&t->text);
	free(t->v);
	*t = (struct pd_terms){ 0 };
}

void pd_terms_add(struct pd_terms *t, struct pd_span term)
{
	if (t->text.n > 0)
		pd_buf_add_c(&t->text, ' ');
	t->v = pd_grow(t->v, t->n, &t->cap, sizeof *t->v);
	t->v[t->n++] = (struct pd_term){ (uint32_t)t->text.n, (uint32_t)term.n, pd_hash64(term.p, term.n) };
	pd_buf_add_span(&t->text, term);
}
