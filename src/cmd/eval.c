/* SPDX-License-Identifier: MIT
 * pagededup eval: pairs, clusters or settings held against what is known of the pages. */
#include "cmd/eval.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/outfile.h"
#include "base/threads.h"
#include "base/tsv.h"

static int set_by(void *options, const char *arg, struct pd_err *e)
{
	struct pd_truth_options *t = &((struct pd_eval_options *)options)->truth;
	struct pd_span rest = pd_span_z(arg), name;
	t->n_by = 0;
	while (pd_span_split(&rest, ',', &name)) {
		if (!name.n || t->n_by == PD_TRUTH_BY)
			return pd_fail(e, PD_ERR_USAGE, "--by takes up to %d names of columns with commas between", PD_TRUTH_BY);
		t->by[t->n_by++] = pd_strndup(name.p, name.n);
	}
	return PD_OK;
}

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "What is held against TRUTH (one of them)" },
	{ .type = PD_OPT_TEXT, .name = "pairs", .arg = "FILE", PD_EVAL_AT(pairs), .help = "output of 'pagededup match'" },
	{ .type = PD_OPT_TEXT, .name = "clusters", .arg = "FILE", PD_EVAL_AT(clusters),
	  .help = "output of 'pagededup cluster': every two pages of a cluster" },
	{ .type = PD_OPT_FLAG, .name = "sweep", PD_EVAL_AT(sweep), .help = "fingerprint the pages of INPUT with many settings" },
	{ .type = PD_OPT_HEADING, .name = "Measuring" },
	{ .type = PD_OPT_CALL, .name = "by", .arg = "LIST", .call = set_by, .help = "columns of TRUTH: also report each of their values" },
	{ .type = PD_OPT_INT, .name = "true-level", .arg = "N", PD_EVAL_AT(truth.true_level), .min = 0, .max = PD_TRUTH_LEVELS - 1,
	  .help = "pages edited more than level N make grey pairs (2)" },
	{ .type = PD_OPT_INT, .name = "bootstrap", .arg = "N", PD_EVAL_AT(bootstrap), .min = 0, .max = 100000,
	  .help = "resamples for the intervals of 95 % (1000); 0: none" },
	{ .type = PD_OPT_INT, .name = "seed", .arg = "N", PD_EVAL_AT(seed), .min = 0, .max = 2147483647, .help = "random seed of the resamples (1)" },
	{ .type = PD_OPT_HEADING, .name = "Settings to try (--sweep)" },
	{ .type = PD_OPT_INT, .letter = 'k', .name = "distance", .arg = "N", PD_EVAL_AT(max_k), .min = 0, .max = 128,
	  .help = "every k from 0 to N (24)" },
	{ .type = PD_OPT_SWITCH, .name = "verify", PD_EVAL_AT(verify), .help = "verify pairs by similarity, as match does (default)" },
	{ .type = PD_OPT_CALL, .name = "shingle", .arg = "LIST", .call = pd_sweep_shingle, .help = "terms in a shingle, to try (1,2,3)" },
	{ .type = PD_OPT_CALL, .name = "weights", .arg = "LIST", .call = pd_sweep_weights, .help = "weights to try: count, set, tf (all)" },
	{ .type = PD_OPT_CALL, .name = "bits", .arg = "LIST", .call = pd_sweep_bits, .help = "widths to try: 64, 128, 256 (64)" },
	{ .type = PD_OPT_CALL, .name = "features", .arg = "LIST", .call = pd_walk_features, .help = "features: title,meta,text,anchor (text)" },
	{ .type = PD_OPT_CHOICE, .name = "hash", .arg = "NAME", PD_AT(hash), .choices = pd_hash_names,
	  .help = "hash of a shingle: xxh3 (default), rabin" },
	{ .type = PD_OPT_INT, .name = "min-terms", .arg = "N", PD_AT(page.sign.min_terms), .min = 1, .max = 1000000,
	  .help = "fewer terms: no fingerprint (8)" },
	PD_WALK_INPUT_OPTS,
	PD_WALK_TOPIC_OPTS,
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", PD_AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_CHOICE, .name = "format", .arg = "NAME", PD_EVAL_AT(eval_format), .choices = pd_eval_formats,
	  .help = "text (default), tsv or jsonl" },
	{ .type = PD_OPT_INT, .letter = 'j', .name = "jobs", .arg = "N", PD_AT(jobs), .min = 1, .max = 1024,
	  .help = "threads (all cores); the output is the same for any N" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", PD_AT(quiet), .help = "no closing line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", PD_AT(ignore_damaged), .help = "exit 0 although damaged rows were left out" },
	PD_OPT_END,
};

const struct pd_usage pd_usage_eval = {
	.name = "eval",
	.synopsis = "[OPTION]... TRUTH [INPUT]...",
	.summary = "Measure precision, recall and F1 against known pages or labelled pairs.",
	.text = "TRUTH is a table of pages with their content, or of labelled pairs as 'pagededup sample' makes them.",
	.example = "pagededup eval truth.tsv --pairs=pairs.tsv --by=lang,level",
	.opts = opts,
};

struct run {
	struct pd_eval_options *o;
	struct pd_log *log;
	struct pd_truth truth;
	struct pd_score score;
	uint64_t bad;
	struct pd_outfile out;
	struct pd_err err;
};

