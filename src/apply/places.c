/* SPDX-License-Identifier: MIT */
#include "apply/places.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/hash.h"

enum { FIRST_NAMES = 1 << 8 };

void pd_place_of(const char *folder, const struct pd_file *file, struct pd_buf *out)
{
	const char *name = file->path ? file->path + file->name : file->label;
	const char *slash = file->path ? NULL : strrchr(name, '/');
	name = slash ? slash + 1 : name;
	while (*name == '/')
		name++;
	if (!file->path && (!*name || !strcmp(name, "-") || !strcmp(name, ".") || !strcmp(name, "..")))
		name = "stdin";
	pd_buf_clear(out);
	pd_buf_add_z(out, folder);
	if (out->n && out->p[out->n - 1] != '/')
		pd_buf_add_c(out, '/');
	pd_buf_add_z(out, name);
}

int pd_place_make(const char *path, struct pd_err *e)
{
	struct pd_buf part = { 0 };
	int status = PD_OK;
	for (const char *slash = path; !status && (slash = strchr(slash + 1, '/'));) {
		pd_buf_set(&part, pd_span(path, (size_t)(slash - path)));
		if (mkdir(part.p, 0777) < 0 && errno != EEXIST)
			status = pd_fail_errno(e, "cannot make the folder %s", part.p);
	}
	pd_buf_release(&part);
	return status;
}

/* The real path of the longest part of `path` that is there, with the rest behind it; NULL when nothing is. */
static char *real_place(const char *path)
{
	char *part = pd_strdup(path), *real;
	while (!(real = realpath(*part ? part : "/", NULL))) {
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

bool pd_place_inside(const char *path, const char *folder)
{
	char *inner = real_place(path), *outer = realpath(folder, NULL);
	size_t n = outer ? strlen(outer) : 0;
	bool inside = inner && outer && strncmp(inner, outer, n) == 0 && (!inner[n] || inner[n] == '/' || n == 1);
	free(inner);
	free(outer);
	return inside;
}

static size_t slot_of(const struct pd_name_set *s, uint64_t h)
{
	size_t i = h & (s->cap - 1);
	while (s->v[i] && s->v[i] != h)
		i = (i + 1) & (s->cap - 1);
	return i;
}

static void grow(struct pd_name_set *s)
{
	struct pd_name_set old = *s;
	if (2 * (s->n + 1) <= s->cap)
		return;
	s->cap = old.cap ? 2 * old.cap : FIRST_NAMES;
	s->v = pd_zalloc(s->cap * sizeof *s->v);
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i])
			s->v[slot_of(s, old.v[i])] = old.v[i];
	free(old.v);
}

bool pd_name_set_add(struct pd_name_set *s, struct pd_span name)
{
	uint64_t h = pd_hash64(name.p, name.n) | 1;
	grow(s);
	size_t i = slot_of(s, h);
	if (s->v[i])
		return false;
	s->v[i] = h;
	s->n++;
	return true;
}

bool pd_name_set_has(const struct pd_name_set *s, struct pd_span name)
{
	return s->cap && s->v[slot_of(s, pd_hash64(name.p, name.n) | 1)];
}

void pd_name_set_release(struct pd_name_set *s)
{
	free(s->v);
}
