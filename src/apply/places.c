/* SPDX-License-Identifier: MIT */
#include "apply/places.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/hash.h"

/* What follows the folders that an input was named with. */
static const char *last_part(const struct pd_read_file *file)
{
	const char *name = file->path ? file->path + file->name : file->label;
	const char *slash = file->path ? NULL : strrchr(name, '/');
	name = slash ? slash + 1 : name;
	while (*name == '/')
		name++;
	if (!file->path && (!*name || !strcmp(name, "-") || !strcmp(name, ".") || !strcmp(name, "..")))
		name = "stdin";
	return name;
}

/* The folders that it was named with, as plain steps down: no "." and "..", no slash in front, one behind each. */
static void folders_of(const struct pd_read_file *file, struct pd_buf *out)
{
	struct pd_span rest = file->path ? pd_span(file->path, file->name) : pd_span("", 0), step;
	pd_buf_clear(out);
	while (rest.n && pd_span_split(&rest, '/', &step)) {
		if (!step.n || pd_span_is(step, ".") || pd_span_is(step, ".."))
			continue;
		pd_buf_add_span(out, step);
		pd_buf_add_c(out, '/');
	}
}

void pd_apply_places_add(struct pd_apply_places *p, const struct pd_read_file *file)
{
	const char *name = last_part(file);
	p->twice |= !pd_map_add(&p->seen, pd_hash64(name, strlen(name)));
	folders_of(file, &p->folders);
	if (!p->any)
		pd_buf_set(&p->common, pd_buf_span(&p->folders));
	p->any = true;
	size_t n = 0, whole = 0;
	for (; n < p->common.n && n < p->folders.n && p->common.p[n] == p->folders.p[n]; n++)
		if (p->common.p[n] == '/')
			whole = n + 1;
	p->common.n = whole;
}

void pd_apply_places_name(struct pd_apply_places *p, const struct pd_read_file *file, struct pd_buf *out)
{
	pd_buf_clear(out);
	if (p->twice) {
		folders_of(file, &p->folders);
		pd_buf_add(out, p->folders.p + p->common.n, p->folders.n - p->common.n);
	}
	pd_buf_add_z(out, last_part(file));
}

void pd_apply_places_release(struct pd_apply_places *p)
{
	pd_map_release(&p->seen);
	pd_buf_release(&p->common);
	pd_buf_release(&p->folders);
}

int pd_apply_make_folders(const char *path, struct pd_err *e)
{
	struct pd_buf part = { 0 };
	int status = PD_OK;
	for (const char *slash = path; !status && (slash = strchr(slash + 1, '/'));) {
		pd_buf_set(&part, pd_span(path, (size_t)(slash - path)));
		if (mkdir(part.p, 0777) < 0 && errno != EEXIST)
			status = pd_fail_errno(e, "cannot create the folder %s", part.p);
	}
	pd_buf_release(&part);
	return status;
}

/* The real path of the longest part of `path` that is there; NULL: nobody could tell, errno. */
static char *real_place(const char *path)
{
	char *part = pd_strdup(path), *real;
	while (!(real = realpath(*part ? part : "/", NULL)) && (errno == ENOENT || errno == ENOTDIR)) {
		char *slash = strrchr(part, '/');
		if (!slash) {
			real = realpath(".", NULL);
			break;
		}
		*slash = 0;
	}
	free(part);
	return real;
}

int pd_apply_is_inside(const char *path, const char *folder, struct pd_err *e)
{
	char *inner = real_place(path), *outer = inner ? realpath(folder, NULL) : NULL;
	size_t n = outer ? strlen(outer) : 0;
	int inside = outer ? strncmp(inner, outer, n) == 0 && (!inner[n] || inner[n] == '/' || n == 1) :
			     pd_fail_errno(e, "cannot tell whether %s lies in %s", path, folder);
	free(inner);
	free(outer);
	return inside;
}
