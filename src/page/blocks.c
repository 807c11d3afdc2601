/* SPDX-License-Identifier: MIT */
#include "page/blocks.h"

#include <stdlib.h>

/* What one page may leave behind in memory: a page that needed more gives it back. */
#define KEEP_ITEMS 65536
#define KEEP_BYTES (8u << 20)

static void *kept_items(void *items, size_t *cap)
{
	if (*cap <= KEEP_ITEMS)
		return items;
	free(items);
	*cap = 0;
	return NULL;
}

void pd_blocks_clear(struct pd_blocks *b)
{
	pd_buf_shrink(&b->text, KEEP_BYTES);
	pd_buf_shrink(&b->xhtml, KEEP_BYTES);
	pd_arena_clear(&b->arena);
	b->runs = kept_items(b->runs, &b->cap_runs);
	b->boxes = kept_items(b->boxes, &b->cap_boxes);
	b->blocks = kept_items(b->blocks, &b->cap_blocks);
	b->links = kept_items(b->links, &b->cap_links);
	b->n_runs = b->n_boxes = b->n_blocks = b->n_links = 0;
	b->meta = (struct pd_meta){ 0 };
	b->base = (struct pd_span){ 0 };
	b->noscript = b->redirects = false;
}

void pd_blocks_release(struct pd_blocks *b)
{
	pd_buf_release(&b->text);
	pd_buf_release(&b->xhtml);
	pd_arena_release(&b->arena);
	free(b->runs);
	free(b->boxes);
	free(b->blocks);
	free(b->links);
	*b = (struct pd_blocks){ 0 };
}

/* Runs as people read them.  Between two stands what the page has there: nothing, a space, or a newline; also when runs of
 * others, which are not printed, lie between them. */
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

/* White space becomes one space. */
static void add_words(struct pd_buf *out, struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool space = pd_ascii_space(s.p[i]);
		if (!space || !pd_ascii_space(s.p[i - (i > 0)]))
			pd_buf_add_c(out, space ? ' ' : s.p[i]);
	}
}

void pd_link_text(const struct pd_blocks *b, uint32_t link, struct pd_buf *out)
{
	const struct pd_link *l = &b->links[link];
	struct printer p = { .b = b, .out = out };
	for (uint32_t i = l->run; l->has_text && i < b->n_runs && b->runs[i].link == link; i++)
		print(&p, &b->runs[i]);
	if (!p.begun)
		add_words(out, l->hidden_text.n ? l->hidden_text : l->alt);
}
