/* SPDX-License-Identifier: MIT */
#include "term/synonyms.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/utf8.h"
#include "term/fold.h"
#include "term/longest.h"
#include "term/wordfile.h"

enum { WORD_MAX = 255 };	/* bytes */

/* What a word is: a base word, or replaced by one.  Words have numbers. */
struct synonym_entry {
	uint32_t base;		/* number of the word that stands for it; its own: a base word */
	size_t line;
};

struct pd_synonyms {
	struct pd_names words;
	struct synonym_entry *of;
	size_t cap;
	struct pd_longest replaced;
	size_t n_replaced;
	char checksum[9];
};

/* --- the file --- */

static int wrong(const struct pd_wordfile *f, struct pd_span word, const char *why, size_t line, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_DICT, "%s:%zu: '%.*s' %s on line %zu", f->path, f->number, (int)(word.n < 120 ? word.n : 120), word.p, why, line);
}

/* The number of a folded word; a new one is of this line. */
static uint32_t number_of(struct pd_synonyms *s, struct pd_span word, uint32_t base, size_t line, bool *known)
{
	size_t before = s->words.n;
	uint32_t number = pd_names_add(&s->words, word);
	*known = s->words.n == before;
	if (!*known) {
		s->of = pd_grow(s->of, number, &s->cap, sizeof *s->of);
		s->of[number] = (struct synonym_entry){ base == PD_NO_NAME ? number : base, line };
	}
	return number;
}

/* One word of a line: the base, which has no base yet, or one that it replaces. */
static int add_word(struct pd_synonyms *s, const struct pd_wordfile *f, struct pd_span word, uint32_t *base, struct pd_err *e)
{
	bool known;
	uint32_t number = number_of(s, word, *base, f->number, &known);
	const struct synonym_entry *at = &s->of[number];
	if (*base == PD_NO_NAME) {
		*base = number;
		return known && at->base != number ? wrong(f, word, "is a base word here, but is replaced itself", at->line, e) : PD_OK;
	}
	if (!known) {
		pd_longest_add(&s->replaced, word, number);
		s->n_replaced++;
		return PD_OK;
	}
	if (number == *base)
		return pd_wordfile_fail(f, e, "the base word stands among the words that it replaces");
	if (at->base == number)
		return wrong(f, word, "is replaced here, but is a base word", at->line, e);
	/* Twice on one line, or in another script: nothing is unclear. */
	return at->base == *base ? PD_OK : wrong(f, word, "is replaced by another word", at->line, e);
}

static int read_line(struct pd_synonyms *s, const struct pd_wordfile *f, struct pd_span line, struct pd_folder *folder, struct pd_buf *folded,
		     struct pd_err *e)
{
	struct pd_span word;
	uint32_t base = PD_NO_NAME;
	int n = 0, status = PD_OK;
	for (; !status && pd_wordfile_word(&line, &word); n++) {
		pd_fold_term(folder, word, folded);
		if (!folded->n || memchr(folded->p, ' ', folded->n))
			return pd_wordfile_fail(f, e, "the normal form of a word on the line is empty");
		if (folded->n > WORD_MAX)
			return pd_wordfile_fail(f, e, "a word has over 255 bytes");
		status = add_word(s, f, pd_buf_span(folded), &base, e);
	}
	if (!status && !n)
		return pd_wordfile_fail(f, e, "an empty line: each holds a base word and the words that it replaces");
	if (!status && n == 1)
		return pd_wordfile_fail(f, e, "a base word without words that it replaces");
	return status;
}

static int by_pair(const void *x, const void *y)
{
	return memcmp(x, y, 2 * sizeof(uint64_t));
}

static void sum_up(struct pd_synonyms *s)
{
	uint64_t (*pair)[2] = pd_alloc((s->words.n + 1) * sizeof *pair), sum[2];
	for (size_t i = 0; i < s->words.n; i++) {
		struct pd_span word = s->words.v[i], base = s->words.v[s->of[i].base];
		pair[i][0] = pd_hash64(word.p, word.n);
		pair[i][1] = pd_hash64(base.p, base.n);
	}
	qsort(pair, s->words.n, sizeof *pair, by_pair);
	pd_hash128(pair, s->words.n * sizeof *pair, 0, sum);
	snprintf(s->checksum, sizeof s->checksum, "%08x", (unsigned)(sum[0] >> 32));
	free(pair);
}

int pd_synonyms_load(const char *path, struct pd_synonyms **out, struct pd_err *e)
{
	struct pd_synonyms *s = pd_zalloc(sizeof *s);
	struct pd_folder *folder = pd_folder_new();
	struct pd_wordfile f;
	struct pd_buf folded = { 0 };
	struct pd_span line;
	*out = NULL;
	int status = pd_wordfile_open(&f, path, e);
	while (!status && (status = pd_wordfile_next(&f, &line, e)) == 1)
		status = read_line(s, &f, line, folder, &folded, e);
	if (!status && !s->words.n)
		status = pd_fail(e, PD_ERR_DICT, "%s: no words in it: give lines of a base word and the words that it replaces", path);
	if (!status)
		sum_up(s);
	pd_wordfile_release(&f);
	pd_buf_release(&folded);
	pd_folder_free(folder);
	if (status)
		pd_synonyms_free(s);
	else
		*out = s;
	return status;
}

void pd_synonyms_free(struct pd_synonyms *s)
{
	if (!s)
		return;
	pd_names_release(&s->words);
	pd_longest_release(&s->replaced);
	free(s->of);
	free(s);
}

/* --- texts --- */

void pd_synonyms_replace(const struct pd_synonyms *s, struct pd_span text, struct pd_buf *out)
{
	pd_buf_clear(out);
	for (size_t at = 0, n; at < text.n; at += n) {
		uint32_t number = pd_longest_find(&s->replaced, text, at, &n);
		if (number != PD_LONGEST_NONE) {
			pd_buf_add_span(out, s->words.v[s->of[number].base]);
			continue;
		}
		const char *p = text.p + at;
		pd_utf8_next(&p);
		n = (size_t)(p - text.p) - at;
		pd_buf_add(out, text.p + at, n);
	}
}

size_t pd_synonyms_words(const struct pd_synonyms *s)
{
	return s->n_replaced;
}

const char *pd_synonyms_checksum(const struct pd_synonyms *s)
{
	return s->checksum;
}
