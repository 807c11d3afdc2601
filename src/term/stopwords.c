/* SPDX-License-Identifier: MIT
 *
 * In: a list of words.  Out: a set that knows them by their hash.  Every term of every page is asked for, and a search that
 * ends at the first slot costs the processor no wrong guess, so an eighth of the slots are taken at most.
 */
#include "term/stopwords.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "term/fold.h"

struct pd_stopwords {
	struct pd_map words;	/* a set of hashes */
	char checksum[9];
};

/* data.S */
extern const char pd_data_stopwords[], pd_data_stopwords_end[];

struct stopword_list {
	struct pd_buf text;	/* the folded words, end to end */
	struct pd_span *v;
	size_t n, cap;
};

bool pd_stopwords_has(const struct pd_stopwords *s, uint64_t hash)
{
	return pd_map_has(&s->words, hash);
}

/* Words are kept as offsets first, because the text moves as it grows. */
static void read_list(struct stopword_list *l, struct pd_span text)
{
	struct pd_folder *f = pd_folder_new();
	struct pd_buf word = { 0 };
	struct pd_span line;
	while (pd_span_split(&text, '\n', &line)) {
		const char *comment = line.n ? memchr(line.p, '#', line.n) : NULL;
		if (comment)
			line.n = (size_t)(comment - line.p);
		pd_fold_term(f, line, &word);
		if (word.n == 0)
			continue;
		l->v = pd_grow(l->v, l->n, &l->cap, sizeof *l->v);
		l->v[l->n++] = pd_span(NULL, word.n);
		pd_buf_add_span(&l->text, pd_buf_span(&word));
	}
	const char *p = l->text.p;
	for (size_t i = 0; i < l->n; p += l->v[i++].n)
		l->v[i].p = p;
	pd_buf_release(&word);
	pd_folder_free(f);
}

static int by_text(const void *a, const void *b)
{
	return pd_span_cmp(*(const struct pd_span *)a, *(const struct pd_span *)b);
}

static struct pd_stopwords *build(struct stopword_list *l)
{
	struct pd_stopwords *s = pd_zalloc(sizeof *s);
	struct pd_hasher *hasher = pd_hasher_new();
	uint64_t sum[2];
	pd_map_clear(&s->words, 4 * l->n);
	if (l->n)
		qsort(l->v, l->n, sizeof *l->v, by_text);
	for (size_t i = 0; i < l->n; i++) {
		if (i > 0 && pd_span_eq(l->v[i], l->v[i - 1]))
			continue;
		pd_map_add(&s->words, pd_hash64(l->v[i].p, l->v[i].n));
		pd_hasher_add(hasher, l->v[i].p, l->v[i].n);
		pd_hasher_add(hasher, "\n", 1);
	}
	pd_hasher_end(hasher, sum);
	pd_hasher_free(hasher);
	snprintf(s->checksum, sizeof s->checksum, "%08x", (unsigned)(sum[0] >> 32));
	return s;
}

static struct pd_stopwords *from_text(struct pd_span text)
{
	struct stopword_list l = { 0 };
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
		text = pd_span(text.p + 3, text.n - 3);
	read_list(&l, text);
	struct pd_stopwords *s = build(&l);
	pd_buf_release(&l.text);
	free(l.v);
	return s;
}

int pd_stopwords_builtin(struct pd_stopwords **out, struct pd_err *e)
{
	*out = from_text(pd_span(pd_data_stopwords, (size_t)(pd_data_stopwords_end - pd_data_stopwords)));
	return 0;
}

int pd_stopwords_load(const char *path, struct pd_stopwords **out, struct pd_err *e)
{
	struct pd_buf text = { 0 };
	*out = NULL;
	int status = pd_read_file(path, &text, e);
	if (status == 0)
		*out = from_text(pd_buf_span(&text));
	pd_buf_release(&text);
	return status;
}

void pd_stopwords_free(struct pd_stopwords *s)
{
	if (!s)
		return;
	pd_map_release(&s->words);
	free(s);
}

size_t pd_stopwords_count(const struct pd_stopwords *s)
{
	return s->words.n;
}

const char *pd_stopwords_checksum(const struct pd_stopwords *s)
{
	return s->checksum;
}
