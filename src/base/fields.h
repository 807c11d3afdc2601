/* SPDX-License-Identifier: MIT
 *
 * The fields of rows (docs/format-rows.md): their columns, the parameters in a header line, the address of a page,
 * the host of its URL.
 */
#ifndef PD_BASE_FIELDS_H
#define PD_BASE_FIELDS_H

#include "base/buf.h"
#include "base/span.h"

/* --- columns --- */

enum pd_fp_column {
	PD_FP_FINGERPRINT,
	PD_FP_ID,
	PD_FP_URL,
	PD_FP_FETCH_TIME,
	PD_FP_CONTENT_DIGEST,
	PD_FP_TEXT_DIGEST,
	PD_FP_CONTENT_CHARSET,
	PD_FP_LANGUAGES,
	PD_FP_TERMS,
	PD_FP_TEXT_BYTES,
	PD_FP_CONFIDENCE,
	PD_FP_FLAGS,
	PD_FP_QUALITY,
	PD_FP_SKETCH,
	PD_FP_USER_ID,
	PD_FP_PARAMS,
	PD_FP_SUBJECT,
	PD_FP_COLUMNS
};

enum pd_pairs_column {
	PD_PAIRS_ID_A,
	PD_PAIRS_ID_B,
	PD_PAIRS_DISTANCE,
	PD_PAIRS_SIMILARITY,
	PD_PAIRS_METHOD,
	PD_PAIRS_URL_A,
	PD_PAIRS_URL_B,
	PD_PAIRS_FETCH_TIME_A,
	PD_PAIRS_TEXT_BYTES_A,
	PD_PAIRS_QUALITY_A,
	PD_PAIRS_FETCH_TIME_B,
	PD_PAIRS_TEXT_BYTES_B,
	PD_PAIRS_QUALITY_B,
	PD_PAIRS_CONTENT_DIGEST_A, /* by which `apply` verifies the page */
	PD_PAIRS_CONTENT_DIGEST_B,
	PD_PAIRS_COLUMNS
};

enum pd_link_column {
	PD_LINK_PAGE,
	PD_LINK_TARGET,
	PD_LINK_TYPE,
	PD_LINK_BLOCK,
	PD_LINK_CLASS,
	PD_LINK_ANCHOR,
	PD_LINK_NAME,
	PD_LINK_COLUMNS
};
extern const char *const pd_link_columns[PD_LINK_COLUMNS + 1]; /* NULL at the end */

enum pd_ranks_column {
	PD_RANKS_ID,
	PD_RANKS_URL,
	PD_RANKS_PAGE,
	PD_RANKS_DOMAIN,
	PD_RANKS_SIGNATURE,
	PD_RANKS_QUALITY,
	PD_RANKS_COLUMNS
};
extern const char *const pd_ranks_columns[PD_RANKS_COLUMNS + 1]; /* NULL at the end */

/* The columns of pairs that other methods than the fingerprint found, plus four. */
enum pd_pairs_methods_column {
	PD_PAIRS_SHARED = PD_PAIRS_COLUMNS,
	PD_PAIRS_SHARE_A,
	PD_PAIRS_SHARE_B,
	PD_PAIRS_LINKED,
	PD_PAIRS_METHODS_COLUMNS
};

enum pd_verdicts_column {
	PD_VERDICTS_CLUSTER_ID,
	PD_VERDICTS_ID,
	PD_VERDICTS_URL,
	PD_VERDICTS_IS_DUPLICATE,
	PD_VERDICTS_DUP_OF,
	PD_VERDICTS_VIA,
	PD_VERDICTS_DISTANCE,
	PD_VERDICTS_SIMILARITY,
	PD_VERDICTS_TEXT_BYTES,
	PD_VERDICTS_WEIGHT,
	PD_VERDICTS_REASON,
	PD_VERDICTS_CLUSTER_SIZE,   /* of the page kept: the number of pages that it represents, including itself */
	PD_VERDICTS_LOSS,	    /* of a duplicate: the share of its text that the page kept lacks, when texts were compared */
	PD_VERDICTS_SUSPECT,	    /* of a kept page that may be a duplicate of dup_of: the reason to keep it */
	PD_VERDICTS_CONTENT_DIGEST, /* of the page: `apply` compares it before it removes the page */
	PD_VERDICTS_COLUMNS
};

/* Lines "# suspect REASON" among pairs contain a row of a suspect: two similar pages that are not a pair. */
#define PD_SUSPECT_MARK "suspect"

/* The columns of verdicts up to the reason, plus four. */
enum pd_answers_column {
	PD_ANSWERS_STATUS = PD_VERDICTS_REASON + 1,
	PD_ANSWERS_MATCHES,
	PD_ANSWERS_SUSPECT,
	PD_ANSWERS_CONTENT_DIGEST,
	PD_ANSWERS_COLUMNS
};

extern const char *const pd_fp_columns[PD_FP_COLUMNS + 1];
extern const char *const pd_pairs_columns[PD_PAIRS_COLUMNS + 1];
extern const char *const pd_pairs_methods_columns[PD_PAIRS_METHODS_COLUMNS + 1];
extern const char *const pd_verdicts_columns[PD_VERDICTS_COLUMNS + 1];
extern const char *const pd_answers_columns[PD_ANSWERS_COLUMNS + 1];

/* --- parameters --- */

/* The value of `key`; {NULL, 0} when it is not there. */
struct pd_span pd_param(struct pd_span params, const char *key);
/* "bits: 64 and 128, hash: xxh3 and rabin"; empty if they are equal. */
void pd_params_differ(struct pd_span a, struct pd_span b, struct pd_buf *out);
/* The 8 hex digits that rows carry for a must-match group. */
void pd_params_hash(struct pd_span must, char out[9]);

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
