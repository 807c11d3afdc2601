/* SPDX-License-Identifier: MIT
 *
 * pagededup tune: a run and labels -> the settings that keep the share of wrong removals below a limit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/walk.h"
#include "row/estimate.h"
#include "run/journal.h"
#include "tools/inspect.h"
#include "tools/report.h"
#include "tools/tune.h"

struct tune_options {
	struct pd_walk_options walk; /* first: the options of pages are parsed into it */
	const char *run, *verdicts, *override, *rows, *write_verdicts;
	char **labels;
	int n_labels, number, seed;
	bool suspects, list, disputed, terminal;
	double max_wrong, confidence;
};

#define AT(member) .at = offsetof(struct tune_options, member)

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Results" },
	{ .type = PD_OPT_TEXT, .name = "run", .arg = "DIR", AT(run),
	  .help = "the 'dedup' run in DIR: its verdicts and its options" },
	{ .type = PD_OPT_TEXT, .letter = 'V', .name = "verdicts", .arg = "FILE", AT(verdicts),
	  .help = "output of 'pagededup cluster --shingles'" },
	{ .type = PD_OPT_TEXT, .name = "rows", .rare = true, .arg = "FP", AT(rows),
	  .help = "rows of the pages: a limit for each language, not for kinds of hosts" },
	{ .type = PD_OPT_HEADING, .name = "The limit" },
	{ .type = PD_OPT_SHARE, .name = "max-wrong", .arg = "P%", AT(max_wrong), .min = .0001, .max = .9999, .help = "largest share of removals that may be wrong (1%)" },
	{ .type = PD_OPT_SHARE, .name = "confidence", .rare = true, .arg = "P%", AT(confidence), .min = .5, .max = .9999,
	  .help = "with this probability the promise holds (95%)" },
	{ .type = PD_OPT_FLAG, .name = "suspects", AT(suspects), .help = "also try to remove suspects" },
	{ .type = PD_OPT_HEADING, .name = "Labels" },
	{ .type = PD_OPT_LIST, .name = "labels", .arg = "FILE", AT(labels), .n = offsetof(struct tune_options, n_labels),
	  .help = "saved labels; may be repeated; without, the page to label is written" },
	{ .type = PD_OPT_TEXT, .name = "override", .rare = true, .arg = "FILE", AT(override),
	  .help = "labels that decide, if people judged a removal differently" },
	{ .type = PD_OPT_FLAG, .name = "terminal", AT(terminal), .help = "label at this terminal, into the file of --labels" },
	{ .type = PD_OPT_FLAG, .name = "disputed", .rare = true, AT(disputed),
	  .help = "only show removals that people judged differently" },
	{ .type = PD_OPT_INT, .letter = 'n', .name = "number", .arg = "N", AT(number), .min = 1, .max = 100000,
	  .help = "removals on the page (half as many again as are needed)" },
	{ .type = PD_OPT_INT, .name = "seed", .rare = true, .arg = "N", AT(seed), .min = 0, .max = 2147483647, .help = "random seed (1)" },
	{ .type = PD_OPT_FLAG, .name = "list", .rare = true, AT(list), .help = "write the removals as a table to label, not as a page" },
	PD_WALK_PAGE_OPTS, PD_WALK_TOPIC_OPTS,
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", PD_AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_TEXT, .name = "write-verdicts", .arg = "FILE", AT(write_verdicts),
	  .help = "also write the verdicts of the best settings, for 'apply'" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", PD_AT(quiet), .help = "print no summary line" },
	PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "tune",
	.synopsis = "--run=DIR | --verdicts=FILE [OPTION]...",
	.summary = "Find settings with at most 1% wrong removals, from a few labels.",
	.text = "Without --labels it writes a page: open it in a browser, compare some removed pages with the pages\n"
		"kept, and save the labels.  With --labels it writes the settings that remove most.",
	.basics = " run verdicts max-wrong labels terminal write-verdicts output ",
	.example = "pagededup tune --run=clean/ --max-wrong=1% -o label.html",
	.opts = opts,
	.no_operands = true,
};

/* --- the page to label --- */

