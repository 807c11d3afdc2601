/* SPDX-License-Identifier: MIT
 *
 * M5 (module 230): blocks + terms -> the page's main text and its features, each block with the rule that kept or
 * dropped it.  Two extractors: `paper` (the patent's rules to the letter: paper.c) and `main` (ours, the default:
 * extract.c).
 */
#ifndef PD_TOPIC_TOPIC_H
#define PD_TOPIC_TOPIC_H

#include "page/blocks.h"
#include "term/terms.h"

enum pd_topic_method { PD_TOPIC_MAIN, PD_TOPIC_PAPER };

enum pd_feature_kind {
	PD_FEATURE_TITLE,	/* title blocks */
	PD_FEATURE_META,	/* keywords and description */
	PD_FEATURE_TEXT,	/* topic text */
	PD_FEATURE_ANCHOR,	/* anchor text of topic-anchor blocks */
	PD_FEATURE_COUNT
};

/* One feature: a term sequence; shingles never cross features. */
struct pd_feature {
	enum pd_feature_kind kind;
	size_t first, end;	/* terms of topic->terms */
};

/* What became of a piece of the page: a block (paper), or a line of a box (main). */
struct pd_decision {
	uint32_t index;		/* block or box */
	bool kept;
	const char *label;	/* "topic", "topic-anchor", "title", "noise" … */
	const char *rule;	/* the rule's name, a constant */
	double value;		/* what the rule measured: similarity, share of links */
	uint32_t chars;
	struct pd_span text;	/* its first run: lies in the blocks */
};

enum pd_topic_flag {
	PD_TOPIC_FALLBACK = 1,	/* the rules found too little: all visible text, or the longest piece, was taken */
	PD_TOPIC_SPARED = 2,	/* what the site repeats is nearly all of the page's text: it was left in */
};

struct pd_topic {
	struct pd_terms terms;		/* of all features, one after the other */
	struct pd_feature *features;
	size_t n_features, cap_features;
	struct pd_buf text;		/* the main text, as people read it (M29) */
	struct pd_buf anchor_text;	/* of topic-anchor blocks (M29) */
	struct pd_decision *decisions;	/* only with `explain` */
	size_t n_decisions, cap_decisions;
	const char *step;		/* main: the step of the chain that gave the text (extract.c), a constant */
	double confidence;		/* 0 … 1 */
	unsigned flags;
};

struct pd_weights;		/* the numbers that decide in `main`: lines.h */

struct pd_topic_options {
	enum pd_topic_method method;
	bool explain;			/* fill `decisions` */
	double min_similarity;		/* paper: over .3 -> topic */
	double max_anchors;		/* paper: over .7 -> topic-anchor */
	const struct pd_stopwords *stopwords;	/* paper: blocks are compared without them, also where terms keep them; or NULL */
	const struct pd_weights *weights;	/* main: NULL: those of weights.def */
	unsigned skip_features;		/* bit 1 << kind: its terms are not wanted, which saves segmenting them */
};

#define PD_TOPIC_DEFAULTS { .method = PD_TOPIC_MAIN, .min_similarity = .3, .max_anchors = .7 }

struct pd_site;			/* what a site repeats: site.h */
struct pd_topic_finder;	/* scratch for one thread */

struct pd_topic_finder *pd_topic_finder_new(const struct pd_topic_options *o, struct pd_segmenter *segmenter);
void pd_topic_finder_free(struct pd_topic_finder *f);
/* The pages that follow are of this host (main; NULL: of none that is known). */
void pd_topic_finder_site(struct pd_topic_finder *f, const struct pd_site *site);
/* Appends what learning keeps of the page that was found last (site.h).  False: it has no host, or it was not read by the
 * extractor `main`. */
bool pd_topic_site_page(struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_topic *topic, struct pd_span url,
			struct pd_buf *out);
int pd_topic_find(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out);
void pd_topic_release(struct pd_topic *t);

const char *pd_feature_name(enum pd_feature_kind k);

#endif
