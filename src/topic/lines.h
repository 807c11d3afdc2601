/* SPDX-License-Identifier: MIT
 *
 * * Runs -> lines.  A line consists of the runs between two box borders, which readers see as one paragraph, heading,
 * list item or cell.  Every box contains whole lines, so sums over a box are differences of sums over lines.
 *
 * Text is measured by its mass, bytes of UTF-8: a Chinese character counts as three letters, about its information
 * content.
 *
 * Prose is recognised by length, punctuation and links (the shallow text features of Kohlschütter et al., "Boilerplate
 * Detection using Shallow Text Features", WSDM 2010).  They are measured over a flow, not over a single line, so that a
 * poem, a list of dates or the <br> lines of an old page are not lost.
 *
 * The flow of a line is the nearest box around it that is not itself part of a text's flow, such as a paragraph, list
 * or table.
 */
#ifndef PD_TOPIC_LINES_H
#define PD_TOPIC_LINES_H

#include "topic/cues.h"
#include "topic/finder.h"
#include "topic/site.h"

/* Sums over all lines before a line. */
struct pd_line_sum {
	uint64_t mass, link_mass;
	uint64_t prose;	  /* text outside links of lines that are prose */
	uint64_t notices; /* number of notices among the lines */
	uint64_t labels;  /* bytes of repeated lines that begin with text: they have no mass */
};

/* Sums over the paragraphs (p) of a flow. */
struct pd_flow_sum {
	uint32_t mass, link_mass;
};

/* Properties of a line's text.  They do not depend on the lines that the site repeats. */
enum pd_line_known {
	PD_LINE_STOP = 1,   /* contains a stop outside links */
	PD_LINE_NOTICE = 2, /* it or its flow is a notice: read as sentences, or as other text */
	PD_LINE_AS_SENTENCES = 4,
	PD_LINE_AS_OTHER = 8,
	PD_LINE_PRICE = 16,
	PD_LINE_NO_PRICE = 32,
	PD_LINE_NO_HEAD = 64, /* announces nothing */
};

struct pd_topic_lines {
	const struct pd_weights *weights;
	const struct pd_cues *cues; /* borrowed */
	struct pd_line *v;
	uint8_t *known;		   /* enum pd_line_known of each line */
	size_t n_known, cap_known; /* 0: the lines of the page were not examined before */
	struct pd_line_sum *sums;  /* n + 1 */
	uint32_t *of_run;	   /* run -> line; n_runs + 1 */
	struct pd_flow_sum *flows; /* one for each box */
	size_t n, cap, cap_sums, cap_of, cap_flows;
};

/* Return the text of a line with the spaces between its runs. */
static inline struct pd_span pd_line_text(const struct pd_blocks *in, const struct pd_line *l)
{
	const struct pd_run *first = &in->runs[l->first_run], *last = &in->runs[l->end_run - 1];
	return pd_span(in->text.p + first->at, last->at + last->n - first->at);
}

static inline size_t pd_first_line(const struct pd_topic_lines *l, const struct pd_box *b)
{
	return l->of_run[b->first_run];
}

static inline size_t pd_end_line(const struct pd_topic_lines *l, const struct pd_box *b)
{
	return l->of_run[b->end_run];
}

/* Return the sums over a box. */
static inline struct pd_line_sum pd_sum_of_box(const struct pd_topic_lines *l, const struct pd_box *box)
{
	const struct pd_line_sum *a = &l->sums[pd_first_line(l, box)], *b = &l->sums[pd_end_line(l, box)];
	return (struct pd_line_sum){ b->mass - a->mass, b->link_mass - a->link_mass, b->prose - a->prose, b->notices - a->notices,
				     b->labels - a->labels };
}

/* Return the number of lines of a page. */
size_t pd_topic_count_lines(const struct pd_blocks *in);
/* Find the lines of a page, and whether they contain a stop unless that is known. */
void pd_topic_find_lines(struct pd_topic_lines *l, const struct pd_blocks *in);
/* Determine flows, notices and prose, and sum the lines.  Lines that the site repeats have no mass (site.h). */
void pd_topic_weigh_lines(struct pd_topic_lines *l, const struct pd_blocks *in, const struct pd_weights *w);
void pd_topic_release_lines(struct pd_topic_lines *l);

#endif
