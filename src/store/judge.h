/* SPDX-License-Identifier: MIT
 *
 * What becomes of a page that comes to a store: it is new, kept already, or a duplicate of pages that are kept; and then it is
 * kept or not.  In: pages, in batches; out: an answer for each, in their order.  A page of a batch sees those before it, so
 * batches of any size give the same answers.
 *
 *	kept		the page itself is kept: same id, fetch time, content digest and fingerprint; nothing changes
 *	duplicate	within k of a page kept, and verified; without a fingerprint: the same text
 *	new		none of these
 *
 * Where PD_STORE_DENSE kept pages lie within k of a page and none of them is a duplicate of it, fingerprints tell nothing,
 * and every page asked for would be held against all others.  Such a page, if it has a sketch, is kept in the
 * orders of its sketch (page.h) and in no table of keys; so the pages found by their keys grow no more.  A page that has a
 * quarter of PD_STORE_DENSE kept pages within k is asked for by its sketch, too: of each order, up to PD_STORE_BESIDE pages
 * before its place and as many after it are verified, those that share a band with it, and where PD_STORE_BESIDE of them are similar
 * to it, others that agree with it in a part of the sketch and in heading, title, or texts that need neither (page.h).  And of pages
 * found by their keys the nearest 4 * PD_STORE_DENSE are.
 *
 * `skip` leaves duplicates out; `replace` keeps them, and the pages that they match get tombstones.
 */
#ifndef PD_STORE_JUDGE_H
#define PD_STORE_JUDGE_H

#include "base/tsv.h"
#include "match/verify.h"
#include "sign/values.h"
#include "store/store.h"

#define PD_STORE_DENSE 256
#define PD_STORE_BESIDE 4

enum pd_store_on_duplicate { PD_STORE_SKIP, PD_STORE_REPLACE };
enum pd_store_same_url { PD_STORE_SAME_URL_JUDGE, PD_STORE_SAME_URL_UPDATE };
extern const char *const pd_store_status_names[], *const pd_store_on_duplicate_names[], *const pd_store_same_url_names[];	/* NULL at the end */
enum pd_store_status { PD_STORE_NEW, PD_STORE_KEPT, PD_STORE_DUPLICATE, PD_STORE_REPLACED };

struct pd_store_judge_options {
	bool keep;			/* false: ask, change nothing */
	int k;
	enum pd_store_on_duplicate on_duplicate;
	enum pd_store_same_url same_url;
	struct pd_verify_options verify;
	struct pd_methods asked;	/* of the methods that the store keeps, with how to compare; none: all */
	int least;			/* so many of them must find a page; 0: more than half */
};

struct pd_store_places {
	struct pd_store_place *v;
	size_t n, cap;
};

/* In place of distances. */
enum { PD_STORE_SAME_TEXT = -1, PD_STORE_NOT_NEAR = -2, PD_STORE_BY_KEY = -3 };

/* A kept page that the page asked for matches, or replaces. */
struct pd_store_match {
	struct pd_store_place at;
	int distance;			/* or the same text, without fingerprints; or none: found by keys alone */
	double similarity;		/* PD_SIMILARITY_UNKNOWN */
	uint32_t found;			/* bit i: by method i of those that were asked */
	bool replaced;
	bool same_url;			/* another version of the page, near it or not */
	size_t text_at, text_n;		/* of its text in the answer's texts */
};

struct pd_store_answer {
	enum pd_store_status status;
	uint64_t number;		/* of the page, when it is kept; 0: it is not */
	struct pd_span text;		/* of the page asked for */
	struct pd_store_match *matches;	/* nearest first, then oldest */
	size_t n_matches, n_near, cap;	/* of them, near: the first; after them older versions of the URL */
	struct pd_buf texts;
	/* Of a page that is new though it is similar to a kept one: the rule that keeps them apart; PD_VERIFIED_NO: it does not. */
	enum pd_verification doubt;
	struct pd_store_match doubted;	/* the kept one; its text lies in `texts` */
	const struct pd_methods *asked;	/* NULL: the fingerprint alone */
};

