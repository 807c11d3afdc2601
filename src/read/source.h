/* SPDX-License-Identifier: MIT
 *
 * One input, whatever it is: bytes, members and records tied together.  In: a path (or standard input).  Out: its
 * records with their ids.  Damage goes to `sink`.  The struct is opened again for the next input and keeps its buffers.
 */
#ifndef PD_READ_SOURCE_H
#define PD_READ_SOURCE_H

#include "base/buf.h"
#include "base/json.h"
#include "base/map.h"
#include "read/dump.h"
#include "read/files.h"
#include "read/record.h"

/* In: lines that are JSON objects, plain or compressed.  Out: a record a line, and the place where the line begins.  A
 * line that cannot be read is damage; reading goes on at the next one. */

enum { PD_JSONL_URL, PD_JSONL_TEXT, PD_JSONL_HTML, PD_JSONL_ID, PD_JSONL_TIME, PD_JSONL_FIELDS };

struct pd_read_jsonl {
	struct pd_read_member *m;
	size_t max_block, max_line;
	bool (*wants)(void *ctx, struct pd_read_place place);	/* as of pd_read_dump */
	void *wants_ctx;
	struct pd_json_member fields[PD_JSONL_FIELDS];
	struct pd_buf line;		/* a line that does not lie in the window as a whole */
	bool over;			/* it is longer than max_line */
	struct pd_read_place place;		/* of the record given, or of the damage */
	const char *reason;
	uint64_t useful, lines;		/* records with text or HTML; all of them */
	struct pd_buf names;		/* of the first without: what its members are called, and which may be meant */
};

/* In: a tar archive of pages (ustar, pax, GNU, v7), plain or compressed.  Out: a record for each regular file; its url is
 * the member's path.  Links, folders and devices are passed over.
 *
 * Archives that were added to may hold a path twice: then the later ones are distinguished by the place of their header,
 * PATH!OFFSET.  To see that, 16 bytes are remembered of each name, the one thing here that grows with the archive. */

struct archive;

