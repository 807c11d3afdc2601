/* SPDX-License-Identifier: MIT
 *
 * The folder of a run, at its beginning and at its end.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/copy.h"
#include "base/tempfile.h"
#include "apply/places.h"
#include "dedup/dedup.h"

const char *pd_dedup_path(struct pd_dedup *d, const char *name)
{
	pd_buf_clear(&d->path);
	pd_buf_printf(&d->path, "%s/%s", d->o->walk.output, name);
	return d->path.p;
}

const char *pd_dedup_boilerplate(struct pd_dedup *d)
{
	if (!d->o->walk.learn)
		return d->o->walk.page.boilerplate;
	return d->journal.n_rows ? pd_dedup_path(d, ".dedup/site.bp") : NULL;
}

/* What makes this run another one when it differs: the program, its tables, and whatever option was given. */
static void say_options(const struct pd_dedup_options *o, const struct pd_tables *t, struct pd_buf *out)
{
	pd_buf_printf(out, "program=%s %s %s learn_boilerplate=%s %s", PD_VERSION, pd_buf_z(&t->must), pd_buf_z(&t->recorded),
		      o->walk.learn ? "yes" : "no", o->given);
}

/* --- the beginning --- */

/* A folder that is not there yet, or with nothing in it: but for what a run made that ended before its journal began. */
static int check_empty(struct pd_dedup *d, const char *path, struct pd_err *e)
{
	rmdir(pd_dedup_path(d, ".dedup"));
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;
	if (!dir)
		return errno == ENOENT ? PD_OK : pd_fail_errno(e, "%s: cannot open", path);
	errno = 0;
	while ((entry = readdir(dir)))
		empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	int status = errno ? pd_fail_errno(e, "%s: cannot read", path) : PD_OK;
	closedir(dir);
	if (!status && !empty)
		status = pd_fail(e, PD_ERR_USAGE, "%s is not empty", path);
	return status;
}

/* Of a path, nothing is a wildcard. */
static void add_literal(struct pd_buf *pattern, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			pd_buf_add_c(pattern, '\\');
		pd_buf_add_c(pattern, *path);
	}
}

void pd_dedup_sweep(const char *path)
{
	struct pd_buf pattern = { 0 };
	glob_t found;
	add_literal(&pattern, path);
	pd_buf_add_z(&pattern, ".??????.part");
	if (glob(pattern.p, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	pd_buf_release(&pattern);
}

int pd_dedup_enter(struct pd_dedup *d)
{
	static const char *const made[] = { "verdicts.tsv", "stats.json", "report.html", "rows.fp", "pairs.tsv", "site.bp" };
	struct pd_tables tables;
	struct pd_buf options = { 0 };
	bool found = access(pd_dedup_path(d, ".dedup/journal"), F_OK) == 0;
	if (!found && check_empty(d, d->o->walk.output, &d->err) < 0)
		return d->err.status;
	if (found && !d->o->resume)
		return pd_fail(&d->err, PD_ERR_USAGE, "%s holds a run of dedup: --resume goes on with it", d->o->walk.output);
	int status = pd_tables_open(&tables, &d->o->walk.page, &d->err);
	if (status)
		return status;
	say_options(d->o, &tables, &options);
	pd_tables_release(&tables);
	status = pd_apply_make_folders(pd_dedup_path(d, ".dedup/journal"), &d->err);
	if (!status)
		status = pd_journal_open(&d->journal, d->path.p, pd_buf_span(&options), &d->err);
	pd_buf_set(&d->journal.options, pd_buf_span(&options));
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		pd_dedup_sweep(pd_dedup_path(d, made[i]));
	pd_buf_release(&options);
	return status;
}

/* --- the end --- */

static int add_file(struct pd_dedup *d, const char *name, FILE *to)
{
	uint64_t written = 0;
	int fd = open(pd_dedup_path(d, name), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pd_fail_errno(&d->err, "cannot open %s", d->path.p);
	int status = pd_copy_range(fd, d->path.p, 0, UINT64_MAX, to, &written, &d->err);
	close(fd);
	return status;
}

/* Copies: what a run reads stays where it is until it has ended. */
static int keep_file(struct pd_dedup *d, const char *from, const char *name)
{
	struct pd_outfile out;
	int status = pd_outfile_open(&out, pd_dedup_path(d, name), &d->err);
	if (status)
		return status;
	status = add_file(d, from, out.f);
	if (!status)
		return pd_outfile_commit(&out, &d->err);
	pd_outfile_abandon(&out);
	return status;
}

static int add_rows(struct pd_dedup *d, FILE *to)
{
	char name[64];
	int status = PD_OK;
	for (size_t i = 0; i < d->journal.n_rows && !status; i++) {
		snprintf(name, sizeof name, ".dedup/%zu.fp", i);
		status = add_file(d, name, to);
	}
	return status;
}

static int keep_rows(struct pd_dedup *d)
{
	struct pd_outfile out;
	int status = pd_outfile_open(&out, pd_dedup_path(d, "rows.fp"), &d->err);
	if (status)
		return status;
	status = add_rows(d, out.f);
	if (status) {
		pd_outfile_abandon(&out);
		return status;
	}
	status = pd_outfile_commit(&out, &d->err);
	if (!status)
		status = keep_file(d, ".dedup/pairs.tsv", "pairs.tsv");
	if (!status && d->o->walk.learn && d->journal.n_rows)
		status = keep_file(d, ".dedup/site.bp", "site.bp");
	return status;
}

/* All but the journal. */
static void remove_rows(struct pd_dedup *d)
{
	struct pd_buf path = { 0 };
	DIR *dir = opendir(pd_dedup_path(d, ".dedup"));
	struct dirent *entry;
	if (dir)
		errno = 0;
	for (; dir && (entry = readdir(dir)); errno = 0) {
		pd_buf_clear(&path);
		pd_buf_printf(&path, "%s/%s", d->path.p, entry->d_name);
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "journal") != 0 && unlink(path.p) < 0)
			pd_log_error(d->log, "cannot remove %s: %s", path.p, strerror(errno));
	}
	if (errno)
		pd_log_error(d->log, "cannot clear %s: %s", d->path.p, strerror(errno));
	if (dir)
		closedir(dir);
	pd_buf_release(&path);
}

int pd_dedup_leave(struct pd_dedup *d)
{
	int status = pd_dedup_write_report(d);
	if (!status && d->o->keep_rows)
		status = keep_rows(d);
	if (!status)
		status = pd_dedup_write_stats(d);
	if (!status)
		status = pd_journal_add(&d->journal, &d->err, "end");
	if (!status)
		remove_rows(d);
	return status;
}
