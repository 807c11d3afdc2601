/* SPDX-License-Identifier: MIT
 *
 * eval --sweep: each page is read and parsed once, and signed with every setting.
 */
#include "base/outfile.h"
#include "group/sweep.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/threads.h"
#include "base/tsv.h"
#include "base/url.h"
#include "cmd/eval.h"
#include "write/sweep_row.h"

static int numbers(const char *arg, const char *name, int most, int *out, int *n, struct pd_err *e)
{
	struct pd_span rest = pd_span_z(arg), one;
	uint64_t v;
	*n = 0;
	while (pd_span_split(&rest, ',', &one)) {
		if (!pd_span_u64(one, &v) || v < 1 || v > (uint64_t)most || *n == 16)
			return pd_fail(e, PD_ERR_USAGE, "--%s takes numbers from 1 to %d with commas between, not '%s'", name, most, arg);
		out[(*n)++] = (int)v;
	}
	return PD_OK;
}

static int choices(const char *arg, const char *name, const char *const *names, int *out, int *n, struct pd_err *e)
{
	struct pd_span rest = pd_span_z(arg), one;
	*n = 0;
	while (pd_span_split(&rest, ',', &one)) {
		int i = 0;
		while (names[i] && !pd_span_is(one, names[i]))
			i++;
		if (!names[i] || *n == 3)
			return pd_fail(e, PD_ERR_USAGE, "--%s takes some of %s, %s, %s with commas between, not '%s'", name, names[0],
				       names[1], names[2], arg);
		out[(*n)++] = i;
	}
	return PD_OK;
}

int pd_sweep_shingle(void *options, const char *arg, struct pd_err *e)
{
	struct pd_eval_options *o = options;
	return numbers(arg, "shingle", 16, o->shingle, &o->n_shingle, e);
}

int pd_sweep_weights(void *options, const char *arg, struct pd_err *e)
{
	struct pd_eval_options *o = options;
	return choices(arg, "weights", pd_weights_names, o->weights, &o->n_weights, e);
}

int pd_sweep_bits(void *options, const char *arg, struct pd_err *e)
{
	static const char *const widths[] = { "64", "128", "256", NULL };
	struct pd_eval_options *o = options;
	return choices(arg, "bits", widths, o->bits, &o->n_bits, e);
}

struct sweep_worker {
	struct pd_pipeline pipeline;
	struct pd_record record;
	struct pd_signer *signers[PD_SWEEP_SETTINGS];
	struct sweep_run *run;
};

struct sweep_run {
	const struct pd_eval_options *o;
	struct pd_log *log;
	struct pd_sweep sweep;
	struct pd_sign_options sign[PD_SWEEP_SETTINGS];
	struct pd_tables tables;
	struct pd_reader *reader;
	struct sweep_worker **workers;
	int n_workers;
	uint64_t damaged;
	struct pd_err *err;
};

/* What a worker hands on for a page: its number in the truth, its text, its fingerprints. */
struct signed_page {
	uint32_t page;
	uint64_t digest[2], host;
	struct pd_facts facts;
	struct pd_sketch sketch;
	struct {
		bool present;
		struct pd_key key;
	} by[];
};

static void on_damage(void *ctx, const struct pd_damage *d)
{
	struct sweep_run *r = ctx;
	r->damaged++;
	pd_damage_tell(d, "left out", r->log);
}

static int next_record(void *shared, void *ctx)
{
	struct sweep_run *r = shared;
	struct sweep_worker *me = ctx;
	if (me->pipeline.err.status)
		return me->pipeline.err.status;
	return pd_reader_next(r->reader, &me->record, r->err);
}

static uint32_t page_in_truth(const struct sweep_run *r, const struct pd_page *page, struct pd_buf *scratch)
{
	pd_buf_clear(scratch);
	pd_tsv_add(scratch, r->sweep.truth->by_id ? page->id : page->url);
	return pd_names_find(&r->sweep.truth->pages, pd_buf_span(scratch));
}

