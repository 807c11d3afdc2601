/* SPDX-License-Identifier: MIT
 *
 * Print src/tables/unicode.def: C text made from the Unicode data of libunistring.  The file is kept in the repository, because
 * fingerprints depend on it and must not change with the installed library.  `make unicode` writes it again.
 *
 * A newer version classes more characters as Han and as letters and so changes fingerprints: raise PD_FINGERPRINT_VERSION
 * with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <unistring/version.h>

#include "../term/kind.h"

/* Version of libunistring, and the version of Unicode in it. */
#define LIBRARY 0x010000
#define UNICODE "14.0.0"

#define LAST 0x10FFFF
#define BLOCK (1 << PD_UNICODE_SHIFT)
#define BLOCKS ((PD_UNICODE_BAD >> PD_UNICODE_SHIFT) + 1)
#define LONGEST 64

struct text {
	uint32_t v[LONGEST];
	size_t n;
};

static struct pd_char_kind kinds[LAST + 2]; /* one for each code point, then one for a bad byte */
static uint8_t composes[LAST + 1];	    /* the character can be the second of a composed pair */

static struct text keep(uint32_t *s, size_t n)
{
	struct text t = { .n = n };
	if (!s || n > LONGEST)
		abort();
	memcpy(t.v, s, n * sizeof *s);
	free(s);
	return t;
}

static struct text folded(uint32_t cp)
{
	size_t n;
	uint32_t *s = u32_casefold(&cp, 1, NULL, UNINORM_NFKC, NULL, &n);
	return keep(s, n);
}

static struct text normal(uninorm_t form, const struct text *t)
{
	size_t n;
	uint32_t *s = u32_normalize(form, t->v, t->n, NULL, &n);
	return keep(s, n);
}

static void find_composing(void)
{
	for (ucs4_t cp = 0; cp <= LAST; cp++) {
		ucs4_t d[UC_DECOMPOSITION_MAX_LENGTH];
		int tag;
		int n = uc_decomposition(cp, &tag, d);
		if (n == 2 && tag == UC_DECOMP_CANONICAL && uc_composition(d[0], d[1]) == cp)
			composes[d[1]] = 1;
	}
	for (uint32_t jamo = 0x1161; jamo <= 0x1175; jamo++)
		composes[jamo] = 1;
	for (uint32_t jamo = 0x11A8; jamo <= 0x11C2; jamo++)
		composes[jamo] = 1;
}

static int starts_alone(const struct text *t)
{
	return t->n > 0 && uc_combining_class(t->v[0]) == 0 && !composes[t->v[0]];
}

/* Folding decomposes twice, so the first character must not compose in any intermediate form. */
static int starts(uint32_t cp, const struct text *result)
{
	struct text t = { { cp }, 1 };
	struct text nfd = normal(UNINORM_NFD, &t), nfkd = normal(UNINORM_NFKD, &t), after = normal(UNINORM_NFKD, result);
	return starts_alone(&t) && starts_alone(&nfd) && starts_alone(&nfkd) && starts_alone(&after);
}

static int is_script(uint32_t cp, const char *name)
{
	const uc_script_t *s = uc_script(cp);
	return s && strcmp(s->name, name) == 0;
}

static int has_no_spaces(uint32_t cp)
{
	static const char *const scripts[] = { "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar" };
	if (cp == 0x30FC || cp == 0xFF70) /* the long vowel mark, common to both kana */
		return 1;
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		if (is_script(cp, scripts[i]))
			return 1;
	return 0;
}

static int is_ignored(uint32_t cp)
{
	return cp != 0x200B /* it separates words */ && uc_is_property_default_ignorable_code_point(cp);
}

static int is_han(uint32_t cp)
{
	return is_script(cp, "Han") && (uc_is_property_ideographic(cp) || uc_is_general_category(cp, UC_CATEGORY_Lm));
}

