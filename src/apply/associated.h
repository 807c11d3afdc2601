/* SPDX-License-Identifier: MIT
 *
 * Which records that are no pages go along with pages that go.  In: the records of one WARC file in their order,
 * with the pages' fate decided.  Out: what goes beside them.  The rule:
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
 */
#ifndef PD_APPLY_ASSOCIATED_H
#define PD_APPLY_ASSOCIATED_H

#include "base/map.h"
#include "read/dump.h"
#include "apply/revisits.h"

enum { PD_APPLY_ASSOCIATED_BACK = 64, PD_APPLY_ASSOCIATED_NAMES = 4 };

/* A request or metadata record that has not gone. */
struct pd_apply_neighbour {
	struct pd_extent extent;
	uint64_t own;				/* hash of its id, 0: none */
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES];	/* hashes of the ids that it names */
	int n_names, n_gone;			/* of those, how many go; over PD_APPLY_ASSOCIATED_NAMES it stays */
	uint64_t url;
	bool gone;
};

struct pd_apply_associated {
	void (*cut)(void *ctx, const struct pd_extent *extent);	/* this record goes */
	void *ctx;
	bool keep;			/* nothing goes along */
	struct pd_apply_revisits *revisits;	/* told of what goes, and of the revisits that stay; or NULL */
	struct pd_apply_neighbour ring[PD_APPLY_ASSOCIATED_BACK];
	uint64_t n;			/* records that came into the ring, ever */
	uint64_t beside;		/* of them, the first behind the last page */
	bool page_gone;			/* the last page goes … */
	uint64_t page_url;		/* … and this is its URL */
	struct pd_map ids;		/* hashes of what goes and of what that names */
};

/* The next file. */
void pd_apply_associated_clear(struct pd_apply_associated *o);
void pd_apply_associated_release(struct pd_apply_associated *o);
/* The next record, with its header kept: a page, and whether it goes. */
void pd_apply_associated_page(struct pd_apply_associated *o, const struct pd_record *r, bool goes);
/* … or none.  True: it goes. */
bool pd_apply_associated_other(struct pd_apply_associated *o, const struct pd_record *r, const struct pd_extent *extent);

#endif
