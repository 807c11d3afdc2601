/* SPDX-License-Identifier: MIT
 *
 * An external merge sort.  A run lies in the spool from `at` to `end` and is read through a window; the last one never
 * leaves memory and is its own window.
 */
#include "topic/site_runs.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/tempfile.h"
#include "topic/boilerplate.h"

enum { WINDOW = 64 * 1024 };

struct pd_site_run {
	uint64_t at, end;		/* of the spool: what the window has not read yet */
	struct pd_buf window;
	size_t pos;			/* of the window: where the record begins */
	struct pd_site_page page;	/* the record */
};

struct pd_site_runs {
	const char *tmp_dir;
	size_t memory;
	struct pd_buf records;
	size_t *order;			/* record -> where it begins */
	size_t n, cap;
	FILE *spool;
	uint64_t spooled;
	struct pd_site_run *runs;
	size_t n_runs, cap_runs;
	struct pd_site_run **heap;	/* those with a record left, the smallest first */
	size_t n_heap;
};

struct pd_site_runs *pd_site_runs_new(const char *tmp_dir, size_t memory)
{
	struct pd_site_runs *r = pd_zalloc(sizeof *r);
	r->tmp_dir = tmp_dir;
	r->memory = memory;
	return r;
}

void pd_site_runs_free(struct pd_site_runs *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_runs; i++)
		pd_buf_release(&r->runs[i].window);
	if (r->spool)
		fclose(r->spool);
	pd_buf_release(&r->records);
	free(r->order);
	free(r->runs);
	free(r->heap);
	free(r);
}

static struct pd_site_page at(const struct pd_site_runs *r, size_t begin)
{
	struct pd_site_page p;
	pd_site_page_see(pd_span(r->records.p + begin, r->records.n - begin), &p);
	return p;
}

static int by_record(const void *x, const void *y, void *ctx)
{
	const struct pd_site_runs *r = ctx;
	const char *a = r->records.p + *(const size_t *)x, *b = r->records.p + *(const size_t *)y;
	uint64_t key_a[2], key_b[2];
	/* Most are decided by host and URL, which a record begins with. */
	memcpy(key_a, a, sizeof key_a);
	memcpy(key_b, b, sizeof key_b);
	for (int i = 0; i < 2; i++)
		if (key_a[i] != key_b[i])
			return key_a[i] < key_b[i] ? -1 : 1;
	struct pd_site_page page_a = at(r, *(const size_t *)x), page_b = at(r, *(const size_t *)y);
	return pd_site_page_cmp(&page_a, &page_b, a, b);
}

/* Sorts what is in memory and cuts it to the samples. */
static void sort(struct pd_site_runs *r)
{
	size_t n = 0, of_host = 0;
	uint64_t last[2] = { 0 };
	if (r->n)
		qsort_r(r->order, r->n, sizeof *r->order, by_record, r);
	for (size_t i = 0; i < r->n; i++) {
		uint64_t key[2];
		memcpy(key, r->records.p + r->order[i], sizeof key);
		if (i && key[0] == last[0] && key[1] == last[1])
			continue;
		of_host = i && key[0] == last[0] ? of_host + 1 : 1;
		memcpy(last, key, sizeof last);
		if (of_host <= PD_SITE_SAMPLE)
			r->order[n++] = r->order[i];
	}
	r->n = n;
}

static int spill(struct pd_site_runs *r, struct pd_err *e)
{
	sort(r);
	if (!r->spool)
		r->spool = pd_spool_open(r->tmp_dir, e);
	if (!r->spool)
		return PD_ERR_SYSTEM;
	struct pd_site_run run = { .at = r->spooled };
	for (size_t i = 0; i < r->n; i++) {
		uint32_t size = at(r, r->order[i]).size;
		fwrite(r->records.p + r->order[i], 1, size, r->spool);
		r->spooled += size;
	}
	run.end = r->spooled;
	r->runs = pd_grow(r->runs, r->n_runs, &r->cap_runs, sizeof *r->runs);
	r->runs[r->n_runs++] = run;
	r->n = 0;
	pd_buf_clear(&r->records);
	return ferror(r->spool) ? pd_fail_errno(e, "cannot write a temporary file") : PD_OK;
}

