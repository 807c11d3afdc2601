/* SPDX-License-Identifier: MIT
 * pagededup eval: pairs or clusters held against what is known of the pages, or many settings tried on the pages. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/threads.h"
#include "base/tsv.h"
#include "cmd/walk.h"
#include "group/score.h"
#include "write/write.h"

struct eval_options {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	struct pd_truth_options truth;
	const char *pairs, *clusters;
	bool suspects;
	int bootstrap, seed, eval_format;
	/* sweep */
	bool sweep;
	int max_k, verify;
	int shingle[16], n_shingle, weights[3], n_weights, bits[3], n_bits;
};

#define AT(member) .at = offsetof(struct eval_options, member)

static int set_by(void *options, const char *arg, struct pd_err *e)
{
	struct pd_truth_options *t = &((struct eval_options *)options)->truth;
	struct pd_span rest = pd_span_z(arg), name;
	t->n_by = 0;
	while (pd_span_split(&rest, ',', &name)) {
		if (!name.n || t->n_by == PD_TRUTH_BY)
			return pd_fail(e, PD_ERR_USAGE, "--by takes a list of up to %d column names, such as lang,level", PD_TRUTH_BY);
		t->by[t->n_by++] = pd_strndup(name.p, name.n);
	}
	return PD_OK;
}

static int parse_numbers(const char *arg, const char *name, int most, int *out, int *n, struct pd_err *e)
{
	struct pd_span rest = pd_span_z(arg), one;
	uint64_t v;
	*n = 0;
	while (pd_span_split(&rest, ',', &one)) {
		if (!pd_span_u64(one, &v) || v < 1 || v > (uint64_t)most || *n == 16)
			return pd_fail(e, PD_ERR_USAGE, "--%s takes a list of numbers from 1 to %d, such as 1,2, not '%s'", name, most, arg);
		out[(*n)++] = (int)v;
	}
	return PD_OK;
}

static int parse_choices(const char *arg, const char *name, const char *const *names, int *out, int *n, struct pd_err *e)
{
	struct pd_span rest = pd_span_z(arg), one;
	*n = 0;
	while (pd_span_split(&rest, ',', &one)) {
		int i = 0;
		while (names[i] && !pd_span_is(one, names[i]))
			i++;
		if (!names[i] || *n == 3)
			return pd_fail(e, PD_ERR_USAGE, "--%s takes a list of %s, %s, %s, separated by commas, not '%s'", name, names[0],
				       names[1], names[2], arg);
		out[(*n)++] = i;
	}
	return PD_OK;
}

static int set_shingle(void *options, const char *arg, struct pd_err *e)
{
	struct eval_options *o = options;
	return parse_numbers(arg, "shingle", 16, o->shingle, &o->n_shingle, e);
}

static int set_weights(void *options, const char *arg, struct pd_err *e)
{
	struct eval_options *o = options;
	return parse_choices(arg, "weights", pd_weights_names, o->weights, &o->n_weights, e);
}

static int set_bits(void *options, const char *arg, struct pd_err *e)
{
	static const char *const widths[] = { "64", "128", "256", NULL };
	struct eval_options *o = options;
	return parse_choices(arg, "bits", widths, o->bits, &o->n_bits, e);
}

