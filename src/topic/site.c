/* SPDX-License-Identifier: MIT */
#include "topic/site.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"

void pd_site_keys_release(struct pd_site_keys *k)
{
	free(k->boxes);
	pd_buf_release(&k->scratch);
	*k = (struct pd_site_keys){ 0 };
}

void pd_site_paths(struct pd_site_keys *k, const struct pd_blocks *in)
{
	k->boxes = pd_grow(k->boxes, in->n_boxes, &k->cap_boxes, sizeof *k->boxes);
	for (size_t i = 0; i < in->n_boxes; i++) {
		const struct pd_box *b = &in->boxes[i];
		uint64_t above = b->parent == PD_BOX_NONE ? 0 : k->boxes[b->parent];
		k->boxes[i] = pd_hash64_seed(b->klass.p, b->klass.n, above ^ b->tag);
	}
}

uint64_t pd_site_line(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l)
{
	const struct pd_run *r = &in->runs[l->first_run];
	if (l->end_run == l->first_run + 1)
		return pd_hash64(in->text.p + r->at, r->n);
	pd_buf_clear(&k->scratch);
	for (size_t i = l->first_run; i < l->end_run; i++) {
		r = &in->runs[i];
		if (i > l->first_run && r->flags & PD_RUN_SPACE)
			pd_buf_add_c(&k->scratch, ' ');
		pd_buf_add_span(&k->scratch, pd_run_text(in, r));
	}
	return pd_hash64(k->scratch.p, k->scratch.n);
}

/* ASCII letters, and any character from U+00C0 on that is no punctuation or symbol of the blocks that hold little else. */
static bool is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
	if (c < 0xC0 || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c < 0x2C00))
		return false;
	return (c < 0x3000 || c > 0x3004) && (c < 0x3008 || c > 0x3030) && (c < 0xFF00 || c > 0xFF20) && c < 0x1F000;
}

static bool run_letter(struct pd_span s)
{
	for (const char *p = s.p, *end = s.p + s.n; p < end;)
		if (is_letter(pd_utf8_next(&p)))
			return true;
	return false;
}

bool pd_site_letter(const struct pd_blocks *in, const struct pd_line *l)
{
	for (size_t i = l->first_run; i < l->end_run; i++)
		if (run_letter(pd_run_text(in, &in->runs[i])))
			return true;
	return false;
}

static int by_value(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static bool known(const uint64_t *keys, size_t n, uint64_t key)
{
	return n && bsearch(&key, keys, n, sizeof key, by_value) != NULL;
}

uint64_t pd_site_mark(struct pd_site_keys *k, const struct pd_site *s, const struct pd_blocks *in, struct pd_lines *l)
{
	uint64_t taken = 0;
	if (!s->n_lines && !s->n_paths)
		return 0;
	pd_site_paths(k, in);
	for (size_t i = 0; i < l->n; i++) {
		struct pd_line *line = &l->v[i];
		if (in->boxes[line->box].tag == PD_TAG_title)
			continue;
		if (!known(s->paths, s->n_paths, k->boxes[line->box]) &&
		    !known(s->lines, s->n_lines, pd_site_line(k, in, line)))
			continue;
		taken += line->mass - line->link_mass;
		line->site = true;
		line->mass = line->link_mass = 0;
		line->stop = false;
	}
	return taken;
}
