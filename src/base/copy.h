/* SPDX-License-Identifier: MIT
 *
 * Bytes of a file into a stream, as they are.
 */
#ifndef PD_BASE_COPY_H
#define PD_BASE_COPY_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Bytes from..to - 1 of `in` are written to `out` (`to` UINT64_MAX: to the end); *written grows.  Within one file system
 * the kernel copies, or shares the blocks.  PD_ERR_SYSTEM; PD_ERR_INPUT: the file ends before `to`. */
int pd_copy_range(int in, const char *name, uint64_t from, uint64_t to, FILE *out, uint64_t *written, struct pd_err *e);

#endif
