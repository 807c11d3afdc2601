/* SPDX-License-Identifier: MIT
 *
 * One form of a text for comparing: NFKC, case-folded, white space collapsed to one space and trimmed (M9's
 * normalisation, Unicode Standard Annex 15 and the default full case folding).  libunistring does what a table of
 * characters that never change cannot decide.
 */
#ifndef PD_TERM_FOLD_H
#define PD_TERM_FOLD_H

#include "base/buf.h"

struct pd_folder;	/* scratch for one thread */

struct pd_folder *pd_folder_new(void);
void pd_folder_free(struct pd_folder *f);
/* The folded form of `utf8`, replacing what `out` held. */
void pd_fold(struct pd_folder *f, struct pd_span utf8, struct pd_buf *out);

#endif
