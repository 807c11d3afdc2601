/* SPDX-License-Identifier: MIT
 *
 * Values of rows in memory, which intake.c reads.
 */
#include "match/rows.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "row/fields.h"
#include "match/keyfile.h"

struct pd_row_view pd_rows_view(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span f[PD_ROW_VIEWED];
	pd_tsv_fields(pd_rows_line(rows, row), f, PD_ROW_VIEWED);
	return (struct pd_row_view){ f[PD_ROW_ID],	   f[PD_ROW_URL],     f[PD_ROW_FETCH_TIME],
				     f[PD_ROW_TEXT_BYTES], f[PD_ROW_QUALITY], f[PD_ROW_CONTENT_DIGEST] };
}

struct pd_span pd_rows_value(const struct pd_rows *rows, uint32_t row, int method)
{
	struct pd_span f[PD_ROW_FIELDS + PD_METHODS_MAX] = { { NULL, 0 } };
	int at = PD_ROW_FIELDS;
	for (int i = 0; i < method; i++)
		at += rows->methods.v[i].method->kind != PD_SIGN_BITS;
	pd_tsv_fields(pd_rows_line(rows, row), f, (size_t)at + 1);
	return f[at];
}

/* Hash of the host of the URL in a row. */
uint64_t pd_row_hash_host(struct pd_span url, struct pd_buf scratch[2])
{
	struct pd_buf *value = &scratch[0], *host = &scratch[1];
	pd_tsv_value(url, value);
	pd_url_host(pd_buf_span(value), host);
	return pd_hash64(host->p, host->n);
}

void pd_rows_columns(const struct pd_rows *rows, uint32_t row, struct pd_span f[PD_FP_COLUMNS])
{
	struct pd_span kept[PD_ROW_FIELDS] = { { NULL, 0 } };
	memset(f, 0, PD_FP_COLUMNS * sizeof *f);
	pd_tsv_fields(pd_rows_line(rows, row), kept, PD_ROW_FIELDS);
	for (int i = 0; i < PD_ROW_FIELDS; i++)
		f[pd_row_kept[i]] = kept[i];
}

struct pd_facts pd_rows_facts(const struct pd_rows *rows, uint32_t row, uint64_t *host, struct pd_buf scratch[2])
{
	struct pd_span f[PD_FP_COLUMNS] = { { NULL, 0 } };
	if (rows->spool)
		pd_rows_columns(rows, row, f);
	*host = rows->realms == PD_REALM_HOST ? rows->realm[row] : pd_row_hash_host(f[PD_FP_URL], scratch);
	return pd_facts_read(f);
}

/* A row set that was never spooled has no sketches, nor do rows whose texts were fetched late. */
bool pd_rows_sketch(const struct pd_rows *rows, uint32_t row, struct pd_sketch *out)
{
	*out = (struct pd_sketch){ 0 };
	if (!rows->sketched || !rows->spool || rows->late)
		return false;
	const char *line = pd_rows_text(rows, row);
	if (line[-1] != rows->sketch_kind)
		return false;
	size_t bytes = (size_t)pd_sketch_words(&rows->sketch) * sizeof *out->w;
	memcpy(out->w, line - 1 - sizeof(uint64_t) - bytes, bytes);
	out->present = true;
	return true;
}

void pd_rows_release(struct pd_rows *rows)
{
	struct pd_rows_late *l = rows->late;
	struct pd_rows_memory *m = &rows->memory;
	struct pd_array *arrays[] = { &m->row[0], &m->row[1], &m->keys[0], &m->keys[1], &m->low, &m->high, &m->realm, &m->side };
	if (rows->spool && !l)
		munmap(rows->spool, rows->spool_size);
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		pd_array_release(arrays[i]);
	for (size_t i = 0; l && i < l->n; i++) {
		if (l->file[i].keys)
			pd_keyfile_close(l->file[i].keys);
		free(l->file[i].keys);
		free(l->file[i].columns);
	}
	if (l) {
		struct pd_array *of_late[] = { &l->low, &l->high, &l->there, &l->before, &l->text };
		for (size_t i = 0; i < sizeof of_late / sizeof *of_late; i++)
			pd_array_release(of_late[i]);
		free(l->file);
		free(l);
	}
	pd_buf_release(&rows->must);
	pd_buf_release(&rows->totals);
	*rows = (struct pd_rows){ 0 };
}
