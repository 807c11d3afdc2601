/* SPDX-License-Identifier: MIT */
#include "inspect/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fields.h"
#include "base/threads.h"
#include "join/plan.h"
#include "match/verify.h"
#include "read/sample.h"
#include "term/terms.h"

/* MATCH_BYTES: measured with 64-bit fingerprints, docs/performance.md; BANDS_BYTES: what bands of sketches take beside.  TOP: names in a list.  JUMPS: fewer places give
 * no range. */
enum { MATCH_BYTES = 60, BANDS_BYTES = 84, ROW_BYTES = 115, TOP = 5, JUMPS = 4 };

/* seconds after which a sample of slow pages is ended */
#define LIMIT 10

struct sampled_page {
	struct pd_key key;
	struct pd_sketch sketch;
	uint64_t text, host;	/* hashes of the text digest and of the host; host 0: none */
	struct pd_facts facts;
	bool present, has_text;
	int place;
};

struct name_count {
	char name[32];
	uint64_t n;
};

struct name_counts {
	struct name_count *v;
	size_t n, cap;
};

struct estimate {
	struct pd_read_sample_stats sample;
	uint64_t records, damaged;
	double cpu_seconds;	/* for all records of the sample */
	double limit;		/* > 0: the sample was ended after so many seconds */
	int bits, threads;
	struct pd_sketch_options sketch;
	/* of pages */
	struct sampled_page *pages;
	size_t n, cap;
	uint64_t too_short, at_place[PD_SAMPLE_PLACES];
	struct name_counts languages, charsets;
	struct pd_buf scratch;
};

/* --- gathering --- */

static void count_name(struct name_counts *c, struct pd_span name)
{
	size_t i = 0;
	if (!name.n)
		name = pd_span_z("unknown");
	while (i < c->n && !pd_span_is(name, c->v[i].name))
		i++;
	if (i == c->n) {
		c->v = pd_grow(c->v, c->n, &c->cap, sizeof *c->v);
		snprintf(c->v[c->n].name, sizeof c->v->name, "%.*s", (int)name.n, name.p);
		c->v[c->n++].n = 0;
	}
	c->v[i].n++;
}

/* The pipeline has run over a page that stands at this place of the sample. */
static void count_page(struct estimate *e, struct pd_pipeline *p, int place)
{
	struct sampled_page new = { .key = p->signature.key, .sketch = p->sketch, .present = p->signature.present, .place = place };
	pd_url_host(p->page.url, &e->scratch);
	if (e->scratch.n)
		new.host = pd_hash64(e->scratch.p, e->scratch.n);
	new.has_text = p->text_digest.n > 0;
	if (new.has_text)
		new.text = pd_hash64(p->text_digest.p, p->text_digest.n);
	new.facts = pd_pipeline_facts(p);
	e->pages = pd_grow(e->pages, e->n, &e->cap, sizeof *e->pages);
	e->pages[e->n++] = new;
	e->at_place[place]++;
	e->too_short += !new.present;
	pd_language(p->blocks.meta.lang, pd_buf_span(&p->topic.text), &e->scratch);
	count_name(&e->languages, pd_buf_span(&e->scratch));
	count_name(&e->charsets, pd_span_z(p->text.charset->name));
}

/* --- the whole from its parts --- */

struct whole {
	bool known;		/* there is something to scale by */
	double records, pages;
	double error;		/* relative, two standard errors of the pages; < 0: unknown */
};

/* Two standard errors of the ratio pages per byte, over places. */
static double ratio_error(const struct estimate *e, double pages, double bytes)
{
	double sum = 0;
	int n = e->sample.n_places;
	if (e->sample.jumps < JUMPS || n < JUMPS || pages <= 0)
		return -1;
	for (int i = 0; i < n; i++) {
		const struct pd_read_sample_place *p = &e->sample.places[i];
		double here = p->records ? (double)e->at_place[i] * (double)p->measured / (double)p->records : 0;
		double off = here - pages / bytes * (double)p->bytes;
		sum += off * off;
	}
	return 2 * sqrt(sum * n / (n - 1)) / pages;
}

