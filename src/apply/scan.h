/* SPDX-License-Identifier: MIT
 *
 * One input and the pages that are to go -> the bytes of it that go (cuts).  The input is read once and nothing is
 * written.  Memory grows with what goes.
 *
 * Of a WARC file, records that are no pages are removed along with pages.  The rule:
 *
 *  - A request or metadata record goes when every record that it names (WARC-Concurrent-To, WARC-Refers-To) goes, or when
 *    a record that goes names it (WARC-Concurrent-To).
 *  - One that names nothing goes when it stands beside a page that goes, with nothing but such records between, and has
 *    its URL.
 *  - A revisit goes when the record that it refers to goes (WARC-Refers-To, else WARC-Refers-To-Target-URI and
 *    WARC-Refers-To-Date), and takes its own request and metadata along as a page does.
 *  - Everything else stays: warcinfo, and whatever belongs to a page that stays.
 *
 * The rule looks ahead without limit and back over at most PD_APPLY_ASSOCIATED_BACK such records, so that memory grows with the
 * pages that go and not with the dump: writers put the records of a capture side by side.
 *
 * A revisit that stays although the page that it refers to is removed, in the same input or in another one of the run, shows
 * nothing: their ids are told at the end.  With `kept` it is replaced by one that names the page kept (revisit.h).  Memory: 16 to 32 bytes for what is removed; the revisits lie in a temporary file.
 */
#ifndef PD_APPLY_SCAN_H
#define PD_APPLY_SCAN_H

#include <stdio.h>

#include "apply/removals.h"
#include "apply/revisit.h"
#include "apply/rewrite.h"
#include "base/map.h"
#include "read/source.h"

struct pd_apply_revisits {
	const char *tmp_dir;		/* set by the caller */
	struct pd_map removed;
	FILE *stay;
	struct pd_err err;		/* of writing them */
};

enum { PD_APPLY_ASSOCIATED_BACK = 64, PD_APPLY_ASSOCIATED_NAMES = 4 };

/* A request or metadata record that stays so far. */
struct pd_apply_neighbour {
	struct pd_read_extent extent;
	uint64_t own;				/* hash of its id, 0: none */
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES];	/* hashes of the ids that it names */
	int n_names, n_removed;			/* of those, how many go; over PD_APPLY_ASSOCIATED_NAMES it stays */
	uint64_t url;
	bool removed;
};

struct pd_apply_associated {
	void (*cut)(void *ctx, const struct pd_read_extent *extent);	/* this record goes */
	void *ctx;
	bool keep;			/* nothing goes along */
	const struct pd_apply_kept *kept;	/* revisits of what is removed are replaced; or NULL */
	struct pd_apply_revisits *revisits;	/* told of what goes, and of the revisits that stay; or NULL */
	struct pd_apply_neighbour ring[PD_APPLY_ASSOCIATED_BACK];
	uint64_t n;			/* records that came into the ring, ever */
	uint64_t beside;		/* of them, the first behind the last page */
	bool page_removed;		/* the last page goes … */
	uint64_t page_url;		/* … and this is its URL */
	uint64_t refers_to;		/* hash of what a revisit that is replaced refers to, else 0 */
	struct pd_map ids;		/* hashes of what goes and of what that names */
};

struct pd_apply_scan_options {
	struct pd_apply_removals *removals;
	struct pd_apply_revisits *revisits;	/* of all inputs; or NULL: nobody asks */
	bool keep_others;		/* records that are no pages stay all */
	const struct pd_apply_kept *kept;	/* of WARC, revisits stand for what is removed; or NULL.  Others stay all */
	struct pd_read_jsonl_fields fields;
	size_t max_block;		/* as for reading: of JSONL, what is over four times that is no line */
	void (*damage)(void *ctx, const struct pd_read_damage *d);
	/* A page goes; may be NULL. */
	void (*page)(void *ctx, const struct pd_record *r, struct pd_span dup_of);
	/* The record that an id names has another URL than its verdict: it stays. */
	void (*other_url)(void *ctx, const char *id);
	void *ctx;
};

struct pd_apply_scan {
	struct pd_apply_scan_options o;
	struct pd_read_sink sink;
	struct pd_read_source source;
	struct pd_record record;
	struct pd_apply_associated associated;
	/* of the input scanned last */
	struct pd_apply_cut *cuts;	/* in the order of the input, none touches another */
	size_t n_cuts, cap_cuts;
	struct pd_buf texts, begun;	/* what the cuts point into: records that stand in their place; scratch */
	uint64_t revisits;		/* … and how many these are */
	bool whole;			/* the input is one page, and it goes */
	uint64_t pages, along;		/* records that go: pages, and others with them */
	uint64_t records;		/* read */
};

void pd_apply_scan_init(struct pd_apply_scan *s, const struct pd_apply_scan_options *o);
void pd_apply_scan_release(struct pd_apply_scan *s);
/* A WARC file from which nothing goes is read for its revisits alone; with `kept` these may be cuts. */
int pd_apply_scan_revisits(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e);
/* `name`: what the verdicts call the input.  PD_ERR_SYSTEM, PD_ERR_INPUT. */
int pd_apply_scan_input(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e);

/* All inputs are scanned: `orphan` is called for each revisit whose original is removed, in the order in which they came. */
int pd_apply_revisits_end(struct pd_apply_revisits *r, void (*orphan)(void *ctx, const char *id), void *ctx, struct pd_err *e);
void pd_apply_revisits_release(struct pd_apply_revisits *r);

#endif
