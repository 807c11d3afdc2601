/* SPDX-License-Identifier: MIT
 *
 * Extract the main text of the same pages repeatedly with different weights, for tools/fit-extract.
 * All pages are read and parsed once.  Each line of standard input has the form `NAME=VALUE …` (weights.def; other names
 * keep their defaults).  For each line the program prints the pages with a different text from the previous line, as
 * `ID<TAB>TEXT` (escaped as in docs/format-rows.md), and then a line with a dot.
 *
 * usage: extract INPUT…
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "row/tsv.h"
#include "pipeline.h"
#include "topic/finder.h"

struct leaf {
	struct pd_buf id;
	struct pd_blocks blocks;
	uint64_t last; /* hash of the page's text */
};

struct leaves {
	struct leaf *v;
	size_t n, cap;
};

static void on_damage(void *ctx, const struct pd_read_damage *d)
{
	fprintf(stderr, "extract: %s: %s\n", d->file, d->reason);
}

/* Move the blocks of the pipeline to the leaf; the pipeline makes new ones for the next page. */
static void keep(struct leaves *leaves, struct pd_pipeline *p)
{
	leaves->v = pd_grow(leaves->v, leaves->n, &leaves->cap, sizeof *leaves->v);
	struct leaf *leaf = &leaves->v[leaves->n++];
	*leaf = (struct leaf){ .blocks = p->blocks };
	pd_buf_set(&leaf->id, p->page.url.n ? p->page.url : p->page.id);
	p->blocks = (struct pd_blocks){ 0 };
}

static int load(struct leaves *leaves, struct pd_pipeline *p, char **paths, int n, struct pd_err *e)
{
	struct pd_reader_options o = { .inputs = paths, .n_inputs = n, .max_block = 5 << 20, .damage = on_damage };
	struct pd_reader *reader;
	struct pd_record record = { 0 };
	int status = pd_reader_open(&reader, &o, e);
	if (status)
		return status;
	while ((status = pd_reader_next(reader, &record, e)) > 0)
		if (!pd_pipeline_run(p, &record, NULL))
			keep(leaves, p);
	pd_reader_free(reader);
	pd_record_release(&record);
	return status;
}

static bool set_weight(struct pd_weights *w, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : 0;
#define X(name, value, meaning) \
	if (n == sizeof #name - 1 && memcmp(word, #name, n) == 0) { \
		w->name = strtod(equals + 1, NULL); \
		return true; \
	}
#include "topic/weights.def"
#undef X
	return false;
}

static bool read_weights(struct pd_weights *w, char *line)
{
	*w = (struct pd_weights){
#define X(name, value, meaning) .name = value,
#include "topic/weights.def"
#undef X
	};
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
		if (!set_weight(w, word)) {
			fprintf(stderr, "extract: no such weight: %s\n", word);
			return false;
		}
	return true;
}

static void extract_all(struct leaves *leaves, struct pd_topic_finder *finder, struct pd_topic *topic)
{
	struct pd_buf row = { 0 };
	for (size_t i = 0; i < leaves->n; i++) {
		struct leaf *leaf = &leaves->v[i];
		pd_topic_find(finder, &leaf->blocks, NULL, topic);
		uint64_t hash = pd_hash64(topic->text.p, topic->text.n) | 1;
		if (hash == leaf->last)
			continue;
		leaf->last = hash;
		pd_buf_clear(&row);
		pd_tsv_add(&row, pd_buf_span(&leaf->id));
		pd_buf_add_c(&row, '\t');
		pd_tsv_add(&row, pd_buf_span(&topic->text));
		pd_buf_add_c(&row, '\n');
		fwrite(row.p, 1, row.n, stdout);
	}
	pd_buf_release(&row);
	puts(".");
	fflush(stdout);
}

static int answer(struct leaves *leaves, struct pd_pipeline *p)
{
	struct pd_weights weights;
	struct pd_topic_options o = PD_TOPIC_DEFAULTS;
	o.weights = &weights;
	o.skip_features = ~0u;
	struct pd_topic_finder *finder = pd_topic_finder_new(&o, p->segmenter);
	struct pd_topic topic = { 0 };
	char *line = NULL;
	size_t cap = 0;
	int status = 0;
	while (!status && getline(&line, &cap, stdin) > 0) {
		if (read_weights(&weights, line))
			extract_all(leaves, finder, &topic);
		else
			status = 2;
	}
	free(line);
	pd_topic_release(&topic);
	pd_topic_finder_free(finder);
	return status;
}

int main(int argc, char **argv)
{
	struct leaves leaves = { 0 };
	struct pd_options o;
	struct pd_tables tables;
	struct pd_pipeline p;
	struct pd_err e = { 0 };
	pd_options_init(&o, PD_PRESET_DEFAULT);
	if (argc < 2 || pd_tables_open(&tables, &o, &e) || pd_pipeline_init(&p, &o, &tables, &e) ||
	    load(&leaves, &p, argv + 1, argc - 1, &e) < 0) {
		fprintf(stderr, "extract: %s\n", argc < 2 ? "name the pages" : e.text);
		return 2;
	}
	int status = answer(&leaves, &p);
	for (size_t i = 0; i < leaves.n; i++) {
		pd_buf_release(&leaves.v[i].id);
		pd_blocks_release(&leaves.v[i].blocks);
	}
	free(leaves.v);
	pd_pipeline_release(&p);
	pd_tables_release(&tables);
	return status;
}
