/* SPDX-License-Identifier: MIT
 *
 * The decision about a page: it is new, stored already, or a duplicate of stored pages.  Depending on the decision it
 * is stored.  Input: pages, in batches.  Output: an answer for each page, in the same order.  A page is also compared
 * with the earlier pages of its batch, so the answers do not depend on the size of the batches.
 *
 *	kept            the page itself is stored: same id, fetch time, content digest and fingerprint; nothing changes
 *	duplicate	within k of a stored page, and verified; without a fingerprint: the same text
 *	new		none of these
 *
 * A page is dense if it has a sketch and at least PD_STORE_DENSE stored pages are within k, but none is its
 * duplicate.  Fingerprints do not separate such pages, and every new page would be compared with all of them.  A
 * dense page is stored in the orders of its sketch (page.h) and in no table of keys, so that the number of pages
 * found by key stops growing.  A page with a quarter of PD_STORE_DENSE stored pages within k is also searched by its
 * sketch.  In each order, up to PD_STORE_NEIGHBOURS pages on each side of its position are verified if they share a
 * band with it.  If PD_STORE_NEIGHBOURS of them are similar to it, further pages are verified: pages with a common
 * part of the sketch and the same subject (page.h).  At most 4 * PD_STORE_DENSE pages found by key are verified, the
 * nearest first.
 *
 * `skip` does not store duplicates; `replace` stores them, and the pages that they match get tombstones.
 */
#ifndef PD_STORE_JUDGE_H
#define PD_STORE_JUDGE_H

#include "base/terminal.h"
#include "row/table.h"
#include "match/verify.h"
#include "sign/values.h"
#include "store/store.h"

#define PD_STORE_DENSE 256
#define PD_STORE_NEIGHBOURS 4

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
	struct pd_methods requested; /* methods of the store to search by, with their rules of comparison; none: all */
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
	int distance;	   /* distance; for pages without fingerprints, the same text or (found by keys) none */
	double similarity; /* PD_SIMILARITY_UNKNOWN */
	uint32_t found;	   /* bit i: by method i of the requested ones */
	bool replaced;
	bool same_url;		/* another version of the page, at any distance */
	size_t text_at, text_n; /* of its text in the answer's texts */
};

struct pd_store_answer {
	enum pd_store_status status;
	uint64_t number;		/* number of the page if it is stored; 0: it is not */
	struct pd_span text;		/* of the query page */
	struct pd_store_match *matches; /* nearest first, then oldest */
	size_t n_matches, n_near, cap;	/* matches that make the page a duplicate; they are followed by older versions of its URL */
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
	/* scratch memory of a batch */
	uint64_t *columns; /* keys of the queries, word by word */
	uint32_t *page_of; /* query -> page */
	size_t pages_cap;
	struct pd_index_near_hit *hits; /* hits of all segments, sorted by query */
	size_t *hit_from;
	size_t hits_cap;
	size_t chunk; /* pages for which segments are searched at the same time */
	struct pd_store_candidate *near;
	size_t n_near, near_cap;
	size_t n_by_key;	  /* pages kept within k and found by their keys */
	uint64_t found, verified; /* out: number of candidates so far, and how many of them were verified */
	struct pd_store_places places, listed;
	struct pd_map seen; /* set of the places in the list above */
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

/* Read rows of fp, and write an answer for each, batch by batch: the work of `store add` and `store check`.  The parameters
 * of the rows must be equal to the store's; an empty store takes the parameters of the first rows.  Unreadable rows are
 * reported and skipped. */
struct pd_store_ask {
	struct pd_store *s; /* open; to be written if o.keep */
	struct pd_store_judge_options o;
	char *const *paths; /* of the rows; none: standard input */
	int n_paths;
	struct pd_table_sources sources; /* for paths that are not files */
	bool at_once;			 /* answer each row before the next one is read */
	/* Called for each row in order; `batch` is called when the changes of a batch are durable, and once if there
	 * are no rows.  Return 0, or a status that ends the run. */
	pd_store_answer_fn *answer;
	int (*batch)(void *ctx);
	void (*bad_row)(void *ctx, const char *path, const char *what);
	void *ctx;
	struct pd_log *log;   /* of progress; NULL: none */
	uint64_t bytes_known; /* of all files, for progress; 0: unknown */
	/* out */
	uint64_t counts[PD_STORE_REPLACED + 1]; /* rows by status; pages that were replaced */
	uint64_t bad;				/* skipped rows */
	uint64_t cut;				/* tables that ended early */
	struct pd_buf totals; /* lines of the inputs: the numbers of a header's "# total"; the caller releases it */
};

/* The caller does the maintenance at the end (pd_store_tend). */
int pd_store_ask(struct pd_store_ask *q, struct pd_err *e);

/* Remove all stored pages with an id or a URL, escaped as in rows; *pages is their number. */
int pd_store_remove_named(struct pd_store *s, enum pd_store_by by, struct pd_span name, uint64_t *pages, struct pd_err *e);

#endif