/* A kept page within k of the page asked for, not verified yet. */
struct pd_store_candidate {
	struct pd_store_place at;
	int distance;
};

struct pd_store_judge {
	struct pd_store *s;
	struct pd_store_judge_options o;
	/* scratch of a batch */
	uint64_t *columns;		/* keys of the questions, word by word */
	uint32_t *page_of;		/* question -> page */
	size_t pages_cap;
	struct pd_store_near_hit *hits;	/* of all segments, by question */
	size_t *hit_from;
	size_t hits_cap;
	size_t chunk;			/* pages that segments are asked for at once */
	struct pd_store_candidate *near;
	size_t n_near, near_cap;
	size_t n_by_key;		/* pages kept within k and found by their keys */
	uint64_t found, verified;	/* out: kept pages that were candidates, and of them verified, so far */
	struct pd_store_places places, listed;
	struct pd_map met;		/* places that are among them */
	/* of the methods that are asked, with all their parameters */
	struct pd_methods methods;
	struct pd_sign_rule rule[PD_METHODS_MAX];
	int column[PD_METHODS_MAX];	/* of the store's values; -1: the fingerprint */
	int least;
	struct pd_value value[2];
	struct pd_store_answer answer;
	struct pd_buf hosts[2];
	uint64_t *replaced;
	size_t replaced_cap;
};

/* Set s and o in zeroes before. */
typedef int pd_store_answer_fn(void *ctx, const struct pd_store_answer *answer);
int pd_store_judge_batch(struct pd_store_judge *j, const struct pd_store_page *pages, size_t n,
			 pd_store_answer_fn *each, void *ctx, struct pd_err *e);
void pd_store_judge_release(struct pd_store_judge *j);

static inline struct pd_span pd_store_match_text(const struct pd_store_answer *a, const struct pd_store_match *m)
{
	return pd_span(a->texts.p + m->text_at, m->text_n);
}

/* Rows of fp in, an answer for each out, batch by batch: what `store add` and `store check` do.  Rows are held against the
 * parameters of the store, which takes those of the first; rows that cannot be read are reported and left out. */
struct pd_store_ask {
	struct pd_store *s;			/* open; to be written if o.keep */
	struct pd_store_judge_options o;
	char *const *paths;			/* of the rows; none: standard input */
	int n_paths;
	struct pd_tsv_sources sources;		/* of paths that are no files */
	bool at_once;				/* each row is a batch of its own */
	/* Of each row in their order; then, when what a batch changed is durable, `batch`, also once when there are no rows.
	 * 0, or a status that ends it. */
	pd_store_answer_fn *answer;
	int (*batch)(void *ctx);
	void (*bad_row)(void *ctx, const char *path, const char *what);
	void *ctx;
	/* out */
	uint64_t counts[PD_STORE_REPLACED + 1];	/* rows by status; pages that were replaced */
	uint64_t bad;				/* rows left out */
	struct pd_buf totals;			/* lines of the inputs: what a header's "# total" says; the caller releases it */
};

/* Tidying up at the end (pd_store_tend) is left to the caller. */
int pd_store_ask(struct pd_store_ask *q, struct pd_err *e);

/* Parameters of rows that come: taken when the store knows none, else PD_ERR_PARAMS says what differs.  must, recorded: of
 * a header. */
int pd_store_settle(struct pd_store *s, struct pd_span must, struct pd_span recorded, const char *where,
		    struct pd_err *e);

/* Pages kept whose column is `value`, appended: PD_STORE_BY_ID or PD_STORE_BY_URL. */
int pd_store_find_text(struct pd_store *s, enum pd_store_by by, struct pd_span value, struct pd_store_places *out,
		       struct pd_err *e);
/* Removes all that is kept under an id or a URL, escaped as in rows; *pages: how many they are. */
int pd_store_remove_named(struct pd_store *s, enum pd_store_by by, struct pd_span name, uint64_t *pages,
			  struct pd_err *e);

#endif
