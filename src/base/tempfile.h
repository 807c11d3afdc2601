/* SPDX-License-Identifier: MIT
 *
 * Files without a name, that leave nothing behind.
 */
#ifndef PD_BASE_TEMPFILE_H
#define PD_BASE_TEMPFILE_H

#include <stdio.h>

#include "base/err.h"

/* In `dir`, else TMPDIR, else /tmp, to be written and read.  NULL on error. */
FILE *pd_tempfile_open(const char *dir, struct pd_err *e);

#endif
