/* SPDX-License-Identifier: MIT
 *
 * The other side of include/pagededup.h: what its functions have in common.
 *
 * A handle is memory of an owner's (base/alloc.h), and every call about it runs inside pd_api_call: where memory runs out, or the
 * caller wants no more, the call is left from wherever it is, and the owner gives back what was asked for.  So whatever is reached
 * from here need not know of it.
 */
#ifndef PD_API_API_H
#define PD_API_API_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/column.h"
#include "base/err.h"
#include "base/tsv.h"
#include "pagededup.h"
#include "pipeline.h"

/* --- calls --- */

typedef int pd_api_step(void *ctx, struct pd_err *e);

/* Runs the step as a call of the owner's.  An owner that is broken has no more calls. */
int pd_api_call(struct pd_owner *o, const int *stop, pd_api_step *step, void *ctx, pagededup_error *error);
/* Fills `error` (may be NULL); returns `status`. */
int pd_api_fail(pagededup_error *error, int status, const char *text);
/* The caller's struct into ours, which may be larger or smaller: what it lacks is 0.  PD_ERR_VERSION: it has what we do not know. */
int pd_api_take(void *ours, size_t size, const void *theirs, struct pd_err *e);
/* Ours into the caller's, as much as there is room for. */
void pd_api_give(void *theirs, const void *ours, size_t size);

/* A handle: memory and the calls about it. */
struct pd_api_handle {
	struct pd_owner *owner;
	struct pd_undo undo;
	void (*release)(void *handle);	/* all but its memory, which is the owner's */
	pagededup_model *model;		/* set by `fill`: lives as long as the handle; NULL: it needs none */
};

/* A handle of `size` bytes, zeroes, filled by `fill` (`ctx` is its argument); *out is NULL where that fails.  A handle begins with
 * its struct pd_api_handle. */
typedef int pd_api_fill(void *handle, void *ctx, struct pd_err *e);
int pd_api_new(void **out, size_t size, void (*release)(void *handle), pd_api_fill *fill, void *ctx, pagededup_error *error);
void pd_api_free(void *handle);

/* Keeps the first of the rows that could not be read; what the library made itself has none, so that one is an error of the call. */
void pd_api_keep_bad_row(struct pd_err *first, const char *why);

/* --- the model and its workers --- */

struct pagededup_model {
	struct pd_api_handle handle;
	int refs;
	struct pd_options options;
	struct pd_tables tables;
	struct pd_buf header;
};

struct pagededup_worker {
	struct pd_api_handle handle;
	struct pd_pipeline pipeline;
	struct pd_record record;
	bool has_page;
	const char *skipped;		/* why the last input was no page */
	struct pd_json *json;
	struct pd_buf row, languages, flags, id, url, fetch_time, title;
};

/* The pipeline of one thread; `record` becomes its page. */
enum pd_skip pd_api_sign(struct pagededup_worker *w, const struct pd_record *record);
void pd_api_input(struct pd_record *to, const pagededup_input *input);

struct pagededup_reader {
	struct pd_api_handle handle;
	struct pd_reader *reader;
	struct pd_record record;
	char **paths;
	pagededup_reader_options o;
	struct pd_buf where;
	bool has_record, ended;
	const char *damage;
};

/* --- tables --- */

struct pagededup_table {
	struct pd_api_handle handle;	/* without a model: its rows were not signed here */
	struct pd_column *v;
	size_t n_columns;
	uint64_t rows;
	unsigned with;
	struct pd_buf header, text, scratch;
	pagededup_worker **workers;	/* for pagededup_table_sign */
	int n_workers;
};

/* A column more, of no rows yet; only to an empty table. */
struct pd_column *pd_api_column_add(struct pagededup_table *t, const char *name, int type, int width, enum pd_column_print print,
					 bool in_rows);
/* A row of text, which has the columns that are in rows.  PD_ERR_FORMAT. */
int pd_api_add_row(struct pagededup_table *t, struct pd_span row);
/* The columns of verdicts or answers, and their header. */
void pd_api_verdict_columns(struct pagededup_table *t, const char *const *names);
/* An empty table with an owner of its own. */
int pd_api_table_new(pagededup_table **out, pd_api_fill *fill, void *ctx, pagededup_error *error);

/* Rows of a table of pages as a source of text (base/tsv.h).  A row without an id has the id SIDE:ROW. */
struct pd_api_rows {
	const struct pagededup_table *t;
	char side;
	uint64_t at;
	bool begun;
	struct pd_buf text;
	char name[24];
};
void pd_api_rows_init(struct pd_api_rows *r, const struct pagededup_table *t, char side, const char *name);
struct pd_tsv_source pd_api_rows_source(struct pd_api_rows *r);
void pd_api_rows_id(const struct pagededup_table *t, char side, uint64_t row, struct pd_buf *out);

#endif
