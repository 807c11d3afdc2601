/* SPDX-License-Identifier: MIT
 *
 * A whole small file into memory: word lists and dictionaries.
 */
#ifndef PD_TERM_SLURP_H
#define PD_TERM_SLURP_H

#include "base/buf.h"
#include "base/err.h"

/* Replaces what `out` held.  PD_ERR_SYSTEM names the file; over 1 GiB is PD_ERR_LIMIT. */
int pd_slurp(const char *path, struct pd_buf *out, struct pd_err *e);

#endif
