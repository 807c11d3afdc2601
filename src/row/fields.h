/* SPDX-License-Identifier: MIT
 *
 * Values in rows (docs/format-rows.md): the parameters in a header line, the address of a page, the host of its URL.
 */
#ifndef PD_ROW_FIELDS_H
#define PD_ROW_FIELDS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

/* --- parameters --- */

/* The value of `key`; {NULL, 0} when it is not there. */
struct pd_span pd_param(struct pd_span params, const char *key);
/* Add the value of `key` to *sum if it is a number. */
void pd_param_add(struct pd_span params, const char *key, uint64_t *sum);
/* "bits: 64 and 128, hash: xxh3 and rabin"; empty if they are equal. */
void pd_params_differ(struct pd_span a, struct pd_span b, struct pd_buf *out);
/* PD_ERR_PARAMS: a is not empty, and b differs: "PATH: what (differences)remedy"; without a path if it is NULL. */
int pd_params_compare(struct pd_span a, struct pd_span b, const char *path, const char *what, const char *remedy, struct pd_err *e);
/* All tables of a run have the parameters of the first that has some: set `known`, or compare with it as above. */
int pd_params_check(struct pd_buf *known, struct pd_span must, const char *path, const char *what, const char *remedy,
		    struct pd_err *e);
/* The 8 hex digits that rows carry for a must-match group. */
enum { PD_PARAMS_HASH = 9 }; /* bytes, with the final NUL */
void pd_params_hash(struct pd_span must, char out[PD_PARAMS_HASH]);

/* --- addresses of pages --- */

struct pd_page_id {
	struct pd_span file;
	bool has_offset, stream;
	uint64_t offset;
};

struct pd_page_id pd_page_id_parse(struct pd_span id);
int pd_page_id_cmp(struct pd_span a, struct pd_span b);
/* The same for ids that were parsed: x from a, y from b. */
int pd_page_id_order(const struct pd_page_id *x, struct pd_span a, const struct pd_page_id *y, struct pd_span b);

/* --- URLs --- */

/* The host in lower case, without user, port and trailing dot; empty if the URL has none. */
void pd_url_host(struct pd_span url, struct pd_buf *out);

#endif
