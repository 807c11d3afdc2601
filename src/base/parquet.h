/* SPDX-License-Identifier: MIT
 *
 * Apache Parquet, and Arrow's own files and streams, by Arrow's C++ library, which a program can be built without: then opening refuses, in
 * words.
 *
 * In: Parquet, an open file that can be sought in; Arrow, bytes one after the other, as a pipe has them.  Out: rows in batches, as columns;
 * what it was said to be made with.  And the other way: columns -> bytes, to whoever writes them.  And a file without some rows -> such a
 * file, with all its columns, whatever their types.
 *
 * A batch is some megabytes; of Parquet the next are decoded while one is worked on, on threads, those of several row groups at once, as
 * far as a bound of bytes allows.  Of a row group that is being written all is in memory, compressed.  What cannot be decoded costs the
 * rest of its row group; of Arrow, all that follows.  Nothing here is of the C library's: what memory Arrow takes, it gives back, and no
 * exception of C++ leaves it.
 */
#ifndef PD_BASE_PARQUET_H
#define PD_BASE_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ARROW: a stream, or a file, which is one in an envelope. */
enum pd_parquet_form { PD_FORM_OTHER, PD_FORM_PARQUET, PD_FORM_ARROW };
/* Of what begins so; PD_FORM_HEAD bytes tell it.  `may`, which may be NULL: with fewer it could still be one of them. */
enum { PD_FORM_HEAD = 8 };
enum pd_parquet_form pd_parquet_form(const void *head, size_t n, bool *may);

/* As enum pd_column_type (base/column.h), and one more: bytes that are no text, of any length; only read. */
enum { PD_PARQUET_NUMBER = 1, PD_PARQUET_REAL, PD_PARQUET_TEXT, PD_PARQUET_BYTES, PD_PARQUET_BLOB };

struct pd_parquet_column {
	const char *name;
	int type, width;
	const uint8_t *valid;	/* a bit for each row, lowest first; NULL: all have a value */
	const int64_t *offsets;	/* TEXT, BLOB */
	const void *data;
};

struct pd_parquet_error {
	int number;	/* errno, where a system call failed; 0: the file is at fault */
	char text[400];
};

/* --- reading --- */

struct pd_parquet;

/* Of PD_FORM_PARQUET; `fd` stays the caller's.  0, or -1 and why. */
int pd_parquet_open(struct pd_parquet **out, int fd, struct pd_parquet_error *e);
/* Of PD_FORM_ARROW, from its first byte on.  `take`: up to n bytes: how many, 0 at the end, -1 and errno. */
typedef ptrdiff_t pd_parquet_take(void *ctx, void *to, size_t n);
int pd_parquet_open_stream(struct pd_parquet **out, pd_parquet_take *take, void *ctx, struct pd_parquet_error *e);
void pd_parquet_close(struct pd_parquet *p);
/* UINT64_MAX: nobody knows before the end. */
uint64_t pd_parquet_rows(const struct pd_parquet *p);
/* What the file says under this key; NULL: nothing.  At the end it may say more than before. */
const char *pd_parquet_note(const struct pd_parquet *p, const char *key);
size_t pd_parquet_columns(const struct pd_parquet *p);
const char *pd_parquet_name(const struct pd_parquet *p, size_t i);
/* What a column's values are by themselves; 0: nothing that could be had here, such as lists. */
int pd_parquet_type(const struct pd_parquet *p, size_t i);

/* From row `from` on these columns are read, each as the type that is wanted: TEXT of anything but BLOB and BYTES (times in RFC 3339), NUMBER
 * and REAL of numbers.  `bits`: of numbers with a sign the bits are meant. */
struct pd_parquet_want {
	size_t column;
	int type;
	bool bits;
};
/* `threads`: so many row groups may be decoded at once. */
int pd_parquet_read(struct pd_parquet *p, const struct pd_parquet_want *want, size_t n, uint64_t from, int threads, struct pd_parquet_error *e);

/* Rows `row` to row + n - 1, and a column for each that is wanted; dies at the next call. */
struct pd_parquet_batch {
	uint64_t row, n;
	const struct pd_parquet_column *v;
};
/* 1 a batch, 0 the end, -1: these rows cannot be had (of Arrow nobody knows how many: n is 0), and why, with the number of their row group;
 * reading goes on behind them. */
int pd_parquet_next(struct pd_parquet *p, struct pd_parquet_batch *out, struct pd_parquet_error *e);

/* --- writing --- */

/* Takes all bytes: 0, or errno. */
typedef int pd_parquet_write(void *ctx, const void *bytes, size_t n);

struct pd_parquet_writer;

/* Names, types and widths of the columns count; `key` and `note` are what is known from the start.  Of Arrow it is a stream. */
int pd_parquet_writer_open(struct pd_parquet_writer **out, enum pd_parquet_form form, const struct pd_parquet_column *v, size_t n, const char *key, const char *note,
			   pd_parquet_write *write, void *ctx, struct pd_parquet_error *e);
/* A row group, or a batch. */
int pd_parquet_writer_put(struct pd_parquet_writer *w, const struct pd_parquet_column *v, uint64_t rows, struct pd_parquet_error *e);
/* The end, with one note more unless it is NULL. */
int pd_parquet_writer_end(struct pd_parquet_writer *w, const char *key, const char *note, struct pd_parquet_error *e);
void pd_parquet_writer_free(struct pd_parquet_writer *w);

/* Rows from..to - 1 are left out; ascending, apart. */
struct pd_parquet_cut {
	uint64_t from, to;
};
int pd_parquet_copy(int fd, const struct pd_parquet_cut *cuts, size_t n, pd_parquet_write *write, void *ctx, struct pd_parquet_error *e);

#ifdef __cplusplus
}
#endif

#endif