static int write_list(const char *output, const struct pd_sampled_pair *pairs, size_t n, struct pd_err *e)
{
	struct pd_outfile out = { 0 };
	int status = pd_outfile_open(&out, output, e);
	if (status)
		return status;
	fputs("# pagededup labels 1 |\n#label\tid_a\tid_b\turl_a\turl_b\n", out.f);
	for (size_t i = 0; i < n; i++)
		fprintf(out.f, "?\t%s\n", pairs[i].text);
	return pd_outfile_close(&out, PD_OK, e);
}

/* Select the removals to label, in random order; return their number.  numbers[i]: of the i-th among all removals. */
static size_t select_removals(const struct tune_options *o, const struct pd_tune *t, uint64_t needed, struct pd_sampled_pair *pairs,
			      size_t *numbers)
{
	size_t n = 0, want = o->number ? (size_t)o->number : o->disputed ? t->n : (size_t)(needed + needed / 2 + 20);
	for (size_t i = 0; i < t->n && n < want; i++) {
		const struct pd_tune_removal *r = &t->removals[i];
		if (r->equal || (r->suspect && !o->suspects) || (o->disputed && !r->disputed))
			continue;
		numbers[n] = i;
		pairs[n++] = t->pairs[i];
	}
	return n;
}

static int write_page(const struct tune_options *o, const struct pd_tune *t, uint64_t needed, struct pd_log *log, struct pd_err *e)
{
	struct pd_pick_texts texts = { .walk = &o->walk, .log = log };
	struct pd_sampled_pair *pairs = pd_alloc((t->n + 1) * sizeof *pairs);
	pd_local_mem size_t *numbers = pd_alloc((t->n + 1) * sizeof *numbers);
	struct pd_label_counts counts = { 0 };
	size_t n = select_removals(o, t, needed, pairs, numbers);
	int status = PD_OK;
	if (o->list)
		status = write_list(o->walk.output, pairs, n, e);
	else
		status = pd_tables_open(&texts.tables, &o->walk.page, e);
	if (!status && !o->list) {
		struct pd_label_options label = {
			.pairs = pairs, .n = n, .output = o->walk.output, .fetch = pd_pick_text, .ctx = &texts
		};
		status = pd_label_write(&label, log, &counts, e);
	}
	if (!status) {
		struct pd_buf line = { 0 };
		pd_buf_count(&line, n, "removal");
		pd_buf_printf(&line, " to label; if none is wrong, %" PRIu64 " label%s enough for at most %g%% wrong%s%s", needed,
			      needed == 1 ? " is" : "s are", 100 * o->max_wrong,
			      o->walk.output && !o->list ? "; open in a browser: " : "",
			      o->walk.output && !o->list ? o->walk.output : "");
		pd_log_note(log, "%s", line.p);
		pd_buf_release(&line);
	}
	pd_tables_release(&texts.tables);
	free(pairs);
	return status ? status : counts.damaged;
}

/* --- labels at the terminal --- */

struct terminal {
	const struct tune_options *o;
	struct pd_tune *t;
	const size_t *numbers;
	const uint8_t *labels;
	size_t n;
};

/* Put the labels of the terminal into the removals. */
static void copy_labels(const struct terminal *at)
{
	for (size_t i = 0; i < at->n; i++)
		at->t->removals[at->numbers[i]].label = at->labels[i];
}

/* Append the settings that the labels so far permit. */
static void add_state(void *ctx, struct pd_buf *out)
{
	struct terminal *at = ctx;
	const struct tune_options *o = at->o;
	struct pd_tune_setting s[PD_TUNE_SETTINGS];
	copy_labels(at);
	int best = pd_tune_choose(at->t->removals, at->t->n, o->max_wrong, o->confidence, o->suspects, s);
	pd_buf_printf(out, "%" PRIu64 " labelled, ", s[PD_TUNE_RUN].labelled);
	if (best >= PD_TUNE_RUN)
		pd_buf_add_z(out, "enough");
	else if (best >= 0)
		pd_buf_printf(out, "enough for a loss of at most %g", pd_tune_limits[best]);
	else if (s[PD_TUNE_RUN].wrong)
		pd_buf_printf(out, "%" PRIu64 " wrong or unsure", s[PD_TUNE_RUN].wrong);
	else
		pd_buf_printf(out, "enough are %" PRIu64, pd_tune_needed(&s[PD_TUNE_RUN], o->max_wrong, o->confidence));
}

