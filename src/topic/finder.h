/* SPDX-License-Identifier: MIT
 *
 * What the frame (finder.c) and the two extractors (extract.c, paper.c) share: the finder, and how an extractor hands over
 * what it found.
 */
#ifndef PD_TOPIC_FINDER_H
#define PD_TOPIC_FINDER_H

#include "topic/site.h"
#include "topic/topic.h"

struct pd_extractor;		/* scratch of `main`, extract.c */
struct pd_paper;		/* of `paper`, paper.c */

struct pd_topic_finder {
	struct pd_topic_options options;
	struct pd_segmenter *segmenter;
	struct pd_buf scratch;
	struct pd_site site;		/* of the page's host */
	struct pd_extractor *main;
	struct pd_paper *paper;
};

struct pd_extractor *pd_extractor_new(const struct pd_weights *w);
void pd_extractor_free(struct pd_extractor *x);
struct pd_paper *pd_paper_new(void);
void pd_paper_free(struct pd_paper *p);

/* The extractors: everything but title and metadata. */
void pd_topic_main(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out);
void pd_topic_paper(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out);

static inline void pd_topic_decide(struct pd_topic *out, const struct pd_decision *d)
{
	out->decisions = pd_grow(out->decisions, out->n_decisions, &out->cap_decisions, sizeof(*d));
	out->decisions[out->n_decisions++] = *d;
}

/* The terms that were added to out->terms since it had `first` become a feature; none make none. */
static inline void pd_topic_feature(struct pd_topic *out, enum pd_feature_kind kind, size_t first)
{
	if (out->terms.n == first)
		return;
	out->features = pd_grow(out->features, out->n_features, &out->cap_features, sizeof(*out->features));
	out->features[out->n_features++] = (struct pd_feature){ kind, first, out->terms.n };
}

/* Adds the terms of a piece of a feature's text, where they are wanted. */
static inline void pd_topic_terms(struct pd_topic_finder *f, enum pd_feature_kind kind, struct pd_span text, struct pd_topic *out)
{
	if (text.n && !(f->options.skip_features & 1u << kind))
		pd_segment(f->segmenter, text, &out->terms);
}

#endif