/* As enum pd_write_eval_format. */
static const char *const eval_formats[] = { "text", "tsv", "jsonl", NULL };

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "What to measure (one of these)" },
	{ .type = PD_OPT_TEXT, .name = "pairs", .arg = "FILE", AT(pairs), .help = "output of 'pagededup match'" },
	{ .type = PD_OPT_FLAG, .name = "suspects", AT(suspects), .help = "also count pairs that 'match' marked as suspected" },
	{ .type = PD_OPT_TEXT, .name = "clusters", .arg = "FILE", AT(clusters),
	  .help = "output of 'pagededup cluster': every two pages of a cluster" },
	{ .type = PD_OPT_FLAG, .name = "sweep", AT(sweep), .help = "fingerprint the pages of INPUT with many settings" },
	{ .type = PD_OPT_HEADING, .name = "Measuring" },
	{ .type = PD_OPT_CALL, .name = "by", .arg = "LIST", .call = set_by, .help = "also report by the values of these columns of TRUTH" },
	{ .type = PD_OPT_INT, .name = "true-level", .arg = "N", AT(truth.true_level), .min = 0, .max = PD_TRUTH_LEVELS - 1,
	  .help = "do not count pairs edited beyond level N (2)" },
	{ .type = PD_OPT_INT, .name = "bootstrap", .arg = "N", AT(bootstrap), .min = 0, .max = 100000,
	  .help = "resamples for 95 % intervals (1000); 0: none" },
	{ .type = PD_OPT_INT, .name = "seed", .arg = "N", AT(seed), .min = 0, .max = 2147483647, .help = "random seed of the resamples (1)" },
	{ .type = PD_OPT_HEADING, .name = "Settings to try (--sweep)" },
	{ .type = PD_OPT_INT, .letter = 'k', .name = "distance", .arg = "N", AT(max_k), .min = 0, .max = 128,
	  .help = "every k from 0 to N (24)" },
	{ .type = PD_OPT_SWITCH, .name = "verify", AT(verify), .help = "verify pairs by similarity, as 'match' does (default)" },
	{ .type = PD_OPT_CALL, .name = "shingle", .arg = "LIST", .call = set_shingle, .help = "terms in a shingle to try (1,2,3)" },
	{ .type = PD_OPT_CALL, .name = "weights", .arg = "LIST", .call = set_weights, .help = "weights to try: count, set, tf (all)" },
	{ .type = PD_OPT_CALL, .name = "bits", .arg = "LIST", .call = set_bits, .help = "widths to try: 64, 128, 256 (64)" },
	{ .type = PD_OPT_CALL, .name = "features", .arg = "LIST", .call = pd_walk_features, .help = "features: title,meta,text,anchor (text)" },
	{ .type = PD_OPT_CHOICE, .name = "hash", .arg = "NAME", PD_AT(hash), .choices = pd_hash_names,
	  .help = "hash of a shingle: xxh3 (default), rabin" },
	{ .type = PD_OPT_INT, .name = "min-terms", .arg = "N", PD_AT(page.sign.min_terms), .min = 1, .max = 1000000,
	  .help = "pages with fewer terms get no fingerprint (8)" },
	PD_WALK_INPUT_OPTS,
	PD_WALK_TOPIC_OPTS,
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", PD_AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_CHOICE, .name = "format", .arg = "NAME", AT(eval_format), .choices = eval_formats,
	  .help = "text (default), tsv or jsonl" },
	{ .type = PD_OPT_INT, .letter = 'j', .name = "jobs", .arg = "N", PD_AT(jobs), .min = 1, .max = 1024,
	  .help = "threads (all cores); the output is the same for any N" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", PD_AT(quiet), .help = "print no summary line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", PD_AT(ignore_damaged), .help = "exit 0 even if damaged rows were left out" },
	PD_OPT_END,
};

static const struct pd_usage usage = {
	.name = "eval",
	.synopsis = "[OPTION]... TRUTH [INPUT]...",
	.summary = "Measure precision, recall and F1 against known pages or labelled pairs.",
	.text = "TRUTH is a table of pages with their content, or of labelled pairs as 'pagededup sample' makes them.",
	.example = "pagededup eval truth.tsv --pairs=pairs.tsv --by=lang,level",
	.opts = opts,
};

/* --- pairs or clusters against the truth --- */

struct eval_run {
	struct eval_options *o;
	struct pd_log *log;
	struct pd_truth truth;
	struct pd_score score;
	uint64_t bad;
	struct pd_outfile out;
	struct pd_err err;
};

static int write_report(struct eval_run *r, const struct pd_buf *text)
{
	int status = pd_outfile_open(&r->out, r->o->walk.output, &r->err);
	if (status)
		return status;
	fwrite(pd_buf_z(text), 1, text->n, r->out.f);
	return pd_outfile_commit(&r->out, &r->err);
}

static int score(struct eval_run *r)
{
	const struct eval_options *o = r->o;
	struct pd_buf text = { 0 };
	struct pd_score_options from = { .pairs = o->pairs, .clusters = o->clusters, .suspects = o->suspects, .resamples = o->bootstrap,
					 .seed = (uint64_t)o->seed };
	int status = pd_score_files(&r->score, &r->truth, &from, &r->err);
	r->bad += r->score.bad;
	if (!status) {
		pd_write_eval(&r->score, (enum pd_write_eval_format)o->eval_format, o->bootstrap, (uint64_t)o->seed, &text);
		status = write_report(r, &text);
	}
	pd_score_release(&r->score);
	pd_buf_release(&text);
	return status;
}

/* --- --sweep: each page is read and parsed once, and signed with every setting --- */

struct sweep_worker {
	struct pd_pipeline pipeline;
	struct pd_record record;
	struct pd_signer *signers[PD_SWEEP_SETTINGS];
	struct sweep_run *run;
};

struct sweep_run {
	const struct eval_options *o;
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

static void count_damage(void *ctx, const struct pd_read_damage *d)
{
	struct sweep_run *r = ctx;
	r->damaged++;
	pd_read_damage_tell(d, "left out", r->log);
}

static int next_record(void *shared, void *ctx)
{
	struct sweep_run *r = shared;
	struct sweep_worker *me = ctx;
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
		struct pd_signature signature = { 0 };
		pd_sign(me->signers[i], &(struct pd_sign_page){ .topic = &p->topic }, &signature);
		s->by[i].present = signature.present;
		s->by[i].key = signature.key;
	}
	pd_buf_add(out, s, sizeof *s + n * sizeof *s->by);
	free(s);
}

