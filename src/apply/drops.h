/* SPDX-License-Identifier: MIT
 *
 * M27: rows of verdicts or answers in, the pages that are to go out: asked page by page, by id, in any order.
 *
 * Memory is 16 bytes for a page in a dump, and about 80 and its id for a page that is a file of its own or lies in an
 * archive; that of pages that stay is not kept, but the files that they lie in are known, so that a base name can be told
 * to be ambiguous.
 */
#ifndef PD_APPLY_DROPS_H
#define PD_APPLY_DROPS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_drops_options {
	char **paths;			/* of the rows; "-": stdin */
	int n_paths;
	bool keep_dup_of;		/* for pd_drop.dup_of: costs that id for each */
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

struct pd_drops;

/* What is known of a page that goes. */
struct pd_drop {
	bool found;			/* it goes */
	bool other_url;			/* the verdict is about a page with another URL: it stays */
	struct pd_span dup_of;		/* only when kept; escaped as in the rows; dies with the drops */
};

int pd_drops_read(struct pd_drops **out, const struct pd_drops_options *o, struct pd_err *e);
void pd_drops_free(struct pd_drops *d);

/* Duplicates whose rows say `demote`, in a header or by a weight over 0: they stay.  pd_drops_demote: there are such. */
uint64_t pd_drops_demoted(const struct pd_drops *d);
bool pd_drops_demote(const struct pd_drops *d);
uint64_t pd_drops_count(const struct pd_drops *d);
uint64_t pd_drops_bad(const struct pd_drops *d);

/* Before anything is removed, every input is shown once.  Rows name an input by its whole path, else by a base name that
 * no other input and no other file of the rows has.  PD_ERR_USAGE: some base name does not tell which is meant. */
void pd_drops_meet(struct pd_drops *d, const char *label);
int pd_drops_settle(struct pd_drops *d, struct pd_err *e);
/* What the rows call an input: `label` itself, or a name that lives as long as the drops. */
const char *pd_drops_name(struct pd_drops *d, const char *label);
/* The id of a page, named as the inputs are in this run: what pd_drops_name does, the other way. */
void pd_drops_here(const struct pd_drops *d, struct pd_span id, struct pd_buf *out);
/* May anything go from the input that the rows call `name`? */
bool pd_drops_any(const struct pd_drops *d, const char *name);
/* Does this page go?  Then it counts as met. */
struct pd_drop pd_drops_take(struct pd_drops *d, struct pd_span id, struct pd_span url);
/* Pages that were never asked for; up to `most` of their ids go to `out`, with commas between. */
uint64_t pd_drops_unmet(const struct pd_drops *d, int most, struct pd_buf *out);

#endif
