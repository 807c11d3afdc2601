/* SPDX-License-Identifier: MIT
 *
 * Rows as matching needs them: keys in memory, the rest of each row in a spool on disk.  Rows end up numbered in the
 * order of their ids, whatever the order in which they came.
 * They come from fp rows and key files, as text or binary, in any order.
 */
#ifndef PD_ROWS_ROWS_H
#define PD_ROWS_ROWS_H

#include <stdio.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/tsv.h"
#include "link/owner.h"
#include "rows/late.h"
#include "sign/sign.h"
#include "sign/sketch.h"
#include "sign/subject.h"

struct pd_facts {
	int64_t terms;		/* of the main text; -1: not said */
	double confidence;	/* in the main text; 1 where not said */
	struct pd_subject subject;
	uint64_t language;	/* a hash; 0: not said */
};

#define PD_FACTS_UNKNOWN ((struct pd_facts){ .terms = -1, .confidence = 1 })

/* From the columns as they stand in a row; "-" and nothing: not said. */
struct pd_facts pd_facts_read(struct pd_span url, struct pd_span terms, struct pd_span confidence, struct pd_span languages,
			      struct pd_span subject);

/* Rows of one kind: those with a fingerprint, or those with nothing but a text digest (128 bits). */
struct pd_rows_set {
	int words;		/* of a key */
	size_t n;
	uint32_t *row;		/* ascending; NULL: all rows from 0 on */
	uint64_t *keys;		/* n * words */
};

/* The row of a set's i-th member. */
static inline uint32_t pd_rows_set_row(const struct pd_rows_set *set, uint32_t i)
{
	return set->row ? set->row[i] : i;
}

/* What a scope keeps together, or apart. */
enum pd_rows_realm { PD_REALM_NONE, PD_REALM_HOST, PD_REALM_LANGUAGE, PD_REALM_OWNER };

struct pd_rows_memory {
	struct pd_array row[2], keys[2], low, high, realm, side;
};

struct pd_rows {
	int bits;			/* of the fingerprints; 0: none was seen */
	size_t n;
	struct pd_rows_set fingerprints, digests;
	uint8_t *side;			/* by row: PD_SIDE_…; NULL unless some rows were to be matched against others */
	uint64_t *realm;		/* hash of the host, the language or the owner, by row; NULL unless asked for */
	enum pd_rows_realm realms;
	uint64_t bad;			/* rows that could not be read: reported and left out */
	uint64_t repeated;		/* rows whose id stood there already: left out */
	struct pd_buf must, totals;	/* of the headers, for the next stage */
	uint64_t cut;			/* tables that were cut: no "# total" is passed on */
	char params[16];		/* that rows carry, "" when none did */
	/* sketches (rows.c says how they lie in the spool) */
	struct pd_sketch_options sketch;	/* the kind that is compared */
	int sketch_kind;
	uint64_t sketched, other_sketches;	/* rows with one of that kind, and of others */
	struct pd_methods methods;		/* that are joined; none: the fingerprint alone, as ever */
	/* spool: of each row its sketch, the hash of its content digest, a byte for the kind of the sketch, its line: PD_ROW_FIELDS
	 * columns, then the values of `methods`, of those that have a column */
	struct pd_rows_offsets at;		/* of a row's line; with `late` of those that are there */
	char *spool;			/* mapped */
	size_t spool_size;
	/* Or texts stay in their files (rows/late.h), and there are only those that were fetched */
	struct pd_rows_late *late;	/* NULL: all are in the spool */
	uint64_t *there;		/* a bit for each row; NULL: all are there */
	uint32_t *before;		/* how many are there before each 64 rows */
	struct pd_budget *budget;	/* that the arrays count against, and what matching needs; NULL: none */
	struct pd_rows_memory memory;	/* of the arrays, where they were read */
	struct pd_rows_origin *origin;	/* while rows come in: the files, each with its first row */
	size_t n_origins, cap_origins;
};