static enum pd_char_class class_of(uint32_t cp)
{
	if (is_ignored(cp))
		return PD_CHAR_IGNORED;
	if (cp == '\'' || cp == 0x2019)
		return PD_CHAR_APOSTROPHE;
	if (is_han(cp))
		return PD_CHAR_HAN;
	if (uc_is_general_category(cp, UC_CATEGORY_Nd) || uc_is_general_category(cp, UC_CATEGORY_Nl) ||
	    uc_is_general_category(cp, UC_CATEGORY_No))
		return PD_CHAR_DIGIT;
	if (uc_is_general_category(cp, UC_CATEGORY_M))
		return has_no_spaces(cp) ? PD_CHAR_BIGRAM : PD_CHAR_EXTEND;
	if (uc_is_general_category(cp, UC_CATEGORY_L))
		return has_no_spaces(cp) ? PD_CHAR_BIGRAM : PD_CHAR_LETTER;
	return PD_CHAR_OTHER;
}

/* A character that folds to several characters: it either separates terms, or its run is folded in advance. */
static enum pd_char_class class_of_several(const struct text *t)
{
	int parts = t->n == 0 || class_of(t->v[0]) == PD_CHAR_OTHER;
	for (size_t i = 0; i < t->n; i++) {
		enum pd_char_class c = class_of(t->v[i]);
		parts = parts && (c == PD_CHAR_OTHER || c == PD_CHAR_EXTEND || c == PD_CHAR_IGNORED);
	}
	return parts ? PD_CHAR_OTHER : PD_CHAR_LETTER;
}

static size_t utf8_length(uint32_t cp)
{
	return cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
}

static struct pd_char_kind kind_of(uint32_t cp)
{
	struct text t = folded(cp);
	struct pd_char_kind k = { 0 };
	if (starts(cp, &t))
		k.flags |= PD_CHAR_STARTS;
	/* Writers of folded text assume that it grows by at most a half. */
	if ((k.flags & PD_CHAR_STARTS) && t.n == 1 && utf8_length(t.v[0]) * 2 <= utf8_length(cp) * 3) {
		k.flags |= PD_CHAR_ONE;
		k.delta = (int32_t)t.v[0] - (int32_t)cp;
	}
	k.class = t.n == 1 ? class_of(t.v[0]) : class_of_several(&t);
	if (t.n == 1 && uc_is_property_white_space(t.v[0]))
		k.flags |= PD_CHAR_SPACE;
	if (k.class == PD_CHAR_IGNORED || (k.class != PD_CHAR_OTHER && !(k.flags & PD_CHAR_ONE)))
		k.flags |= PD_CHAR_FOLD_FIRST;
	return k;
}

static int same_kind(const struct pd_char_kind *a, const struct pd_char_kind *b)
{
	return a->delta == b->delta && a->class == b->class && a->flags == b->flags;
}

/* A kind of a single character (an odd distance) gets no row: the slow path handles it. */
static void demote(struct pd_char_kind *k)
{
	k->flags &= (uint8_t)~PD_CHAR_ONE;
	k->delta = 0;
	if (k->class != PD_CHAR_OTHER)
		k->flags |= PD_CHAR_FOLD_FIRST;
}

struct row {
	struct pd_char_kind kind;
	size_t uses;
};

static struct row rows[LAST + 2];
static size_t n_rows;

static size_t row_of(const struct pd_char_kind *k)
{
	for (size_t i = 0; i < n_rows; i++)
		if (same_kind(k, &rows[i].kind))
			return i;
	rows[n_rows].kind = *k;
	return n_rows++;
}

static int more_used(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->uses != y->uses)
		return x->uses < y->uses ? 1 : -1;
	return memcmp(&x->kind, &y->kind, sizeof x->kind);
}

static void choose_rows(void)
{
	n_rows = 0;
	for (uint32_t cp = 0; cp <= LAST + 1; cp++)
		rows[row_of(&kinds[cp])].uses++;
	qsort(rows, n_rows, sizeof *rows, more_used);
	if (n_rows <= 240)
		return;
	for (size_t i = 240; i < n_rows; i++)
		for (uint32_t cp = 0; cp <= LAST + 1; cp++)
			if (same_kind(&kinds[cp], &rows[i].kind))
				demote(&kinds[cp]);
	n_rows = 240;
}

static uint8_t blocks[BLOCKS][BLOCK];
static uint16_t block_of[BLOCKS];
static size_t n_blocks;

static void add_block(size_t at)
{
	uint8_t block[BLOCK];
	for (size_t i = 0; i < BLOCK; i++) {
		size_t cp = at * BLOCK + i;
		block[i] = (uint8_t)row_of(&kinds[cp <= LAST ? cp : LAST + 1]);
	}
	size_t b = 0;
	while (b < n_blocks && memcmp(blocks[b], block, BLOCK) != 0)
		b++;
	if (b == n_blocks)
		memcpy(blocks[n_blocks++], block, BLOCK);
	block_of[at] = (uint16_t)b;
}

