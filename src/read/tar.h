/* SPDX-License-Identifier: MIT
 *
 * In: a tar archive of pages (ustar, pax, GNU, v7), plain or compressed.  Out: a record for each regular file; its url is
 * the member's path.  Links, folders and devices are passed over.
 *
 * Archives that were added to may hold a path twice: then the later ones are told apart by the place of their header,
 * PATH!OFFSET.  To see that, 16 bytes are remembered of each name, the one thing here that grows with the archive.
 */
#ifndef PD_READ_TAR_H
#define PD_READ_TAR_H

#include "base/map.h"
#include "read/dump.h"

struct archive;

struct pd_read_tar {
	struct pd_read_member *m;
	size_t max_block;
	struct archive *archive;
	size_t given;			/* bytes of the window that the archive reader works on */
	const char *stopped;		/* why the bytes ended before their time */
	bool lost;			/* looking for the next header */
	bool done;
	struct pd_map names;		/* hashes of those that were met */
	struct pd_buf name;		/* of the record given: its path, or PATH!OFFSET */
	uint64_t begin, end;		/* of the file given last, header and all; `end` is known at the next call */
	bool ended;			/* it is */
	struct pd_read_place place;		/* of the damage */
	struct pd_buf reason;
};

void pd_read_tar_open(struct pd_read_tar *t, struct pd_read_member *m, size_t max_block);
void pd_read_tar_close(struct pd_read_tar *t);
void pd_read_tar_release(struct pd_read_tar *t);
/* 1 a record (without id); 0 the end; PD_ERR_INPUT: damage, see `place` and `reason`: call again. */
int pd_read_tar_next(struct pd_read_tar *t, struct pd_record *out);
/* Does it begin like a tar archive: a header whose checksum is right? */
bool pd_read_tar_looks(struct pd_span head);

#endif