static void sign_page(void *ctx, struct pd_buf *out)
{
	struct sweep_worker *me = ctx;
	const struct sweep_run *r = me->run;
	struct pd_pipeline *p = &me->pipeline;
	size_t n = (size_t)r->sweep.n_settings;
	const char *reason;
	struct pd_key digest;
	int bits;
	if (pd_pipeline_run(p, &me->record, &reason))
		return;
	uint32_t page = page_in_truth(r, &p->page, &p->scratch);
	if (page == PD_NO_NAME)
		return;
	struct signed_page *s = pd_zalloc(sizeof *s + n * sizeof *s->by);
	s->page = page;
	s->sketch = p->sketch;
	s->facts = pd_pipeline_facts(p);
	pd_url_host(p->page.url, &p->scratch);
	s->host = p->scratch.n ? pd_hash64(p->scratch.p, p->scratch.n) : 0;
	if (pd_key_parse(pd_buf_span(&p->text_digest), &bits, &digest))
		memcpy(s->digest, digest.w, sizeof s->digest);
	for (size_t i = 0; i < n; i++) {
		struct pd_signature signature;
		pd_sign(me->signers[i], &p->topic, &signature);
		s->by[i].present = signature.present;
		s->by[i].key = signature.key;
	}
	pd_buf_add(out, s, sizeof *s + n * sizeof *s->by);
	free(s);
}

/* Of pages that share a URL the first counts. */
static int take_page(void *shared, const struct pd_buf *out)
{
	struct sweep_run *r = shared;
	struct pd_sweep *s = &r->sweep;
	if (!out->n)
		return PD_OK;
	struct signed_page *page = pd_alloc(out->n);
	memcpy(page, out->p, out->n);
	if (!s->seen[page->page]) {
		s->seen[page->page] = true;
		s->n_seen++;
		memcpy(s->digest[page->page], page->digest, sizeof page->digest);
		s->host[page->page] = page->host;
		s->facts[page->page] = page->facts;
		s->sketch[page->page] = page->sketch;
		for (int i = 0; i < s->n_settings; i++) {
			s->settings[i].present[page->page] = page->by[i].present;
			s->settings[i].key[page->page] = page->by[i].key;
		}
	}
	free(page);
	return PD_OK;
}

static int plan(struct sweep_run *r, const struct pd_truth *t)
{
	static const int shingle[] = { 1, 2, 3 }, weights[] = { 0, 1, 2 }, bits[] = { 0 };
	const struct pd_eval_options *o = r->o;
	const int *s = o->n_shingle ? o->shingle : shingle, *w = o->n_weights ? o->weights : weights, *b = o->n_bits ? o->bits : bits;
	int n_s = o->n_shingle ? o->n_shingle : 3, n_w = o->n_weights ? o->n_weights : 3, n_b = o->n_bits ? o->n_bits : 1, n = 0;
	if (n_s * n_w * n_b > PD_SWEEP_SETTINGS)
		return pd_fail(r->err, PD_ERR_USAGE, "%d settings are too many: at most %d", n_s * n_w * n_b, PD_SWEEP_SETTINGS);
	pd_sweep_init(&r->sweep, t, n_s * n_w * n_b, o->max_k);
	r->sweep.sketches = o->walk.page.sketch;
	r->sweep.verify = (struct pd_verify_options)PD_VERIFY_DEFAULTS;
	r->sweep.verify.off = !o->verify;
	for (int k = 0; k < n_b; k++)
		for (int i = 0; i < n_s; i++)
			for (int j = 0; j < n_w; j++, n++) {
				r->sign[n] = o->walk.page.sign;
				r->sign[n].shingle = s[i];
				r->sign[n].weights = (enum pd_sign_weights)w[j];
				r->sign[n].bits = 64 << b[k];
				r->sweep.settings[n].bits = 64 << b[k];
			}
	return PD_OK;
}

