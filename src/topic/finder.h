/* SPDX-License-Identifier: MIT
 *
 * What the frame (finder.c) and the two extractors share: the finder's scratch, and the steps of the main extractor in the
 * order in which extract.c calls them.  Every rule has a name (a constant) that a decision carries.
 */
#ifndef PD_TOPIC_FINDER_H
#define PD_TOPIC_FINDER_H

#include "topic/heads.h"
#include "topic/hints.h"
#include "topic/lines.h"
#include "topic/site.h"
#include "topic/topic.h"

/* What the main extractor knows of a box. */
struct pd_box_note {
	enum pd_hint hint;
	const char *name;	/* of the hint; NULL: not asked for yet */
	const char *rule;	/* why its lines are dropped; NULL: they are not */
	uint64_t prose;		/* of the flow whose home it is, kept so far */
	bool card;		/* part of a list of other pages that was dropped */
	bool home;		/* kept prose flows in it */
	bool forum;		/* in a thread: comments are its text */
};

/* What kind of page it is, found from the page alone (kind.c). */
enum pd_kind {
	PD_KIND_ARTICLE,	/* or anything else that was published as a page of its own */
	PD_KIND_REFERENCE,	/* a manual's: sections, definitions, code, lists of contents */
};

/* The terms of a block (paper). */
struct pd_block_terms {
	size_t first, end;
	double similarity, anchors;
	bool topic, anchor;
};

/* A term and how often it occurs (paper). */
struct pd_term_count {
	uint64_t hash;
	size_t n;
};

struct pd_topic_finder {
	struct pd_topic_options options;
	const struct pd_weights *weights;
	struct pd_segmenter *segmenter;
	struct pd_buf scratch;
	/* main */
	struct pd_hinter *hinter;
	struct pd_heads *heads;
	struct pd_notices *notices;
	struct pd_lines lines;
	struct pd_site site;		/* of the page's host */
	struct pd_site_keys keys;
	struct pd_box_note *notes;
	const char **why;		/* line -> the rule that drops it, NULL: kept */
	uint64_t *live;			/* sums of what no rule has dropped yet, over the lines before one; lines + 1 */
	enum pd_kind kind;
	size_t cap_notes, cap_why, cap_live;
	/* paper */
	struct pd_terms terms;
	struct pd_block_terms *blocks;
	struct pd_term_count *longest, *other;
	size_t cap_blocks, cap_longest, cap_other;
};

/* How much the main extractor believes: each level drops less than the one before. */
enum pd_level {
	PD_LEVEL_ALL,
	PD_LEVEL_ADVERTS,	/* what is named an advert may be the main text: a name of a whole layout */
	PD_LEVEL_COMMENTS,	/* what readers wrote may be the main text: a forum */
	PD_LEVEL_TAGS,		/* names mislead, tags count */
	PD_LEVEL_NONE,		/* no hint counts */
	PD_LEVELS
};

/* A new page. */
void pd_chrome_begin(struct pd_topic_finder *f, const struct pd_blocks *in);
/* Drops boxes by what they say of themselves, and lines with them. */
void pd_chrome_drop(struct pd_topic_finder *f, const struct pd_blocks *in, enum pd_level level);
/* Finds the kind of a page whose chrome was dropped. */
enum pd_kind pd_kind_find(const struct pd_topic_finder *f, const struct pd_blocks *in);
/* Marks lists of other pages: many siblings that are each a linked headline with little else. */
void pd_cards_drop(struct pd_topic_finder *f, const struct pd_blocks *in);
/* The box that holds the main text. */
uint32_t pd_region_find(struct pd_topic_finder *f, const struct pd_blocks *in);
/* The box that holds most of what counts in `live`. */
uint32_t pd_region_of_most(const struct pd_topic_finder *f, const struct pd_blocks *in);
/* Drops what a line such as "Related articles" announces. */
void pd_sections_drop(struct pd_topic_finder *f, const struct pd_blocks *in);

/* What counts: prose, or all text. */
enum pd_live { PD_LIVE_PROSE, PD_LIVE_TEXT };
void pd_live_sum(struct pd_topic_finder *f, enum pd_live what);
static inline uint64_t pd_live_of_box(const struct pd_topic_finder *f, const struct pd_box *b)
{
	return f->live[pd_lines_end(&f->lines, b)] - f->live[pd_lines_first(&f->lines, b)];
}
static inline uint64_t pd_live_of_page(const struct pd_topic_finder *f)
{
	return f->live[f->lines.n];
}

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
