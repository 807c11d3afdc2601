/* SPDX-License-Identifier: MIT
 *
 * In: the members of a dump.  Out: its records, whatever their format, and the place that names each.  Damage costs the
 * record it is in; reading goes on at the next one.
 *
 * A record's place is the compressed offset of the member that it begins in, when nothing else is in that member and in
 * those that the record goes on in, so that one seek finds it; else the offset in the stream of all members.  Which it
 * is is known only once the record was read to its end.
 */
#ifndef PD_READ_DUMP_H
#define PD_READ_DUMP_H

#include "read/member.h"
#include "read/record.h"

/* The form of a record: WARC or ARC. */
struct pd_read_format {
	size_t line;		/* bytes by which the start of a record is known */
	const char *endless;	/* the damage when a header has no end */
	/* Does a record begin at the start of `s`?  `cut`: also when `s` ends before that is sure. */
	bool (*begins)(struct pd_span s, bool cut);
	/* Where in `s` a line begins that could begin a record, or -1; the start of `s` is not taken for the start of a line. */
	ptrdiff_t (*find)(struct pd_span s);
	/* Bytes of the header at the start of `s`; 0 when its end is not there yet.  *seen: where to go on looking when
	 * more of it was read. */
	size_t (*header_end)(struct pd_span s, size_t *seen);
	/* Fills all of `out` but id and block.  NULL, or what is wrong. */
	const char *(*parse)(struct pd_span header, struct pd_record *out);
	/* Does a file that begins like this hold such records, the first of which may be damaged? */
	bool (*recognises)(struct pd_span head);
};

extern const struct pd_read_format pd_read_format_warc, pd_read_format_arc;

/* The header of a WARC record (ISO 28500: WARC/1.0, 1.1; 0.17 and 0.18 read alike): views into the window that it was
 * read from. */
struct pd_read_warc_header {
	struct pd_span type, uri, date, digest, address, content_type, content_length;
};

/* The next named field of the header at *rest, which moves on: its name, and its value as it stands, folds and all. */
bool pd_read_warc_field(struct pd_span *rest, struct pd_span *name, struct pd_span *value);
void pd_read_warc_parse(struct pd_span header, struct pd_read_warc_header *out);
/* Kind, url, time, digest, address and type of the record. */
void pd_read_warc_fill(const struct pd_read_warc_header *h, struct pd_record *out);

struct pd_read_place {
	uint64_t offset;
	bool stream;		/* in the decompressed stream */
};

/* The bytes that a record takes, with the line ends that pad it: without them the rest is as good a dump as before.  A
 * record that is alone in its members takes those; any other takes a part of what they unpack to. */
struct pd_read_extent {
	uint64_t begin, end;	/* in the input, or in the stream of all members */
	bool stream;
	/* when `stream`: the members that have a part in it */
	uint64_t member, member_offset;		/* where the first begins, in the input and in the stream */
	uint64_t last;				/* where the last begins, in the input */
};

struct pd_read_dump {
	struct pd_read_member *m;
	const struct pd_read_format *format;
	size_t max_block;
	bool keep_header;		/* fill the record's `header` */
	bool keep_block;		/* fill `block` of every record, not of pages alone */
	/* Only pages at a place for which this returns true get their block; NULL: all do. */
	bool (*wants)(void *ctx, struct pd_read_place place);
	void *wants_ctx;
	struct pd_read_place place;		/* of the record given, or of the damage */
	const char *reason;		/* of the damage */
	/* the record being read */
	struct pd_read_place begin;		/* in the stream (plain: in the file) */
	uint64_t member, member_offset;	/* where the member begins that it begins in: in the input, in the stream */
	bool first;			/* nothing stands before it in that member */
	uint64_t begun;			/* records in the current member so far, also what is left of an earlier one */
	/* what is still to be said */
	bool reported;			/* the damage in this member was reported */
	bool junk;			/* there were bytes between records, at junk_at */
	struct pd_read_place junk_at;
};

/* `m` stands at the start of a member (and nothing of it was skipped), or before the first. */
void pd_read_dump_open(struct pd_read_dump *d, struct pd_read_member *m, const struct pd_read_format *format, size_t max_block);
/* 1 a record (without id) and its `place`; 0 the end; PD_ERR_INPUT: damage, see `place` and `reason`: call again. */
int pd_read_dump_next(struct pd_read_dump *d, struct pd_record *out);
/* The bytes of the record given last. */
void pd_read_dump_extent(const struct pd_read_dump *d, struct pd_read_extent *out);

#endif
