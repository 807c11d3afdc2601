/* SPDX-License-Identifier: MIT
 *
 * The decision about a page: it is new, stored already, or a duplicate of stored pages; and then it is stored or
 * not. Input: pages, in batches.  Output: an answer for each, in the same order.  A page of a batch is compared with
 * those before it, so batches of any size give the same answers.
 *
 *	kept            the page itself is stored: same id, fetch time, content digest and fingerprint; nothing changes
 *	duplicate	within k of a stored page, and verified; without a fingerprint: the same text
 *	new		none of these
 *
 * If PD_STORE_DENSE stored pages are within k of a page and none of them is its duplicate, fingerprints do not
 * separate the pages, and every new page would be compared with all of them.  Such a page, if it has a sketch, is
 * called dense: it is stored in the orders of its sketch (page.h) and in no table of keys, so that the number of
 * pages found by key stops growing.  A page with a quarter of PD_STORE_DENSE stored pages within k is also searched
 * by its sketch.  In each order, up to PD_STORE_BESIDE pages before its position and as many after it are verified
 * if they share a band with it.  If PD_STORE_BESIDE of them are similar to it, further pages are verified that agree
 * with it in a part of the sketch and in heading, title, or texts that need neither (page.h).  Of the pages found by
 * key the nearest 4 * PD_STORE_DENSE are verified.
 *
 * `skip` does not store duplicates; `replace` stores them, and the pages that they match get tombstones.
 */
#ifndef PD_STORE_JUDGE_H
#define PD_STORE_JUDGE_H

#include "row/table.h"
#include "match/verify.h"
#include "sign/values.h"
#include "store/store.h"

#define PD_STORE_DENSE 256
#define PD_STORE_BESIDE 4

enum pd_store_on_duplicate { PD_STORE_SKIP, PD_STORE_REPLACE };
enum pd_store_same_url { PD_STORE_SAME_URL_JUDGE, PD_STORE_SAME_URL_UPDATE };
extern const char *const pd_store_status_names[], *const pd_store_on_duplicate_names[],
							  *const pd_store_same_url_names[]; /* NULL at the end */
enum pd_store_status { PD_STORE_NEW, PD_STORE_KEPT, PD_STORE_DUPLICATE, PD_STORE_REPLACED };

struct pd_store_judge_options {
	bool keep; /* false: query only, change nothing */
	int k;
	enum pd_store_on_duplicate on_duplicate;
	enum pd_store_same_url same_url;
	struct pd_verify_options verify;
	struct pd_methods requested; /* of the store's methods, with the rules of comparison; none: all */
	int least;		     /* number of methods that must find a page; 0: more than half */
};

struct pd_store_places {
	struct pd_store_place *v;
	size_t n, cap;
};

/* In place of distances. */
enum { PD_STORE_SAME_TEXT = -1, PD_STORE_NOT_NEAR = -2, PD_STORE_BY_KEY = -3 };

/* A stored page that the query page matches, or replaces. */
struct pd_store_match {
	struct pd_store_place at;
	int distance;	   /* or the same text, without fingerprints; or none: found only by keys */
	double similarity; /* PD_SIMILARITY_UNKNOWN */
	uint32_t found;	   /* bit i: by method i of the requested ones */
	bool replaced;
	bool same_url;		/* another version of the page, near it or not */
	size_t text_at, text_n; /* of its text in the answer's texts */
};

struct pd_store_answer {
	enum pd_store_status status;
	uint64_t number;		/* of the page, when it is kept; 0: it is not */
	struct pd_span text;		/* of the query page */
	struct pd_store_match *matches; /* nearest first, then oldest */
	size_t n_matches, n_near, cap;	/* of them, near: the first; after them older versions of the URL */
	struct pd_buf texts;
	/* For a new page that is similar to a stored one: the rule that separates them; PD_VERIFIED_NO: there is
	 * none. */
	enum pd_verification doubt;
	struct pd_store_match doubted;	    /* the stored page; its text is in `texts` */
	const struct pd_methods *requested; /* NULL: the fingerprint alone */
};

/* A stored page within k of the query page, not verified yet. */
struct pd_store_candidate {
	struct pd_store_place at;
	int distance;
};

struct pd_store_judge {
	struct pd_store *s;
	struct pd_store_judge_options o;
	/* scratch of a batch */
	uint64_t *columns; /* keys of the questions, word by word */
	uint32_t *page_of; /* question -> page */
	size_t pages_cap;
	struct pd_index_near_hit *hits; /* of all segments, by question */
	size_t *hit_from;
	size_t hits_cap;
	size_t chunk; /* pages for which segments are searched at the same time */
	struct pd_store_candidate *near;
	size_t n_near, near_cap;
	size_t n_by_key;	  /* pages kept within k and found by their keys */
	uint64_t found, verified; /* out: kept pages that were candidates, and of them verified, so far */
	struct pd_store_places places, listed;
	struct pd_map met; /* places that are among them */
	/* of the requested methods, with all their parameters */
	struct pd_methods methods;
	struct pd_sign_rule rule[PD_METHODS_MAX];
	int column[PD_METHODS_MAX]; /* of the store's values; -1: the fingerprint */
	int least;
	struct pd_value value[2];
	struct pd_store_answer answer;
	struct pd_buf hosts[2];
	uint64_t *replaced;
	size_t replaced_cap;
};

/* Set s and o in zeroes before. */
typedef int pd_store_answer_fn(void *ctx, const struct pd_store_answer *answer);
int pd_store_judge_batch(struct pd_store_judge *j, const struct pd_store_page *pages, size_t n, pd_store_answer_fn *each, void *ctx,
			 struct pd_err *e);
void pd_store_judge_release(struct pd_store_judge *j);

static inline struct pd_span pd_store_match_text(const struct pd_store_answer *a, const struct pd_store_match *m)
{
	return pd_span(a->texts.p + m->text_at, m->text_n);
}

/* Rows of fp in, an answer for each out, batch by batch: the work of `store add` and `store check`.  Rows are
 * compared with the parameters of the store, which takes those of the first rows; unreadable rows are reported and
 * skipped. */
struct pd_store_ask {
	struct pd_store *s; /* open; to be written if o.keep */
	struct pd_store_judge_options o;
	char *const *paths; /* of the rows; none: standard input */
	int n_paths;
	struct pd_table_sources sources; /* for paths that are not files */
	bool at_once;			 /* each row is a separate batch */
	/* Called for each row in order; then `batch`, when the changes of a batch are durable, also once if there
	 * are no rows.  Return 0, or a status that ends the run. */
	pd_store_answer_fn *answer;
	int (*batch)(void *ctx);
	void (*bad_row)(void *ctx, const char *path, const char *what);
	void *ctx;
	/* out */
	uint64_t counts[PD_STORE_REPLACED + 1]; /* rows by status; pages that were replaced */
	uint64_t bad;				/* skipped rows */
	uint64_t cut;				/* tables of rows that were cut */
	struct pd_buf totals; /* lines of the inputs: the numbers of a header's "# total"; the caller releases it */
};

/* The caller does the maintenance at the end (pd_store_tend). */
int pd_store_ask(struct pd_store_ask *q, struct pd_err *e);

/* Removes all that is kept under an id or a URL, escaped as in rows; *pages: how many they are. */
int pd_store_remove_named(struct pd_store *s, enum pd_store_by by, struct pd_span name, uint64_t *pages, struct pd_err *e);

#endif
