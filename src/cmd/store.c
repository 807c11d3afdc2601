/* SPDX-License-Identifier: MIT
 * pagededup store: what is kept between runs. */
#include "cmd/store.h"

#include "base/threads.h"
#include "write/answer_row.h"
#include "write/jsonl.h"

#define AT(member) .at = offsetof(struct pd_store_options, member)

static const char *const presets[] = { "default", "paper", NULL };
static const char *const widths[] = { "64", "128", "256", NULL };

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "init" },
	{ .type = PD_OPT_CHOICE, .name = "bits", .arg = "N", AT(bits), .choices = widths,
	  .help = "width of the fingerprints: 64 (default), 128 or 256" },
	{ .type = PD_OPT_INT, .letter = 'k', .name = "distance", .arg = "N", AT(k), .min = 0, .max = 64,
	  .help = "duplicates differ in up to N bits (for 10 million pages; check: less)" },
	{ .type = PD_OPT_HEADING, .name = "add, check" },
	{ .type = PD_OPT_CHOICE, .name = "on-duplicate", .arg = "NAME", AT(on_duplicate), .choices = pd_store_on_duplicate_names,
	  .help = "skip (default): leave it out; replace: keep it, drop what it matches" },
	{ .type = PD_OPT_CHOICE, .name = "same-url", .arg = "NAME", AT(same_url), .choices = pd_store_same_url_names,
	  .help = "judge (default): another version is a page like any; update: it replaces" },
	{ .type = PD_OPT_TEXT, .name = "similar", .arg = "P%", AT(second_look.similar),
	  .help = "pages are alike when they share P% of their text, say 90%" },
	{ .type = PD_OPT_REAL, .name = "similarity", .arg = "S", AT(second_look.similarity), .min = 0, .max = 1,
	  .help = "least similarity, estimated from sketches (0.5)" },
	{ .type = PD_OPT_REAL, .name = "similarity-same-host", .arg = "S", AT(second_look.similarity_same_host), .min = 0, .max = 1,
	  .help = "the same for pages of one host (0.7)" },
	{ .type = PD_OPT_SWITCH, .name = "verify", AT(second_look.verify), .help = "verify pairs by similarity, estimated from sketches (default)" },
	{ .type = PD_OPT_CHOICE, .name = "preset", .arg = "NAME", AT(preset), .choices = presets,
	  .help = "default, or paper: settings of patent CN101645082 (k 3, replace)" },
	{ .type = PD_OPT_FLAG, .name = "line-buffered", AT(line_buffered), .help = "write each answer as soon as its row is read" },
	{ .type = PD_OPT_HEADING, .name = "remove" },
	{ .type = PD_OPT_FLAG, .name = "by-url", AT(by_url), .help = "operands are URLs, not ids" },
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_CHOICE, .name = "format", .arg = "NAME", AT(format), .choices = pd_row_format_names,
	  .help = "tsv (default), or jsonl for other tools" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", AT(quiet), .help = "no closing line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", AT(ignore_damaged), .help = "exit 0 although something was left out" },
	PD_OPT_END,
};

static const char *const action_names[] = { "init", "add", "check", "remove", "compact", "verify", "info", "export", NULL };

const struct pd_usage pd_usage_store = {
	.name = "store",
	.words = action_names,
	.synopsis = "init|add|check|remove|compact|verify|info|export DIR [OPTION]... [FP|ID]...",
	.summary = "Keep fingerprints between runs and tell which pages are new.",
	.text = "add keeps what is new and answers for each row of FP (stdin); check only answers.\n"
		"remove takes ids (stdin).  compact drops what is gone, verify finds damage, export writes fp rows.",
	.example = "pagededup fp tonight.warc.gz | pagededup store add kept/ > answers.tsv",
	.opts = opts,
};

/* Options that some actions alone take; all take the others. */
enum { INIT = 1, ADD = 2, CHECK = 4, REMOVE = 8, COMPACT = 16, VERIFY = 32, INFO = 64, EXPORT = 128 };

