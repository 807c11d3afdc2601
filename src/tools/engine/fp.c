/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/engine/engine.h"

void pd_engine_count(const struct pd_engine *t, const char *name, uint64_t n)
{
	if (n)
		fprintf(t->log->to, "reporter:counter:pagededup,%s,%" PRIu64 "\n", name, n);
}

int pd_engine_write(const struct pd_buf *text, struct pd_err *e)
{
	if (text->n && fwrite(text->p, 1, text->n, stdout) != text->n)
		return pd_fail_errno(e, "cannot write standard output");
	return PD_OK;
}

int pd_engine_write_last(struct pd_err *e)
{
	struct pd_buf out = { 0 };
	pd_buf_add_z(&out, "\t\n");
	int status = pd_engine_write(&out, e);
	pd_buf_release(&out);
	return status;
}

/* Read all lines of standard input, each terminated by NUL.  Standard input is then free for files from a command, and
 * an engine that writes to it is not blocked. */
static int read_paths(struct pd_buf *out, struct pd_err *e)
{
	struct pd_line_reader lines = { .f = stdin, .path = "standard input" };
	struct pd_span line;
	int status;
	while ((status = pd_line_next(&lines, &line, e)) == 1) {
		if (!line.n)
			continue;
		if (memchr(line.p, 0, line.n)) {
			status =
				pd_fail(e, PD_ERR_INPUT, "line %" PRIu64 " of the list is not a path: it has a NUL byte", lines.no);
			break;
		}
		pd_buf_add_span(out, line);
		pd_buf_add_c(out, 0);
	}
	pd_line_reader_release(&lines);
	return status;
}

static void count_walk(const struct pd_engine *t, const struct pd_walk_counts *c)
{
	pd_engine_count(t, "PATHS", 1);
	pd_engine_count(t, "PAGES", c->pages);
	pd_engine_count(t, "WITHOUT_FINGERPRINT", c->without_fingerprint);
	pd_engine_count(t, "LEFT_OUT", c->left_out);
	pd_engine_count(t, "DAMAGED", c->damaged);
	pd_engine_count(t, "PATHS_WITHOUT_PAGES", c->inputs_without_pages);
	pd_engine_count(t, "BYTES", c->bytes);
}

/* Report a dump that cannot be opened and add it to the list. */
static int skip_missing(const struct pd_engine *t, const char *path, struct pd_buf *missing, const struct pd_err *e)
{
	pd_log_error(t->log, "%s; skipped", e->text);
	pd_engine_count(t, "MISSING", 1);
	pd_buf_add_z(missing, path);
	pd_buf_add_c(missing, '\n');
	return PD_OK;
}

static int walk_path(const struct pd_engine *t, const struct pd_walk_options *o, char *path, struct pd_buf *missing,
		     struct pd_err *e)
{
	struct pd_walk_counts counts = { 0 };
	struct pd_walk_options own = *o;
	struct pd_engine_fetch fetch;
	struct pd_err why;
	static char dash[] = "-";
	own.counts = &counts;
	own.ignore_damaged = true;
	pd_inputs_forget();
	if (!t->fetch) {
		if (t->missing && access(path, R_OK) < 0) {
			pd_fail_errno(e, "%s: cannot open", path);
			return skip_missing(t, path, missing, e);
		}
		int status = pd_walk(&pd_walk_fp, &own, &path, 1, t->log, e);
		if (!status)
			count_walk(t, &counts);
		return status;
	}
	own.name = path;
	int status = pd_engine_fetch_open(&fetch, t->fetch, path, e);
	if (status)
		return status;
	if (t->missing && pd_engine_fetch_failed(&fetch)) {
		pd_engine_fetch_close(&fetch, true, e);
		return skip_missing(t, path, missing, e);
	}
	status = pd_walk(&pd_walk_fp, &own, (char *[]){ dash }, 1, t->log, e);
	int closed = pd_engine_fetch_close(&fetch, !status, &why);
	if (!status && closed)
		*e = why;
	else if (!status)
		count_walk(t, &counts);
	return status ? status : closed;
}

int pd_engine_map_fp(const struct pd_engine *t, const struct pd_walk_options *o, struct pd_err *e)
{
	pd_local_buf paths = { 0 }, missing = { 0 };
	struct pd_outfile list = { 0 };
	int status = read_paths(&paths, e);
	for (char *path = paths.p; !status && path && path < paths.p + paths.n; path += strlen(path) + 1)
		status = walk_path(t, o, path, &missing, e);
	if (status || !t->missing || (status = pd_outfile_open(&list, t->missing, e)))
		return status;
	fwrite(missing.p, 1, missing.n, list.f);
	return pd_outfile_close(&list, PD_OK, e);
}
