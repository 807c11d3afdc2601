/* SPDX-License-Identifier: MIT
 *
 * What a reader is asked for, and what it tells on the way: shared by the files that find inputs, open them and read them.
 */
#ifndef PD_READ_OPTIONS_H
#define PD_READ_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* How an input was come by, where somebody else has looked through folders and lists already (struct pd_read_file). */
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
	size_t max_block;	/* a record's block is cut here (page limit + room for HTTP headers) */
	struct pd_read_jsonl_fields fields;	/* of JSONL; NULL: the usual names */
	bool all_text;		/* of files in folders and tar archives, text is as good as HTML; else only HTML is */
	bool once;		/* a file that has several names is an input under the first of them alone; a reader always does so */
	bool measure;		/* sum up the sizes of all inputs first, for bytes_total */
	void (*damage)(void *ctx, const struct pd_read_damage *d);
	/* May be NULL: what was typed, or a line of the list, begins ("": a file begins that was found in a folder); `path` is another name of a file that was given already. */
	void (*input)(void *ctx, const char *label);
	void (*alias)(void *ctx, const char *path);
	void *damage_ctx;	/* of all three */
};

#endif