static void print_bytes(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%u,", i % 32 == 0 ? "\n\t" : "", p[i]);
}

/* --- tables for folding in steps --- */

static struct pd_char_steps steps[LAST + 1]; /* rows, indexed by the kind below */
static size_t n_steps;
static uint16_t steps_of[LAST + 1];
static uint32_t texts[1 << 16]; /* a length, then as many code points; 0: the character itself */
static size_t n_texts = 1;

static uint16_t text_at(uint32_t cp, const struct text *t)
{
	if (t->n == 1 && t->v[0] == cp)
		return 0;
	for (size_t i = 1; i < n_texts; i += texts[i] + 1)
		if (texts[i] == t->n && memcmp(texts + i + 1, t->v, t->n * sizeof *t->v) == 0)
			return (uint16_t)i;
	size_t at = n_texts;
	if (at + t->n + 1 > sizeof texts / sizeof *texts)
		abort();
	texts[at] = (uint32_t)t->n;
	memcpy(texts + at + 1, t->v, t->n * sizeof *t->v);
	n_texts += t->n + 1;
	return (uint16_t)at;
}

static void find_steps(void)
{
	for (uint32_t cp = 0; cp <= LAST; cp++) {
		struct pd_char_steps s = { 0 };
		struct text t = { { cp }, 1 };
		int is_syllable = cp >= 0xAC00 && cp <= 0xD7A3; /* decomposed by arithmetic */
		if (!is_syllable && !(cp >= 0xD800 && cp <= 0xDFFF)) {
			struct text nfd = normal(UNINORM_NFD, &t), nfkd = normal(UNINORM_NFKD, &t);
			size_t n;
			uint32_t *f = u32_casefold(&cp, 1, NULL, NULL, NULL, &n);
			struct text fold = keep(f, n);
			s = (struct pd_char_steps){ .canonical = text_at(cp, &nfd),
						    .compatible = text_at(cp, &nfkd),
						    .folded = text_at(cp, &fold),
						    .combining = (uint8_t)uc_combining_class(cp),
						    .composes = composes[cp] };
		}
		size_t i = 0;
		while (i < n_steps && memcmp(&steps[i], &s, sizeof s) != 0)
			i++;
		if (i == n_steps)
			steps[n_steps++] = s;
		steps_of[cp] = (uint16_t)i;
	}
}

static uint16_t step_blocks[BLOCKS][BLOCK];
static uint16_t step_block_of[BLOCKS];
static size_t n_step_blocks;

static void add_step_block(size_t at)
{
	const uint16_t *block = steps_of + at * BLOCK;
	size_t b = 0;
	while (b < n_step_blocks && memcmp(step_blocks[b], block, sizeof *step_blocks) != 0)
		b++;
	if (b == n_step_blocks)
		memcpy(step_blocks[n_step_blocks++], block, sizeof *step_blocks);
	step_block_of[at] = (uint16_t)b;
}

static void print_shorts(const uint16_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%u,", i % 16 == 0 ? "\n\t" : "", p[i]);
}

