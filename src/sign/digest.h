/* SPDX-License-Identifier: MIT
 *
 * M9, text_digest: XXH3-128 of a text in its folded form (term/fold.h), 32 hex digits; nothing for a text that folds to
 * nothing.
 */
#ifndef PD_SIGN_DIGEST_H
#define PD_SIGN_DIGEST_H

#include "term/fold.h"

void pd_text_digest(struct pd_folder *f, struct pd_span text, struct pd_buf *scratch, struct pd_buf *out);

#endif