static int make_workers(struct sweep_run *r)
{
	int status = PD_OK;
	r->n_workers = r->o->walk.jobs ? r->o->walk.jobs : pd_cores();
	r->workers = pd_zalloc((size_t)r->n_workers * sizeof *r->workers);
	for (int i = 0; !status && i < r->n_workers; i++) {
		struct sweep_worker *me = r->workers[i] = pd_zalloc(sizeof *me);
		me->run = r;
		status = pd_pipeline_init(&me->pipeline, &r->o->walk.page, &r->tables, r->err);
		for (int k = 0; !status && k < r->sweep.n_settings; k++)
			status = pd_signer_new(&me->signers[k], &r->sign[k], r->err);
	}
	return status;
}

static void release(struct sweep_run *r)
{
	for (int i = 0; i < r->n_workers && r->workers[i]; i++) {
		pd_pipeline_release(&r->workers[i]->pipeline);
		pd_record_release(&r->workers[i]->record);
		for (int k = 0; k < PD_SWEEP_SETTINGS; k++)
			pd_signer_free(r->workers[i]->signers[k]);
		free(r->workers[i]);
	}
	free(r->workers);
	pd_reader_free(r->reader);
	pd_tables_release(&r->tables);
	pd_sweep_release(&r->sweep);
}

static int sign_all(struct sweep_run *r, char **dumps, int n_dumps)
{
	static const struct pd_pool_ops ops = { next_record, sign_page, take_page };
	const struct pd_walk_options *w = &r->o->walk;
	struct pd_reader_options in = { .inputs = dumps,
					.n_inputs = n_dumps,
					.files_from = w->files_from,
					.stdin_name = w->name,
					.max_block = w->page.max_page + PD_BLOCK_ROOM,
					.fields = w->fields,
					.all_text = w->all_text,
					.damage = on_damage,
					.damage_ctx = r };
	int status = pd_tables_open(&r->tables, &w->page, r->err);
	if (!status)
		status = make_workers(r);
	if (!status)
		status = pd_reader_open(&r->reader, &in, r->err);
	if (!status)
		status = pd_pool_run(&ops, r, (void **)r->workers, r->n_workers);
	for (int i = 0; i < r->n_workers && r->workers[i]; i++)
		if (r->workers[i]->pipeline.err.status)
			status = pd_fail(r->err, r->workers[i]->pipeline.err.status, "%s", r->workers[i]->pipeline.err.text);
	return status;
}

static int print(struct sweep_run *r)
{
	struct pd_outfile out;
	struct pd_buf text = { 0 };
	int status = pd_outfile_open(&out, r->o->walk.output, r->err);
	if (status)
		return status;
	pd_sweep_print(&r->sweep, r->sign, (enum pd_eval_format)r->o->eval_format, &text);
	fwrite(pd_buf_z(&text), 1, text.n, out.f);
	pd_buf_release(&text);
	return pd_outfile_commit(&out, r->err);
}

int pd_sweep_run(struct pd_eval_options *o, const struct pd_truth *t, char **dumps, int n_dumps, uint64_t *damaged,
		 struct pd_log *log, struct pd_err *e)
{
	struct sweep_run r = { .o = o, .log = log, .err = e };
	double started = pd_wall_seconds();
	int status = plan(&r, t);
	if (!status)
		status = sign_all(&r, dumps, n_dumps);
	if (!status && !r.sweep.n_seen)
		status = pd_fail(e, PD_ERR_NOT_FOUND, "the truth names none of the pages that were read");
	if (!status) {
		pd_sweep_count(&r.sweep, r.n_workers);
		status = print(&r);
		pd_log_many_end(log);
		pd_log_note(log, "%" PRIu64 " of %zu pages of the truth, %d settings, %.1f s", r.sweep.n_seen, t->pages.n,
			    r.sweep.n_settings, pd_wall_seconds() - started);
	}
	*damaged += r.damaged;
	release(&r);
	return status;
}