static int label_at_terminal(const struct tune_options *o, struct pd_tune *t, uint64_t needed, struct pd_log *log, struct pd_err *e)
{
	struct pd_pick_texts texts = { .walk = &o->walk, .log = log };
	pd_local_mem struct pd_sampled_pair *pairs = pd_alloc((t->n + 1) * sizeof *pairs);
	pd_local_mem size_t *numbers = pd_alloc((t->n + 1) * sizeof *numbers);
	pd_local_mem uint8_t *labels = pd_zalloc(t->n + 1);
	size_t n = select_removals(o, t, needed, pairs, numbers);
	for (size_t i = 0; i < n; i++)
		labels[i] = o->disputed && !t->removals[numbers[i]].overridden ? PD_TUNE_NONE : t->removals[numbers[i]].label;
	if (!n)
		return pd_fail(e, PD_ERR_NOT_FOUND, "there is no removal to label");
	int status = pd_tables_open(&texts.tables, &o->walk.page, e);
	if (!status) {
		struct terminal at = { o, t, numbers, labels, n };
		struct pd_label_options label = { .pairs = pairs,
						  .n = n,
						  .output = o->disputed ? o->override : o->labels[0],
						  .fetch = pd_pick_text,
						  .ctx = &texts };
		pd_local_buf line = { 0 };
		status = pd_label_terminal(&label, labels, add_state, &at, e);
		add_state(&at, &line);
		if (!status)
			pd_log_note(log, "%s: %s", label.output, line.p);
	}
	pd_tables_release(&texts.tables);
	return status;
}

/* --- the settings --- */

static void add_promise(const struct tune_options *o, const struct pd_tune_setting *s, struct pd_buf *out)
{
	pd_buf_add_z(out, "at most ");
	pd_estimate_add_percent(s->bound, out);
	pd_buf_add_z(out, " of ");
	pd_buf_count(out, s->removed, "removal");
	pd_buf_printf(out, " are wrong (%g%%), from ", 100 * o->confidence);
	pd_buf_count(out, s->labelled, "label");
	if (s->labelled)
		pd_buf_printf(out, ", %" PRIu64 " of them wrong or unsure", s->wrong);
}

/* Append a line of the table of settings. */
static void add_setting(const char *name, const struct pd_tune_setting *s, struct pd_buf *out)
{
	pd_buf_printf(out, "# %-14s %8" PRIu64 " %16" PRIu64 " %9" PRIu64 " %6" PRIu64 " %13.2f%%%s\n", name, s->removed,
		      s->unequal, s->labelled, s->wrong, 100 * s->bound, s->accepted ? "  accepted" : "");
}

static void add_limit_name(int setting, struct pd_buf *out)
{
	if (setting < 0)
		pd_buf_add_z(out, "equal texts");
	else if (setting < PD_TUNE_RUN)
		pd_buf_printf(out, "%g", pd_tune_limits[setting]);
	else
		pd_buf_add_z(out, setting == PD_TUNE_RUN ? "as in the run" : "and suspects");
}

static void add_strata(const struct pd_tune *t, const struct pd_tune_by_stratum *strata, bool chosen, struct pd_buf *out)
{
	pd_local_buf name = { 0 };
	pd_buf_printf(out, "#\n# %s\n# largest loss   removed  different texts  labelled  wrong  at most wrong\n",
		      chosen ? "Each stratum has its own limit:" : "The best limit of each stratum:");
	for (uint32_t k = 0; k < t->strata.n; k++) {
		const struct pd_tune_setting *run = &strata->settings[k][PD_TUNE_RUN];
		int best = strata->best[k];
		if (!run->removed)
			continue;
		pd_buf_clear(&name);
		add_limit_name(best, &name);
		add_setting(name.p, best < 0 ? run : &strata->settings[k][best], out);
		out->n--;
		pd_buf_printf(out, "  %.*s%s\n", (int)t->strata.v[k].n, t->strata.v[k].p,
			      best < 0 ? " (no limit accepted; counts of the run)" : "");
	}
}

