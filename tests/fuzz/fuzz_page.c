/* SPDX-License-Identifier: MIT
 *
 * Parse the bytes as a page, as plain text, and as a page with its XHTML: the promises of blocks.h hold, the XHTML is
 * well-formed, and keeping it changes nothing.
 */
#include "fuzz.h"
#include "page/blocks.h"
#include "text/text.c" /* for its functions that are not exported */

static void check_boxes(const struct pd_blocks *b)
{
	HOLDS(b->n_boxes > 0 && b->n_boxes <= PD_BOXES_MAX);
	HOLDS(b->boxes[0].parent == PD_BOX_NONE && b->boxes[0].end == b->n_boxes && b->boxes[0].end_run == b->n_runs);
	for (uint32_t i = 1; i < b->n_boxes; i++) {
		const struct pd_box *x = &b->boxes[i], *up = &b->boxes[x->parent < i ? x->parent : 0];
		HOLDS(x->parent < i && x->end > i && x->end <= up->end);
		HOLDS(up->first_run <= x->first_run && x->first_run <= x->end_run && x->end_run <= up->end_run);
		HOLDS(x->depth == up->depth + 1 && x->depth <= 512);
		HOLDS(x->block == PD_BLOCK_NONE || (x->block < b->n_blocks && b->blocks[x->block].box == i));
		HOLDS(fuzz_sum(x->klass) + fuzz_sum(x->ident) + fuzz_sum(x->role) != 1);
	}
}

static uint32_t chars_in(struct pd_span s)
{
	uint32_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((uint8_t)s.p[i] & 0xC0) != 0x80;
	return n;
}

static void check_runs(const struct pd_blocks *b)
{
	size_t at = 0;
	HOLDS(b->n_runs <= PD_RUNS_MAX && fuzz_utf8(pd_buf_span(&b->text)));
	for (uint32_t i = 0; i < b->n_runs; i++) {
		const struct pd_run *r = &b->runs[i];
		HOLDS(r->at == at && r->n > 0 && (at += r->n) <= b->text.n);
		HOLDS(r->chars == chars_in(pd_run_text(b, r)));
		HOLDS(!pd_ascii_space(b->text.p[r->at]) && !pd_ascii_space(b->text.p[at - 1]));
		HOLDS(r->box < b->n_boxes && b->boxes[r->box].first_run <= i && i < b->boxes[r->box].end_run);
		HOLDS((r->link == PD_LINK_NONE) == !(r->flags & PD_RUN_LINK));
		HOLDS(r->link == PD_LINK_NONE || r->link < b->n_links);
		HOLDS(!(r->flags & PD_RUN_LINE) || (r->flags & PD_RUN_SPACE));
		HOLDS(r->block == PD_BLOCK_NONE || r->block < b->n_blocks);
	}
	HOLDS(at == b->text.n);
}

static void check_block(const struct pd_blocks *b, uint32_t i, bool xhtml)
{
	const struct pd_block *k = &b->blocks[i];
	const struct pd_box *x = &b->boxes[k->box < b->n_boxes ? k->box : 0];
	uint32_t chars = 0, anchor = 0;
	HOLDS(k->box < b->n_boxes && x->block == i);
	HOLDS(k->first_run == k->end_run ||
	      (x->first_run <= k->first_run && k->first_run < k->end_run && k->end_run <= x->end_run));
	for (uint32_t r = k->first_run; r < k->end_run; r++) {
		chars += b->runs[r].block == i ? b->runs[r].chars : 0;
		anchor += b->runs[r].block == i && b->runs[r].flags & PD_RUN_LINK ? b->runs[r].chars : 0;
	}
	HOLDS(chars == k->chars && anchor == k->anchor_chars);
	HOLDS(k->title ? chars > 0 : chars > 100 || k->levels > 5);
	HOLDS(k->markup_at + (size_t)k->markup_n <= b->xhtml.n && (!xhtml || k->markup_n > 0));
	HOLDS(!xhtml || (b->xhtml.p[k->markup_at] == '<' && b->xhtml.p[k->markup_at + k->markup_n - 1] == '>'));
}

