/* SPDX-License-Identifier: MIT
 *
 * In: UTF-8.  Out: NFKC, case-folded, white space collapsed and trimmed.
 *
 * Characters that fold to one character, whatever stands before them, are written by table.  The others form spans that
 * libunistring folds.  Where may a span begin and end?  A character that PD_CHAR_STARTS combines with nothing before
 * it, so text may be cut there: a span begins at the last such character (at most one back: what the table writes
 * always starts) and ends before the next one that the table can write.
 *
 * The only place of the program that includes libunistring.
 */
#include "term/fold.h"

#include <stdlib.h>
#include <unicase.h>
#include <uninorm.h>

#include "term/unicode.h"

/* pd_unicode_block, pd_unicode_kind, pd_unicode_kinds: printed by tools/gen_unicode.c. */
#include "unicode_table.h"

struct pd_folder {
	struct pd_buf span;	/* what libunistring made of one */
};

/* `to` runs ahead of out->n; there is room for all of p..end folded by table. */
struct fold_cursor {
	const char *begin, *p, *end;
	struct pd_buf *out;
	char *to;
};

struct pd_folder *pd_folder_new(void)
{
	return pd_zalloc(sizeof(struct pd_folder));
}

void pd_folder_free(struct pd_folder *f)
{
	if (!f)
		return;
	pd_buf_release(&f->span);
	free(f);
}

/* The table makes text longer by a half at most; a byte that is no UTF-8 makes room for itself. */
static void reserve_fold(struct fold_cursor *c, size_t extra)
{
	size_t rest = (size_t)(c->end - c->p);
	c->to = pd_buf_reserve(c->out, rest + rest / 2 + extra + 8);
}

static void written(struct fold_cursor *c)
{
	c->out->n = (size_t)(c->to - c->out->p);
}

static void put_space(struct fold_cursor *c)
{
	if (c->to != c->out->p && c->to[-1] != ' ')
		*c->to++ = ' ';
}

/* ASCII, eight bytes at a time, while there is nothing to collapse. */
static void fold_ascii(struct fold_cursor *c)
{
	const char *p = c->p;
	char *to = c->to;
	bool after_space = to == c->out->p || to[-1] == ' ';
	for (; c->end - p >= 8; p += 8, to += 8) {
		uint64_t x = pd_eight_load(p);
		if (x & PD_HIGH)
			break;
		uint64_t space = pd_eight_range(x, ' ', ' '), control = pd_eight_range(x, 0, 0x1F);
		if (control | (space & space << 8) | (after_space ? space & 0x80 : 0))
			break;
		pd_eight_store(to, x | pd_eight_case(pd_eight_range(x, 'A', 'Z')));
		after_space = space >> 63;
	}
	c->p = p;
	c->to = to;
}

/* Adds folded text that may hold white space. */
static void add_collapsed(struct fold_cursor *c, const char *p, const char *end)
{
	reserve_fold(c, (size_t)(end - p));
	while (p < end) {
		uint32_t cp;
		size_t n = pd_utf8_get(p, end, &cp);
		if (pd_char_kind_of(cp)->flags & PD_CHAR_SPACE) {
			put_space(c);
		} else {
			memcpy(c->to, p, n);
			c->to += n;
		}
		p += n;
	}
}

static void fold_slowly(struct pd_folder *f, struct fold_cursor *c, const char *p, const char *end)
{
	size_t n = (size_t)(end - p);
	pd_buf_clear(&f->span);
	pd_buf_reserve(&f->span, 3 * n + 64);
	size_t got = f->span.cap;
	uint8_t *s = u8_casefold((const uint8_t *)p, n, NULL, UNINORM_NFKC, (uint8_t *)f->span.p, &got);
	written(c);
	if (s)
		add_collapsed(c, (char *)s, (char *)s + got);
	if ((char *)s != f->span.p)
		free(s);
}

/* Takes back the character before c->p, which the table wrote; white space may stay, it collapses. */
static void step_back(struct fold_cursor *c)
{
	uint32_t cp;
	const char *p = c->p - 1;
	while ((*p & 0xC0) == 0x80 && p > c->begin)
		p--;
	if (p + pd_utf8_get(p, c->end, &cp) != c->p || cp == PD_UNICODE_BAD)
		return;		/* a byte that is no UTF-8 combines with nothing */
	c->p = p;
	if (pd_char_kind_of(cp)->flags & PD_CHAR_SPACE)
		return;
	do
		c->to--;
	while ((*c->to & 0xC0) == 0x80);
}