static void scale(const struct estimate *e, struct whole *w)
{
	double bytes = 0, records = 0, pages = 0;
	*w = (struct whole){ .known = true, .records = (double)e->records, .pages = (double)e->n };
	if (e->sample.whole)
		return;
	for (int i = 0; i < e->sample.n_places; i++) {
		const struct pd_read_sample_place *p = &e->sample.places[i];
		bytes += (double)p->bytes;
		records += (double)p->measured;
		pages += p->records ? (double)e->at_place[i] * (double)p->measured / (double)p->records : 0;
	}
	w->known = !e->sample.unknown_size && bytes > 0;
	if (!w->known)
		return;
	double times = (double)e->sample.bytes_total / bytes;
	w->records = fmax(records * times, (double)e->records);
	w->pages = fmax(pages * times, (double)e->n);
	w->error = ratio_error(e, pages, bytes);
}

struct partners {
	uint64_t pages, same_text;	/* with a partner in the sample */
	uint64_t far_pairs;		/* between places */
};

static bool same_text(const struct sampled_page *a, const struct sampled_page *b)
{
	return a->has_text && b->has_text && a->text == b->text;
}

/* As match would have it. */
static bool near(const struct estimate *e, const struct sampled_page *a, const struct sampled_page *b, int k,
		 const struct pd_verify_options *verify)
{
	int distance = pd_hamming(&a->key, &b->key, e->bits);
	if (!a->present || !b->present || distance > k)
		return false;
	double similarity = pd_sketch_similarity(&e->sketch, &a->sketch, &b->sketch);
	enum pd_hosts hosts = a->host != b->host ? PD_HOSTS_DIFFER : a->host ? PD_HOSTS_SAME : PD_HOSTS_UNKNOWN;
	return pd_verify(verify, similarity, distance, &a->facts, &b->facts, hosts) == PD_LOOK_YES;
}

/* Each with each: a sample is small. */
static void find_partners(const struct estimate *e, int k, const struct pd_verify_options *verify, struct partners *out)
{
	bool *paired = pd_zalloc(e->n + 1), *same = pd_zalloc(e->n + 1);
	*out = (struct partners){ 0 };
	for (size_t i = 0; i < e->n; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct sampled_page *a = &e->pages[i], *b = &e->pages[j];
			bool equal = same_text(a, b);
			if (!equal && !near(e, a, b, k, verify))
				continue;
			paired[i] = paired[j] = true;
			same[i] |= equal;
			same[j] |= equal;
			out->far_pairs += a->place != b->place;
		}
	}
	for (size_t i = 0; i < e->n; i++) {
		out->pages += paired[i];
		out->same_text += same[i];
	}
	free(paired);
	free(same);
}

/* --- the table --- */

static void add_label(struct pd_buf *out, const char *name)
{
	pd_buf_printf(out, "%-18s", name);
}

/* Three digits tell more than an estimate knows. */
static double rounded(double v)
{
	double unit = v < 1000 ? 1 : pow(10, floor(log10(v)) - 2);
	return floor(v / unit + 0.5) * unit;
}

static void add_count(const struct estimate *e, double v, struct pd_buf *out)
{
	if (e->sample.whole)
		pd_buf_printf(out, "%.0f", v);
	else
		pd_buf_printf(out, "about %.0f", rounded(v));
}

static void add_size(double bytes, struct pd_buf *out)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB", "PB" };
	size_t u = 0;
	for (; bytes >= 1000 && u + 1 < sizeof units / sizeof *units; u++)
		bytes /= 1000;
	pd_buf_printf(out, "%.*f %s", u && bytes < 10 ? 1 : 0, bytes, units[u]);
}

