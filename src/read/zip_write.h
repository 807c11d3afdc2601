/* SPDX-License-Identifier: MIT
 *
 * Files -> a zip archive.  The times of its files are not set, so the same files give the same bytes.
 */
#ifndef PD_READ_ZIP_WRITE_H
#define PD_READ_ZIP_WRITE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/span.h"

struct pd_zip_writer;

/* The archive is written to `to`, from its first byte on. */
struct pd_zip_writer *pd_zip_writer_new(FILE *to);
/* Free it; an archive without its end is damaged.  NULL is ignored. */
void pd_zip_writer_free(struct pd_zip_writer *w);
/* Begin a file of `size` bytes, deflated or stored, and add its bytes. */
int pd_zip_writer_begin(struct pd_zip_writer *w, const char *path, uint64_t size, bool deflate, struct pd_err *e);
int pd_zip_writer_add(struct pd_zip_writer *w, struct pd_span bytes, struct pd_err *e);
/* Write the directory of the archive. */
int pd_zip_writer_end(struct pd_zip_writer *w, struct pd_err *e);
/* The number of bytes written.  After `begin` it is the position of the bytes of a stored file. */
uint64_t pd_zip_writer_size(const struct pd_zip_writer *w);

#endif
