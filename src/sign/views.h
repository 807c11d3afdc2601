/* SPDX-License-Identifier: MIT
 *
 * What methods of signing see of a page: what the pipeline made of it, and, made when it is first asked for and kept until the
 * next page, its visible text and its words.  All of it belongs to the views and dies with the page.
 *
 * Words are those of the main text, stop words too, with what stands between them: where marks of punctuation are, and which
 * sentence a word belongs to.  A *mark* is one of . , ; : ! ? and their Chinese forms 。 ， 、 ； ： ！ ？ …, a dot, comma or colon
 * only where a letter or digit does not follow (3.14, 10:30, example.org have none); several in a row are one.  A sentence
 * ends at . ! ? 。 ！ ？ … and at the end of a line.
 */
#ifndef PD_SIGN_VIEWS_H
#define PD_SIGN_VIEWS_H

#include "base/map.h"
#include "link/links.h"
#include "page/blocks.h"
#include "term/dict.h"
#include "term/fold.h"
#include "term/wordfiles.h"
#include "term/terms.h"
#include "topic/topic.h"

/* Shared by threads, read only. */
struct pd_sign_tables {
	const struct pd_dict *dict;
	const struct pd_stopwords *stopwords;	/* that keywords are never */
	enum pd_segment_method segment;
	const struct pd_userwords *userwords;	/* NULL: none */
	const struct pd_idf *idf;
	const struct pd_synonyms *synonyms;	/* NULL: none */
};

enum pd_piece_end { PD_PIECE_TEXT, PD_PIECE_CLAUSE, PD_PIECE_SENTENCE, PD_PIECE_LINE };

/* The text up to the next mark or end of line, which is taken off *rest; false: none is left.  *end: what ends it. */
bool pd_piece_next(struct pd_span *rest, struct pd_span *piece, enum pd_piece_end *end);

struct pd_word {
	uint32_t sentence;
	bool stop;
};

struct pd_words {
	struct pd_terms terms;		/* word i is terms.v[i] */
	struct pd_word *v;
	size_t cap;
	uint32_t *marks;		/* places of marks: before the word of that number; ascending, each once */
	size_t n_marks, cap_marks;
	uint32_t n_sentences;
};

struct pd_sign_views;

struct pd_sign_views *pd_sign_views_new(const struct pd_sign_tables *t);
void pd_sign_views_free(struct pd_sign_views *v);
/* What follows is asked of another page. */
void pd_sign_views_clear(struct pd_sign_views *v);

struct pd_sign_page {
	const struct pd_blocks *blocks;		/* runs, boxes, links, title and metadata */
	const struct pd_topic *topic;		/* the main text, and the terms of the signed features */
	const struct pd_page_links *links;	/* only for methods that use them */
	struct pd_span url, body;		/* body: only for methods that want it */
	struct pd_sign_views *views;
};

/* What stands in <title>; may be empty. */
struct pd_span pd_sign_title(const struct pd_sign_page *p);
/* All text that a visitor sees, as it stands. */
struct pd_span pd_sign_visible(const struct pd_sign_page *p);
/* The words of the main text. */
const struct pd_words *pd_sign_words(const struct pd_sign_page *p);
/* The words of any text, replacing what `out` held. */
void pd_sign_words_of(struct pd_sign_views *v, struct pd_span text, struct pd_words *out);
void pd_words_release(struct pd_words *w);
/* A folder for one thread, and room for what it makes. */
struct pd_folder *pd_sign_folder(const struct pd_sign_page *p);
/* A text in its folded form; there until the next call. */
struct pd_span pd_sign_folded(const struct pd_sign_page *p, struct pd_span text);

/* A page's terms by how much they say of it.  In: its words.  Out: each term once that is no stop word, with how often it stands
 * on the page; and, when the method has given them weights, in order: the heaviest first, of equal ones the first by code
 * point.  The terms' text lies in the words. */
struct pd_ranked_term {
	struct pd_span text;
	uint64_t hash;
	uint32_t count;
	double weight;
};

struct pd_ranked {
	struct pd_ranked_term *v;
	size_t n, cap;
	struct pd_map place;		/* hash -> place in v, from 1; until they are sorted */
};

/* Replaces what `r` held; weights are 0. */
void pd_ranked_count(struct pd_ranked *r, const struct pd_words *w);
void pd_ranked_sort(struct pd_ranked *r);
/* The first n in bytewise order, which is that of code points. */
void pd_ranked_sort_text(struct pd_ranked *r, size_t n);
/* The first n, nothing between them. */
void pd_ranked_join(const struct pd_ranked *r, size_t n, struct pd_buf *out);
/* The first n, one a line: weight, how often, text. */
void pd_ranked_explain(const struct pd_ranked *r, size_t n, struct pd_buf *out);
void pd_ranked_release(struct pd_ranked *r);

#endif