struct pd_read_tar {
	struct pd_read_member *m;
	size_t max_block;
	bool (*wants)(void *ctx, const char *name);	/* only files of these names get their block; NULL: all do */
	void *wants_ctx;
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

/* In: a zip archive.  Out: the records of every file in it, each of which is an input of its own: a dump as it would be outside,
 * anything else a page, as in tar.  A WACZ is such an archive: its dumps lie in archive/, its list of pages is none.  In a
 * file the archive's directory is used, in a pipe its members come as they lie.
 *
 * A name that stands there twice gets the number of the member: PATH!NUMBER. */

struct pd_read_source;

struct pd_read_zip {
	struct pd_read_input *in;
	struct archive *archive;
	struct pd_read_source *part;	/* reads a file of it; made when first wanted */
	bool open;			/* … is being read */
	size_t given;			/* bytes of the window that the archive reader works on */
	const char *piece;		/* unpacked, not yet read */
	size_t left;
	struct pd_map names;		/* hashes of those that were met */
	uint64_t number;		/* of the member */
	struct pd_buf path, label;	/* of the file: in the archive, and FILE!PATH */
	struct pd_buf reason;		/* why it cannot be unpacked to its end, or empty */
	bool done;
};

/* In: Parquet, or Arrow's own file or stream.  Out: a record a row, with what its columns say of it; the place is the row's number, from 0.
 * The columns are called as the members of JSONL; `fetch_time`, `content_digest` and `content_type` count, too.  HTML in bytes is of any
 * charset, in text it is UTF-8.  Parquet that comes through a pipe is put into a temporary file first. */

enum { PD_PARQUET_URL, PD_PARQUET_PAGE_TEXT, PD_PARQUET_HTML, PD_PARQUET_ID, PD_PARQUET_TIME, PD_PARQUET_DIGEST, PD_PARQUET_CONTENT_TYPE, PD_PARQUET_FIELDS };

struct pd_parquet_batch;

struct pd_read_parquet {
	struct pd_parquet *file;
	FILE *spool;				/* what came through a pipe */
	struct pd_parquet_batch *batch;		/* which is given out now */
	uint64_t at, from;			/* the next row of it; the first that is wanted */
	int field[PD_PARQUET_FIELDS];		/* of a batch's columns; -1: there is none */
	bool html_text;				/* HTML lies in a column of text */
	uint64_t size;				/* bytes of the file; 0: they are counted as they are read */
	struct pd_buf reason;
};

/* Pages on disk as wget and HTTrack lay a mirror out: FOLDER/HOST/PATH, with wget also FOLDER/http/HOST/PATH.  In: a path as
 * typed, or that of a file in an archive.  Out: the URL that it is of. */

/* Appends "http://HOST/PATH".  The host is the first folder of the path that is called like one: labels with dots between,
 * of which the last is a top-level domain; an IPv4 address; either with a port, or localhost with one.  False: there is none. */
bool pd_read_mirror_url(struct pd_span path, struct pd_buf *url);

enum pd_read_source_kind {
	PD_SOURCE_DUMP,		/* WARC, ARC */
	PD_SOURCE_JSONL,
	PD_SOURCE_TAR,
	PD_SOURCE_ZIP,
	PD_SOURCE_PARQUET,
	PD_SOURCE_PAGE,		/* anything else: the input is the page */
	PD_SOURCE_NONE,		/* what it is packed in is not read here, and was reported */
};

struct pd_read_sink {
	void (*damage)(void *ctx, const struct pd_read_damage *d);	/* may be NULL */
	void *ctx;
	uint64_t count;
};

struct pd_read_source {
	struct pd_read_input in;
	struct pd_read_member member;
	struct pd_read_dump dump;
	struct pd_read_jsonl jsonl;
	struct pd_read_tar tar;
	struct pd_read_zip zip;
	struct pd_read_parquet parquet;
	const char *label;		/* what ids begin with; borrowed */
	const char *path;		/* what the URL of a page is made of that has none: the same, or its path in an archive */
	/* Only pages whose id this returns true for get their block; NULL: all do.  It may be called with an id that no page has. */
	bool (*wants)(void *ctx, struct pd_span id);
	void *wants_ctx;
	struct pd_buf id;		/* for `wants` */
	const char *wanted;		/* an id: files of an archive in which it cannot lie are passed over; or NULL */
	bool part;			/* it is a file of an archive */
	struct pd_read_jsonl_fields fields;
	int threads;			/* that may decode at once */
	const char *failed;		/* what could not be done, where `in.error` says why; NULL: reading */
	size_t max_block;		/* both may be set before opening */
	bool keep_headers;		/* of WARC and ARC, in records */
	bool keep_blocks;		/* … also of records that are no pages */
	bool all_text;			/* see pd_reader_options */
	bool found;			/* the input lay in a folder */
	bool twice;			/* see pd_reader_options */
	bool mirrored;			/* the URL of the record given last was taken from its path */
	struct pd_buf reason;
	struct pd_read_sink *sink;
	enum pd_read_source_kind kind;
	uint64_t head;			/* where the first member begins: after a dictionary */
	bool done;
};

void pd_read_sink_tell(struct pd_read_sink *sink, const char *file, struct pd_read_place place, const char *reason);

void pd_read_sink_tell_whole(struct pd_read_sink *sink, const char *file, const char *reason);

/* Is this regular file packed as nothing is written here?  1, and `reason` says what to do; 2: but it is read; 0; negative, errno: it
 * cannot be opened or read. */
int pd_read_source_foreign(const char *path, const char *label, struct pd_buf *reason);

/* How the file that will be opened next was come by. */
void pd_read_source_how(struct pd_read_source *s, const struct pd_read_file *f);
void pd_read_source_init(struct pd_read_source *s, const struct pd_reader_options *o, struct pd_read_sink *sink);
void pd_read_source_release(struct pd_read_source *s);
/* `path` NULL: standard input.  0, or PD_ERR_SYSTEM with errno set. */
int pd_read_source_open(struct pd_read_source *s, const char *path, const char *label);
/* The same, from the record, line or member that begins at `offset`.  PD_ERR_NOT_FOUND when none does. */
int pd_read_source_open_at(struct pd_read_source *s, const char *path, const char *label, uint64_t offset);
/* 1 a record, 0 the end, PD_ERR_SYSTEM (errno set): reading failed. */
int pd_read_source_next(struct pd_read_source *s, struct pd_record *out);
/* The bytes that the record given last takes in its input.  Of tar they are known up to `begin` alone until the next call
 * has been made: then tar.end tells where they end. */
void pd_read_source_extent(const struct pd_read_source *s, struct pd_read_extent *out);
void pd_read_source_close(struct pd_read_source *s);

#endif
