/* SPDX-License-Identifier: MIT
 *
 * Side outputs of a clean-up, for users who look up or join pages: an index, and tables of removed pages.
 *
 * The index contains WARC and ARC files in CDXJ, as pywb reads it (and its `cdxj-indexer` writes it): a line for
 * each response, revisit, resource and metadata record, in the order of the file.
 *
 *	com,example)/a 20240102030405 {"url":"http://example.com/a","mime":"text/html","status":"200","digest":"sha1:…",
 *		"length":"1234","offset":"5678","filename":"clean.warc.gz"}
 *
 * Length and offset are those of the compressed member.  Records that share a member have no line, because readers
 * cannot seek to them.
 */
#ifndef PD_APPLY_SIDE_OUTPUTS_H
#define PD_APPLY_SIDE_OUTPUTS_H

#include "apply/apply.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "read/source.h"

/* The sort-friendly form of a URL by which web archives look up pages (SURT): the host is reversed, and parts that
 * do not distinguish pages are normalised by the rules of the Wayback machine: scheme, user, default port, "www.",
 * letter case, unnecessary escapes, "." and "..", empty segments, a slash at the end, the order of the query,
 * session ids.
 *
 *	http://www.Example.com/a/B?b=2&a=1 -> com,example)/a/b?a=1&b=2
 *
 * Other URLs (dns:, urn:) are only converted to lower case.  Hosts outside ASCII stay escaped: crawlers write them
 * in their ASCII form.  Buffers are reused. */
struct pd_apply_surt {
	struct pd_buf host, path, query, part, key;
	struct pd_span *parts; /* of the query */
	size_t cap_parts;
};

struct pd_apply_cdxj {
	struct pd_outfile out;
	struct pd_read_source source;
	struct pd_read_sink sink;
	struct pd_record record;
	struct pd_apply_surt surt;
	struct pd_json *json;
	struct pd_buf line, value;
	uint64_t lines, without; /* written; records without a position of their own */
};

int pd_apply_cdxj_open(struct pd_apply_cdxj *x, const char *path, struct pd_err *e);
/* Records of a dump; other files have none. */
int pd_apply_cdxj_add(struct pd_apply_cdxj *x, const char *dump, struct pd_err *e);
/* `status` < 0: discard the output, and return `status`. */
int pd_apply_cdxj_close(struct pd_apply_cdxj *x, int status, struct pd_err *e);

/* Tables of removed pages for joins: one JSON Lines file for each input that loses a page, a row for each page in
 * the order of the input.
 *
 *	{"id":"crawl.jsonl:1432","user_id":"doc-17","url":"http://…","duplicate_of":"crawl.jsonl:0"}
 *
 * FOLDER/NAME.jsonl is named like the output of the input; pages that are separate files are in one file,
 * FOLDER/pages.jsonl. Memory: the rows of one input. */
struct pd_apply_attributes {
	struct pd_outfile pages; /* of pages that are files */
	bool pages_open;
	struct pd_json *json;
	struct pd_buf rows, path; /* of the input at hand */
};

struct pd_apply_side_outputs {
	/* set by the caller, in zeroes */
	const char *attributes; /* the folder of these tables; NULL: none */
	const char *cdxj;	/* the index; NULL: none */
	/* its own */
	struct pd_apply_attributes tables;
	struct pd_apply_cdxj index;
};

int pd_apply_side_outputs_open(struct pd_apply_side_outputs *b, struct pd_err *e);
/* Called for a removed page of the current input. */
void pd_apply_side_outputs_page(struct pd_apply_side_outputs *b, const struct pd_record *r, struct pd_span dup_of);
/* An input is done. */
int pd_apply_side_outputs_input(struct pd_apply_side_outputs *b, const struct pd_apply_result *done, struct pd_err *e);
/* Finish all files, or, if `status` is an error, discard the remaining ones and return `status`. */
int pd_apply_side_outputs_close(struct pd_apply_side_outputs *b, int status, struct pd_err *e);

#endif
