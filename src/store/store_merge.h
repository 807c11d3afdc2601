/* SPDX-License-Identifier: MIT
 *
 * How the files of a store change: the log becomes a segment, segments become one.  Each change makes new files, all
 * durable; then the manifest is replaced; then the old ones are removed.
 *
 * Segments stand in the order of their pages.  Of segments of one class (rows between two powers of FANOUT) and smaller at
 * the young end, FANOUT are merged: so there are at most FANOUT - 1 of each class, and a page is rewritten once for each.
 * The end of a run leaves fewer: each is over twice as large as all younger ones together.
 */
#ifndef PD_STORE_STORE_MERGE_H
#define PD_STORE_STORE_MERGE_H

#include "store/store.h"

/* Waits for the merge in the background and forgets it. */
void pd_store_merge_abandon(struct pd_store *s);

/* Of store.c. */
int pd_store_write_log(struct pd_store *s, uint64_t file, struct pd_err *e);
int pd_store_open_gone(struct pd_store *s, uint64_t file, struct pd_gone *out, struct pd_err *e);

#endif