static void bad_row(void *ctx, const char *why)
{
	pd_log_error(ctx, "%s; left out", why);
}

/* Rows of a kind, one after the other; bad ones are told and counted. */
static int next_row(struct run *r, struct pd_tsv_reader *in)
{
	int status;
	while ((status = pd_tsv_next(in, &r->err)) == PD_ERR_FORMAT) {
		r->bad++;
		bad_row(r->log, r->err.text);
	}
	return status;
}

static int score_pairs(struct run *r)
{
	char *paths[] = { (char *)r->o->pairs };
	struct pd_tsv_reader in = { .kind = "pairs", .columns = pd_pairs_columns, .v1_columns = pd_pairs_columns, .paths = paths, .n_paths = 1 };
	int a = r->truth.by_id ? PD_PAIRS_ID_A : PD_PAIRS_URL_A, b = r->truth.by_id ? PD_PAIRS_ID_B : PD_PAIRS_URL_B, status;
	while ((status = next_row(r, &in)) > 0)
		pd_score_pair(&r->score, in.fields[a], in.fields[b]);
	pd_tsv_release(&in);
	return status;
}

static int score_clusters(struct run *r)
{
	char *paths[] = { (char *)r->o->clusters };
	struct pd_tsv_reader in = { .kind = "verdicts", .columns = pd_verdicts_columns, .v1_columns = pd_verdicts_columns, .paths = paths,
				    .n_paths = 1 };
	struct pd_names clusters = { 0 }, pages = { 0 };
	struct pd_score_member *members = NULL;
	size_t n = 0, cap = 0;
	int status;
	while ((status = next_row(r, &in)) > 0) {
		uint32_t page = pd_names_add(&pages, in.fields[r->truth.by_id ? PD_VERDICTS_ID : PD_VERDICTS_URL]);
		members = pd_grow(members, n, &cap, sizeof *members);
		members[n].cluster = pd_names_add(&clusters, in.fields[PD_VERDICTS_CLUSTER_ID]);
		members[n++].name = pages.v[page];
	}
	if (!status)
		pd_score_clusters(&r->score, members, n);
	pd_names_release(&clusters);
	pd_names_release(&pages);
	free(members);
	pd_tsv_release(&in);
	return status;
}

static int write_out(struct run *r, const struct pd_buf *text)
{
	int status = pd_outfile_open(&r->out, r->o->walk.output, &r->err);
	if (status)
		return status;
	fwrite(pd_buf_z(text), 1, text->n, r->out.f);
	return pd_outfile_commit(&r->out, &r->err);
}

static int score(struct run *r)
{
	const struct pd_eval_options *o = r->o;
	struct pd_buf text = { 0 };
	pd_score_init(&r->score, &r->truth);
	int status = o->pairs ? score_pairs(r) : score_clusters(r);
	if (!status) {
		pd_score_close(&r->score);
		pd_score_bootstrap(&r->score, o->bootstrap, (uint64_t)o->seed);
		pd_eval_print(&r->score, (enum pd_eval_format)o->eval_format, o->bootstrap, (uint64_t)o->seed, &text);
		status = write_out(r, &text);
	}
	pd_score_release(&r->score);
	pd_buf_release(&text);
	return status;
}

static int check(const struct pd_eval_options *o, int n, struct pd_err *e)
{
	if (n < 1)
		return pd_fail(e, PD_ERR_USAGE, "missing operand TRUTH");
	if ((o->pairs != NULL) + (o->clusters != NULL) + o->sweep != 1)
		return pd_fail(e, PD_ERR_USAGE, "one of --pairs=FILE, --clusters=FILE and --sweep is needed");
	if (n > 1 && !o->sweep)
		return pd_fail(e, PD_ERR_USAGE, "INPUT needs --sweep");
	if (o->sweep && o->truth.n_by)
		return pd_fail(e, PD_ERR_USAGE, "--by has no effect with --sweep");
	return PD_OK;
}

static int eval(struct run *r, char **operands, int n)
{
	int status = check(r->o, n, &r->err);
	if (!status)
		status = pd_outfile_check(r->o->walk.output, operands, n, &r->err);
	if (!status)
		status = pd_truth_read(&r->truth, operands[0], &r->o->truth, &r->err);
	if (status)
		return status;
	r->bad = r->truth.bad;
	return r->o->sweep ? pd_sweep_run(r->o, &r->truth, operands + 1, n - 1, &r->bad, r->log, &r->err) : score(r);
}

int pd_cmd_eval(int argc, char **argv)
{
	struct pd_eval_options o = { .truth = { .true_level = 2 }, .bootstrap = 1000, .seed = 1, .max_k = 24, .verify = 1 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "eval");
	int code = pd_walk_parse(&pd_usage_eval, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	o.truth.bad_row = bad_row;
	o.truth.ctx = &log;
	struct run r = { .o = &o, .log = &log, .out = { .slot = -1 } };
	int status = eval(&r, argv + first, argc - first);
	code = status ? pd_command_failed(&log, &r.err) : r.bad && !o.walk.ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	pd_truth_release(&r.truth);
	for (int i = 0; i < o.truth.n_by; i++)
		free((char *)o.truth.by[i]);
	return code;
}
