/* SPDX-License-Identifier: MIT
 *
 * An index of WARC and ARC files in CDXJ, as pywb reads it (and its `cdxj-indexer` writes it): a line for each response,
 * revisit, resource and metadata record, in the order of the file.
 *
 *	com,example)/a 20240102030405 {"url":"http://example.com/a","mime":"text/html","status":"200","digest":"sha1:…",
 *		"length":"1234","offset":"5678","filename":"clean.warc.gz"}
 *
 * Length and offset are those of the compressed member.  Records that are not alone in their member have no line: nobody
 * could seek to them.
 */
#ifndef PD_APPLY_CDXJ_H
#define PD_APPLY_CDXJ_H

#include "base/buf.h"
#include "base/json.h"
#include "base/outfile.h"
#include "read/source.h"

/* The sort-friendly form of a URL that web archives look pages up by (SURT): host reversed, and what does not tell pages
 * apart undone, by the rules of the Wayback machine: scheme, user, default port, "www.", letter case, escapes that need
 * not be, "." and "..", empty segments, a slash at the end, the order of the query, session ids.
 *
 *	http://www.Example.com/a/B?b=2&a=1  ->  com,example)/a/b?a=1&b=2
 *
 * What is no http-like URL (dns:, urn:) is only brought to lower case.  Hosts outside ASCII stay escaped: crawlers write
 * them in their ASCII form.
 *
 * Buffers are used again. */
struct pd_apply_surt {
	struct pd_buf host, path, query, part, key;
	struct pd_span *parts;		/* of the query */
	size_t cap_parts;
};

void pd_apply_surt(struct pd_apply_surt *s, struct pd_span url, struct pd_buf *out);
void pd_apply_surt_release(struct pd_apply_surt *s);

struct pd_apply_cdxj {
	struct pd_outfile out;
	struct pd_read_source source;
	struct pd_read_sink sink;
	struct pd_record record;
	struct pd_apply_surt surt;
	struct pd_json *json;
	struct pd_buf line, value;
	uint64_t lines, without;	/* written; records that have no place of their own */
};

int pd_apply_cdxj_open(struct pd_apply_cdxj *x, const char *path, struct pd_err *e);
/* The records of a dump; other files have none. */
int pd_apply_cdxj_add(struct pd_apply_cdxj *x, const char *dump, struct pd_err *e);
/* `status` < 0: what was written is thrown away, and `status` comes back. */
int pd_apply_cdxj_close(struct pd_apply_cdxj *x, int status, struct pd_err *e);

#endif
