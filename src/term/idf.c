/* SPDX-License-Identifier: MIT */
#include "term/idf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "term/dict.h"
#include "term/fold.h"
#include "term/wordfile.h"

struct pd_idf {
	const struct pd_dict *dict;	/* NULL: from a file */
	struct pd_map words;		/* hash of a term -> bits of its float */
	double median;
	char checksum[9];
};

struct idf_entry {
	uint64_t word;
	float idf;
};

struct idf_list {
	struct idf_entry *v;
	size_t n, cap;
};

static uint32_t bits_of(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static float float_of(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* --- reading a file --- */

static bool is_number(const char *z, double *out)
{
	char *end;
	if ((*z < '0' || *z > '9') && *z != '.' && *z != '-')
		return false;	/* nan, inf */
	*out = strtod(z, &end);
	return !*end && isfinite(*out);
}

/* NULL, or what is wrong with the line. */
static const char *read_line(struct idf_list *l, struct pd_folder *f, struct pd_span line, struct pd_buf *scratch)
{
	struct pd_span word, number, more;
	char z[40] = { 0 };
	double idf;
	if (!pd_wordfile_word(&line, &word) || !pd_wordfile_word(&line, &number) || pd_wordfile_word(&line, &more) || number.n >= sizeof z)
		return "not 'word idf'";
	memcpy(z, number.p, number.n);
	if (!is_number(z, &idf))
		return "the idf is not a number";
	if (!(idf > 0 && idf < PD_IDF_MAX))
		return "an idf must be over 0 and under 1000";
	pd_fold_term(f, word, scratch);
	if (!scratch->n)
		return "the line has no word";
	l->v = pd_grow(l->v, l->n, &l->cap, sizeof *l->v);
	l->v[l->n++] = (struct idf_entry){ pd_hash64(scratch->p, scratch->n), (float)idf };
	return NULL;
}

static int by_word(const void *x, const void *y)
{
	const struct idf_entry *a = x, *b = y;
	if (a->word != b->word)
		return a->word < b->word ? -1 : 1;
	return (a->idf > b->idf) - (a->idf < b->idf);
}

static int by_idf(const void *x, const void *y)
{
	const struct idf_entry *a = x, *b = y;
	return (a->idf > b->idf) - (a->idf < b->idf);
}

static void take_list(struct pd_idf *idf, struct idf_list *l)
{
	size_t n = 0;
	uint64_t sum[2];
	qsort(l->v, l->n, sizeof *l->v, by_word);
	for (size_t i = 0; i < l->n; i++)
		if (!n || l->v[n - 1].word != l->v[i].word)
			l->v[n++] = l->v[i];
	struct pd_hasher *hasher = pd_hasher_new();
	pd_map_clear(&idf->words, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t item[2] = { l->v[i].word, bits_of(l->v[i].idf) };
		pd_hasher_add(hasher, item, sizeof item);
		*pd_map_put(&idf->words, l->v[i].word) = bits_of(l->v[i].idf);
	}
	pd_hasher_end(hasher, sum);
	pd_hasher_free(hasher);
	snprintf(idf->checksum, sizeof idf->checksum, "%08x", (unsigned)(sum[0] >> 32));
	qsort(l->v, n, sizeof *l->v, by_idf);
	idf->median = l->v[(n - 1) / 2].idf;
}

int pd_idf_load(const char *path, struct pd_idf **out, struct pd_err *e)
{
	struct pd_wordfile file;
	struct pd_buf scratch = { 0 };
	struct idf_list l = { 0 };
	struct pd_folder *f = pd_folder_new();
	struct pd_span line;
	*out = NULL;
	int status = pd_wordfile_open(&file, path, e);
	while (!status && (status = pd_wordfile_next(&file, &line, e)) == 1) {
		const char *wrong = line.n ? read_line(&l, f, line, &scratch) : NULL;
		status = wrong ? pd_wordfile_fail(&file, e, wrong) : PD_OK;
	}
	if (!status && !l.n)
		status = pd_fail(e, PD_ERR_DICT, "%s: no words in it: give lines of 'word idf', as 'pagededup dict --idf-from' writes them", path);
	if (!status) {
		*out = pd_zalloc(sizeof **out);
		take_list(*out, &l);
	}
	free(l.v);
	pd_folder_free(f);
	pd_buf_release(&scratch);
	pd_wordfile_release(&file);
	return status;
}

struct pd_idf *pd_idf_of_dict(const struct pd_dict *d)
{
	struct pd_idf *idf = pd_zalloc(sizeof *idf);
	idf->dict = d;
	idf->median = pd_dict_median_idf(d);
	snprintf(idf->checksum, sizeof idf->checksum, "dict");
	return idf;
}

void pd_idf_free(struct pd_idf *idf)
{
	if (!idf)
		return;
	pd_map_release(&idf->words);
	free(idf);
}

double pd_idf_get(const struct pd_idf *idf, struct pd_span term, uint64_t hash)
{
	struct pd_dict_word word;
	if (idf->dict)
		return pd_dict_find(idf->dict, term, &word) && word.idf > 0 ? word.idf : idf->median;
	const uint32_t *bits = pd_map_find(&idf->words, hash);
	return bits ? float_of(*bits) : idf->median;
}

double pd_idf_median(const struct pd_idf *idf)
{
	return idf->median;
}

size_t pd_idf_words(const struct pd_idf *idf)
{
	return idf->dict ? pd_dict_words(idf->dict) : idf->words.n;
}

const char *pd_idf_checksum(const struct pd_idf *idf)
{
	return idf->checksum;
}

/* --- counting --- */

struct word_count {
	uint32_t pages;
	uint32_t last;		/* the page that counted it last, from 1 */
};

struct pd_idf_counter {
	struct pd_names words;
	struct word_count *of;	/* by number of the word */
	size_t cap;
	uint32_t pages;
};

struct pd_idf_counter *pd_idf_counter_new(void)
{
	return pd_zalloc(sizeof(struct pd_idf_counter));
}

void pd_idf_counter_free(struct pd_idf_counter *c)
{
	if (!c)
		return;
	pd_names_release(&c->words);
	free(c->of);
	free(c);
}

void pd_idf_counter_page(struct pd_idf_counter *c, struct pd_span terms)
{
	struct pd_span term;
	if (!terms.n || c->pages == UINT32_MAX)
		return;
	c->pages++;
	while (pd_span_split(&terms, ' ', &term)) {
		size_t before = c->words.n;
		uint32_t number = pd_names_add(&c->words, term);
		if (c->words.n > before) {
			c->of = pd_grow(c->of, before, &c->cap, sizeof *c->of);
			c->of[number] = (struct word_count){ 0 };
		}
		c->of[number].pages += c->of[number].last != c->pages;
		c->of[number].last = c->pages;
	}
}

uint64_t pd_idf_counter_pages(const struct pd_idf_counter *c)
{
	return c->pages;
}

static int by_name(const void *x, const void *y, void *names)
{
	const struct pd_names *n = names;
	return pd_span_cmp(n->v[*(const uint32_t *)x], n->v[*(const uint32_t *)y]);
}

size_t pd_idf_counter_print(const struct pd_idf_counter *c, struct pd_buf *out)
{
	uint32_t *order = pd_alloc((c->words.n + 1) * sizeof *order);
	for (size_t i = 0; i < c->words.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, c->words.n, sizeof *order, by_name, (void *)&c->words);
	for (size_t i = 0; i < c->words.n; i++) {
		pd_buf_add_span(out, c->words.v[order[i]]);
		pd_buf_printf(out, " %.6f\n", log(((double)c->pages + 1) / c->of[order[i]].pages));
	}
	free(order);
	return c->words.n;
}
