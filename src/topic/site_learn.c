/* SPDX-License-Identifier: MIT */
#include "topic/site_learn.h"

#include <stdlib.h>

#include "base/runs.h"
#include "topic/site_decide.h"

#define MEMORY (64u << 20)

/*
 * The samples of all hosts, within bounded memory: records come in any order, and out by host and URL, each URL once, and of
 * each host no more than its sample.  An external merge sort (base/runs.h): what memory holds is sorted and cut to the samples
 * of its hosts before it is written, because what is over a sample here cannot be in it.
 */

/* What a record begins with, and is ordered by. */
struct host_and_url {
	uint64_t host, url;
};

struct samples {
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

static struct samples *samples_new(const char *tmp_dir, size_t memory)
{
	static const struct pd_runs_type type = { .size = record_size, .key = record_host, .compare = compare_records };
	struct samples *r = pd_zalloc(sizeof *r);
	r->memory = memory;
	r->runs = pd_runs_new(&type, tmp_dir);
	return r;
}

static void samples_free(struct samples *r)
{
	if (!r)
		return;
	pd_runs_free(r->runs);
	pd_buf_release(&r->records);
	free(r->order);
	free(r);
}

static struct pd_span record_at(const struct samples *r, size_t begin)
{
	return pd_span(r->records.p + begin, r->records.n - begin);
}

static int compare_places(const void *x, const void *y, void *ctx)
{
	const struct samples *r = ctx;
	return compare_records(record_at(r, *(const size_t *)x), record_at(r, *(const size_t *)y));
}

/* Sorts what is in memory and cuts it to the samples. */
static void sort_records(struct samples *r)
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

static int write_run(struct samples *r, struct pd_err *e)
{
	sort_records(r);
	pd_runs_begin(r->runs);
	for (size_t i = 0; i < r->n; i++)
		pd_runs_add(r->runs, r->records.p + r->order[i], record_size(record_at(r, r->order[i])));
	r->n = 0;
	pd_buf_clear(&r->records);
	return pd_runs_end(r->runs, e);
}

static int samples_add(struct samples *r, const struct pd_site_page *p, const char *bytes, struct pd_err *e)
{
	int status = r->n && r->records.n + p->size > r->memory ? write_run(r, e) : PD_OK;
	if (status)
		return status;
	r->order = pd_grow(r->order, r->n, &r->cap, sizeof *r->order);
	r->order[r->n++] = r->records.n;
	pd_buf_add(&r->records, bytes, p->size);
	return PD_OK;
}

static int samples_close(struct samples *r, struct pd_err *e)
{
	struct pd_buf rest = { 0 };
	sort_records(r);
	for (size_t i = 0; i < r->n; i++)
		pd_buf_add(&rest, r->records.p + r->order[i], record_size(record_at(r, r->order[i])));
	pd_buf_release(&r->records);
	pd_runs_keep(r->runs, &rest);
	return pd_runs_merge(r->runs, r->memory, e);
}

static int samples_next(struct samples *r, struct pd_buf *out, struct pd_err *e)
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

/*
 * The learner: samples, and for each host what they repeat.
 */

struct pd_site_learner {
	struct pd_site_learn_options o;
	struct samples *samples;
	struct pd_site_judge *judge;
	struct pd_buf sample;
	size_t next_known;		/* host of o.known that was not written yet */
	struct pd_site_learn_counts counts;
};

struct pd_site_learner *pd_site_learner_new(const struct pd_site_learn_options *o)
{
	struct pd_site_learner *l = pd_zalloc(sizeof *l);
	l->o = *o;
	l->samples = samples_new(o->tmp_dir, o->memory ? o->memory : MEMORY);
	l->judge = pd_site_judge_new();
	return l;
}

void pd_site_learner_free(struct pd_site_learner *l)
{
	if (!l)
		return;
	samples_free(l->samples);
	pd_site_judge_free(l->judge);
	pd_buf_release(&l->sample);
	free(l);
}

const struct pd_site_learn_counts *pd_site_learner_counts(const struct pd_site_learner *l)
{
	return &l->counts;
}

int pd_site_learner_add(struct pd_site_learner *l, struct pd_span records, struct pd_err *e)
{
	while (records.n) {
		struct pd_site_page p;
		if (!pd_site_page_see(records, &p))
			return pd_fail(e, PD_ERR_FORMAT, "a record of a page cannot be");
		if (!l->o.known || !pd_boilerplate_knows(l->o.known, p.host)) {
			int status = samples_add(l->samples, &p, records.p, e);
			if (status)
				return status;
			l->counts.pages++;
		}
		records.p += p.size;
		records.n -= p.size;
	}
	return PD_OK;
}

int pd_site_learner_merge(struct pd_site_learner *l, struct pd_boilerplate *b, struct pd_err *e)
{
	int status = PD_OK;
	if (pd_boilerplate_hidden_kept(b) != l->o.hidden_kept)
		return pd_fail(e, PD_ERR_PARAMS, "a table was learned with --hidden=%s: say so, and merge it with such tables alone",
			       pd_boilerplate_hidden_kept(b) ? "keep" : "drop");
	for (size_t i = 0; !status && i < pd_boilerplate_hosts(b); i++) {
		status = pd_boilerplate_sample(b, i, &l->sample, e);
		if (!status)
			status = pd_site_learner_add(l, pd_buf_span(&l->sample), e);
	}
	return status;
}

static void write_host(struct pd_site_learner *l, struct pd_boilerplate_writer *w, const struct pd_boilerplate_host *h,
		       struct pd_span records)
{
	pd_boilerplate_writer_add(w, h, records);
	l->counts.hosts++;
	l->counts.taught += h->site.n_lines > 0;
	l->counts.lines += h->site.n_lines;
	l->counts.paths += h->site.n_paths;
}

/* The hosts of the known table that come before `key`. */
static int write_known(struct pd_site_learner *l, struct pd_boilerplate_writer *w, uint64_t key, bool all, struct pd_err *e)
{
	struct pd_buf records = { 0 };
	int status = PD_OK;
	while (!status && l->o.known && l->next_known < pd_boilerplate_hosts(l->o.known)) {
		struct pd_boilerplate_host h = pd_boilerplate_host(l->o.known, l->next_known);
		if (!all && h.key >= key)
			break;
		if (l->o.samples)
			status = pd_boilerplate_sample(l->o.known, l->next_known, &records, e);
		if (!status)
			write_host(l, w, &h, pd_buf_span(&records));
		l->next_known++;
	}
	pd_buf_release(&records);
	return status;
}

/* From the records in l->sample. */
static struct pd_boilerplate_host decide(struct pd_site_learner *l)
{
	struct pd_site_page pages[PD_SITE_SAMPLE];
	struct pd_boilerplate_host h = { 0 };
	struct pd_span rest = pd_buf_span(&l->sample);
	for (; rest.n; h.pages++) {
		struct pd_site_page *p = &pages[h.pages];
		pd_site_page_see(rest, p);
		rest.p += p->size;
		rest.n -= p->size;
	}
	h.key = pages[0].host;
	h.name = pd_span(pages[0].name, pages[0].n_name);
	h.site = pd_site_decide(l->judge, pages, h.pages);
	return h;
}

static int write_all(struct pd_site_learner *l, struct pd_boilerplate_writer *w, struct pd_err *e)
{
	int status = samples_close(l->samples, e);
	if (status)
		return status;
	while ((status = samples_next(l->samples, &l->sample, e)) > 0) {
		struct pd_boilerplate_host h = decide(l);
		status = write_known(l, w, h.key, false, e);
		if (status)
			return status;
		write_host(l, w, &h, pd_buf_span(&l->sample));
	}
	return status ? status : write_known(l, w, 0, true, e);
}

int pd_site_learner_end(struct pd_site_learner *l, FILE *f, struct pd_err *e)
{
	struct pd_boilerplate_writer *w;
	int status = pd_boilerplate_writer_new(&w, l->o.tmp_dir, l->o.hidden_kept, l->o.samples, e);
	if (status)
		return status;
	status = write_all(l, w, e);
	if (!status)
		status = pd_boilerplate_writer_end(w, f, e);
	pd_boilerplate_writer_free(w);
	return status;
}