static void add_time(double seconds, struct pd_buf *out)
{
	if (seconds < 1)
		pd_buf_add_z(out, "under 1 s");
	else if (seconds < 120)
		pd_buf_printf(out, "%.0f s", seconds);
	else if (seconds < 7200)
		pd_buf_printf(out, "%.0f min", seconds / 60);
	else
		pd_buf_printf(out, "%.1f h", seconds / 3600);
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void say_sample(const struct estimate *e, struct pd_buf *out)
{
	add_label(out, "sample");
	pd_buf_count(out, e->records, "record");
	pd_buf_add_z(out, ", ");
	pd_buf_count(out, e->n, "page");
	if (e->sample.whole)
		pd_buf_add_z(out, ": everything, so the counts below are exact");
	else if (e->sample.jumps)
		pd_buf_printf(out, " at %d places", e->sample.n_places);
	else
		pd_buf_add_z(out, " from the beginning: what comes later may differ");
	if (e->limit > 0)
		pd_buf_printf(out, "; ended after %.0f s, so places near the end are missing", e->limit);
	if (e->damaged)
		pd_buf_printf(out, "; %" PRIu64 " damaged", e->damaged);
	pd_buf_add_c(out, '\n');
}

static void say_pages(const struct estimate *e, const struct whole *w, struct pd_buf *out)
{
	add_label(out, "records");
	if (w->known)
		add_count(e, w->records, out);
	else
		pd_buf_add_z(out, "unknown: the size of the input is not known");
	pd_buf_add_c(out, '\n');
	add_label(out, "pages");
	if (w->known) {
		add_count(e, w->pages, out);
		if (!e->sample.whole && w->error >= 0)
			pd_buf_printf(out, " (%.0f to %.0f)", rounded(fmax(w->pages * (1 - w->error), (double)e->n)),
				      rounded(w->pages * (1 + w->error)));
		pd_buf_add_z(out, ", ");
	}
	pd_buf_printf(out, "%.1f %% of the records\n", percent((double)e->n, (double)e->records));
	add_label(out, "too short");
	pd_buf_printf(out, "%.1f %% of the pages: no fingerprint\n", percent((double)e->too_short, (double)e->n));
}

static int most_first(const void *x, const void *y)
{
	const struct name_count *a = x, *b = y;
	return a->n != b->n ? (a->n < b->n ? 1 : -1) : strcmp(a->name, b->name);
}

static void say_names(const char *name, struct name_counts *c, size_t pages, struct pd_buf *out)
{
	add_label(out, name);
	if (c->n)
		qsort(c->v, c->n, sizeof *c->v, most_first);
	for (size_t i = 0; i < c->n && i < TOP; i++)
		pd_buf_printf(out, "%s%s %.1f %%", i ? ", " : "", c->v[i].name, percent((double)c->v[i].n, (double)pages));
	if (c->n > TOP)
		pd_buf_printf(out, ", %zu more", c->n - TOP);
	pd_buf_add_c(out, '\n');
}

/* The most: pairs that lie far apart were seen with a chance of (n/N)^2; none seen still allows three. */
static double most_partners(const struct estimate *e, const struct whole *w, const struct partners *p)
{
	double times = w->pages / (double)e->n;
	double pairs = (p->far_pairs ? (double)p->far_pairs : 3) * times * times;
	return fmin(1, (double)p->pages / (double)e->n + 2 * pairs / w->pages);
}

static void say_partners(const struct estimate *e, const struct whole *w, int k, const struct pd_verify_options *verify,
			 struct pd_buf *out)
{
	struct partners p;
	double n = (double)e->n;
	find_partners(e, k, verify, &p);
	add_label(out, "near-duplicates");
	pd_buf_printf(out, "%s%.1f %%", e->sample.whole ? "" : "at least ", percent((double)p.pages, n));
	if (!e->sample.whole && w->known)
		pd_buf_printf(out, ", probably at most %.1f %%", 100 * most_partners(e, w, &p));
	pd_buf_printf(out, " of the pages have a partner (same text: %s%.1f %%)\n", e->sample.whole ? "" : "at least ",
		      percent((double)p.same_text, n));
	if (e->sample.whole)
		return;
	add_label(out, "");
	pd_buf_printf(out, "least: partners seen among the %zu pages of the sample; a page whose\n", e->n);
	add_label(out, "");
	pd_buf_printf(out, "partner is not in the sample counts as single.%s\n",
		      w->known ? "  Most: pairs between places, times (N/n)^2." : "");
}

static void say_cost(const struct estimate *e, const struct whole *w, int k, bool bands, struct pd_buf *out)
{
	double per_page = e->cpu_seconds / (double)e->n;
	add_label(out, "fp");
	if (w->known) {
		add_time(per_page * w->pages / e->threads, out);
		pd_buf_printf(out, " with %d thread%s, ", e->threads, e->threads == 1 ? "" : "s");
	}
	pd_buf_printf(out, "%.2f ms of CPU a page\n", 1000 * per_page);
	add_label(out, "match");
	double row = MATCH_BYTES + (bands ? BANDS_BYTES : 0) + (e->bits - 64) / 8.;
	if (w->known) {
		add_size(w->pages * row, out);
		pd_buf_add_z(out, " of memory and ");
		add_size(w->pages * ROW_BYTES, out);
		pd_buf_printf(out, " of spool (%.0f + %d bytes a page), ", row, ROW_BYTES);
		if (!bands)
			pd_buf_printf(out, "k %d\n", k);
		else if (k < e->bits / 4)
			pd_buf_add_z(out, "candidates from sketches\n");
		else
			pd_buf_printf(out, "candidates from sketches and k %d\n", k);
	} else {
		pd_buf_printf(out, "%.0f bytes of memory and %d of spool a page\n", row, ROW_BYTES);
	}
}

static void print_estimate(struct estimate *e, struct pd_buf *out)
{
	struct whole w;
	scale(e, &w);
	say_sample(e, out);
	say_pages(e, &w, out);
	if (!e->n)
		return;
	double fingerprints = w.pages * (double)(e->n - e->too_short) / (double)e->n;
	size_t n = (size_t)fmin(fingerprints, 4e9);
	struct pd_verify_options verify = PD_VERIFY_DEFAULTS;
	verify.off = !e->sketch.minima;
	verify.k_unknown = pd_join_default_k(e->bits, n);
	int k = verify.off ? verify.k_unknown : pd_verify_default_k(e->bits, n);
	/* However many they are, match finds by their sketches what lies that far apart (match/bands.h). */
	int far = verify.off ? k : e->bits * 3 / 8;
	say_names("languages", &e->languages, e->n, out);
	say_names("charsets", &e->charsets, e->n, out);
	say_partners(e, &w, far, &verify, out);
	say_cost(e, &w, k, !verify.off, out);
}

/* --- the sample --- */

struct estimate_run {
	const struct pd_walk_options *o;
	struct pd_tables tables;
	struct pd_pipeline pipeline;
	struct pd_record record;
	struct pd_read_sampler *sampler;
	struct estimate estimate;
	struct pd_err *err;
};

static void add_record(struct estimate_run *r)
{
	const char *reason;
	struct estimate *e = &r->estimate;
	enum pd_skip skip = pd_pipeline_run(&r->pipeline, &r->record, &reason);
	e->records++;
	e->damaged += skip == PD_SKIP_DAMAGED;
	if (skip)
		return;
	pd_read_sampler_stats(r->sampler, &e->sample);
	count_page(e, &r->pipeline, e->sample.place);
}

static int read_sample(struct estimate_run *r)
{
	struct estimate *e = &r->estimate;
	double cpu = pd_thread_seconds(), started = pd_wall_seconds();
	int status;
	while ((status = pd_read_sampler_next(r->sampler, &r->record, r->err)) == 1) {
		add_record(r);
		if (pd_wall_seconds() - started > LIMIT) {
			e->limit = LIMIT;
			break;
		}
	}
	pd_read_sampler_stats(r->sampler, &e->sample);
	e->cpu_seconds = pd_thread_seconds() - cpu - e->sample.seek_seconds;
	e->damaged += e->sample.damaged;
	e->bits = r->o->page.sign.bits;
	e->sketch = r->o->page.sketch;
	int cores = pd_cores();
	e->threads = r->o->jobs && r->o->jobs < cores ? r->o->jobs : cores;
	return status < 0 ? status : PD_OK;
}

int pd_estimate(const struct pd_walk_options *o, const struct pd_reader_options *in, int sample, struct pd_buf *out, bool *damaged,
		struct pd_err *e)
{
	struct estimate_run r = { .o = o, .err = e };
	int status = pd_tables_open(&r.tables, &o->page, e);
	if (!status)
		status = pd_pipeline_init(&r.pipeline, &o->page, &r.tables, e);
	if (!status)
		status = pd_read_sampler_open(&r.sampler, in, sample, e);
	if (!status)
		status = read_sample(&r);
	if (!status)
		print_estimate(&r.estimate, out);
	*damaged = r.estimate.damaged && !r.estimate.n;
	pd_read_sampler_free(r.sampler);
	pd_pipeline_release(&r.pipeline);
	pd_tables_release(&r.tables);
	pd_record_release(&r.record);
	free(r.estimate.pages);
	free(r.estimate.languages.v);
	free(r.estimate.charsets.v);
	pd_buf_release(&r.estimate.scratch);
	return status;
}