static void report_labels(const struct tune_options *o, const struct pd_tune *t, struct pd_log *log)
{
	pd_local_buf line = { 0 };
	if (t->twice) {
		pd_buf_count(&line, t->twice, "removal");
		pd_buf_printf(&line, " labelled by several people, %" PRIu64 " differently (agreement %.0f%%)", t->disagree,
			      100. * (double)(t->twice - t->disagree) / (double)t->twice);
		if (t->disagree)
			pd_buf_add_z(&line, t->overridden ? "; --override decides those that it names, the others count as wrong"
							  : "; these count as wrong, unless --override decides");
		pd_log_note(log, "%s", line.p);
	}
	if (t->overridden)
		pd_log_note(log, "%" PRIu64 " labels are from --override", t->overridden);
	if (t->unknown)
		pd_log_error(log, "%" PRIu64 " labels are about other removals than those of %s; they are ignored", t->unknown,
			     o->verdicts);
}

static int write_settings(const struct tune_options *o, const struct pd_tune *t, struct pd_log *log, struct pd_err *e)
{
	struct pd_tune_setting s[PD_TUNE_SETTINGS];
	struct pd_tune_by_stratum by_stratum;
	struct pd_buf text = { 0 }, promise = { 0 }, word = { 0 };
	struct pd_outfile out = { 0 };
	int best = pd_tune_choose(t->removals, t->n, o->max_wrong, o->confidence, o->suspects, s);
	pd_tune_choose_by_stratum(t->removals, t->n, o->max_wrong, o->confidence, &by_stratum);
	bool by = by_stratum.all.accepted && (best < 0 || by_stratum.all.removed > s[best].removed);
	const struct pd_tune_setting *chosen = by ? &by_stratum.all : best >= 0 ? &s[best] : NULL;
	pd_buf_add_z(&text, "# pagededup tune: ");
	if (chosen)
		add_promise(o, chosen, &promise);
	else
		pd_buf_printf(&promise, "no setting is known to have at most %g%% wrong removals", 100 * o->max_wrong);
	pd_buf_add_span(&text, pd_buf_span(&promise));
	pd_buf_add_z(&text, "\n#\n# largest loss   removed  different texts  labelled  wrong  at most wrong\n");
	for (int i = 0; i < (o->suspects ? PD_TUNE_SETTINGS : PD_TUNE_SUSPECTS); i++) {
		pd_buf_clear(&word);
		add_limit_name(i, &word);
		add_setting(word.p, &s[i], &text);
	}
	if (t->strata.n > 1)
		add_strata(t, &by_stratum, by, &text);
	pd_buf_clear(&word);
	if (chosen) {
		struct pd_estimate estimate = { chosen->bound, o->confidence, chosen->labelled, chosen->wrong,
						pd_tune_sum(t, best, by ? &by_stratum : NULL) };
		pd_estimate_print(&estimate, &word);
	}
	/* Limits of strata are only in the verdicts: the settings are those of the whole run. */
	if (by)
		pd_buf_add_z(&text, "#\n# Only --write-verdicts has the limits of strata.\n");
	if (best >= 0 && best < PD_TUNE_RUN)
		pd_buf_printf(&text, "max-loss = %g\n", pd_tune_limits[best]);
	if (best == PD_TUNE_SUSPECTS)
		pd_buf_add_z(&text, "remove-suspects = true\n");
	if (best >= 0) {
		struct pd_estimate estimate = { s[best].bound, o->confidence, s[best].labelled, s[best].wrong,
						pd_tune_sum(t, best, NULL) };
		pd_buf_printf(&text, "max-wrong = \"%g%%\"\nestimate = \"", 100 * o->max_wrong);
		pd_estimate_print(&estimate, &text);
		pd_buf_add_z(&text, "\"\n");
	}
	int status = pd_outfile_open(&out, o->walk.output, e);
	if (!status) {
		fwrite(text.p, 1, text.n, out.f);
		status = pd_outfile_close(&out, PD_OK, e);
	}
	if (!status && o->write_verdicts && chosen)
		status = pd_tune_write_verdicts(t, o->verdicts, o->write_verdicts, pd_buf_span(&word), best,
						by ? &by_stratum : NULL, e);
	if (!status) {
		pd_log_note(log, "%s", promise.p);
		report_labels(o, t, log);
	}
	if (!status && !chosen) {
		uint64_t needed = pd_tune_needed(&s[PD_TUNE_RUN], o->max_wrong, o->confidence);
		pd_log_error(log,
			     s[PD_TUNE_RUN].wrong ? "label more removals, or permit a larger share with --max-wrong"
						  : "label more removals; if none is wrong, %" PRIu64 " labels are enough",
			     needed);
	}
	pd_buf_release(&text);
	pd_buf_release(&promise);
	pd_buf_release(&word);
	return status ? status : !chosen;
}

