/* SPDX-License-Identifier: MIT
 *
 * A record of a dump: some bytes and their position.  The reader returns records; `page.h` makes pages from them.  A
 * record owns its buffers, which are reused.
 *
 * Also the options of a reader and its notifications, shared by the files that find inputs, open them and read them.
 */
#ifndef PD_READ_RECORD_H
#define PD_READ_RECORD_H

#include "base/buf.h"

enum pd_record_kind {
	PD_RECORD_RESPONSE, /* WARC response, ARC: `block` is a raw HTTP response */
	PD_RECORD_PAYLOAD,  /* WARC resource, a plain file, JSONL's html: `block` is the page itself */
	PD_RECORD_TEXT,	    /* WARC conversion (WET), JSONL's text: `block` is plain text in UTF-8 */
	PD_RECORD_OTHER,    /* warcinfo, request, metadata, revisit, …: not a page, block is empty */
};

struct pd_record {
	enum pd_record_kind kind;
	struct pd_buf id;	    /* the unique address of the page (docs/format-rows.md, Ids) */
	struct pd_buf url;	    /* as in the dump; the path of a plain file or of a member of tar */
	struct pd_buf fetch_time;   /* RFC 3339, may be empty */
	struct pd_buf digest;	    /* WARC-Payload-Digest without "sha1:" if it is SHA-1 in base32, otherwise
					 * empty */
	struct pd_buf user_id;	    /* the row's own id (JSONL), may be empty */
	struct pd_buf content_type; /* of the block, as in the record; may be empty */
	struct pd_buf address;	    /* of the server, as in the dump; may be empty */
	struct pd_buf header;	    /* unchanged header of WARC and ARC; only if pd_read_dump.keep_header is set */
	struct pd_buf block;	    /* at most the reader's limit */
	uint64_t length;	    /* bytes of the block in the dump */
	bool html_only;		    /* found in a folder or an archive with other files: only HTML is a page */
	bool cut;		    /* block is shorter than length: over the limit */
	bool junk;		    /* a page that is a compressed file, with bytes after it that were not read */
};

void pd_record_clear(struct pd_record *r);
void pd_record_release(struct pd_record *r);

/* --- options of a reader --- */

/* Names of the members of JSONL; NULL: "url", "text", "html", "id". */
struct pd_read_jsonl_fields {
	const char *url, *text, *html, *id;
};

struct pd_read_damage {
	const char *file;   /* as typed */
	uint64_t offset;    /* of the record: in compressed bytes, or in the stream if `stream` */
	bool stream;	    /* the offset is in the decompressed stream: print it as +N */
	bool whole;	    /* the whole input cannot be read: no offset is printed */
	const char *reason; /* valid during the call */
};

/* Set if the caller has already read folders and lists: how an input was found (struct pd_read_file). */
struct pd_found {
	size_t name;
	bool typed, found;
};

struct pd_reader_options {
	char **inputs; /* paths; "-": stdin; none: stdin */
	int n_inputs;
	const struct pd_found *found;	    /* for each input; NULL: all were typed */
	const char *files_from;		    /* a file with one path per line ("-": stdin), or NULL */
	const char *stdin_name;		    /* start of ids of stdin; NULL: "-" */
	const char *select;		    /* an index (read/select.h): only its records are read; NULL: all */
	size_t max_block;		    /* a record's block is cut to this (page limit + space for HTTP headers) */
	int threads;			    /* threads that decode row groups of Parquet */
	struct pd_read_jsonl_fields fields; /* for JSONL and columns; NULL: the usual names */
	bool all_text;			    /* in folders and tar archives, text is read like HTML; otherwise only HTML */
	bool once;			    /* read a file with several names only under the first; a reader always does so */
	bool twice;			    /* inputs are read more than once: messages must not suggest a pipe */
	bool measure;			    /* compute the size of all inputs first, for pd_reader_progress */
	void (*damage)(void *ctx, const struct pd_read_damage *d);
	/* May be NULL.  input: an operand or a line of the list begins ("": a file found in a folder begins).  alias:
	 * `path` is another name of a file that was already read. */
	void (*input)(void *ctx, const char *label);
	void (*alias)(void *ctx, const char *path);
	void *damage_ctx; /* for all three functions */
};

#endif
