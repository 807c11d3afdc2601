/* SPDX-License-Identifier: MIT */
#include "topic/site_context.h"

#include "base/utf8.h"

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xD6E8FEB86659FD93ull;
	h ^= h >> 32;
	h *= 0xD6E8FEB86659FD93ull;
	return h ^ h >> 29;
}

void pd_site_context_clear(struct pd_site_context *c)
{
	pd_simhash_clear(&c->sum, 64);
	c->last = 0;
}

static void add_word(struct pd_site_context *c, uint64_t word)
{
	uint64_t hash = mix(word);
	if (c->last) {
		struct pd_key key = { { mix(c->last * 0x9E3779B97F4A7C15ull + hash) } };
		pd_simhash_add(&c->sum, &key, 1);
	}
	c->last = hash;
}

enum sort { NOTHING, PART, ALONE };

/* A character that is part of a word, a word by itself, or neither. */
static enum sort sort_of(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ? PART : NOTHING;
	if (c < 0xC0 || (c >= 0x2000 && c < 0x2E80) || (c >= 0x3000 && c < 0x3040) || c >= 0xFF00)
		return NOTHING;
	return c < 0x2000 ? PART : ALONE;
}

void pd_site_context_add(struct pd_site_context *c, struct pd_span utf8)
{
	uint64_t word = 0;
	for (const char *p = utf8.p, *end = p + utf8.n; p < end;) {
		uint32_t ch = pd_utf8_next(&p);
		enum sort sort = sort_of(ch);
		if (word && sort != PART) {
			add_word(c, word);
			word = 0;
		}
		if (ch >= 'A' && ch <= 'Z')
			ch |= 0x20;
		if (sort == PART)
			word = (word + ch) * 0x9E3779B97F4A7C15ull;
		else if (sort == ALONE)
			add_word(c, ch);
	}
	if (word)
		add_word(c, word);
}

uint64_t pd_site_context_end(struct pd_site_context *c)
{
	struct pd_key key;
	pd_simhash_end(&c->sum, &key);
	return key.w[0];
}
