/* SPDX-License-Identifier: MIT */
#include "dedup/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"

const char *const pd_dedup_folder_reserved[] = {
	"verdicts.tsv", "stats.json", "report.html", "rows.fp", "pairs.tsv", "site.bp", ".dedup", NULL,
};

char *pd_dedup_folder_path(const char *folder, const char *name)
{
	struct pd_buf path = { 0 };
	pd_buf_printf(&path, "%s/%s", folder, name);
	return path.p;
}

char *pd_dedup_folder_unit(const char *folder, size_t unit, const char *what)
{
	struct pd_buf path = { 0 };
	pd_buf_printf(&path, "%s/.dedup/%zu.%s", folder, unit, what);
	return path.p;
}

char **pd_dedup_folder_units(const char *folder, size_t n, const char *what)
{
	char **paths = pd_zalloc((n + 1) * sizeof *paths);
	for (size_t i = 0; i < n; i++)
		paths[i] = pd_dedup_folder_unit(folder, i, what);
	return paths;
}

void pd_dedup_folder_free(char **paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
}

/* A folder that is not there yet, or with nothing in it: but for what a run made that ended before its journal began. */
static int check_empty(const char *path, struct pd_err *e)
{
	char *own = pd_dedup_folder_path(path, ".dedup");
	rmdir(own);
	free(own);
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
		status = pd_fail(e, PD_ERR_USAGE, "%s is not empty: name a new or empty folder", path);
	return status;
}

int pd_dedup_folder_look(const char *folder, bool *run, struct pd_err *e)
{
	char *journal = pd_dedup_folder_path(folder, PD_DEDUP_JOURNAL);
	*run = access(journal, F_OK) == 0;
	free(journal);
	return *run ? PD_OK : check_empty(folder, e);
}

/* --- what was unfinished --- */

/* Of a path, nothing is a wildcard. */
static void add_literal(struct pd_buf *pattern, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			pd_buf_add_c(pattern, '\\');
		pd_buf_add_c(pattern, *path);
	}
}

void pd_dedup_folder_sweep(const char *path)
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

void pd_dedup_folder_sweep_top(const char *folder)
{
	for (const char *const *name = pd_dedup_folder_reserved; *name; name++) {
		char *path = pd_dedup_folder_path(folder, *name);
		pd_dedup_folder_sweep(path);
		free(path);
	}
}

/* --- the end --- */

static int add_file(const char *path, bool behind_head, FILE *to, struct pd_err *e)
{
	uint64_t written = 0, from = 0;
	FILE *f = fopen(path, "re");
	int c = 0;
	if (!f)
		return pd_fail_errno(e, "cannot open %s", path);
	while (behind_head && c != '\n' && (c = getc(f)) != EOF)
		from++;
	int status = ferror(f) ? pd_fail_errno(e, "cannot read %s", path) : pd_copy_range(fileno(f), path, from, UINT64_MAX, to, &written, e);
	fclose(f);
	return status;
}

/* Copies: what a run reads stays where it is until it has ended. */
int pd_dedup_folder_copy(char *const *from, size_t n, bool headed, const char *to, struct pd_err *e)
{
	struct pd_outfile out;
	int status = pd_outfile_open(&out, to, e);
	if (status)
		return status;
	for (size_t i = 0; i < n && !status; i++)
		status = add_file(from[i], headed && i, out.f, e);
	if (!status)
		return pd_outfile_commit(&out, e);
	pd_outfile_abandon(&out);
	return status;
}

void pd_dedup_folder_tidy(const char *folder, struct pd_log *log)
{
	struct pd_buf path = { 0 };
	char *own = pd_dedup_folder_path(folder, ".dedup");
	DIR *dir = opendir(own);
	struct dirent *entry;
	if (dir)
		errno = 0;
	for (; dir && (entry = readdir(dir)); errno = 0) {
		pd_buf_clear(&path);
		pd_buf_printf(&path, "%s/%s", own, entry->d_name);
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "journal") != 0 && unlink(path.p) < 0)
			pd_log_error(log, "cannot remove %s: %s", path.p, strerror(errno));
	}
	if (errno)
		pd_log_error(log, "cannot clear %s: %s", own, strerror(errno));
	if (dir)
		closedir(dir);
	free(own);
	pd_buf_release(&path);
}