int pd_site_runs_add(struct pd_site_runs *r, const struct pd_site_page *p, const char *bytes, struct pd_err *e)
{
	int status = r->n && r->records.n + p->size > r->memory ? spill(r, e) : PD_OK;
	if (status)
		return status;
	r->order = pd_grow(r->order, r->n, &r->cap, sizeof *r->order);
	r->order[r->n++] = r->records.n;
	pd_buf_add(&r->records, bytes, p->size);
	return PD_OK;
}

/* What is still in memory becomes a run that is its own window, in order. */
static void keep_rest(struct pd_site_runs *r)
{
	struct pd_site_run run = { 0 };
	sort(r);
	for (size_t i = 0; i < r->n; i++)
		pd_buf_add(&run.window, r->records.p + r->order[i], at(r, r->order[i]).size);
	pd_buf_release(&r->records);
	r->runs = pd_grow(r->runs, r->n_runs, &r->cap_runs, sizeof *r->runs);
	r->runs[r->n_runs++] = run;
}

/* More of the run into its window, from where the record begins. */
static bool refill(struct pd_site_runs *r, struct pd_site_run *run)
{
	struct pd_buf *w = &run->window;
	size_t left = w->n - run->pos, want = run->end - run->at < WINDOW ? run->end - run->at : WINDOW;
	if (left)
		memmove(w->p, w->p + run->pos, left);
	w->n = left;
	run->pos = 0;
	ssize_t got = pread(fileno(r->spool), pd_buf_reserve(w, want), want, (off_t)run->at);
	if (got <= 0)
		return false;
	w->n += (size_t)got;
	run->at += (uint64_t)got;
	return true;
}

/* Sees the record that the run stands at.  1, 0 at its end, negative. */
static int see(struct pd_site_runs *r, struct pd_site_run *run, struct pd_err *e)
{
	for (;;) {
		struct pd_span rest = { 0 };
		if (run->pos < run->window.n)
			rest = pd_span(run->window.p + run->pos, run->window.n - run->pos);
		if (rest.n && pd_site_page_see(rest, &run->page))
			return 1;
		if (run->at == run->end)
			return rest.n ? pd_fail(e, PD_ERR_FORMAT, "a temporary file is damaged") : 0;
		if (!refill(r, run))
			return pd_fail_errno(e, "cannot read a temporary file");
	}
}

static bool before(const struct pd_site_run *a, const struct pd_site_run *b)
{
	return pd_site_page_cmp(&a->page, &b->page, a->window.p + a->pos, b->window.p + b->pos) < 0;
}

static void sift(struct pd_site_runs *r, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;
		if (child + 1 < r->n_heap && before(r->heap[child + 1], r->heap[child]))
			child++;
		if (child >= r->n_heap || !before(r->heap[child], r->heap[i]))
			return;
		struct pd_site_run *swap = r->heap[i];
		r->heap[i] = r->heap[child];
		r->heap[child] = swap;
		i = child;
	}
}

int pd_site_runs_close(struct pd_site_runs *r, struct pd_err *e)
{
	if (r->spool && fflush(r->spool) != 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	keep_rest(r);
	r->heap = pd_zalloc(r->n_runs * sizeof *r->heap);
	for (size_t i = 0; i < r->n_runs; i++) {
		int status = see(r, &r->runs[i], e);
		if (status < 0)
			return status;
		if (status)
			r->heap[r->n_heap++] = &r->runs[i];
	}
	for (size_t i = r->n_heap; i-- > 0;)
		sift(r, i);
	return PD_OK;
}

/* Past the record of the run that is first. */
static int step(struct pd_site_runs *r, struct pd_err *e)
{
	struct pd_site_run *run = r->heap[0];
	run->pos += run->page.size;
	int status = see(r, run, e);
	if (status == 0)
		r->heap[0] = r->heap[--r->n_heap];
	if (r->n_heap)
		sift(r, 0);
	return status < 0 ? status : PD_OK;
}

int pd_site_runs_next(struct pd_site_runs *r, struct pd_buf *out, struct pd_err *e)
{
	pd_buf_clear(out);
	if (!r->n_heap)
		return 0;
	uint64_t host = r->heap[0]->page.host, last = 0;
	for (size_t n = 0; r->n_heap && r->heap[0]->page.host == host;) {
		const struct pd_site_run *run = r->heap[0];
		if (n < PD_SITE_SAMPLE && (!n || run->page.url != last)) {
			pd_buf_add(out, run->window.p + run->pos, run->page.size);
			last = run->page.url;
			n++;
		}
		int status = step(r, e);
		if (status)
			return status;
	}
	return 1;
}
