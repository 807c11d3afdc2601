/* SPDX-License-Identifier: MIT
 *
 * An external merge sort (base/runs.h).  What memory holds is sorted and cut to the samples of its hosts before it is
 * written: what is over a sample here cannot be in it.
 */
#include "topic/site_runs.h"

#include <stdlib.h>

#include "base/runs.h"
#include "topic/boilerplate.h"

/* What a record begins with, and is ordered by. */
struct host_and_url {
	uint64_t host, url;
};

struct pd_site_runs {
	size_t memory;
	struct pd_buf records;
	size_t *order;			/* record -> where it begins */
	size_t n, cap;
	struct pd_runs *runs;
};

static struct host_and_url key_of(const char *record)
{
	struct host_and_url key;
	memcpy(&key, record, sizeof key);
	return key;
}

static size_t record_size(struct pd_span bytes)
{
	struct pd_site_page p;
	return pd_site_page_see(bytes, &p) ? p.size : 0;
}

static uint64_t record_host(const char *record)
{
	return key_of(record).host;
}

static int compare_records(struct pd_span a, struct pd_span b)
{
	struct host_and_url key_a = key_of(a.p), key_b = key_of(b.p);
	if (key_a.host != key_b.host)
		return key_a.host < key_b.host ? -1 : 1;
	if (key_a.url != key_b.url)
		return key_a.url < key_b.url ? -1 : 1;
	struct pd_site_page page_a, page_b;
	pd_site_page_see(a, &page_a);
	pd_site_page_see(b, &page_b);
	return pd_site_page_cmp(&page_a, &page_b, a.p, b.p);
}

struct pd_site_runs *pd_site_runs_new(const char *tmp_dir, size_t memory)
{
	static const struct pd_runs_type type = { .size = record_size, .key = record_host, .compare = compare_records };
	struct pd_site_runs *r = pd_zalloc(sizeof *r);
	r->memory = memory;
	r->runs = pd_runs_new(&type, tmp_dir);
	return r;
}

void pd_site_runs_free(struct pd_site_runs *r)
{
	if (!r)
		return;
	pd_runs_free(r->runs);
	pd_buf_release(&r->records);
	free(r->order);
	free(r);
}

static struct pd_span record_at(const struct pd_site_runs *r, size_t begin)
{
	return pd_span(r->records.p + begin, r->records.n - begin);
}

static int compare_places(const void *x, const void *y, void *ctx)
{
	const struct pd_site_runs *r = ctx;
	return compare_records(record_at(r, *(const size_t *)x), record_at(r, *(const size_t *)y));
}

/* Sorts what is in memory and cuts it to the samples. */
static void sort_records(struct pd_site_runs *r)
{
	size_t n = 0, of_host = 0;
	struct host_and_url last = { 0, 0 };
	if (r->n)
		qsort_r(r->order, r->n, sizeof *r->order, compare_places, r);
	for (size_t i = 0; i < r->n; i++) {
		struct host_and_url key = key_of(r->records.p + r->order[i]);
		if (i && key.host == last.host && key.url == last.url)
			continue;
		of_host = i && key.host == last.host ? of_host + 1 : 1;
		last = key;
		if (of_host <= PD_SITE_SAMPLE)
			r->order[n++] = r->order[i];
	}
	r->n = n;
}

static int write_run(struct pd_site_runs *r, struct pd_err *e)
{
	sort_records(r);
	pd_runs_begin(r->runs);
	for (size_t i = 0; i < r->n; i++)
		pd_runs_add(r->runs, r->records.p + r->order[i], record_size(record_at(r, r->order[i])));
	r->n = 0;
	pd_buf_clear(&r->records);
	return pd_runs_end(r->runs, e);
}

int pd_site_runs_add(struct pd_site_runs *r, const struct pd_site_page *p, const char *bytes, struct pd_err *e)
{
	int status = r->n && r->records.n + p->size > r->memory ? write_run(r, e) : PD_OK;
	if (status)
		return status;
	r->order = pd_grow(r->order, r->n, &r->cap, sizeof *r->order);
	r->order[r->n++] = r->records.n;
	pd_buf_add(&r->records, bytes, p->size);
	return PD_OK;
}

int pd_site_runs_close(struct pd_site_runs *r, struct pd_err *e)
{
	struct pd_buf rest = { 0 };
	sort_records(r);
	for (size_t i = 0; i < r->n; i++)
		pd_buf_add(&rest, r->records.p + r->order[i], record_size(record_at(r, r->order[i])));
	pd_buf_release(&r->records);
	pd_runs_keep(r->runs, &rest);
	return pd_runs_merge(r->runs, r->memory, e);
}

int pd_site_runs_next(struct pd_site_runs *r, struct pd_buf *out, struct pd_err *e)
{
	struct pd_span record;
	struct host_and_url last = { 0, 0 };
	size_t n = 0;
	int status = PD_OK;
	pd_buf_clear(out);
	if (!pd_runs_see(r->runs, &record))
		return 0;
	for (uint64_t host = record_host(record.p); !status && pd_runs_see(r->runs, &record) && record_host(record.p) == host;) {
		struct host_and_url key = key_of(record.p);
		if (n < PD_SITE_SAMPLE && (!n || key.url != last.url)) {
			pd_buf_add(out, record.p, record.n);
			last = key;
			n++;
		}
		status = pd_runs_step(r->runs, e);
	}
	return status ? status : 1;
}