static void check(const struct pd_blocks *b, bool xhtml)
{
	struct pd_buf text = { 0 };
	check_boxes(b);
	check_runs(b);
	for (uint32_t i = 0; i < b->n_blocks; i++) {
		check_block(b, i, xhtml);
		pd_block_text(b, i, i & 1, &text);
	}
	for (size_t i = 0; i < b->n_links; i++)
		HOLDS(b->links[i].href.n && (b->links[i].block == PD_BLOCK_NONE || b->links[i].block < b->n_blocks));
	pd_blocks_visible(b, PD_VISIBLE_TITLE, &text);
	HOLDS(fuzz_utf8(pd_buf_span(&text)));
	HOLDS(fuzz_utf8(b->meta.title) && fuzz_utf8(b->meta.keywords) && fuzz_utf8(b->meta.description));
	pd_buf_release(&text);
}

/* Tags end in the reverse order of their beginning; '<' only begins tags, and each '&' begins a reference of this
 * program. */
static void check_nesting(struct pd_span x)
{
	struct pd_span open[600], tag;
	size_t depth = 0, roots = 0;
	for (const char *p = x.p, *end = x.p + x.n; p < end; p++) {
		size_t left = (size_t)(end - p);
		HOLDS(*p != '&' || !strncmp(p, "&lt;", 4) || !strncmp(p, "&gt;", 4) || !strncmp(p, "&amp;", 5) ||
		      !strncmp(p, "&quot;", 6));
		HOLDS(*p == '<' || depth > 0);
		if (*p != '<')
			continue;
		const char *close = memchr(p, '>', left);
		HOLDS(close != NULL);
		tag = pd_span(p + 1, strcspn(p + 1, " />"));
		if (p[1] == '/') {
			tag = pd_span(p + 2, (size_t)(close - p) - 2);
			HOLDS(depth > 0 && pd_span_eq(open[depth - 1], tag));
			depth--;
		} else if (close[-1] != '/') {
			HOLDS(depth < 600 && tag.n > 0);
			roots += depth == 0;
			open[depth++] = tag;
		}
		p = close;
	}
	HOLDS(depth == 0 && roots == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_html *h, *hx, *hl;
	static struct pd_blocks b, bx, bl;
	struct pd_buf clean = { 0 };
	struct pd_text_tally tally = { 0 };
	struct pd_html_options o = PD_HTML_DEFAULTS;
	if (!h) {
		h = pd_html_new(&o);
		o.all_links = true;
		hl = pd_html_new(&o);
		o.all_links = false;
		o.keep_xhtml = true;
		hx = pd_html_new(&o);
	}
	text_utf8_repair(fuzz_span(data, n), &clean, &tally);
	pd_html_parse(h, pd_buf_span(&clean), true, &b);
	check(&b, false);
	pd_html_parse(h, pd_buf_span(&clean), false, &b);
	check(&b, false);
	pd_html_parse(hx, pd_buf_span(&clean), false, &bx);
	check(&bx, true);
	check_nesting(pd_buf_span(&bx.xhtml));
	HOLDS(pd_span_eq(pd_buf_span(&b.text), pd_buf_span(&bx.text)) && b.n_boxes == bx.n_boxes && b.n_runs == bx.n_runs &&
	      b.n_links == bx.n_links && b.n_blocks == bx.n_blocks);
	pd_html_parse(hl, pd_buf_span(&clean), false, &bl);
	check(&bl, false);
	HOLDS(pd_span_eq(pd_buf_span(&b.text), pd_buf_span(&bl.text)) && b.n_boxes == bl.n_boxes && b.n_runs == bl.n_runs &&
	      b.n_links <= bl.n_links && b.n_blocks == bl.n_blocks);
	for (size_t i = 0; i < bl.n_links; i++)
		HOLDS(bl.links[i].box < bl.n_boxes && bl.links[i].run <= bl.n_runs);
	pd_buf_release(&clean);
	return 0;
}
