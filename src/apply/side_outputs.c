/* SPDX-License-Identifier: MIT
 *
 * The tables of removed pages; side outputs as a whole.
 */
#include "apply/side_outputs.h"

#include "row/tsv.h"

static int write_attributes(struct pd_apply_attributes *a, struct pd_outfile *to, struct pd_err *e)
{
	if (fwrite(a->rows.p, 1, a->rows.n, to->f) != a->rows.n)
		return pd_fail_errno(e, "cannot write %s", to->path);
	return PD_OK;
}

static int open_attributes(struct pd_apply_attributes *a, struct pd_outfile *to, struct pd_err *e)
{
	int status = pd_apply_make_folders(a->path.p, NULL, e);
	return status ? status : pd_outfile_open(to, a->path.p, e);
}

static int put_page(struct pd_apply_attributes *a, const char *folder, struct pd_err *e)
{
	int status = PD_OK;
	pd_buf_clear(&a->path);
	pd_buf_printf(&a->path, "%s/pages.jsonl", folder);
	if (!a->pages_open)
		status = open_attributes(a, &a->pages, e);
	a->pages_open |= !status;
	return status ? status : write_attributes(a, &a->pages, e);
}

static int put_input(struct pd_apply_attributes *a, const char *folder, const char *place, struct pd_err *e)
{
	struct pd_outfile to;
	pd_buf_clear(&a->path);
	pd_buf_printf(&a->path, "%s/%s.jsonl", folder, place);
	int status = open_attributes(a, &to, e);
	if (status)
		return status;
	status = write_attributes(a, &to, e);
	return pd_outfile_close(&to, status, e);
}

int pd_apply_side_outputs_open(struct pd_apply_side_outputs *b, struct pd_err *e)
{
	if (b->attributes)
		b->tables.json = pd_json_new();
	return b->cdxj ? pd_apply_cdxj_open(&b->index, b->cdxj, e) : PD_OK;
}

void pd_apply_side_outputs_page(struct pd_apply_side_outputs *b, const struct pd_record *r, struct pd_span dup_of)
{
	if (b->attributes) {
		pd_local_buf plain = { 0 };
		bool ok = pd_tsv_value(dup_of, &plain) == PD_OK;
		pd_json_str(b->tables.json, "id", pd_buf_span(&r->id));
		if (r->user_id.n)
			pd_json_str(b->tables.json, "user_id", pd_buf_span(&r->user_id));
		pd_json_str_or_null(b->tables.json, "url", pd_buf_span(&r->url));
		pd_json_str_or_null(b->tables.json, "duplicate_of", ok ? pd_buf_span(&plain) : dup_of);
		pd_json_write(b->tables.json, &b->tables.rows);
		pd_buf_add_c(&b->tables.rows, '\n');
	}
}

int pd_apply_side_outputs_input(struct pd_apply_side_outputs *b, const struct pd_apply_result *done, struct pd_err *e)
{
	struct pd_apply_attributes *a = &b->tables;
	int status = PD_OK;
	if (a->rows.n)
		status = done->page ? put_page(a, b->attributes, e) : put_input(a, b->attributes, done->place, e);
	pd_buf_clear(&a->rows);
	if (status || !b->cdxj || !done->output)
		return status;
	const char *slash = strrchr(done->output, '/');
	return pd_apply_cdxj_add(&b->index, done->output, slash ? slash + 1 : done->output, e);
}

int pd_apply_side_outputs_close(struct pd_apply_side_outputs *b, int status, struct pd_err *e)
{
	struct pd_apply_attributes *a = &b->tables;
	if (a->pages_open && status >= 0)
		status = pd_outfile_commit(&a->pages, e);
	else if (a->pages_open)
		pd_outfile_abandon(&a->pages);
	if (b->index.json)
		status = pd_apply_cdxj_close(&b->index, status, e);
	pd_json_free(a->json);
	pd_buf_release(&a->rows);
	pd_buf_release(&a->path);
	return status;
}