static void fold_span(struct pd_folder *f, struct fold_cursor *c, const struct pd_char_kind *k)
{
	const char *end = c->p;
	uint32_t cp;
	size_t n;
	if (!(k->flags & PD_CHAR_STARTS) && c->p > c->begin)
		step_back(c);
	while (end < c->end) {
		n = pd_utf8_get(end, c->end, &cp);
		if (cp == PD_UNICODE_BAD || pd_char_kind_of(cp)->flags & PD_CHAR_ONE)
			break;
		end += n;
	}
	const char *p = c->p;
	c->p = end;
	fold_slowly(f, c, p, end);
}

static void replace_bad(struct fold_cursor *c)
{
	c->p++;
	written(c);
	reserve_fold(c, 3);
	c->to = pd_utf8_put(c->to, 0xFFFD);
}

static void fold_one(struct pd_folder *f, struct fold_cursor *c)
{
	uint32_t cp;
	size_t n = pd_utf8_get(c->p, c->end, &cp);
	const struct pd_char_kind *k = pd_char_kind_of(cp);
	if (cp == PD_UNICODE_BAD) {
		replace_bad(c);
		return;
	}
	if (!(k->flags & PD_CHAR_ONE)) {
		fold_span(f, c, k);
		return;
	}
	c->p += n;
	if (k->flags & PD_CHAR_SPACE)
		put_space(c);
	else
		c->to = pd_utf8_put(c->to, (uint32_t)((int32_t)cp + k->delta));
}

/* The bulk of Chinese text: copied as it stands. */
static void copy_han(struct fold_cursor *c)
{
	const char *p = c->p;
	char *to = c->to;
	for (; c->end - p >= 4 && pd_common_han_at(p, c->end); p += 3, to += 3)
		memcpy(to, p, 4);	/* the fourth byte is written over: one move instead of two */
	c->p = p;
	c->to = to;
}

void pd_fold(struct pd_folder *f, struct pd_span utf8, struct pd_buf *out)
{
	struct fold_cursor c = { utf8.p, utf8.p, utf8.n ? utf8.p + utf8.n : utf8.p, out, NULL };	/* nothing may be NULL */
	pd_buf_clear(out);
	reserve_fold(&c, 0);
	while (c.p < c.end) {
		uint8_t first = (uint8_t)*c.p;
		if (first < 0x80)
			fold_ascii(&c);
		else if (first >= 0xE4 && first <= 0xE9)
			copy_han(&c);
		if (c.p < c.end)
			fold_one(f, &c);
	}
	if (c.to > out->p && c.to[-1] == ' ')
		c.to--;
	written(&c);
	out->p[out->n] = 0;
}

#define X(traditional, simplified) [traditional - PD_SIMPLIFIED_FIRST] = simplified,
const uint16_t pd_simplified_of[PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST] = {
#include "term/simplified.def"
};
#undef X

void pd_simplify(char *utf8, size_t n)
{
	for (size_t i = 0; i + 3 <= n; i++) {
		unsigned char *p = (unsigned char *)utf8 + i;
		if (p[0] < 0xE3 || p[0] > 0xE9 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80)
			continue;
		uint32_t cp = (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
		uint32_t to = pd_simplified(cp);
		p[0] = (unsigned char)(0xE0 | to >> 12);
		p[1] = (unsigned char)(0x80 | (to >> 6 & 0x3F));
		p[2] = (unsigned char)(0x80 | (to & 0x3F));
		i += 2;
	}
}

void pd_fold_term(struct pd_folder *f, struct pd_span utf8, struct pd_buf *out)
{
	size_t to = 0;
	pd_fold(f, utf8, out);
	pd_simplify(out->p, out->n);
	for (size_t i = 0; i < out->n; i++) {
		bool curly = out->n - i >= 3 && memcmp(out->p + i, "\u2019", 3) == 0;
		out->p[to++] = curly ? '\'' : out->p[i];
		i += curly ? 2 : 0;
	}
	out->n = to;
}