struct pd_rows_origin {
	const char *path;
	size_t row;
};

#define PD_SIDE_A 1
#define PD_SIDE_B 2	/* an id that stands on both sides is one row, on both */

/* The parts of a row that pairs carry. */
struct pd_rows_view {
	struct pd_span id, url, fetch_time, text_bytes, quality, content_digest;
};

void pd_rows_release(struct pd_rows *rows);

/* Which of the texts that are there is a row's? */
static inline size_t pd_rows_place(const struct pd_rows *rows, uint32_t row)
{
	uint64_t bit = UINT64_C(1) << (row % 64);
	return rows->there ? rows->before[row / 64] + (size_t)__builtin_popcountll(rows->there[row / 64] & (bit - 1)) : row;
}

/* A row's line as it lies in the spool; it ends with a newline.  With `late` only the columns of struct pd_rows_view. */
static inline const char *pd_rows_text(const struct pd_rows *rows, uint32_t row)
{
	return rows->spool + pd_rows_offset(&rows->at, pd_rows_place(rows, row));
}

/* The hash of a row's content digest; 0: not known. */
static inline uint64_t pd_rows_content(const struct pd_rows *rows, uint32_t row)
{
	uint64_t hash;
	memcpy(&hash, pd_rows_text(rows, row) - 1 - sizeof hash, sizeof hash);
	return hash;
}

/* A row that will soon be read: rows lie anywhere, so they are prefetched. */
static inline void pd_rows_expect(const struct pd_rows *rows, uint32_t row)
{
	pd_prefetch(pd_rows_text(rows, row));
	pd_prefetch(pd_rows_text(rows, row) - 64);
}

/* The column of a method of rows->methods, as it came. */
struct pd_span pd_rows_value(const struct pd_rows *rows, uint32_t row, int method);
struct pd_rows_view pd_rows_view(const struct pd_rows *rows, uint32_t row);
/* What decides whether it is a duplicate, but for the name of its address, and the hash of its host; nothing is known of rows that
 * were never spooled.  `scratch` is the caller's. */
struct pd_facts pd_rows_facts(const struct pd_rows *rows, uint32_t row, uint64_t *host, struct pd_buf scratch[2]);
/* That name, too: it costs more than all the rest, and few pairs need it (pd_subjects_need_names). */
void pd_rows_add_name(const struct pd_rows *rows, uint32_t row, struct pd_facts *f);
/* False: the row has none of the kind that is compared. */
bool pd_rows_sketch(const struct pd_rows *rows, uint32_t row, struct pd_sketch *out);

/* --- reading --- */

/* Which texts are needed: all; or those of rows in pairs alone (rows/fetch.h), where none can be verified, or at any rate. */
enum pd_rows_texts { PD_TEXTS_ALL, PD_TEXTS_TO_VERIFY, PD_TEXTS_OF_PAIRS };

struct pd_rows_options {
	char **paths;
	int n_paths;
	char **against;			/* these rows are side B, those of `paths` side A */
	int n_against;
	struct pd_tsv_sources sources;	/* of paths that are no files */
	const char *tmp_dir;
	struct pd_budget *budget;	/* lives as long as the rows; NULL: none */
	enum pd_rows_realm realms;	/* to be had of each row */
	struct pd_owners *owners;	/* with PD_REALM_OWNER: whose a page is */
	const struct pd_methods *asked;	/* the methods to join, with how to compare; NULL or none: those that the rows were signed by */
	bool paper;			/* what nobody said of comparing is the preset's */
	enum pd_rows_texts texts;
	int threads;			/* 0: one */
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

/* PD_ERR_PARAMS when rows were made with different parameters: the message says which.  PD_ERR_INPUT when one id stands for two
 * pages. */
int pd_rows_read(struct pd_rows *rows, const struct pd_rows_options *o, struct pd_err *e);

/* As a key file; name: of `to`, for messages. */
int pd_rows_save(const struct pd_rows *rows, FILE *to, const char *name, struct pd_err *e);

#endif
