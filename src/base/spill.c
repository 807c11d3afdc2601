/* SPDX-License-Identifier: MIT */
#include "base/spill.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/tempfile.h"

#define LEAST_ITEMS 4096	/* a run of fewer is not worth its place in the merge */

struct pd_spill *pd_spills_new(struct pd_items *lists, int n, struct pd_budget *budget, size_t bytes)
{
	if (!budget)
		return NULL;
	struct pd_spill *s = pd_zalloc((size_t)n * sizeof *s);
	/* A list, and as much again to sort it, or what all are gathered in. */
	size_t most = bytes / (2 * sizeof(struct pd_item)) / (size_t)n;
	for (int i = 0; i < n; i++) {
		s[i].budget = budget;
		s[i].most = most > LEAST_ITEMS ? most : LEAST_ITEMS;
		lists[i].spill = &s[i];
	}
	return s;
}

static size_t written(const struct pd_spill *s)
{
	return s->n_runs ? s->end[s->n_runs - 1] : 0;
}

void pd_spills_free(struct pd_spill *s, int n)
{
	for (int i = 0; s && i < n; i++) {
		s[i].budget->runs += s[i].n_runs;
		s[i].budget->in_files += written(&s[i]) * sizeof(struct pd_item);
		if (s[i].file)
			fclose(s[i].file);
		free(s[i].end);
	}
	free(s);
}

void pd_spill_run(struct pd_items *list)
{
	struct pd_spill *s = list->spill;
	size_t end = written(s) + list->n;
	if (!s->file && !s->status)
		s->file = pd_spool_open(s->budget->tmp_dir, &s->err);
	if (!s->file && !s->status)
		s->status = PD_ERR_SYSTEM;
	pd_items_sort(list);
	if (!s->status && fwrite(list->v, sizeof *list->v, list->n, s->file) != list->n)
		s->status = pd_fail_errno(&s->err, "cannot write a temporary file (choose another place with --tmp-dir)");
	s->end = pd_grow(s->end, s->n_runs, &s->cap_runs, sizeof *s->end);
	s->end[s->n_runs++] = end;
	list->n = 0;
}

/* A run that is being read. */
struct run {
	const struct pd_item *at, *end;
};

struct merge {
	struct run *heap;	/* the smallest first */
	size_t n;
};

static void sink(struct merge *m, size_t i)
{
	struct run r = m->heap[i];
	for (size_t child; (child = 2 * i + 1) < m->n; i = child) {
		if (child + 1 < m->n && m->heap[child + 1].at->key < m->heap[child].at->key)
			child++;
		if (r.at->key <= m->heap[child].at->key)
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = r;
}

static void merge_runs(struct merge *m, struct pd_item *to)
{
	for (size_t i = m->n / 2; i-- > 0;)
		sink(m, i);
	while (m->n) {
		*to++ = *m->heap[0].at++;
		if (m->heap[0].at == m->heap[0].end)
			m->heap[0] = m->heap[--m->n];
		if (m->n)
			sink(m, 0);
	}
}

/* The runs of one list, in its mapped file. */
static int open_runs(struct merge *m, struct pd_spill *s, void **map, struct pd_err *e)
{
	if (s->status) {
		*e = s->err;
		return s->status;
	}
	if (!written(s))
		return PD_OK;
	if (fflush(s->file) != 0)
		return pd_fail_errno(e, "cannot write a temporary file (choose another place with --tmp-dir)");
	struct pd_item *v = *map = mmap(NULL, written(s) * sizeof *v, PROT_READ, MAP_SHARED, fileno(s->file), 0);
	if (*map == MAP_FAILED) {
		*map = NULL;
		return pd_fail_errno(e, "cannot map a temporary file");
	}
	for (size_t i = 0; i < s->n_runs; i++) {
		size_t from = i ? s->end[i - 1] : 0;
		if (from < s->end[i])
			m->heap[m->n++] = (struct run){ v + from, v + s->end[i] };
	}
	return PD_OK;
}

int pd_spill_merge(struct pd_items *lists, int n_lists, struct pd_items *out, struct pd_err *e)
{
	struct merge m = { 0 };
	size_t total = 0, runs = 0;
	void **maps = pd_zalloc((size_t)n_lists * sizeof *maps);
	FILE *file = NULL;
	int status = PD_OK;
	for (int i = 0; i < n_lists; i++) {
		pd_spill_run(&lists[i]);
		total += written(lists[i].spill);
		runs += lists[i].spill->n_runs;
	}
	m.heap = pd_alloc((runs + 1) * sizeof *m.heap);
	for (int i = 0; !status && i < n_lists; i++)
		status = open_runs(&m, lists[i].spill, &maps[i], e);
	*out = (struct pd_items){ .n = total, .cap = total, .mapped = total * sizeof *out->v };
	if (!status) {
		out->v = pd_map_new(lists[0].spill->budget->tmp_dir, out->mapped, &file, e);
		status = out->v ? PD_OK : PD_ERR_SYSTEM;
	}
	if (!status)
		merge_runs(&m, out->v);
	else
		*out = (struct pd_items){ 0 };
	for (int i = 0; i < n_lists; i++)
		if (maps[i])
			munmap(maps[i], written(lists[i].spill) * sizeof *out->v);
	if (file)
		fclose(file);
	free(maps);
	free(m.heap);
	return status;
}