/* Of pages that share a URL the first counts. */
static int keep_signed(void *shared, const struct pd_buf *out)
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

static int plan_settings(struct sweep_run *r, const struct pd_truth *t)
{
	static const int shingle[] = { 1, 2, 3 }, weights[] = { 0, 1, 2 }, bits[] = { 0 };
	const struct eval_options *o = r->o;
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
			status = pd_signer_fingerprint(&me->signers[k], &r->sign[k], r->err);
	}
	return status;
}

static void release_sweep(struct sweep_run *r)
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
	static const struct pd_pool_ops ops = { next_record, sign_page, keep_signed };
	const struct pd_walk_options *w = &r->o->walk;
	struct pd_reader_options in = pd_walk_inputs(w, dumps, n_dumps);
	in.damage = count_damage;
	in.damage_ctx = r;
	int status = pd_tables_open(&r->tables, &w->page, r->err);
	if (!status)
		status = make_workers(r);
	if (!status)
		status = pd_reader_open(&r->reader, &in, r->err);
	if (!status)
		status = pd_pool_run(&ops, r, (void **)r->workers, r->n_workers);
	return status;
}

static int print_sweep(struct sweep_run *r)
{
	struct pd_outfile out;
	struct pd_buf text = { 0 };
	int status = pd_outfile_open(&out, r->o->walk.output, r->err);
	if (status)
		return status;
	pd_write_sweep(&r->sweep, r->sign, (enum pd_write_eval_format)r->o->eval_format, &text);
	fwrite(pd_buf_z(&text), 1, text.n, out.f);
	pd_buf_release(&text);
	return pd_outfile_commit(&out, r->err);
}

static int sweep_settings(struct eval_options *o, const struct pd_truth *t, char **dumps, int n_dumps, uint64_t *damaged,
		 struct pd_log *log, struct pd_err *e)
{
	struct sweep_run r = { .o = o, .log = log, .err = e };
	double started = pd_wall_seconds();
	int status = plan_settings(&r, t);
	if (!status)
		status = sign_all(&r, dumps, n_dumps);
	if (!status && !r.sweep.n_seen)
		status = pd_fail(e, PD_ERR_NOT_FOUND, "TRUTH names none of the pages that were read");
	if (!status) {
		pd_sweep_count(&r.sweep, r.n_workers);
		status = print_sweep(&r);
		pd_log_many_end(log);
		pd_log_note(log, "%" PRIu64 " of %zu pages of the truth, %d settings, %.1f s", r.sweep.n_seen, t->pages.n,
			    r.sweep.n_settings, pd_wall_seconds() - started);
	}
	*damaged += r.damaged;
	release_sweep(&r);
	return status;
}

/* --- the command --- */

static int check_eval(const struct eval_options *o, int n, struct pd_err *e)
{
	if (n < 1)
		return pd_fail(e, PD_ERR_USAGE, "missing operand TRUTH");
	if ((o->pairs != NULL) + (o->clusters != NULL) + o->sweep != 1)
		return pd_fail(e, PD_ERR_USAGE, "missing required option: one of --pairs=FILE, --clusters=FILE and --sweep");
	if (o->suspects && !o->pairs)
		return pd_fail(e, PD_ERR_USAGE, "--suspects has no effect without --pairs");
	if (n > 1 && !o->sweep)
		return pd_fail(e, PD_ERR_USAGE, "INPUT is read only with --sweep");
	if (o->sweep && o->truth.n_by)
		return pd_fail(e, PD_ERR_USAGE, "--by has no effect with --sweep");
	return PD_OK;
}

static int eval(struct eval_run *r, char **operands, int n)
{
	int status = check_eval(r->o, n, &r->err);
	if (!status)
		status = pd_outfile_check(r->o->walk.output, operands, n, &r->err);
	if (!status)
		status = pd_truth_read(&r->truth, operands[0], &r->o->truth, &r->err);
	if (status)
		return status;
	r->bad = r->truth.bad;
	return r->o->sweep ? sweep_settings(r->o, &r->truth, operands + 1, n - 1, &r->bad, r->log, &r->err) : score(r);
}

static int run_eval(int argc, char **argv)
{
	struct eval_options o = { .truth = { .true_level = 2 }, .bootstrap = 1000, .seed = 1, .max_k = 24, .verify = 1 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "eval");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	o.truth.bad_row = pd_log_bad_row;
	o.truth.ctx = &log;
	struct eval_run r = { .o = &o, .log = &log, .out = { .slot = -1 } };
	int status = eval(&r, argv + first, argc - first);
	code = status ? pd_command_failed(&log, &r.err) : r.bad && !o.walk.ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	pd_truth_release(&r.truth);
	for (int i = 0; i < o.truth.n_by; i++)
		free((char *)o.truth.by[i]);
	return code;
}

const struct pd_command pd_cmd_eval = { "Inspecting and measuring", &usage, run_eval };