static void print_steps(void)
{
	printf("\nstatic const uint16_t pd_unicode_step_block[%d] = {", BLOCKS - 1);
	print_shorts(step_block_of, BLOCKS - 1);
	printf("\n};\n\nstatic const uint16_t pd_unicode_step[%zu][%d] = {", n_step_blocks, BLOCK);
	for (size_t i = 0; i < n_step_blocks; i++) {
		printf("\n{");
		print_shorts(step_blocks[i], BLOCK);
		printf("\n},");
	}
	printf("\n};\n\nstatic const struct pd_char_steps pd_unicode_steps[%zu] = {\n", n_steps);
	for (size_t i = 0; i < n_steps; i++)
		printf("%s{ %u, %u, %u, %u, %u },%s", i % 4 == 0 ? "\t" : " ", steps[i].canonical, steps[i].compatible,
		       steps[i].folded, steps[i].combining, steps[i].composes, i % 4 == 3 || i + 1 == n_steps ? "\n" : "");
	printf("};\n\nstatic const uint32_t pd_unicode_text[%zu] = {\n\t0,\n", n_texts);
	int column = 0;
	for (size_t i = 1; i < n_texts; i += texts[i] + 1) {
		column += printf("%s%u,", column ? " " : "\t", texts[i]);
		for (size_t j = 1; j <= texts[i]; j++)
			column += printf(" 0x%X,", texts[i + j]);
		if (column > 90 || i + texts[i] + 1 == n_texts) {
			printf("\n");
			column = 0;
		}
	}
	printf("};\n\n");
	size_t n_pairs = 0;
	static struct {
		uint32_t first, second, both;
	} pairs[LAST + 1];
	/* Ordered by `both`, then by the search key. */
	for (uint32_t cp = 0; cp <= LAST; cp++) {
		ucs4_t d[UC_DECOMPOSITION_MAX_LENGTH];
		int tag;
		int n = cp >= 0xAC00 && cp <= 0xD7A3 ? 0 : uc_decomposition(cp, &tag, d);
		if (n == 2 && tag == UC_DECOMP_CANONICAL && uc_composition(d[0], d[1]) == cp) {
			size_t i = n_pairs++;
			for (; i > 0 && (pairs[i - 1].second > d[1] || (pairs[i - 1].second == d[1] && pairs[i - 1].first > d[0]));
			     i--)
				pairs[i] = pairs[i - 1];
			pairs[i].first = d[0];
			pairs[i].second = d[1];
			pairs[i].both = cp;
		}
	}
	printf("static const struct pd_char_pair pd_unicode_pairs[%zu] = {\n", n_pairs);
	for (size_t i = 0; i < n_pairs; i++)
		printf("%s{ 0x%X, 0x%X, 0x%X },%s", i % 3 == 0 ? "\t" : " ", pairs[i].second, pairs[i].first, pairs[i].both,
		       i % 3 == 2 || i + 1 == n_pairs ? "\n" : "");
	printf("};\n");
}

static void print_all(void)
{
	printf("/* SPDX-License-Identifier: MIT AND Unicode-3.0\n *\n"
	       " * Unicode " UNICODE
	       ".  Made by src/tables/gen_unicode.c (`make unicode`); not to be edited.  The notice of Unicode is in\n"
	       " * THIRD-PARTY.\n */\n\n");
	printf("const uint16_t pd_unicode_block[%d] = {", BLOCKS);
	for (size_t i = 0; i < BLOCKS; i++)
		printf("%s%u,", i % 32 == 0 ? "\n\t" : "", block_of[i]);
	printf("\n};\n\nconst uint8_t pd_unicode_kind[%zu][%d] = {", n_blocks, BLOCK);
	for (size_t i = 0; i < n_blocks; i++) {
		printf("\n{");
		print_bytes(blocks[i], BLOCK);
		printf("\n},");
	}
	printf("\n};\n\nconst struct pd_char_kind pd_unicode_kinds[%zu] = {\n", n_rows);
	for (size_t i = 0; i < n_rows; i++)
		printf("\t{ %d, %u, %u },\n", rows[i].kind.delta, rows[i].kind.class, rows[i].kind.flags);
	printf("};\n");
}

int main(void)
{
	if (_libunistring_version != LIBRARY) {
		fprintf(stderr,
			"gen_unicode: the table is made of Unicode " UNICODE ", which libunistring %d.%d has; this is %d.%d\n",
			LIBRARY >> 16, LIBRARY >> 8 & 0xFF, _libunistring_version >> 16, _libunistring_version >> 8 & 0xFF);
		return 1;
	}
	find_composing();
	for (uint32_t cp = 0; cp <= LAST; cp++)
		kinds[cp] = kind_of(cp >= 0xD800 && cp <= 0xDFFF ? 0 : cp);
	kinds[LAST + 1] = (struct pd_char_kind){ .class = PD_CHAR_OTHER };
	choose_rows();
	for (size_t at = 0; at < BLOCKS; at++)
		add_block(at);
	if (n_rows > 256) {
		fprintf(stderr, "gen_unicode: %zu kinds: more than a byte can count\n", n_rows);
		return 1;
	}
	find_steps();
	for (size_t at = 0; at + 1 < BLOCKS; at++)
		add_step_block(at);
	print_all();
	print_steps();
	return fflush(stdout) != 0 || ferror(stdout);
}
