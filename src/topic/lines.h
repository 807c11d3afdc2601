/* SPDX-License-Identifier: MIT
 *
 * Runs -> lines: the runs between two box borders, which people see as one paragraph, heading, list item or cell.
 * Every box holds whole lines, so sums over a box are differences of sums over lines.
 *
 * Text is measured by its bytes of UTF-8, its mass: a Chinese character weighs three letters, about what it says.
 */
#ifndef PD_TOPIC_LINES_H
#define PD_TOPIC_LINES_H

#include "page/blocks.h"
#include "topic/phrases.h"

/* The numbers that decide in the extractor `main` (weights.def has their values and meanings).  The program uses
 * pd_weights_default alone; bench/extract.c, for tools/fit-extract, tries others. */
struct pd_weights {
#define X(name, value, meaning) double name;
#include "topic/weights.def"
#undef X
};

extern const struct pd_weights pd_weights_default;

struct pd_line {
	uint32_t first_run, end_run;
	uint32_t box;			/* innermost */
	uint32_t home;			/* the region whose flow of paragraphs, lists and tables it is part of */
	uint32_t mass, link_mass;	/* of its text; of them inside links */
	uint32_t chars;			/* code points */
	bool stop;			/* holds a sign that ends or parts sentences, outside links */
	bool site;			/* what the site repeats (site.h): it weighs nothing */
	bool notice;			/* a licence, a copyright, a request to accept cookies: no prose (phrases.h) */
	bool prose;			/* reads like sentences, itself or with what flows around it */
};

/* Sums over the lines before one. */
struct pd_line_sum {
	uint64_t mass, link_mass;
	uint64_t prose;			/* text outside links of lines that are prose */
	uint64_t notices;		/* how many of the lines are notices */
};

/* The paragraphs (p) that a box is the home of. */
struct pd_home {
	uint32_t mass, link_mass;
};

struct pd_lines {
	const struct pd_weights *weights;
	const struct pd_phrases *phrases;	/* borrowed */
	struct pd_line *v;
	struct pd_line_sum *sums;	/* n + 1 */
	uint32_t *of_run;		/* run -> line; n_runs + 1 */
	struct pd_home *homes;		/* one a box */
	size_t n, cap, cap_sums, cap_of, cap_homes;
};

/* In two steps, so that lines can be made to weigh nothing in between. */
void pd_lines_cut(struct pd_lines *l, const struct pd_blocks *in);
void pd_lines_judge(struct pd_lines *l, const struct pd_blocks *in, const struct pd_weights *w);
void pd_lines_release(struct pd_lines *l);

/* With what stands between its runs. */
static inline struct pd_span pd_line_text(const struct pd_blocks *in, const struct pd_line *l)
{
	const struct pd_run *first = &in->runs[l->first_run], *last = &in->runs[l->end_run - 1];
	return pd_span(in->text.p + first->at, last->at + last->n - first->at);
}

static inline size_t pd_lines_first(const struct pd_lines *l, const struct pd_box *b)
{
	return l->of_run[b->first_run];
}

static inline size_t pd_lines_end(const struct pd_lines *l, const struct pd_box *b)
{
	return l->of_run[b->end_run];
}

/* What a box holds. */
static inline struct pd_line_sum pd_lines_of_box(const struct pd_lines *l, const struct pd_box *box)
{
	const struct pd_line_sum *a = &l->sums[pd_lines_first(l, box)], *b = &l->sums[pd_lines_end(l, box)];
	return (struct pd_line_sum){ b->mass - a->mass, b->link_mass - a->link_mass, b->prose - a->prose,
				      b->notices - a->notices };
}

#endif
