/* SPDX-License-Identifier: MIT
 *
 * verdicts rows (docs/format-rows.md): a member of a cluster -> one line, with its reason in words.
 */
#ifndef PD_WRITE_VERDICT_ROW_H
#define PD_WRITE_VERDICT_ROW_H

#include "group/group.h"

int pd_write_verdicts_header(const struct pd_group *g, struct pd_buf *out, struct pd_err *e);
void pd_write_verdict_row(struct pd_group *g, const struct pd_group_member *m, struct pd_buf *out);

#endif
