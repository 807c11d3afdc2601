/* SPDX-License-Identifier: MIT
 *
 * One input and the pages that are to go -> the bytes of it that go (cuts).  The input is read once and nothing is
 * written.  Memory grows with what goes.
 */
#ifndef PD_APPLY_SCAN_H
#define PD_APPLY_SCAN_H

#include "read/source.h"
#include "apply/removals.h"
#include "apply/associated.h"

struct pd_apply_scan_options {
	struct pd_apply_removals *removals;
	struct pd_apply_revisits *revisits;	/* see revisits.h; or NULL */
	bool keep_others;		/* records that are no pages stay all */
	struct pd_jsonl_fields fields;
	size_t max_block;		/* as for reading: of JSONL, what is over four times that is no line */
	void (*damage)(void *ctx, const struct pd_damage *d);
	/* A page goes; may be NULL. */
	void (*page)(void *ctx, const struct pd_record *r, struct pd_span dup_of);
	/* The record that an id names has another URL than its verdict: it stays. */
	void (*other_url)(void *ctx, const char *id);
	void *ctx;
};

struct pd_apply_scan {
	struct pd_apply_scan_options o;
	struct pd_sink sink;
	struct pd_source source;
	struct pd_record record;
	struct pd_apply_associated associated;
	/* of the input scanned last */
	struct pd_extent *cuts;		/* in the order of the input, none touches another */
	size_t n_cuts, cap_cuts;
	bool whole;			/* the input is one page, and it goes */
	uint64_t pages, along;		/* records that go: pages, and others with them */
	uint64_t records;		/* read */
};

void pd_apply_scan_init(struct pd_apply_scan *s, const struct pd_apply_scan_options *o);
void pd_apply_scan_release(struct pd_apply_scan *s);
/* A WARC file from which nothing goes is read for its revisits alone. */
int pd_apply_scan_revisits(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e);
/* `name`: what the verdicts call the input.  PD_ERR_SYSTEM. */
int pd_apply_scan_input(struct pd_apply_scan *s, const char *path, const char *name, struct pd_err *e);

#endif
