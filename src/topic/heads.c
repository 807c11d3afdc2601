/* SPDX-License-Identifier: MIT
 *
 * The beginning of a line is looked up in a table of phrases, chained by their first two bytes.
 */
#include "topic/heads.h"

#include <stdlib.h>

#include "base/buf.h"

enum fit { WHOLE, START };

static const struct row {
	const char *words;
	uint8_t n, fit, scope;
} rows[] = {
#define X(words, fit, scope) { words, sizeof words - 1, fit, PD_HEAD_##scope },
#include "topic/heads.def"
#undef X
};

enum { ROWS = sizeof rows / sizeof *rows };

/* Rows by their first two bytes. */
struct pd_heads {
	uint8_t first[256];
	uint8_t next[ROWS];
};

static uint8_t bucket(const char *p)
{
	return (uint8_t)((uint8_t)p[0] * 31 + (uint8_t)p[1]);
}

struct pd_heads *pd_heads_new(void)
{
	struct pd_heads *h = pd_zalloc(sizeof(*h));
	_Static_assert(ROWS < 255, "rows are numbered by a byte");
	for (int i = ROWS; i-- > 0;) {
		uint8_t *first = &h->first[bucket(rows[i].words)];
		h->next[i] = *first;
		*first = (uint8_t)(i + 1);
	}
	return h;
}

void pd_heads_free(struct pd_heads *h)
{
	free(h);
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

enum pd_head pd_head_of(const struct pd_heads *h, struct pd_span line, const char **name)
{
	char low[PD_HEAD_MAX];
	if (line.n < 2 || line.n > PD_HEAD_MAX)
		return PD_HEAD_NONE;
	for (size_t i = 0; i < line.n; i++)
		low[i] = pd_ascii_lower(line.p[i]);
	for (uint8_t i = h->first[bucket(low)]; i; i = h->next[i - 1]) {
		const struct row *r = &rows[i - 1];
		if (r->n > line.n || memcmp(low, r->words, r->n) != 0)
			continue;
		if (r->fit == WHOLE && !only_signs(pd_span(low + r->n, line.n - r->n)))
			continue;
		*name = r->words;
		return (enum pd_head)r->scope;
	}
	return PD_HEAD_NONE;
}
