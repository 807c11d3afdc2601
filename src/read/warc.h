/* SPDX-License-Identifier: MIT
 *
 * In: the members of a dump.  Out: its WARC records (ISO 28500: WARC/1.0, 1.1; 0.17 and 0.18 read alike), and the place
 * that names each.  Damage costs the record it is in; reading goes on at the next one.
 *
 * A record's place is the compressed offset of its member when it is alone in it, so that one seek finds it; else the
 * offset in the stream of all members.  Whether it is alone is known only once it was read to its end.
 */
#ifndef PD_READ_WARC_H
#define PD_READ_WARC_H

#include "read/member.h"
#include "read/record.h"

struct pd_place {
	uint64_t offset;
	bool stream;		/* in the decompressed stream */
};

struct pd_warc {
	struct pd_member *m;
	size_t max_block;
	struct pd_place place;		/* of the record given, or of the damage */
	const char *reason;		/* of the damage */
	/* the record being read */
	struct pd_place begin;		/* in the stream (plain: in the file) */
	uint64_t member;		/* where the member begins that it begins in */
	uint64_t begun;			/* records that began in the current member, this one included */
	bool spanned;			/* it goes on in a further member */
	/* what is still to be said */
	bool told;			/* the damage in this member was reported */
	bool junk;			/* there were bytes between records, at junk_at */
	struct pd_place junk_at;
};

/* The header of a record; views into the window that it was read from. */
struct pd_warc_header {
	struct pd_span type, uri, date, digest, content_type, content_length;
};

void pd_warc_open(struct pd_warc *w, struct pd_member *m, size_t max_block);
/* 1 a record (without id) and its `place`; 0 the end; PD_ERR_INPUT: damage, see `place` and `reason`: call again. */
int pd_warc_next(struct pd_warc *w, struct pd_record *out);

/* Bytes of the header at the start of `s`, its blank line included; 0 when its end is not there yet.  *seen: where to
 * go on looking when more of it was read. */
size_t pd_warc_header_end(struct pd_span s, size_t *seen);
void pd_warc_parse(struct pd_span header, struct pd_warc_header *out);
/* Kind, url, time, digest and type of the record. */
void pd_warc_fill(const struct pd_warc_header *h, struct pd_record *out);
/* Where in `s` a line begins that could begin a record, or -1; the start of `s` is not taken for the start of a line. */
ptrdiff_t pd_warc_find(struct pd_span s);
/* Does it begin like a WARC file, perhaps a damaged one? */
bool pd_warc_looks(struct pd_span head);

#endif
