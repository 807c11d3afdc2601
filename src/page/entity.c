/* SPDX-License-Identifier: MIT
 *
 * See the header.  The names are in entity.def; the rules are those of the HTML standard's tokenizer (13.2.5.72 and the
 * states after it).
 */
#include "page/entity.h"

#include <stdlib.h>

#include "base/buf.h"

#define NAME_MAX_LEN 24		/* longer than any name */
#define LEGACY_MAX_LEN 6	/* Aacute … */
#define REPLACEMENT 0xFFFD

struct entity {
	const char *name;
	uint16_t cp;
	bool legacy;
};

static const struct entity entities[] = {
#define E(name, cp, legacy) { name, cp, legacy },
#include "page/entity.def"
#undef E
};

/* What 128 … 159 stand for in windows-1252; the five holes stay as they are. */
static const uint16_t cp1252[32] = {
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
	0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
	0x017E, 0x0178,
};

static bool alnum(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static int by_name(const void *key, const void *item)
{
	const struct entity *e = item;
	return pd_span_cmp(*(const struct pd_span *)key, pd_span_z(e->name));
}

static const struct entity *find(const char *p, size_t n)
{
	struct pd_span key = pd_span(p, n);
	return bsearch(&key, entities, sizeof(entities) / sizeof(entities[0]), sizeof(entities[0]), by_name);
}

static size_t named(struct pd_span s, bool in_value, uint32_t *cp)
{
	size_t n = 0;
	while (n < NAME_MAX_LEN && 1 + n < s.n && alnum(s.p[1 + n]))
		n++;
	char next = 1 + n < s.n ? s.p[1 + n] : 0;
	const struct entity *e = next == ';' ? find(s.p + 1, n) : NULL;
	if (e) {
		*cp = e->cp;
		return n + 2;
	}
	for (size_t k = n < LEGACY_MAX_LEN ? n : LEGACY_MAX_LEN; k >= 2; k--) {
		if (in_value && (k < n || next == '='))
			continue;
		e = find(s.p + 1, k);
		if (e && e->legacy) {
			*cp = e->cp;
			return k + 1;
		}
	}
	return 0;
}

static int digit(char c, unsigned base)
{
	int d = pd_hex_digit(c);
	return d < (int)base ? d : -1;
}

static uint32_t replaced(uint64_t value)
{
	if (value >= 128 && value < 160)
		return cp1252[value - 128];
	if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) || (value & 0xFFFE) == 0xFFFE)
		return REPLACEMENT;
	return (uint32_t)value;
}

static size_t numeric(struct pd_span s, uint32_t *cp)
{
	unsigned base = s.n > 2 && (s.p[2] | 0x20) == 'x' ? 16 : 10;
	size_t start = base == 16 ? 3 : 2, i = start;
	uint64_t value = 0;
	for (; i < s.n && digit(s.p[i], base) >= 0; i++)
		if (value <= 0x10FFFF)
			value = value * base + (unsigned)digit(s.p[i], base);
	if (i == start)
		return 0;
	*cp = replaced(value);
	return i < s.n && s.p[i] == ';' ? i + 1 : i;
}

size_t pd_reference(struct pd_span s, bool in_value, uint32_t *cp)
{
	if (s.n < 3)
		return 0;
	return s.p[1] == '#' ? numeric(s, cp) : named(s, in_value, cp);
}
