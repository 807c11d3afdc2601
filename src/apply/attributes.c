/* SPDX-License-Identifier: MIT */
#include "apply/attributes.h"

#include "base/tsv.h"
#include "apply/apply.h"

void pd_apply_attributes_init(struct pd_apply_attributes *a, const char *folder)
{
	*a = (struct pd_apply_attributes){ .folder = folder, .json = pd_json_new() };
}

void pd_apply_attributes_release(struct pd_apply_attributes *a)
{
	if (a->pages_open)
		pd_outfile_abandon(&a->pages);
	pd_json_free(a->json);
	pd_buf_release(&a->rows);
	pd_buf_release(&a->path);
}

void pd_apply_attributes_add(struct pd_apply_attributes *a, const struct pd_record *r, struct pd_span dup_of)
{
	struct pd_buf plain = { 0 };
	bool ok = pd_tsv_value(dup_of, &plain) == PD_OK;
	pd_json_str(a->json, "id", pd_buf_span(&r->id));
	if (r->user_id.n)
		pd_json_str(a->json, "user_id", pd_buf_span(&r->user_id));
	pd_json_str_or_null(a->json, "url", pd_buf_span(&r->url));
	pd_json_str_or_null(a->json, "duplicate_of", ok ? pd_buf_span(&plain) : dup_of);
	pd_json_write(a->json, &a->rows);
	pd_buf_add_c(&a->rows, '\n');
	pd_buf_release(&plain);
}

static int write_rows(struct pd_apply_attributes *a, struct pd_outfile *to, struct pd_err *e)
{
	if (fwrite(a->rows.p, 1, a->rows.n, to->f) != a->rows.n)
		return pd_fail_errno(e, "cannot write %s", to->path);
	return PD_OK;
}

static int open_file(struct pd_apply_attributes *a, struct pd_outfile *to, struct pd_err *e)
{
	int status = pd_apply_make_folders(a->path.p, e);
	return status ? status : pd_outfile_open(to, a->path.p, e);
}

static int put_page(struct pd_apply_attributes *a, struct pd_err *e)
{
	int status = PD_OK;
	pd_buf_clear(&a->path);
	pd_buf_printf(&a->path, "%s/pages.jsonl", a->folder);
	if (!a->pages_open)
		status = open_file(a, &a->pages, e);
	a->pages_open |= !status;
	return status ? status : write_rows(a, &a->pages, e);
}

static int put_input(struct pd_apply_attributes *a, const char *place, struct pd_err *e)
{
	struct pd_outfile to;
	pd_buf_clear(&a->path);
	pd_buf_printf(&a->path, "%s/%s.jsonl", a->folder, place);
	int status = open_file(a, &to, e);
	if (status)
		return status;
	status = write_rows(a, &to, e);
	if (!status)
		return pd_outfile_commit(&to, e);
	pd_outfile_abandon(&to);
	return status;
}

int pd_apply_attributes_next(struct pd_apply_attributes *a, const char *place, bool page, struct pd_err *e)
{
	if (!a->rows.n)
		return PD_OK;
	int status = page ? put_page(a, e) : put_input(a, place, e);
	pd_buf_clear(&a->rows);
	return status;
}

int pd_apply_attributes_end(struct pd_apply_attributes *a, struct pd_err *e)
{
	if (!a->pages_open)
		return PD_OK;
	a->pages_open = false;
	return pd_outfile_commit(&a->pages, e);
}
