/* SPDX-License-Identifier: MIT */
#include "topic/site_learn.h"

#include <stdlib.h>

#include "topic/site_decide.h"
#include "topic/site_runs.h"

#define MEMORY (64u << 20)

struct pd_site_learner {
	struct pd_site_learn_options o;
	struct pd_site_runs *runs;
	struct pd_site_judge *judge;
	struct pd_buf sample;
	size_t next_known;		/* host of o.known that was not written yet */
	struct pd_site_learn_counts counts;
};

struct pd_site_learner *pd_site_learner_new(const struct pd_site_learn_options *o)
{
	struct pd_site_learner *l = pd_zalloc(sizeof *l);
	l->o = *o;
	l->runs = pd_site_runs_new(o->tmp_dir, o->memory ? o->memory : MEMORY);
	l->judge = pd_site_judge_new();
	return l;
}

void pd_site_learner_free(struct pd_site_learner *l)
{
	if (!l)
		return;
	pd_site_runs_free(l->runs);
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
			int status = pd_site_runs_add(l->runs, &p, records.p, e);
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
	int status = pd_site_runs_close(l->runs, e);
	if (status)
		return status;
	while ((status = pd_site_runs_next(l->runs, &l->sample, e)) > 0) {
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
