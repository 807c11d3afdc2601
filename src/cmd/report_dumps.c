/* SPDX-License-Identifier: MIT */
#include "cmd/report_dumps.h"

#include <string.h>

#include "base/tempfile.h"
#include "apply/apply.h"

int pd_report_dumps_copy(struct pd_report_dumps *d, const char **path, const char *tmp_dir, struct pd_err *e)
{
	char piece[1 << 16];
	size_t n;
	if (strcmp(*path, "-") != 0)
		return PD_OK;
	d->verdicts = pd_tempfile_open(tmp_dir, e);
	if (!d->verdicts)
		return PD_ERR_SYSTEM;
	while ((n = fread(piece, 1, sizeof piece, stdin)) > 0 && fwrite(piece, 1, n, d->verdicts) == n)
		;
	if (ferror(stdin))
		return pd_fail_errno(e, "cannot read standard input");
	if (ferror(d->verdicts) || fflush(d->verdicts) != 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	pd_buf_printf(&d->path, "/proc/self/fd/%d", fileno(d->verdicts));
	*path = d->path.p;
	return PD_OK;
}

/* Whoever read them first told it. */
static void bad_row(void *ctx, const char *why)
{
}

static void on_damage(void *ctx, const struct pd_damage *damage)
{
}

static int add_up(struct pd_report_dumps *d, struct pd_apply *apply, struct pd_err *e)
{
	struct pd_apply_result done;
	int r;
	while ((r = pd_apply_next(apply, &done, e)) == 1) {
		d->bytes_in += done.bytes_in;
		d->bytes_out += done.bytes_out;
	}
	if (r < 0)
		d->bytes_in = d->bytes_out = 0;
	return r;
}

int pd_report_dumps_measure(struct pd_report_dumps *d, const struct pd_report_command *o, const char *verdicts,
			    struct pd_err *e)
{
	char *paths[] = { (char *)verdicts };
	struct pd_apply_removals_options rows = { .paths = paths, .n_paths = 1, .bad_row = bad_row };
	struct pd_apply_options a = { .mode = PD_APPLY_MEASURE, .tmp_dir = o->walk.tmp_dir, .lost = on_damage,
				      .in = { .inputs = o->inputs, .n_inputs = o->n_inputs, .stdin_name = o->walk.name,
					      .max_block = o->walk.page.max_page + PD_BLOCK_ROOM, .fields = o->walk.fields,
					      .damage = on_damage } };
	struct pd_apply *apply = NULL;
	int status = pd_apply_removals_read(&d->removals, &rows, e);
	a.removals = d->removals;
	if (!status)
		status = pd_apply_open(&apply, &a, e);
	if (!status && !pd_apply_removals_counts(d->removals)->demote)
		status = add_up(d, apply, e);
	pd_apply_free(apply);
	return status;
}

void pd_report_dumps_here(const struct pd_report_dumps *d, struct pd_span id, struct pd_buf *out)
{
	if (d->removals)
		pd_apply_removals_here(d->removals, id, out);
	else
		pd_buf_set(out, id);
}

void pd_report_dumps_release(struct pd_report_dumps *d)
{
	pd_apply_removals_free(d->removals);
	if (d->verdicts)
		fclose(d->verdicts);
	pd_buf_release(&d->path);
}
