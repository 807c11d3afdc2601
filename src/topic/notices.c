/* SPDX-License-Identifier: MIT
 *
 * At the beginning of each word of a sentence, and of other text once, the phrases of the table are tried.
 */
#include "topic/notices.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* A notice says what it is within so many bytes, where it is no sentence with the first of them, and is no longer than this. */
enum { NOTICE_START = 200, NOTICE_HEAD = 40, NOTICE_MAX = 900 };
enum { START, ANY };

static const struct row {
	const char *words;
	uint8_t n, where;
} rows[] = {
#define X(words, where) { words, sizeof words - 1, where },
#include "topic/notices.def"
#undef X
};

enum { ROWS = sizeof rows / sizeof *rows };

/* Rows by their first two bytes: most pairs of bytes begin nothing. */
struct pd_notices {
	uint8_t first[1024];
	uint8_t next[ROWS];
};

static size_t bucket(const char *p)
{
	return ((size_t)(uint8_t)p[0] * 31 + (uint8_t)p[1]) % 1024;
}

struct pd_notices *pd_notices_new(void)
{
	struct pd_notices *n = pd_zalloc(sizeof(*n));
	_Static_assert(ROWS < 255, "rows are numbered by a byte");
	for (int i = ROWS; i-- > 0;) {
		uint8_t *first = &n->first[bucket(rows[i].words)];
		n->next[i] = *first;
		*first = (uint8_t)(i + 1);
	}
	return n;
}

void pd_notices_free(struct pd_notices *n)
{
	free(n);
}

/* Does a phrase stand here?  `start`: also one that must begin a text. */
static bool fits(const struct pd_notices *n, struct pd_span low, size_t at, bool start)
{
	for (uint8_t i = n->first[bucket(low.p + at)]; i; i = n->next[i - 1]) {
		const struct row *r = &rows[i - 1];
		if ((start || r->where == ANY) && low.n - at >= r->n && memcmp(low.p + at, r->words, r->n) == 0)
			return true;
	}
	return false;
}

static bool begins_word(struct pd_span low, size_t at)
{
	return at == 0 || low.p[at - 1] == ' ' || low.p[at - 1] == '(' || (unsigned char)low.p[at] >= 0xE3;
}

bool pd_is_notice(const struct pd_notices *n, struct pd_span text, bool sentences)
{
	char p[NOTICE_START];
	size_t look = sentences ? NOTICE_START : NOTICE_HEAD;
	struct pd_span low = pd_span(p, text.n < look ? text.n : look);
	if (text.n < 2 || text.n > NOTICE_MAX)
		return false;
	for (size_t i = 0; i < low.n; i++)
		p[i] = pd_ascii_lower(text.p[i]);
	if (fits(n, low, 0, true))
		return true;
	for (size_t at = 1; sentences && at + 1 < low.n; at++)
		if (begins_word(low, at) && fits(n, low, at, false))
			return true;
	return false;
}
