/* SPDX-License-Identifier: MIT
 *
 * Word frequencies.  Each word is stored once, so memory grows with the vocabulary.
 */
#include "run/walk.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"

struct word_count {
	uint32_t pages;
	uint32_t last; /* the last page that counted it, from 1 */
};

struct pd_idf_counter {
	struct pd_names words;
	struct word_count *of; /* by number of the word */
	size_t cap;
	uint32_t pages;
};

/* Count a page: its terms separated by spaces, with repeats.  A page without terms is ignored. */
static void idf_counter_page(struct pd_idf_counter *c, struct pd_span terms)
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

static int name_order(const void *x, const void *y, void *names)
{
	const struct pd_names *n = names;
	return pd_span_cmp(n->v[*(const uint32_t *)x], n->v[*(const uint32_t *)y]);
}

/* Print lines "word idf" in bytewise order, idf = ln((pages + 1) / pages with the word), which is never 0; return their
 * number. */
static size_t idf_counter_print(const struct pd_idf_counter *c, struct pd_buf *out)
{
	pd_local_mem uint32_t *order = pd_alloc((c->words.n + 1) * sizeof *order);
	for (size_t i = 0; i < c->words.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, c->words.n, sizeof *order, name_order, (void *)&c->words);
	for (size_t i = 0; i < c->words.n; i++) {
		pd_buf_add_span(out, c->words.v[order[i]]);
		pd_buf_printf(out, " %.6f\n", log(((double)c->pages + 1) / c->of[order[i]].pages));
	}
	return c->words.n;
}

/* --- the walk --- */

/* The words of the main text, separated by spaces. */
static void page_words(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out)
{
	if (!p->stub)
		pd_buf_add_span(out, pd_buf_span(&p->topic.terms.text));
}

static void count_words(void *ctx, struct pd_span words)
{
	idf_counter_page(ctx, words);
}

static void write_idf(void *ctx, FILE *out)
{
	pd_local_buf lines = { 0 };
	idf_counter_print(ctx, &lines);
	fwrite(lines.p, 1, lines.n, out);
}

int pd_walk_idf(const struct pd_walk_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_err *e)
{
	struct pd_idf_counter *counter = pd_zalloc(sizeof(struct pd_idf_counter));
	struct pd_walker walker = { .row = page_words, .take = count_words, .end = write_idf, .ctx = counter };
	int status = pd_walk(&walker, o, inputs, n_inputs, log, e);
	if (counter) {
		pd_names_release(&counter->words);
		free(counter->of);
		free(counter);
	}
	return status;
}
