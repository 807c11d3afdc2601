/* SPDX-License-Identifier: MIT */
#include "read/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/input.h"

struct pd_dir {
	char **names;		/* sorted; sub-folders end in a slash */
	size_t n, at, cap;
	size_t prefix;		/* length of the folder's path, with slash */
};

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* --- folders --- */

/* 'f' a file, 'd' a folder to enter, 0 neither (a link to a folder, a socket …).  A link to nothing is a file, so that
 * it is missed when opened. */
static char entry_kind(int dir, const struct dirent *d)
{
	struct stat st;
	if (d->d_type == DT_REG)
		return 'f';
	if (d->d_type == DT_DIR)
		return 'd';
	if (d->d_type != DT_LNK && d->d_type != DT_UNKNOWN)
		return 0;
	if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return 'd';
	return fstatat(dir, d->d_name, &st, 0) < 0 || S_ISREG(st.st_mode) ? 'f' : 0;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(struct pd_dir *f, const char *name, bool folder)
{
	size_t n = strlen(name);
	char *z = pd_alloc(n + 2);
	memcpy(z, name, n);
	z[n] = folder ? '/' : 0;
	z[n + 1] = 0;
	f->names = pd_grow(f->names, f->n, &f->cap, sizeof *f->names);
	f->names[f->n++] = z;
}

static int list_folder(struct pd_dir *f, const char *path)
{
	DIR *dir = opendir(path);
	if (!dir)
		return errno;
	errno = 0;
	for (struct dirent *d; (d = readdir(dir)); errno = 0) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		char kind = entry_kind(dirfd(dir), d);
		if (kind)
			add_name(f, d->d_name, kind == 'd');
	}
	int error = errno;
	closedir(dir);
	if (f->n)
		qsort(f->names, f->n, sizeof *f->names, by_bytes);
	return error;
}

static void leave(struct pd_files *f)
{
	struct pd_dir *top = &f->stack[--f->depth];
	for (size_t i = top->at; i < top->n; i++)
		free(top->names[i]);
	free(top->names);
}

/* Enters the folder that `path` holds.  0, or errno. */
static int enter(struct pd_files *f)
{
	struct pd_dir top = { 0 };
	if (f->path.n && f->path.p[f->path.n - 1] != '/')
		pd_buf_add_c(&f->path, '/');
	top.prefix = f->path.n;
	int error = list_folder(&top, f->path.p);
	f->stack = pd_grow(f->stack, f->depth, &f->cap, sizeof *f->stack);
	f->stack[f->depth++] = top;
	return error;
}

/* --- one path --- */

static int give(const struct pd_files *f, struct pd_file *out, const struct stat *st, int error)
{
	*out = (struct pd_file){ .path = f->path.p, .label = f->path.p, .name = f->name, .typed = f->typed, .error = error };
	out->regular = st && S_ISREG(st->st_mode);
	out->size = out->regular ? (uint64_t)st->st_size : 0;
	return 1;
}

static int give_stdin(const struct pd_files *f, struct pd_file *out)
{
	*out = (struct pd_file){ .label = f->stdin_label, .typed = f->typed };
	out->regular = pd_file_size(NULL, &out->size);
	return 1;
}

/* 1: `out` is filled; 0: a folder was entered. */
static int visit(struct pd_files *f, struct pd_file *out)
{
	struct stat st;
	if (stat(f->path.p, &st) < 0)
		return give(f, out, NULL, errno);
	if (!S_ISDIR(st.st_mode))
		return give(f, out, &st, 0);
	int error = enter(f);
	if (error)
		return give(f, out, NULL, error);
	f->typed = false;
	return 0;
}

static int walk(struct pd_files *f, struct pd_file *out)
{
	struct pd_dir *top = &f->stack[f->depth - 1];
	if (top->at == top->n) {
		leave(f);
		return 0;
	}
	char *name = top->names[top->at++];
	size_t n = strlen(name);
	bool folder = name[n - 1] == '/';
	f->path.n = top->prefix;
	pd_buf_add(&f->path, name, n);
	free(name);
	if (!folder)
		return visit(f, out);
	int error = enter(f);
	return error ? give(f, out, NULL, error) : 0;
}

/* --- what was given --- */

/* Where the last part of a path begins; "." and ".." are no names. */
static size_t last_part(const char *path)
{
	size_t n = strlen(path), i;
	while (n > 1 && path[n - 1] == '/')
		n--;
	for (i = n; i > 0 && path[i - 1] != '/';)
		i--;
	struct pd_span part = pd_span(path + i, n - i);
	return !part.n || pd_span_is(part, ".") || pd_span_is(part, "..") ? strlen(path) : i;
}

static int visit_named(struct pd_files *f, struct pd_file *out, const char *path, bool typed)
{
	f->typed = typed;
	f->name = last_part(path);
	pd_buf_clear(&f->path);
	pd_buf_add_z(&f->path, path);
	return visit(f, out);
}

/* 1, 0 nothing here (look again), -1 the list is at its end or broken. */
static int next_listed(struct pd_files *f, struct pd_file *out)
{
	ssize_t n = getline(&f->line, &f->line_cap, f->list);
	if (n < 0)
		return -1;
	while (n && (f->line[n - 1] == '\n' || f->line[n - 1] == '\r'))
		f->line[--n] = 0;
	return n ? visit_named(f, out, f->line, false) : 0;
}

static int list_end(struct pd_files *f, struct pd_err *e)
{
	f->list_done = true;
	return !feof(f->list) ? pd_fail_errno(e, "%s: cannot read the list", f->o->files_from) : 0;
}

int pd_files_next(struct pd_files *f, struct pd_file *out, struct pd_err *e)
{
	for (int r = 0;;) {
		if (f->depth) {
			r = walk(f, out);
		} else if (f->at < f->o->n_inputs) {
			const char *path = f->o->inputs[f->at++];
			r = is_stdin(path) ? (f->typed = true, give_stdin(f, out)) : visit_named(f, out, path, true);
		} else if (f->list && !f->list_done) {
			r = next_listed(f, out);
		} else if (!f->o->n_inputs && !f->list && !f->at++) {
			f->typed = true;
			r = give_stdin(f, out);
		} else {
			return 0;
		}
		if (r < 0)
			return list_end(f, e);
		if (r)
			return r;
	}
}

static int look_at(const char *path, struct pd_err *e)
{
	return access(path, R_OK) < 0 ? pd_fail_errno(e, "%s: cannot open", path) : PD_OK;
}

int pd_files_open(struct pd_files *f, const struct pd_reader_options *o, struct pd_err *e)
{
	int from_stdin = 0;
	*f = (struct pd_files){ .o = o, .stdin_label = o->stdin_name ? o->stdin_name : "-" };
	for (int i = 0; i < o->n_inputs; i++) {
		if (is_stdin(o->inputs[i]))
			from_stdin++;
		else if (look_at(o->inputs[i], e) < 0)
			return PD_ERR_SYSTEM;
	}
	if (o->files_from && is_stdin(o->files_from))
		from_stdin++;
	if (from_stdin > 1)
		return pd_fail(e, PD_ERR_USAGE, "standard input can be read only once");
	if (!o->files_from)
		return PD_OK;
	f->list = is_stdin(o->files_from) ? stdin : fopen(o->files_from, "re");
	return f->list ? PD_OK : pd_fail_errno(e, "%s: cannot open", o->files_from);
}

void pd_files_release(struct pd_files *f)
{
	while (f->depth)
		leave(f);
	free(f->stack);
	pd_buf_release(&f->path);
	free(f->line);
	if (f->list && f->list != stdin)
		fclose(f->list);
	f->list = NULL;
}