/* As action_names. */
static const struct action {
	int bit;
	int most;			/* operands behind DIR; -1: any */
	int (*run)(struct pd_store_run *r);
} actions[] = {
	{ INIT, 0, pd_store_run_init },	      { ADD, -1, pd_store_run_add },	   { CHECK, -1, pd_store_run_check },
	{ REMOVE, -1, pd_store_run_remove },  { COMPACT, 0, pd_store_run_compact }, { VERIFY, 0, pd_store_run_verify },
	{ INFO, 0, pd_store_run_info },	      { EXPORT, 0, pd_store_run_export },
};

/* An option that the action would not look at is misuse, not silence. */
static int check_options(const struct pd_store_options *o, const struct action *a, struct pd_err *e)
{
	const struct {
		bool given;
		int takes;
		const char *name;
	} rows[] = {
		{ o->bits >= 0, INIT, "--bits" },
		{ o->k >= 0, INIT | CHECK, "--distance" },
		{ o->on_duplicate >= 0, ADD, "--on-duplicate" },
		{ o->same_url >= 0, ADD | CHECK, "--same-url" },
		{ o->second_look.similar, ADD | CHECK, "--similar" },
		{ o->second_look.similarity >= 0, ADD | CHECK, "--similarity" },
		{ o->second_look.similarity_same_host >= 0, ADD | CHECK, "--similarity-same-host" },
		{ o->second_look.verify >= 0, ADD | CHECK, "--verify" },
		{ o->preset >= 0, INIT | ADD | CHECK, "--preset" },
		{ o->line_buffered, ADD | CHECK, "--line-buffered" },
		{ o->by_url, REMOVE, "--by-url" },
		{ o->format >= 0, ADD | CHECK | INFO | EXPORT, "--format" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].given && !(rows[i].takes & a->bit))
			return pd_fail(e, PD_ERR_USAGE, "store %s does not take %s", action_names[a - actions], rows[i].name);
	return PD_OK;
}

static int find_action(int argc, char **argv, int first, const struct action **out, struct pd_err *e)
{
	if (first == argc)
		return pd_fail(e, PD_ERR_USAGE, "missing action: init, add, check, remove, compact, verify, info or export");
	for (size_t i = 0; action_names[i]; i++)
		if (!strcmp(argv[first], action_names[i]))
			*out = &actions[i];
	if (!*out) {
		const char *near = pd_nearest(argv[first], action_names);
		return pd_fail(e, PD_ERR_USAGE, "unknown action '%s'%s%s%s", argv[first], near ? "; did you mean '" : "",
			       near ? near : "", near ? "'?" : "");
	}
	if (first + 1 == argc || !*argv[first + 1])
		return pd_fail(e, PD_ERR_USAGE, "%s: missing operand STORE", argv[first]);
	if ((*out)->most >= 0 && argc - first - 2 > (*out)->most)
		return pd_fail(e, PD_ERR_USAGE, "%s takes no operand such as '%s'", argv[first], argv[first + 2]);
	return PD_OK;
}

void pd_store_run_damaged(void *run, const char *what)
{
	struct pd_store_run *r = run;
	pd_log_error(r->log, "%s", what);
	r->bad++;
}

int pd_cmd_store(int argc, char **argv)
{
	struct pd_store_options o = { .preset = -1, .bits = -1, .k = -1, .on_duplicate = -1, .same_url = -1, .format = -1,
				      .second_look = PD_VERIFY_NOTHING_SAID };
	const struct action *a = NULL;
	struct pd_log log;
	int first;
	pd_log_init(&log, "store");
	int code = pd_command_parse(&pd_usage_store, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	log.quiet = o.quiet;
	struct pd_store_run r = { .o = &o, .log = &log, .store = { .lock = -1, .log.fd = -1 }, .started = pd_wall_seconds() };
	int status = find_action(argc, argv, first, &a, &r.err);
	if (!status)
		status = check_options(&o, a, &r.err);
	if (!status) {
		r.dir = argv[first + 1];
		r.operands = argv + first + 2;
		r.n_operands = argc - first - 2;
		status = a->run(&r);
	}
	code = status ? pd_command_failed(&log, &r.err) : r.bad && !o.ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	pd_store_close(&r.store);
	return code;
}
