/* SPDX-License-Identifier: MIT
 *
 * The phrases of each table are chained by their first two bytes.  The beginning of a line is looked up among the heads; at
 * the beginning of each word of a sentence, and of other text once, the notices are tried.
 */
#include "topic/phrases.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum head_fit { WHOLE, START };
enum notice_fit { BEGINS, ANY };

struct phrase {
	const char *words;
	uint8_t n, fit, scope;	/* scope: of a head, enum pd_head */
};

static const struct phrase heads[] = {
#define X(words, fit, scope) { words, sizeof words - 1, fit, PD_HEAD_##scope },
#include "topic/heads.def"
#undef X
};

static const struct phrase notices[] = {
#define X(words, fit) { words, sizeof words - 1, fit, 0 },
#include "topic/notices.def"
#undef X
};

enum { HEADS = sizeof heads / sizeof *heads, NOTICES = sizeof notices / sizeof *notices };
_Static_assert(HEADS < 255 && NOTICES < 255, "phrases are numbered by a byte");

/* A notice says what it is within so many bytes, where it is no sentence with the first of them, and is no longer than this. */
enum { NOTICE_START = 200, NOTICE_HEAD = 40, NOTICE_MAX = 900 };

/* Most pairs of bytes begin nothing.  Phrases are numbered from 1; 0 ends a chain. */
struct chains {
	uint8_t first[1024], next[255];
};

struct pd_phrases {
	struct chains heads, notices;
};

static uint8_t *chain_of(struct chains *c, const char *p)
{
	return &c->first[((size_t)(uint8_t)p[0] * 31 + (uint8_t)p[1]) % sizeof c->first];
}

static uint8_t chain_begin(const struct chains *c, const char *p)
{
	return *chain_of((struct chains *)c, p);
}

static void chain_phrases(struct chains *c, const struct phrase *v, int n)
{
	for (int i = n; i-- > 0;) {
		uint8_t *first = chain_of(c, v[i].words);
		c->next[i] = *first;
		*first = (uint8_t)(i + 1);
	}
}

struct pd_phrases *pd_phrases_new(void)
{
	struct pd_phrases *p = pd_zalloc(sizeof(*p));
	chain_phrases(&p->heads, heads, HEADS);
	chain_phrases(&p->notices, notices, NOTICES);
	return p;
}

void pd_phrases_free(struct pd_phrases *p)
{
	free(p);
}

/* Nothing but signs and digits: "(12)", ":". */
static bool only_signs(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if ((c >= 'a' && c <= 'z') || (c & 0x80))
			return false;
	}
	return true;
}

enum pd_head pd_head_of(const struct pd_phrases *p, struct pd_span line, const char **name)
{
	char low[PD_HEAD_MAX];
	if (line.n < 2 || line.n > PD_HEAD_MAX)
		return PD_HEAD_NONE;
	for (size_t i = 0; i < line.n; i++)
		low[i] = pd_ascii_lower(line.p[i]);
	for (uint8_t i = chain_begin(&p->heads, low); i; i = p->heads.next[i - 1]) {
		const struct phrase *h = &heads[i - 1];
		if (h->n > line.n || memcmp(low, h->words, h->n) != 0)
			continue;
		if (h->fit == WHOLE && !only_signs(pd_span(low + h->n, line.n - h->n)))
			continue;
		*name = h->words;
		return (enum pd_head)h->scope;
	}
	return PD_HEAD_NONE;
}

/* Does a notice's phrase stand here?  `begin`: also one that must begin a text. */
static bool notice_fits(const struct pd_phrases *p, struct pd_span low, size_t at, bool begin)
{
	for (uint8_t i = chain_begin(&p->notices, low.p + at); i; i = p->notices.next[i - 1]) {
		const struct phrase *n = &notices[i - 1];
		if ((begin || n->fit == ANY) && low.n - at >= n->n && memcmp(low.p + at, n->words, n->n) == 0)
			return true;
	}
	return false;
}

static bool begins_word(struct pd_span low, size_t at)
{
	return at == 0 || low.p[at - 1] == ' ' || low.p[at - 1] == '(' || (unsigned char)low.p[at] >= 0xE3;
}

bool pd_is_notice(const struct pd_phrases *p, struct pd_span text, bool sentences)
{
	char start[NOTICE_START];
	size_t look = sentences ? NOTICE_START : NOTICE_HEAD;
	struct pd_span low = pd_span(start, text.n < look ? text.n : look);
	if (text.n < 2 || text.n > NOTICE_MAX)
		return false;
	for (size_t i = 0; i < low.n; i++)
		start[i] = pd_ascii_lower(text.p[i]);
	if (notice_fits(p, low, 0, true))
		return true;
	for (size_t at = 1; sentences && at + 1 < low.n; at++)
		if (begins_word(low, at) && notice_fits(p, low, at, false))
			return true;
	return false;
}
