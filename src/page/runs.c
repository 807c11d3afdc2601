/* SPDX-License-Identifier: MIT
 *
 * Text events -> runs: white space collapsed, ends trimmed, blank runs never begun, code points counted on the way.
 * A run goes on through inline tags, and ends where a box begins or ends, or where links, emphasis or <pre> change.
 */
#include "page/build.h"

/* The bytes that white space may begin with: controls, and the first bytes of U+0085, U+00A0, U+1680, U+2000 … and
 * U+3000, U+FEFF. */
static const bool maybe_white[256] = {
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	[0xC2] = 1, [0xE1] = 1, [0xE2] = 1, [0xE3] = 1, [0xEF] = 1,
};

static bool wide_white(const uint8_t *p)
{
	switch (p[0]) {
	case 0xE1:
		return p[1] == 0x9A && p[2] == 0x80;
	case 0xE2:
		return (p[1] == 0x80 && (p[2] <= 0x8A || p[2] == 0xA8 || p[2] == 0xA9 || p[2] == 0xAF)) ||
		       (p[1] == 0x81 && p[2] == 0x9F);
	case 0xE3:
		return p[1] == 0x80 && p[2] == 0x80;
	default:
		return p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF;
	}
}

/* Bytes of the white space character (a control counts as one) at p, 0 when there is none. */
static size_t white(const uint8_t *p, const uint8_t *end)
{
	if (p[0] <= ' ')
		return 1;
	if (p[0] == 0xC2)
		return end - p >= 2 && (p[1] == 0xA0 || p[1] == 0x85) ? 2 : 0;
	return end - p >= 3 && wide_white(p) ? 3 : 0;
}

void pd_build_end_run(struct pd_builder *b)
{
	struct pd_blocks *out = b->out;
	if (!b->in_run)
		return;
	b->in_run = false;
	const struct pd_run *r = &out->runs[out->n_runs - 1];
	struct pd_frame *f = pd_build_frame(b);
	f->chars += r->chars;
	if (r->flags & PD_RUN_LINK)
		f->anchor_chars += r->chars;
	b->unclaimed = pd_grow(b->unclaimed, b->n_unclaimed, &b->cap_unclaimed, sizeof(*b->unclaimed));
	b->unclaimed[b->n_unclaimed++] = (uint32_t)(out->n_runs - 1);
}

static void begin_run(struct pd_builder *b)
{
	struct pd_blocks *out = b->out;
	out->runs = pd_grow(out->runs, out->n_runs, &out->cap_runs, sizeof(*out->runs));
	uint32_t flags = (b->link != PD_LINK_NONE ? PD_RUN_LINK : 0) | (b->emphasis ? PD_RUN_EMPHASIS : 0) |
			 (b->pre ? PD_RUN_PRE : 0) | (b->space || b->line ? PD_RUN_SPACE : 0) |
			 (b->line ? PD_RUN_LINE : 0);
	out->runs[out->n_runs++] = (struct pd_run){
		.at = (uint32_t)out->text.n,
		.box = pd_build_frame(b)->box,
		.block = PD_BLOCK_NONE,
		.link = b->link,
		.flags = flags,
	};
	b->in_run = true;
}

/* A character that is not white comes next: `to` is where the text goes, returned moved on. */
static char *before_character(struct pd_builder *b, char *to, uint32_t *chars)
{
	if (!b->in_run) {
		begin_run(b);
	} else if (b->space) {
		*to++ = b->line ? '\n' : ' ';
		++*chars;
	}
	b->space = b->line = false;
	return to;
}

void pd_build_text(struct pd_builder *b, struct pd_span s)
{
	struct pd_blocks *out = b->out;
	const uint8_t *p = (const uint8_t *)s.p, *end = p + s.n;
	if (out->n_runs == PD_RUNS_MAX && !b->in_run)
		return;
	char *start = pd_buf_reserve(&out->text, s.n + 1), *to = start;
	uint32_t chars = 0;
	while (p < end) {
		size_t k = maybe_white[*p] ? white(p, end) : 0;
		if (k) {
			b->space = true;
			b->line |= b->pre && *p == '\n';
			p += k;
			continue;
		}
		if (b->space || !b->in_run)
			to = before_character(b, to, &chars);
		do {
			chars += (*p & 0xC0) != 0x80;
			*to++ = (char)*p++;
		} while (p < end && !maybe_white[*p]);
	}
	if (to == start)
		return;
	struct pd_run *r = &out->runs[out->n_runs - 1];
	r->n += (uint32_t)(to - start);
	r->chars += chars;
	out->text.n += (size_t)(to - start);
	*to = 0;
}
