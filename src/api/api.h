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

/* Runs the step as a call of the owner's.  An owner that is broken has no more calls.  The caller has entered the handles that the
 * step uses (below). */
int pd_api_call(struct pd_owner *o, const int *stop, pd_api_step *step, void *ctx, pagededup_error *error);
/* Fills `error` (may be NULL); returns `status`. */
int pd_api_fail(pagededup_error *error, int status, const char *text);
/* The caller's struct into ours, which may be larger or smaller: what it lacks is 0.  PD_ERR_VERSION: it has what we do not know.
 * PD_ERR_USAGE: its size is not that of such a struct. */
int pd_api_take(void *ours, size_t size, const void *theirs, struct pd_err *e);
/* Ours into the caller's, as much as there is room for. */
void pd_api_give(void *theirs, const void *ours, size_t size);
/* PD_ERR_USAGE: a struct for results, which may be NULL, has no size. */
int pd_api_check_result(const void *theirs, pagededup_error *error);

/* Kinds of handles.  A kind is the mark by which a handle is told from other memory; a freed handle has none, as long as its memory
 * is not used again. */
enum pd_api_kind {
	PD_API_MODEL = 0x70644d01,
	PD_API_WORKER,
	PD_API_READER,
	PD_API_TABLE,
	PD_API_LEARNER,
	PD_API_STORE
};

/* A handle: memory and the calls about it. */
struct pd_api_handle {
	struct pd_owner *owner;
	unsigned kind;
	unsigned use;			/* calls that share it, and the marks below; changed by atomic steps only */
	struct pd_undo undo;
	void (*release)(void *handle);	/* all but its memory, which is the owner's */
	pagededup_model *model;		/* set by `fill`: lives as long as the handle; NULL: it needs none */
};

/* A public call uses its handles from pd_api_enter to pd_api_leave: alone if it changes them, otherwise shared with calls that do not,
 * either.  A handle that another call uses is refused with PD_ERR_BUSY: two threads, or a callback.  NULL and a handle of another
 * kind are refused with PD_ERR_USAGE.  A model never changes: it is checked, and not counted.  A handle that is freed meanwhile is
 * freed by pd_api_leave. */
struct pd_api_use {
	const void *handle;
	enum pd_api_kind kind;
	bool alone;
};
#define PD_API_ALONE(kind, handle) { handle, PD_API_##kind, true }
#define PD_API_SHARED(kind, handle) { handle, PD_API_##kind, false }
int pd_api_enter(const struct pd_api_use *uses, int n, pagededup_error *error);
/* Returns `status`. */
int pd_api_leave(const struct pd_api_use *uses, int n, int status);
/* pd_api_enter, pd_api_call and pd_api_leave for one handle that is used alone. */
int pd_api_call_alone(const void *handle, enum pd_api_kind kind, const int *stop, pd_api_step *step, void *ctx, pagededup_error *error);
bool pd_api_is(const void *handle, enum pd_api_kind kind);
/* While a callback has a handle it may read it, and neither change nor free it. */
void pd_api_lend(void *handle, bool lent);

/* A handle of `size` bytes, zeroes, filled by `fill` (`ctx` is its argument); *out is NULL where that fails.  A handle begins with
 * its struct pd_api_handle. */
typedef int pd_api_fill(void *handle, void *ctx, struct pd_err *e);
int pd_api_new(void **out, enum pd_api_kind kind, size_t size, void (*release)(void *handle), pd_api_fill *fill, void *ctx, pagededup_error *error);
/* The same for a handle that belongs to a model. */
int pd_api_new_of(const pagededup_model *m, void **out, enum pd_api_kind kind, size_t size, void (*release)(void *handle), pd_api_fill *fill,
		  void *ctx, pagededup_error *error);
/* NULL and a handle of another kind are ignored. */
void pd_api_free(void *handle, enum pd_api_kind kind);

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
/* Whether the input's body is there.  PD_ERR_USAGE. */
int pd_api_check_input(const pagededup_input *input, struct pd_err *e);
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
/* Whether an array of columns can be read: structs of one size, with names.  PD_ERR_USAGE. */
int pd_api_check_columns(const pagededup_column *columns, size_t n, uint64_t rows, struct pd_err *e);
/* Whether a column that is used has values for all rows.  PD_ERR_FORMAT. */
int pd_api_check_column(const pagededup_column *c, uint64_t rows, struct pd_err *e);
/* The column after this one in the caller's array. */
const pagededup_column *pd_api_next_column(const pagededup_column *c);
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
