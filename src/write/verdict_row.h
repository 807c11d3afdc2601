/* SPDX-License-Identifier: MIT
 *
 * verdicts rows (docs/format-rows.md): a member of a cluster -> one line, with its reason in words.
 */
#ifndef PD_WRITE_VERDICT_ROW_H
#define PD_WRITE_VERDICT_ROW_H

#include "group/keep.h"
#include "group/pages.h"

void pd_verdicts_header(const struct pd_pages *pages, const char *linkage, const char *keep, struct pd_buf *out);
/* `size`: pages in the cluster of this member. */
void pd_verdict_row(const struct pd_pages *pages, const struct pd_verdict *m, uint32_t page, const char *keep, uint32_t size,
		    struct pd_buf *out);

#endif
