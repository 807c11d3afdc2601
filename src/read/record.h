/* SPDX-License-Identifier: MIT
 *
 * A record is what a dump holds: some bytes and where they lie.  The reader gives records; `page.h` makes pages of
 * them.  A record owns its buffers and is filled again and again.
 *
 * Beside it what a reader is asked for, and what it tells on the way: shared by the files that find inputs, open them and
 * read them.
 */
#ifndef PD_READ_RECORD_H
#define PD_READ_RECORD_H

#include "base/buf.h"

enum pd_record_kind {
	PD_RECORD_RESPONSE,	/* WARC response, ARC: `block` is a raw HTTP response */
	PD_RECORD_PAYLOAD,	/* WARC resource, a plain file, JSONL's html: `block` is the page itself */
	PD_RECORD_TEXT,		/* WARC conversion (WET), JSONL's text: `block` is plain text in UTF-8 */
	PD_RECORD_OTHER,	/* warcinfo, request, metadata, revisit, …: no page, block left empty */
};

struct pd_record {
	enum pd_record_kind kind;
	struct pd_buf id;		/* the one address of the page (docs/format-rows.md, Ids) */
	struct pd_buf url;		/* as the dump has it; the path of a plain file or of a member of tar */
	struct pd_buf fetch_time;	/* RFC 3339, may be empty */
	struct pd_buf digest;		/* WARC-Payload-Digest without "sha1:" when it is SHA-1 in base32, else empty */
	struct pd_buf user_id;		/* the row's own id (JSONL), may be empty */
	struct pd_buf content_type;	/* of the block, as the record says; may be empty */
	struct pd_buf address;		/* of the server, as the dump has it; may be empty */
	struct pd_buf header;		/* of WARC and ARC, as it stands; only where pd_read_dump.keep_header asks for it */
	struct pd_buf block;		/* at most the reader's limit */
	uint64_t length;		/* bytes of the block in the dump */
	bool html_only;			/* lay in a folder or an archive among other files: nothing but HTML is a page */
	bool cut;			/* block is shorter than length: over the limit */
	bool junk;			/* a page that is a compressed file, with bytes after it that were not read */
};

void pd_record_clear(struct pd_record *r);
void pd_record_release(struct pd_record *r);

/* --- what a reader is asked for --- */

/* What the members of JSONL are called; NULL: "url", "text", "html", "id". */
struct pd_read_jsonl_fields {
	const char *url, *text, *html, *id;
};

struct pd_read_damage {
	const char *file;	/* as typed */
	uint64_t offset;	/* of the record: compressed bytes, or bytes of the stream when `stream` */
	bool stream;		/* the offset is in the decompressed stream: print it as +N */
	bool whole;		/* it is the whole input that cannot be read: no offset is to be printed */
	const char *reason;	/* all of it dies with the call */
};

/* How an input was come by, where somebody else has read folders and lists already (struct pd_read_file). */
struct pd_found {
	size_t name;
	bool typed, found;
};

struct pd_reader_options {
	char **inputs;		/* paths; "-" is stdin; none at all: stdin */
	int n_inputs;
	const struct pd_found *found;	/* of each input; NULL: all were typed */
	const char *files_from;	/* a file with one path a line ("-": stdin), or NULL */
	const char *stdin_name;	/* what ids of stdin begin with; NULL: "-" */
	const char *select;	/* an index (read/select.h): only the records that it names are read; NULL: all */
	size_t max_block;	/* a record's block is cut here (page limit + room for HTTP headers) */
	int threads;		/* that may decode row groups of Parquet */
	struct pd_read_jsonl_fields fields;	/* of JSONL and columns; NULL: the usual names */
	bool all_text;		/* of files in folders and tar archives, text is as good as HTML; else only HTML is */
	bool once;		/* a file that has several names is an input under the first of them alone; a reader always does so */
	bool twice;		/* inputs are read more than once: no advice to give a pipe */
	bool measure;		/* sum up the sizes of all inputs first, for pd_reader_progress */
	void (*damage)(void *ctx, const struct pd_read_damage *d);
	/* May be NULL: what was typed, or a line of the list, begins ("": a file begins that was found in a folder); `path` is another name of a file that was given already. */
	void (*input)(void *ctx, const char *label);
	void (*alias)(void *ctx, const char *path);
	void *damage_ctx;	/* of all three */
};

#endif
