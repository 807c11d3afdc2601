/* SPDX-License-Identifier: MIT
 *
 * M7: the store, what is kept between runs.  Pages come as fp rows, are asked for by everything that was kept, and are kept
 * themselves or not (judge.h).  One process writes, any number read (contents.h).
 *
 * What is added lies in the log and in memory (recent.h), until it becomes a segment; segments are merged in the
 * background, so that there are never more than a few of each size.  Any step can be the last one of the process: the
 * manifest names files that are whole, and the log tells the rest.
 */
#ifndef PD_STORE_STORE_H
#define PD_STORE_STORE_H

#include "store/contents.h"

#define PD_STORE_PAGES 10000000		/* the default k is for so many */

enum pd_store_mode { PD_STORE_READ, PD_STORE_WRITE };

struct pd_store_settings {
	int bits, k;
	int alone;		/* k where nothing is verified: one of the pages has no sketch */
};

/* Distances that suit a store of PD_STORE_PAGES, as `match` chooses them. */
struct pd_store_settings pd_store_defaults(int bits);
/* The same again changes nothing.  io: its `before` and `ctx`, or NULL. */
int pd_store_create(const char *dir, const struct pd_store_settings *settings, const struct pd_store_io *io,
		    struct pd_err *e);
/* Set io.before, io.ctx, limits and damaged, if at all, in a store of zeroes before.  To be closed whatever comes. */
int pd_store_open(struct pd_store *s, const char *dir, enum pd_store_mode mode, struct pd_err *e);
/* Without writing anything more. */
void pd_store_close(struct pd_store *s);

/* Parameters of rows that come: taken when the store knows none, else PD_ERR_PARAMS says what differs.  must, recorded: of
 * a header; params: of a row. */
int pd_store_settle(struct pd_store *s, struct pd_span must, struct pd_span recorded, const char *where,
		    struct pd_err *e);
int pd_store_settle_row(struct pd_store *s, struct pd_span params, struct pd_err *e);

/* Changes.  They are in memory at once, and durable after pd_store_sync. */
int pd_store_add(struct pd_store *s, const struct pd_store_page *page, const uint64_t *removed, size_t n_removed,
		 uint64_t *number, struct pd_err *e);
int pd_store_remove(struct pd_store *s, const uint64_t *removed, size_t n_removed, struct pd_err *e);
/* All that is kept under an id or a URL, escaped as in rows; *pages: how many they are. */
int pd_store_remove_named(struct pd_store *s, enum pd_store_by by, struct pd_span name, uint64_t *pages,
			  struct pd_err *e);
int pd_store_sync(struct pd_store *s, struct pd_err *e);
/* Between batches: makes a segment when the log is long, starts and ends merges.  `closing`: the end of a run. */
int pd_store_tend(struct pd_store *s, bool closing, struct pd_err *e);
/* One segment, nothing in it that is gone. */
int pd_store_compact(struct pd_store *s, struct pd_err *e);

/* Opens a store of zeroes, whose `damaged` is set, and looks at every byte of it, as it is at one moment: each damage is
 * told, with file and offset.  0, or what kept it from looking.  To be closed whatever comes. */
int pd_store_verify(struct pd_store *s, const char *dir, struct pd_err *e);

#endif
