/* SPDX-License-Identifier: MIT
 *
 * Records of a WARC file that are removed together with pages, although they are not pages:
 *
 * - A request or metadata record is removed if every record that it names (WARC-Concurrent-To, WARC-Refers-To) is
 * removed, or if a removed record names it (WARC-Concurrent-To).
 * - A record without references is removed if it has the URL of a removed page and only such records are between
 *   them.
 * - A revisit is removed if the record to which it refers is removed (WARC-Refers-To, otherwise
 * WARC-Refers-To-Target-URI and WARC-Refers-To-Date), together with its own request and metadata.
 * - All other records are kept: warcinfo, and the records of kept pages.
 * - If a kept page has the same id as a removed one, records that name this id are kept.
 *
 * Later records are found without limit, and at most PD_APPLY_ASSOCIATED_BACK such records before the page, because
 * writers store the records of a capture together.  For one input the hashes of the ids of kept pages are in memory,
 * about 60 bytes each.
 */
#ifndef PD_APPLY_ASSOCIATED_H
#define PD_APPLY_ASSOCIATED_H

#include <stdio.h>

#include "apply/revisit.h"

/* A kept revisit of a removed page, in any input of the run, has lost its content: such revisits are reported at the
 * end.  Memory: 16 to 32 bytes per removed record; the revisits are in a temporary file. */
struct pd_apply_orphans {
	const char *tmp_dir; /* set by the caller */
	struct pd_map removed;
	FILE *revisits;
	struct pd_err err; /* of writing them */
};

/* After all inputs are scanned, call `orphan` for each kept revisit of a removed record, in the order of the inputs. */
int pd_apply_orphans_end(struct pd_apply_orphans *r, void (*orphan)(void *ctx, const char *id), void *ctx, struct pd_err *e);
void pd_apply_orphans_release(struct pd_apply_orphans *r);

enum { PD_APPLY_ASSOCIATED_BACK = 64, PD_APPLY_ASSOCIATED_NAMES = 4 };

/* A record that is removed because of the ids of removed pages.  It is kept after all if a kept page has one of these
 * ids.  Record ids should be unique, and are not in dumps that were joined or forged. */
struct pd_apply_other {
	uint64_t own;				   /* hash of its id, 0: none */
	uint64_t cause[PD_APPLY_ASSOCIATED_NAMES]; /* hashes of ids of pages; with `named`: of ids that pages name */
	int n_causes;
	bool named, kept;
};

/* A request or metadata record that is kept so far. */
struct pd_apply_neighbour {
	struct pd_read_extent extent;
	uint64_t own;				   /* hash of its id, 0: none */
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES]; /* hashes of the ids that it names */
	int n_names, n_removed; /* number of removed ones; a record with more than PD_APPLY_ASSOCIATED_NAMES names is kept */
	uint64_t url;
	bool removed;
};

struct pd_apply_associated {
	/* set by the caller */
	void (*cut)(void *ctx, const struct pd_read_extent *extent); /* this record is removed; it is the last of `others` */
	void *ctx;
	bool keep;			  /* no record is removed with a page */
	const struct pd_apply_kept *kept; /* revisits of removed records are replaced; or NULL */
	struct pd_apply_orphans *orphans; /* records the removed pages, and the kept revisits; or NULL */
	/* results */
	struct pd_apply_other *others;
	size_t n_others, cap_others;
	size_t last;	    /* number + 1 in `others` of the last record, if it is removed; otherwise 0 */
	uint64_t refers_to; /* hash of the reference of the last record, a replaced revisit; otherwise 0 */
	/* its own */
	struct pd_apply_neighbour ring[PD_APPLY_ASSOCIATED_BACK];
	uint64_t n;			/* records added to the ring since the start of the input */
	uint64_t after_page;		/* the first of them after the last page */
	bool page_removed;		/* whether the last page is removed … */
	uint64_t page_url;		/* … and its URL */
	uint64_t page_cause;		/* a revisit that is removed: hash of its id; 0: of a page */
	struct pd_map ids;		/* hashes of removed records and of the records that they name */
	struct pd_map remaining, named; /* hashes of ids of kept pages, and of the records that they name */
};

void pd_apply_associated_clear(struct pd_apply_associated *o);
void pd_apply_associated_release(struct pd_apply_associated *o);
/* Note a page, which is removed or kept. */
void pd_apply_associated_page(struct pd_apply_associated *o, const struct pd_record *r, bool page_removed);
/* Return whether another record is removed. */
bool pd_apply_associated_other(struct pd_apply_associated *o, const struct pd_record *r, const struct pd_read_extent *extent);
/* At the end, mark the records that are kept after all; a kept revisit keeps its own records.  Return whether any
 * record was marked. */
bool pd_apply_associated_keep_doubtful(struct pd_apply_associated *o);

#endif