static int tune(struct tune_options *o, struct pd_log *log, struct pd_err *e)
{
	struct pd_tune t;
	struct pd_tune_options in = { .verdicts = o->verdicts,
				      .labels = o->labels,
				      .n_labels = o->n_labels,
				      .override = o->override,
				      .rows = o->rows,
				      .suspects = o->suspects,
				      .seed = (uint64_t)o->seed };
	/* The file into which the terminal writes may not exist yet. */
	if (o->terminal && !o->disputed && access(o->labels[0], F_OK) < 0)
		in.n_labels = 0;
	if (o->terminal && o->disputed && access(o->override, F_OK) < 0)
		in.override = NULL;
	int status = pd_tune_read(&t, &in, e);
	if (status)
		return status;
	struct pd_tune_setting s[PD_TUNE_SETTINGS];
	pd_tune_choose(t.removals, t.n, o->max_wrong, o->confidence, o->suspects, s);
	uint64_t needed = pd_tune_needed(&s[PD_TUNE_RUN], o->max_wrong, o->confidence);
	if (!s[PD_TUNE_RUN].removed)
		status = pd_fail(e, PD_ERR_NOT_FOUND, "%s removes no page", o->verdicts);
	else if (o->terminal)
		status = label_at_terminal(o, &t, needed, log, e);
	else
		status = (o->n_labels && !o->disputed) || !needed ? write_settings(o, &t, log, e)
								  : write_page(o, &t, needed, log, e);
	pd_tune_release(&t);
	return status;
}

static int run_tune(int argc, char **argv)
{
	struct tune_options o = { .seed = 1, .max_wrong = .01, .confidence = .95 };
	struct pd_buf words = { 0 };
	char *verdicts = NULL;
	struct pd_log log;
	struct pd_err e;
	int first, status = PD_OK;
	pd_log_init(&log, "tune");
	int code = pd_walk_parse_run(&usage, &argc, &argv, &o.walk, &o.run, &words, &first, &log);
	if (!code) {
		if (o.run && o.verdicts)
			status = pd_fail(&e, PD_ERR_USAGE, "--run and --verdicts cannot be combined");
		else if (!o.run && !o.verdicts)
			status = pd_fail(&e, PD_ERR_USAGE, "missing required option --run=DIR, or --verdicts=FILE");
		else if (o.terminal && !o.disputed && o.n_labels != 1)
			status = pd_fail(&e, PD_ERR_USAGE, "--terminal needs one --labels=FILE, into which it writes");
		else if (o.terminal && o.disputed && !o.override)
			status = pd_fail(&e, PD_ERR_USAGE, "--terminal --disputed needs --override=FILE, into which it writes");
		else if (o.disputed && o.n_labels < 2)
			status = pd_fail(&e, PD_ERR_USAGE, "--disputed needs the labels of several people");
		if (o.run && !o.verdicts)
			o.verdicts = verdicts = pd_dedup_folder_path(o.run, "verdicts.tsv");
		if (!status)
			status = tune(&o, &log, &e);
		code = 1 + pd_command_exit(status, &log, &e);
	}
	free(verdicts);
	free(o.labels);
	pd_buf_release(&words);
	return code - 1;
}

const struct pd_command pd_cmd_tune = { &usage, run_tune };
