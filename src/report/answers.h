/* SPDX-License-Identifier: MIT
 *
 * Answers of a store, in the order of its questions -> the same as `cluster` would write them: cluster by cluster, the page
 * kept first; pages that no other was near to are left out.  A page that was kept on another day has no answer of its own:
 * its row then says that.  Memory: 32 bytes for an answer; the rows go through temporary files.
 */
#ifndef PD_REPORT_ANSWERS_H
#define PD_REPORT_ANSWERS_H

#include "base/tsv.h"

/* `in` stands at the first row, of the columns of verdicts.  *out: rows without a header, to be closed by the caller. */
int pd_report_answers_sort(struct pd_tsv_reader *in, const char *tmp_dir, void (*bad_row)(void *ctx, const char *why), void *ctx,
			   FILE **out, struct pd_err *e);

#endif
