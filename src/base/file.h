/* SPDX-License-Identifier: MIT
 *
 * A whole small file into memory: word lists and dictionaries.
 */
#ifndef PD_BASE_FILE_H
#define PD_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Replaces what `out` held.  PD_ERR_SYSTEM names the file; over 1 GiB is PD_ERR_LIMIT. */
int pd_read_file(const char *path, struct pd_buf *out, struct pd_err *e);

#endif
