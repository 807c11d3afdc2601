/* SPDX-License-Identifier: MIT
 *
 * M27: pages that are files of their own are deleted, on request.  A file is deleted only while two things hold: its
 * content still has the digest that `fp` wrote for it, and the page that is kept in its place is still there.
 */
#ifndef PD_APPLY_REMOVE_H
#define PD_APPLY_REMOVE_H

#include "read/reader.h"

struct pd_remover {
	uint64_t *ids, *digests;	/* hashes of the ids and of the content digests in the rows; open addressing, 0: free */
	size_t n, cap;
	struct pd_reader_options reader;
	struct pd_record record;
	struct pd_buf dup_of, digest;
	uint64_t deleted, refused;
};

/* `rows`: of fp.  `max_block` as for fp: the digest of a longer page is that of its beginning. */
int pd_remover_open(struct pd_remover *r, const char *rows, size_t max_block, struct pd_err *e);
void pd_remover_release(struct pd_remover *r);
/* The page that the next file is a duplicate of, as in the rows. */
void pd_remover_note(struct pd_remover *r, struct pd_span dup_of);
/* Deletes the file, or says in *why it was not. */
int pd_remover_delete(struct pd_remover *r, const char *path, const char **why, struct pd_err *e);

#endif
