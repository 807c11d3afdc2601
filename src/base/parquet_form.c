/* SPDX-License-Identifier: MIT
 *
 * The part of parquet.h that does not need Arrow's library: the format of a file, and errors for reading and writing.
 */
#include "base/parquet.h"

#include <stdio.h>
#include <string.h>

enum pd_parquet_form pd_parquet_form(const void *head, size_t n, bool *may)
{
	static const char parquet[] = "PAR1", file[] = "ARROW1", stream[] = "\xff\xff\xff\xff";
	if (may)
		*may = n < PD_FORM_HEAD;
	if (!n)
		return PD_FORM_OTHER;
	bool is_parquet = !memcmp(head, parquet, n < 4 ? n : 4), is_file = !memcmp(head, file, n < 6 ? n : 6);
	bool is_stream = !memcmp(head, stream, n < 4 ? n : 4);
	int32_t length = 0; /* of a stream's first message, its columns */
	if (is_stream && n >= 8)
		memcpy(&length, (const char *)head + 4, sizeof length);
	if (may && n < PD_FORM_HEAD)
		*may = (is_parquet || is_file || is_stream);
	if (n >= PD_FORM_HEAD)
		is_stream = is_stream && length > 0 && length < 1 << 28;
	return n < PD_FORM_HEAD	      ? PD_FORM_OTHER
	       : is_parquet	      ? PD_FORM_PARQUET
	       : is_file || is_stream ? PD_FORM_ARROW
				      : PD_FORM_OTHER;
}

#ifdef PD_WITHOUT_parquet

static int refuse(enum pd_parquet_form form, struct pd_parquet_error *e)
{
	e->number = 0;
	snprintf(e->text, sizeof e->text,
		 "it is %s, and this program was built without Apache Arrow's libraries; convert it with: pip install pyarrow "
		 "pandas; "
		 "python3 -c \"import %s; %s.to_pandas().to_json('FILE.jsonl', orient='records', lines=True)\"",
		 form == PD_FORM_ARROW ? "Arrow" : "Parquet",
		 form == PD_FORM_ARROW ? "pyarrow.feather as f" : "pyarrow.parquet as p",
		 form == PD_FORM_ARROW ? "f.read_table('FILE')" : "p.read_table('FILE')");
	return -1;
}

int pd_parquet_open(struct pd_parquet **out, int fd, struct pd_parquet_error *e)
{
	*out = NULL;
	return refuse(PD_FORM_PARQUET, e);
}

int pd_parquet_open_stream(struct pd_parquet **out, pd_parquet_take *take, void *ctx, struct pd_parquet_error *e)
{
	*out = NULL;
	return refuse(PD_FORM_ARROW, e);
}

int pd_parquet_writer_open(struct pd_parquet_writer **out, enum pd_parquet_form form, const struct pd_parquet_column *v, size_t n,
			   const char *key, const char *note, pd_parquet_write *write, void *ctx, struct pd_parquet_error *e)
{
	*out = NULL;
	return refuse(form, e);
}

int pd_parquet_copy(int fd, const struct pd_parquet_cut *cuts, size_t n, pd_parquet_write *write, void *ctx,
		    struct pd_parquet_error *e)
{
	return refuse(PD_FORM_PARQUET, e);
}

/* Without Arrow no file is opened, so these functions are never called. */
void pd_parquet_close(struct pd_parquet *p)
{
}
uint64_t pd_parquet_rows(const struct pd_parquet *p)
{
	return 0;
}
const char *pd_parquet_note(const struct pd_parquet *p, const char *key)
{
	return NULL;
}
size_t pd_parquet_columns(const struct pd_parquet *p)
{
	return 0;
}
const char *pd_parquet_name(const struct pd_parquet *p, size_t i)
{
	return "";
}
int pd_parquet_type(const struct pd_parquet *p, size_t i)
{
	return 0;
}
int pd_parquet_read(struct pd_parquet *p, const struct pd_parquet_want *want, size_t n, uint64_t from, int threads,
		    struct pd_parquet_error *e)
{
	return -1;
}
int pd_parquet_next(struct pd_parquet *p, struct pd_parquet_batch *out, struct pd_parquet_error *e)
{
	return 0;
}
int pd_parquet_writer_put(struct pd_parquet_writer *w, const struct pd_parquet_column *v, uint64_t rows, struct pd_parquet_error *e)
{
	return -1;
}
int pd_parquet_writer_end(struct pd_parquet_writer *w, const char *key, const char *note, struct pd_parquet_error *e)
{
	return -1;
}
void pd_parquet_writer_free(struct pd_parquet_writer *w)
{
}

#endif
