/* SPDX-License-Identifier: MIT
 *
 * Few letters begin a notice's words: at the beginning of each word its first byte leads to a chain of phrases.
 */
#include "topic/notices.h"

#include <string.h>

/* A notice says what it is within so many bytes, and is no longer than this. */
enum { NOTICE_START = 200, NOTICE_MAX = 900 };
enum { START, ANY };

static const struct row {
	const char *words;
	uint8_t n, where;
} rows[] = {
#define X(words, where) { words, sizeof words - 1, where },
#include "topic/notices.def"
#undef X
};

static bool fits(const struct row *r, struct pd_span low, size_t at)
{
	return (at == 0 || r->where == ANY) && low.n - at >= r->n && memcmp(low.p + at, r->words, r->n) == 0;
}

static bool begins_word(struct pd_span low, size_t at)
{
	return at == 0 || low.p[at - 1] == ' ' || low.p[at - 1] == '(' || (unsigned char)low.p[at] >= 0xE3;
}

bool pd_is_notice(struct pd_span text)
{
	char p[NOTICE_START];
	struct pd_span low = pd_span(p, text.n < sizeof p ? text.n : sizeof p);
	if (text.n > NOTICE_MAX)
		return false;
	for (size_t i = 0; i < low.n; i++)
		p[i] = pd_ascii_lower(text.p[i]);
	for (size_t at = 0; at < low.n; at++) {
		if (!begins_word(low, at))
			continue;
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
			if (rows[i].words[0] == p[at] && fits(&rows[i], low, at))
				return true;
	}
	return false;
}
