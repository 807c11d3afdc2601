/* SPDX-License-Identifier: MIT */
#include "term/userwords.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/utf8.h"
#include "term/fold.h"
#include "term/longest.h"
#include "term/unicode.h"
#include "term/wordfile.h"

enum { TAG = 4, WORD_MAX = 255 };	/* bytes */

struct pd_userwords {
	struct pd_names words;
	char (*tag)[TAG];		/* by number of the word */
	size_t cap;
	struct pd_longest longest;
	char checksum[9];
};

static bool is_chinese(struct pd_span word)
{
	const char *p = word.p, *end = p + word.n;
	while (p < end)
		if (pd_char_kind_of(pd_utf8_next(&p))->class != PD_CHAR_HAN)
			return false;
	return word.n > 0;
}

static int read_line(struct pd_userwords *u, const struct pd_wordfile *f, struct pd_span line, struct pd_folder *folder,
		     struct pd_buf *folded, struct pd_err *e)
{
	struct pd_span word, tag = pd_span_z("nz"), part;
	uint64_t frequency;
	if (!pd_wordfile_word(&line, &word))
		return PD_OK;
	pd_fold_term(folder, word, folded);
	if (!is_chinese(pd_buf_span(folded)))
		return pd_wordfile_fail(f, e, "a word with other characters than Chinese ones: the list is for Chinese words");
	if (folded->n > WORD_MAX)
		return pd_wordfile_fail(f, e, "the word has over 255 bytes");
	bool more = pd_wordfile_word(&line, &part);
	if (more && pd_span_u64(part, &frequency))
		more = pd_wordfile_word(&line, &part);
	if (more)
		tag = part;
	if (tag.n > TAG)
		return pd_wordfile_fail(f, e, "the part of speech has over four bytes");
	if (pd_wordfile_word(&line, &part))
		return pd_wordfile_fail(f, e, "the line has more than word, frequency and part of speech");
	size_t before = u->words.n;
	uint32_t number = pd_names_add(&u->words, pd_buf_span(folded));
	if (u->words.n > before) {
		u->tag = pd_grow(u->tag, before, &u->cap, sizeof *u->tag);
		pd_longest_add(&u->longest, pd_buf_span(folded), number);
	}
	/* Of a word that stands twice the last line counts. */
	memset(u->tag[number], 0, TAG);
	memcpy(u->tag[number], tag.p, tag.n);
	return PD_OK;
}

static int by_number(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static void sum_up(struct pd_userwords *u)
{
	uint64_t *item = pd_alloc((u->words.n + 1) * sizeof *item), sum[2];
	for (size_t i = 0; i < u->words.n; i++)
		item[i] = pd_hash64_seed(u->words.v[i].p, u->words.v[i].n, pd_hash64(u->tag[i], TAG));
	qsort(item, u->words.n, sizeof *item, by_number);
	pd_hash128(item, u->words.n * sizeof *item, 0, sum);
	snprintf(u->checksum, sizeof u->checksum, "%08x", (unsigned)(sum[0] >> 32));
	free(item);
}

int pd_userwords_load(const char *path, struct pd_userwords **out, struct pd_err *e)
{
	struct pd_userwords *u = pd_zalloc(sizeof *u);
	struct pd_folder *folder = pd_folder_new();
	struct pd_wordfile f;
	struct pd_buf folded = { 0 };
	struct pd_span line;
	*out = NULL;
	int status = pd_wordfile_open(&f, path, e);
	while (!status && (status = pd_wordfile_next(&f, &line, e)) == 1)
		status = read_line(u, &f, line, folder, &folded, e);
	if (!status && !u->words.n)
		status = pd_fail(e, PD_ERR_DICT, "%s: no words in it: give lines of a word and, if you like, its part of speech", path);
	if (!status)
		sum_up(u);
	pd_wordfile_release(&f);
	pd_buf_release(&folded);
	pd_folder_free(folder);
	if (status)
		pd_userwords_free(u);
	else
		*out = u;
	return status;
}

void pd_userwords_free(struct pd_userwords *u)
{
	if (!u)
		return;
	pd_names_release(&u->words);
	pd_longest_release(&u->longest);
	free(u->tag);
	free(u);
}

size_t pd_userwords_at(const struct pd_userwords *u, struct pd_span run, size_t at)
{
	size_t n;
	return pd_longest_find(&u->longest, run, at, &n) == PD_LONGEST_NONE ? 0 : n;
}

const char *pd_userwords_tag(const struct pd_userwords *u, struct pd_span word)
{
	uint32_t number = pd_names_find(&u->words, word);
	return number == PD_NO_NAME ? NULL : u->tag[number];
}

size_t pd_userwords_count(const struct pd_userwords *u)
{
	return u->words.n;
}

const char *pd_userwords_checksum(const struct pd_userwords *u)
{
	return u->checksum;
}
