/* SPDX-License-Identifier: MIT
 *
 * Runs -> text as people read it.  Between two runs stands what the page has there: nothing, a space, or a newline;
 * also when runs of others, which are not printed, lie between them.
 */
#include "page/blocks.h"

struct printer {
	const struct pd_blocks *b;
	struct pd_buf *out;
	bool begun;
	unsigned gap;		/* PD_RUN_SPACE and PD_RUN_LINE since the last run printed */
};

static void print(struct printer *p, const struct pd_run *r)
{
	p->gap |= r->flags;
	if (p->begun && (p->gap & (PD_RUN_SPACE | PD_RUN_LINE)))
		pd_buf_add_c(p->out, p->gap & PD_RUN_LINE ? '\n' : ' ');
	pd_buf_add_span(p->out, pd_run_text(p->b, r));
	p->begun = true;
	p->gap = 0;
}

static void skip(struct printer *p, const struct pd_run *r)
{
	p->gap |= r->flags | PD_RUN_SPACE;
}

void pd_block_text(const struct pd_blocks *b, uint32_t block, bool only_links, struct pd_buf *out)
{
	struct printer p = { .b = b, .out = out };
	const struct pd_block *k = &b->blocks[block];
	for (uint32_t i = k->first_run; i < k->end_run; i++) {
		const struct pd_run *r = &b->runs[i];
		if (r->block == block && (!only_links || (r->flags & PD_RUN_LINK)))
			print(&p, r);
		else
			skip(&p, r);
	}
}

void pd_blocks_visible(const struct pd_blocks *b, struct pd_buf *out)
{
	struct printer p = { .b = b, .out = out };
	for (size_t i = 0; i < b->n_runs; i++)
		print(&p, &b->runs[i]);
}
