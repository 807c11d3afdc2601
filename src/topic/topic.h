/* SPDX-License-Identifier: MIT
 *
 * Blocks + terms -> the page's main text and its features (patent CN101645082, module 230).
 * Each block with the rule that kept or
 * dropped it.  Two extractors: `paper` (the patent's rules to the letter: finder.c) and `main` (ours, the default:
 * extract.c).  Then, which pages are no text at all but stand in for another page (stubs.c).
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

/* What a run of text is part of: a block's class, and of `main`, which has none, a line's. */
enum pd_topic_class { PD_TOPIC_CLASS_NONE, PD_TOPIC_CLASS_NOISE, PD_TOPIC_CLASS_TITLE, PD_TOPIC_CLASS_TOPIC, PD_TOPIC_CLASS_ANCHOR,
		      PD_TOPIC_CLASSES };
extern const char *const pd_topic_class_names[PD_TOPIC_CLASSES];	/* none, noise, title, topic, topic-anchor */

enum pd_topic_flag {
	PD_TOPIC_FALLBACK = 1,	/* the rules found too little: all visible text, or the longest piece, was taken */
	PD_TOPIC_SPARED = 2,	/* what the site repeats is nearly all of the page's text: it was left in */
};

/* What kind of page it is, found by `main` from the page alone (extract.c): its rules differ by it. */
enum pd_page_kind {
	PD_KIND_NONE,		/* not asked for */
	PD_KIND_ARTICLE,	/* or anything else that was published as a page of its own */
	PD_KIND_DOCUMENTATION,	/* a page of a manual: sections, definitions, code, lists of contents */
	PD_KIND_FORUM,		/* a thread, a question with its answers */
	PD_KIND_LISTING,	/* teasers of other pages, and hardly any text besides */
	PD_KIND_COLLECTION,	/* goods of a shop, side by side */
	PD_KIND_PRODUCT,	/* one thing that is for sale */
	PD_KINDS
};
extern const char *const pd_page_kind_names[PD_KINDS];

struct pd_topic {
	struct pd_terms terms;		/* of all features, one after the other */
	struct pd_feature *features;
	size_t n_features, cap_features;
	struct pd_buf text;		/* the main text, as people read it */
	struct pd_buf anchor_text;	/* of topic-anchor blocks */
	struct pd_decision *decisions;	/* only with `explain` */
	size_t n_decisions, cap_decisions;
	uint8_t *classes;		/* enum pd_topic_class of each run; only with `classes` */
	size_t cap_classes;
	const char *step;		/* main: the step of the chain that gave the text (extract.c), a constant */
	enum pd_page_kind kind;
	double confidence;		/* 0 … 1 */
	unsigned flags;
};

struct pd_weights;		/* the numbers that decide in `main`: finder.h */

struct pd_topic_options {
	enum pd_topic_method method;
	bool explain;			/* fill `decisions` */
	bool classes;			/* fill `classes` */
	double min_similarity;		/* paper: over .3 -> topic */
	double max_anchors;		/* paper: over .7 -> topic-anchor */
	const struct pd_stopwords *stopwords;	/* paper: blocks are compared without them, also where terms keep them; or NULL */
	const struct pd_weights *weights;	/* main: NULL: those of weights.def */
	unsigned skip_features;		/* bit 1 << kind: its terms are not wanted, which saves segmenting them */
};

#define PD_TOPIC_DEFAULTS { .method = PD_TOPIC_MAIN, .min_similarity = .3, .max_anchors = .7 }

/* What a site repeats: keys of lines and paths (site.h) in ascending order, borrowed. */
struct pd_site {
	const uint64_t *lines, *paths;
	size_t n_lines, n_paths;
};

struct pd_topic_finder;	/* scratch for one thread */

struct pd_topic_finder *pd_topic_finder_new(const struct pd_topic_options *o, struct pd_segmenter *segmenter);
void pd_topic_finder_free(struct pd_topic_finder *f);
/* `site`: what the page's host is known to repeat (main); NULL: nothing is known. */
int pd_topic_find(struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_site *site, struct pd_topic *out);
/* Replaces what `out` held by what the extractor `main` found out of the page that was found last and that holds whatever is known of its
 * site: which lines name a price, are notices … (extract.c).  Bytes for this program alone; empty where there is nothing. */
void pd_topic_remember(const struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_buf *out);
/* The page that is found next is the one that these bytes are of: what they say is not looked for again.  They are borrowed until
 * then.  False: they are of another page. */
bool pd_topic_recall(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_span known);
/* Appends what learning keeps of the page that was found last (site.h).  False: it has no host, or it was not read by the
 * extractor `main`. */
bool pd_topic_site_page(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_span url, struct pd_buf *out);
void pd_topic_release(struct pd_topic *t);

const char *pd_feature_name(enum pd_feature_kind k);

/* Pages that stand in for another page: redirects, error pages sent with status 200, walls (sign in, prove that you are no
 * robot), shells of applications without a text.
 *
 * All of one kind and site look alike and none is a copy of another's text, so they are flagged, and not matched.  A page is
 * one of them only where hardly any text is left beside it: an article about the error 404 is an article.  What they say is a
 * table in many languages (stubs.def). */
enum pd_stub { PD_STUB_NONE, PD_STUB_REDIRECT, PD_STUB_ERROR, PD_STUB_WALL, PD_STUB_EMPTY, PD_STUBS };

/* Which of them a page is, whose topic was found. */
enum pd_stub pd_stub_find(struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_topic *topic);
/* As rows flag it: "redirect", "error-page", "access-wall", "no-text"; "" for PD_STUB_NONE. */
const char *pd_stub_name(enum pd_stub s);

#endif
