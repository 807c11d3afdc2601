/* SPDX-License-Identifier: MIT
 *
 * Rows of verdicts or answers in, the pages that are to be removed out: asked page by page, by id, in any order.
 *
 * Memory is 24 bytes for a page in a dump, and about 88 and its id for a page that is a file of its own or lies in an
 * archive; that of pages that stay is not kept, but the files that they lie in are known, so that a base name can be said
 * to be ambiguous.
 */
#ifndef PD_APPLY_REMOVALS_H
#define PD_APPLY_REMOVALS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_apply_removals_options {
	char **paths;			/* of the rows; "-": stdin */
	int n_paths;			/* 0: nothing is removed */
	bool remove_suspects;		/* pages whose rows call them suspect are removed, too */
	bool keep_dup_of;		/* for pd_apply_removal.dup_of: costs that id for each */
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

struct pd_apply_removals;

/* What is known of a page. */
struct pd_apply_removal {
	bool found;			/* it is removed */
	bool other_url;			/* the verdict is about a page with another URL: it stays */
	uint64_t digest;		/* a hash of the page's content digest, by pd_apply_removals_digest; 0: the verdict has none */
	struct pd_span dup_of;		/* only when kept; escaped as in the rows; dies with the table */
};

int pd_apply_removals_read(struct pd_apply_removals **out, const struct pd_apply_removals_options *o, struct pd_err *e);
void pd_apply_removals_free(struct pd_apply_removals *d);

struct pd_apply_removals_counts {
	uint64_t pages;			/* to be removed … */
	uint64_t in_dumps;		/* … of them, those that are not files of their own */
	uint64_t suspects;		/* pages that stay, unless remove_suspects, though they may be duplicates */
	uint64_t bad;			/* rows that cannot be read */
	uint64_t unchecked;		/* pages to be removed whose rows have no content digest */
	uint64_t demoted;		/* duplicates whose rows say `demote`, in a header or by a weight over 0: they stay */
	bool demote;			/* there are such rows */
	bool cut;			/* a table of verdicts was cut */
};

const struct pd_apply_removals_counts *pd_apply_removals_counts(const struct pd_apply_removals *d);

/* Before anything is removed, every input is shown once.  Rows name an input by its whole path, else by a base name that
 * no other input and no other file of the rows has.  PD_ERR_USAGE: some base name does not tell which is meant. */
void pd_apply_removals_meet(struct pd_apply_removals *d, const char *label);
int pd_apply_removals_settle(struct pd_apply_removals *d, struct pd_err *e);
/* What the rows call an input: `label` itself, or a name that lives as long as the table. */
const char *pd_apply_removals_name(struct pd_apply_removals *d, const char *label);
/* The id of a page, named as the inputs are in this run: what pd_apply_removals_name does, the other way. */
void pd_apply_removals_here(const struct pd_apply_removals *d, struct pd_span id, struct pd_buf *out);
/* Is anything removed from the input that the rows call `name`? */
bool pd_apply_removals_any(const struct pd_apply_removals *d, const char *name);
uint64_t pd_apply_removals_digest(struct pd_span content_digest);
/* Is this page removed?  Then it counts as met. */
struct pd_apply_removal pd_apply_removals_take(struct pd_apply_removals *d, struct pd_span id, struct pd_span url);
/* The same, and nothing counts. */
struct pd_apply_removal pd_apply_removals_find(const struct pd_apply_removals *d, struct pd_span id, struct pd_span url);
/* What the pages in dumps are duplicates of, one after the other: false at the end.  Only when kept. */
bool pd_apply_removals_dup_of(const struct pd_apply_removals *d, size_t i, struct pd_span *out);
/* Pages that were never asked for; up to `most` of their ids go to `out`, with commas between. */
uint64_t pd_apply_removals_unmet(const struct pd_apply_removals *d, int most, struct pd_buf *out);

#endif
