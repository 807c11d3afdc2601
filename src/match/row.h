/* SPDX-License-Identifier: MIT
 *
 * The row of a page in memory: the columns of a line of fp, and the signatures that are parsed from them.  All stages
 * that read fp rows parse them here, so that they refuse the same rows.
 */
#ifndef PD_MATCH_ROW_H
#define PD_MATCH_ROW_H

#include "base/err.h"
#include "base/hash.h"
#include "row/columns.h"
#include "sign/sketch.h"
#include "sign/subject.h"

struct pd_row {
	struct pd_span f[PD_FP_COLUMNS];  /* with their escapes; {NULL, 0}: the row lacks the column */
	bool has_fingerprint, has_digest; /* digest: it has no fingerprint, but a text digest of 128 bits */
	bool other_sketch;		  /* it has a sketch of another size */
	int bits;			  /* of the fingerprint */
	struct pd_key key;		  /* the fingerprint, or the text digest */
	struct pd_sketch sketch;
};

/* Parse the signatures in row->f.  `sketch` is the kind of sketches to parse; NULL: none.  PD_ERR_FORMAT: the row has
 * no id, or a value is invalid; the message does not name the row. */
int pd_row_parse(struct pd_row *row, const struct pd_sketch_options *sketch, struct pd_err *e);

/* The columns that are kept with a row while it is matched, in the order of rows in the spool and in key files.  Rows
 * of key files of version 1 have the first five, rows of version 2 all except content_digest. */
enum pd_row_field {
	PD_ROW_ID,
	PD_ROW_URL,
	PD_ROW_FETCH_TIME,
	PD_ROW_TEXT_BYTES,
	PD_ROW_QUALITY,
	PD_ROW_CONTENT_DIGEST,
	PD_ROW_TERMS,
	PD_ROW_CONFIDENCE,
	PD_ROW_LANGUAGES,
	PD_ROW_SUBJECT,
	PD_ROW_FIELDS
};

/* The fields of a row that pairs carry: its first fields. */
#define PD_ROW_VIEWED (PD_ROW_CONTENT_DIGEST + 1)

extern const int pd_row_kept[PD_ROW_FIELDS]; /* enum pd_fp_column */

/* --- values that decide whether two similar pages are duplicates --- */

struct pd_facts {
	int64_t terms;	   /* of the main text; -1: unknown */
	double confidence; /* in the main text; 1 if unknown */
	struct pd_subject subject;
	uint64_t language; /* a hash; 0: unknown */
};

#define PD_FACTS_UNKNOWN ((struct pd_facts){ .terms = -1, .confidence = 1 })

/* Parse the columns of a row; "-" and absent values mean unknown.  */
struct pd_facts pd_facts_read(const struct pd_span f[PD_FP_COLUMNS]);

/* The hash of a row's languages; 0: unknown. */
uint64_t pd_row_hash_language(struct pd_span languages);

#endif
