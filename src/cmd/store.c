/* SPDX-License-Identifier: MIT
 * pagededup store: what is kept between runs.
 *
 * Adding an action: a function here, a row in the table below, a paragraph in docs/man/pagededup-store.1. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/threads.h"
#include "cmd/command.h"
#include "group/pages.h"
#include "store/judge.h"
#include "write/write.h"

enum { WRITE_AT = 1 << 16 };	/* bytes of rows that are exported */

/* What was said; -1: not said. */
struct store_options {
	int preset, bits, k, on_duplicate, same_url, format;
	const char *method, *require;
	int keys;
	double count, error;
	struct pd_verify_request verification;
	bool line_buffered, quiet, ignore_damaged, by_url;
};

/* One action, from opening to closing. */
struct store_run {
	const struct store_options *o;
	struct pd_log *log;
	const char *dir;
	char **operands;		/* after DIR */
	int n_operands;
	struct pd_store store;
	struct pd_json *json;		/* NULL: tables */
	struct pd_buf out;
	double started;
	uint64_t bad;			/* what was left out, named */
	struct pd_err err;
};

#define AT(member) .at = offsetof(struct store_options, member)

static const char *const presets[] = { "default", "paper", NULL };
static const char *const key_kinds[] = { "lmdb", "bloom", NULL };
static const char *const widths[] = { "64", "128", "256", NULL };

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "init" },
	{ .type = PD_OPT_CHOICE, .name = "bits", .arg = "N", AT(bits), .choices = widths,
	  .help = "bits of the fingerprints: 64 (default), 128 or 256" },
	{ .type = PD_OPT_INT, .letter = 'k', .name = "distance", .arg = "N", AT(k), .min = 0, .max = 64,
	  .help = "largest distance of duplicates (12 of 64 bits); 'check': this or less" },
	{ .type = PD_OPT_TEXT, .name = "method", .arg = "LIST", AT(method),
	  .help = "methods to keep bits and keys of (those of the rows), or to compare by" },
	{ .type = PD_OPT_CHOICE, .name = "keys", .arg = "NAME", AT(keys), .choices = key_kinds,
	  .help = "keep no pages, only keys: lmdb (exact, with ids), bloom (a filter)" },
	{ .type = PD_OPT_REAL, .name = "count", .arg = "N", AT(count), .min = 1, .max = 1e13, .help = "bloom: keys it is made for (10000000)" },
	{ .type = PD_OPT_REAL, .name = "error", .arg = "P", AT(error), .min = 1e-6, .max = .5,
	  .help = "bloom: rate of false answers with so many keys (0.001)" },
	{ .type = PD_OPT_HEADING, .name = "add, check" },
	{ .type = PD_OPT_TEXT, .name = "require", .arg = "N", AT(require),
	  .help = "methods that must find a page: over half (default), any, all, N" },
	{ .type = PD_OPT_CHOICE, .name = "on-duplicate", .arg = "NAME", AT(on_duplicate), .choices = pd_store_on_duplicate_names,
	  .help = "skip (default): do not keep it; replace: keep it, drop what it matches" },
	{ .type = PD_OPT_CHOICE, .name = "same-url", .arg = "NAME", AT(same_url), .choices = pd_store_same_url_names,
	  .help = "judge (default): like any page; update: replaces the old version" },
	{ .type = PD_OPT_TEXT, .name = "similar", .arg = "P%", AT(verification.similar),
	  .help = "least share of text that duplicates have in common, such as 90%" },
	{ .type = PD_OPT_REAL, .name = "similarity", .arg = "S", AT(verification.similarity), .min = 0, .max = 1,
	  .help = "least similarity, estimated from sketches (0.5)" },
	{ .type = PD_OPT_REAL, .name = "similarity-same-host", .arg = "S", AT(verification.similarity_same_host), .min = 0, .max = 1,
	  .help = "the same for two pages of one host (0.7)" },
	{ .type = PD_OPT_SWITCH, .name = "verify", AT(verification.verify),
	  .help = "verify pairs by similarity, estimated from sketches (default)" },
	{ .type = PD_OPT_CHOICE, .name = "preset", .arg = "NAME", AT(preset), .choices = presets,
	  .help = "default, or paper: settings of patent CN101645082 (k 3, replace)" },
	{ .type = PD_OPT_FLAG, .name = "line-buffered", AT(line_buffered), .help = "write each answer as soon as its row is read" },
	{ .type = PD_OPT_HEADING, .name = "remove" },
	{ .type = PD_OPT_FLAG, .name = "by-url", AT(by_url), .help = "operands are URLs, not ids" },
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_CHOICE, .name = "format", .arg = "NAME", AT(format), .choices = pd_write_row_format_names,
	  .help = "tsv (default), or jsonl for other tools" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", AT(quiet), .help = "print no summary line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", AT(ignore_damaged), .help = "exit 0 even if something was left out" },
	PD_OPT_END,
};

static const char *const action_names[] = { "init", "add", "check", "remove", "compact", "verify", "info", "export",
					    NULL };

static const struct pd_usage usage = {
	.name = "store",
	.words = action_names,
	.synopsis = "init|add|check|remove|compact|verify|info|export DIR [OPTION]... [FP|ID]...",
	.summary = "Keep fingerprints between runs and report which pages are new.",
	.text = "add keeps new pages and answers for each row of FP (stdin); check only answers.\n"
		"remove takes ids (stdin).  compact frees the space of removed pages, verify finds damage,\n"
		"export writes rows of 'fp'.",
	.example = "pagededup fp tonight.warc.gz | pagededup store add kept/ > answers.tsv",
	.opts = opts,
};

/* Something is damaged or missing and was left out: said, and counted. */
static void leave_out(void *run, const char *what)
{
	struct store_run *r = run;
	pd_log_error(r->log, "%s", what);
	r->bad++;
}

static int flush_rows(struct store_run *r)
{
	size_t n = r->out.n;
	if (n && (fwrite(r->out.p, 1, n, stdout) != n || fflush(stdout)))
		return pd_fail_errno(&r->err, "cannot write standard output");
	pd_buf_clear(&r->out);
	return PD_OK;
}

enum { LMDB, BLOOM };	/* as key_kinds */

/* All that are named must be such as a store keeps. */
static int init_methods(struct store_run *r, struct pd_methods *out)
{
	struct pd_methods all;
	int status = pd_methods_read(&all, pd_span_z(r->o->method), PD_METHOD_SIGNS, r->o->preset == 1, &r->err);
	if (status)
		return status;
	pd_store_kept_methods(&all, r->o->keys >= 0 ? PD_STORE_KEYS_LMDB : PD_STORE_KEYS_NONE, out);
	for (int i = 0; i < all.n; i++)
		if (pd_methods_find(out, pd_span_z(all.v[i].method->name)) < 0)
			return pd_fail(&r->err, PD_ERR_USAGE, r->o->keys >= 0 ? "a store of keys cannot keep '%s', which has none" :
				       "a store cannot keep '%s': it compares items, and a store keeps bits and keys", all.v[i].method->name);
	return PD_OK;
}

static int run_init(struct store_run *r)
{
	const struct store_options *o = r->o;
	int bits = 64 << (o->bits < 0 ? 0 : o->bits), k = o->k < 0 && o->preset == 1 ? 3 : o->k;
	struct pd_store_settings settings = pd_store_defaults(bits);
	if (k > bits / 4)
		return pd_fail(&r->err, PD_ERR_USAGE, "distance %d: must be 0 to %d, a quarter of the %d bits", k,
			       bits / 4, bits);
	if (k >= 0)
		settings.k = settings.alone = k;
	int status = o->method ? init_methods(r, &settings.methods) : PD_OK;
	if (!status && o->keys != BLOOM && (o->count || o->error))
		status = pd_fail(&r->err, PD_ERR_USAGE, "--count and --error go with --keys=bloom");
	if (!status && o->keys >= 0 && (o->bits >= 0 || o->k >= 0))
		status = pd_fail(&r->err, PD_ERR_USAGE, "--keys keeps no fingerprints: it goes without --bits and --distance");
	if (status)
		return status;
	if (o->keys >= 0)
		settings.keys = o->keys == BLOOM ? PD_STORE_KEYS_BLOOM : PD_STORE_KEYS_LMDB;
	if (o->keys == BLOOM) {
		settings.made_for = o->count ? (uint64_t)o->count : 10000000;
		settings.millionths = o->error ? (uint64_t)(o->error * 1e6 + .5) : 1000;
	}
	status = pd_store_create(r->dir, &settings, NULL, &r->err);
	if (!status && o->keys >= 0)
		pd_log_note(r->log, "%s is a store for keys (%s)", r->dir, key_kinds[o->keys]);
	else if (!status)
		pd_log_note(r->log, "%s is a store for fingerprints of %d bits, k %d", r->dir, bits, settings.k);
	return status;
}

/* add and check: a run of rows, whose answers are written batch by batch, when what they say is durable. */
struct answering {
	struct store_run *r;
	struct pd_store_ask ask;
	bool header_written;
};

static void write_answers_header(struct answering *a)
{
	if (!a->header_written && !a->r->json)
		pd_write_header(&(struct pd_write_header){ .kind = PD_WRITE_ANSWERS, .store = &a->r->store, .judge = &a->ask.o },
				&a->r->out, &a->r->err);
	a->header_written = true;
}

static int write_answer(void *ctx, const struct pd_store_answer *answer)
{
	struct answering *a = ctx;
	write_answers_header(a);
	pd_write_answers(answer, a->r->json, &a->r->out);
	return PD_OK;
}

static int write_batch(void *ctx)
{
	struct answering *a = ctx;
	write_answers_header(a);
	return flush_rows(a->r);
}

static void leave_out_row(void *ctx, const char *path, const char *what)
{
	struct pd_log *log = ((struct answering *)ctx)->r->log;
	if (pd_log_many(log, path))
		pd_log_error(log, "%s", what);
}

static int judge_options(const struct store_run *r, bool keep, struct pd_store_judge_options *j, struct pd_err *e)
{
	const struct store_options *o = r->o;
	struct pd_require require = { 0 };
	int k = r->store.m.k;
	*j = (struct pd_store_judge_options){ .keep = keep, .k = o->k >= 0 ? o->k : k };
	int status = pd_verify_settle(&o->verification, o->preset == 1, &j->verify, e);
	if (!status && o->method)
		status = pd_methods_read(&j->asked, pd_span_z(o->method), PD_METHOD_COMPARES, o->preset == 1, e);
	if (!status && o->require)
		status = pd_require_parse(o->require, &require, e);
	if (status)
		return status;
	if (require.n)
		return pd_fail(e, PD_ERR_USAGE, "--require takes any, all or a number here; --method names those that are asked");
	j->least = require.least ? require.least : require.said;
	if (j->k > k)
		return pd_fail(e, PD_ERR_USAGE, "-k %d: the store %s was made for distances up to %d", j->k, r->dir, k);
	j->on_duplicate = o->on_duplicate >= 0 ? (enum pd_store_on_duplicate)o->on_duplicate :
			  o->preset == 1 ? PD_STORE_REPLACE : PD_STORE_SKIP;
	if (r->store.m.keys.kind && (j->on_duplicate == PD_STORE_REPLACE || o->same_url > 0))
		return pd_fail(e, PD_ERR_USAGE, "the store %s keeps keys, no pages that could be replaced", r->dir);
	j->same_url = o->same_url > 0 ? PD_STORE_SAME_URL_UPDATE : PD_STORE_SAME_URL_JUDGE;
	j->verify.k_unknown = r->store.m.alone < j->k ? r->store.m.alone : j->k;
	return PD_OK;
}

static void say_counts(const struct store_run *r, const struct pd_store_ask *ask)
{
	const uint64_t *n = ask->counts;
	struct pd_buf line = { 0 };
	pd_buf_count(&line, n[PD_STORE_NEW] + n[PD_STORE_KEPT] + n[PD_STORE_DUPLICATE], "page");
	pd_buf_printf(&line, ", %" PRIu64 " new, %" PRIu64 " kept already, ", n[PD_STORE_NEW], n[PD_STORE_KEPT]);
	pd_buf_count(&line, n[PD_STORE_DUPLICATE], "duplicate");
	if (n[PD_STORE_REPLACED])
		pd_buf_printf(&line, ", %" PRIu64 " replaced", n[PD_STORE_REPLACED]);
	if (ask->bad) {
		pd_buf_add_z(&line, ", ");
		pd_buf_count(&line, ask->bad, "bad row");
		pd_buf_add_z(&line, " left out");
	}
	pd_log_note(r->log, "%s, %.1f s", line.p, pd_wall_seconds() - r->started);
	pd_buf_release(&line);
}

static int write_totals(struct store_run *r, const struct pd_store_ask *ask)
{
	struct pd_span rest = pd_buf_span(&ask->totals), line;
	while (!r->json && rest.n && pd_span_split(&rest, '\n', &line))
		pd_buf_printf(&r->out, "# total %.*s\n", (int)line.n, line.p);
	return flush_rows(r);
}

static int answer_rows(struct store_run *r, bool keep)
{
	struct answering a = { .r = r,
			       .ask = { .s = &r->store,
					.paths = r->operands,
					.n_paths = r->n_operands,
					.at_once = r->o->line_buffered || (!r->n_operands && isatty(STDIN_FILENO)),
					.answer = write_answer,
					.batch = write_batch,
					.bad_row = leave_out_row,
					.ctx = &a } };
	int status = pd_store_open(&r->store, r->dir, keep ? PD_STORE_WRITE : PD_STORE_READ, &r->err);
	if (!status)
		status = judge_options(r, keep, &a.ask.o, &r->err);
	if (!status)
		status = pd_store_ask(&a.ask, &r->err);
	r->bad += a.ask.bad;
	pd_log_many_end(r->log);
	if (!status)
		status = write_totals(r, &a.ask);
	if (!status && keep)
		status = pd_store_tend(&r->store, true, &r->err);
	if (!status)
		say_counts(r, &a.ask);
	pd_buf_release(&a.ask.totals);
	return status;
}

static int run_add(struct store_run *r)
{
	return answer_rows(r, true);
}

static int run_check(struct store_run *r)
{
	return answer_rows(r, false);
}

static int needs_pages(struct store_run *r)
{
	return r->store.m.keys.kind ? pd_fail(&r->err, PD_ERR_USAGE, "the store %s keeps keys, no pages: it forgets none and has none to write", r->dir) :
				      PD_OK;
}

/* All that is kept under an id or a URL, escaped as in rows. */
static int remove_one(struct store_run *r, struct pd_span what, uint64_t *pages)
{
	enum pd_store_by by = r->o->by_url ? PD_STORE_BY_URL : PD_STORE_BY_ID;
	uint64_t n;
	int status = pd_store_remove_named(&r->store, by, what, &n, &r->err);
	if (!status && !n) {
		pd_log_error(r->log, "%.*s is not in the store", (int)what.n, what.p);
		r->bad++;
	}
	*pages += status ? 0 : n;
	return status;
}

static int remove_lines(struct store_run *r, uint64_t *pages)
{
	struct pd_line_reader lines = { .f = stdin, .path = "standard input" };
	struct pd_span what;
	int status;
	while ((status = pd_line_next(&lines, &what, &r->err)) > 0) {
		what = pd_span_trim(what);
		status = what.n ? remove_one(r, what, pages) : PD_OK;
		if (status)
			break;
	}
	pd_line_reader_release(&lines);
	return status;
}

static int run_remove(struct store_run *r)
{
	uint64_t pages = 0;
	int status = pd_store_open(&r->store, r->dir, PD_STORE_WRITE, &r->err);
	if (!status)
		status = needs_pages(r);
	for (int i = 0; !status && i < r->n_operands; i++)
		status = remove_one(r, pd_span_z(r->operands[i]), &pages);
	if (!status && !r->n_operands)
		status = remove_lines(r, &pages);
	if (!status)
		status = pd_store_sync(&r->store, &r->err);
	if (!status)	/* said at once: tidying up may lack room, and they are removed all the same */
		pd_log_note(r->log, "%" PRIu64 " removed, %" PRIu64 " not found, %.1f s", pages, r->bad,
			    pd_wall_seconds() - r->started);
	return status ? status : pd_store_tend(&r->store, true, &r->err);
}

static int run_compact(struct store_run *r)
{
	int status = pd_store_open(&r->store, r->dir, PD_STORE_WRITE, &r->err);
	if (!status)
		status = pd_store_compact(&r->store, &r->err);
	if (!status)
		pd_log_note(r->log, "done, %.1f s", pd_wall_seconds() - r->started);
	return status;
}

static int run_verify(struct store_run *r)
{
	r->store.damaged = leave_out;
	r->store.damaged_ctx = r;
	int status = pd_store_verify(&r->store, r->dir, &r->err);
	if (!status && !r->bad)
		pd_log_note(r->log, "no damage, %.1f s", pd_wall_seconds() - r->started);
	return status;
}

static int run_info(struct store_run *r)
{
	struct pd_store_size size;
	int status = pd_store_open(&r->store, r->dir, PD_STORE_READ, &r->err);
	if (!status)
		status = pd_store_measure(&r->store, &size, &r->err);
	if (status)
		return status;
	pd_write_store_info(&r->store, &size, r->json, &r->out);
	return flush_rows(r);
}

struct exporting {
	struct store_run *r;
	uint64_t n;
};

static int export_page(void *ctx, uint64_t number, const struct pd_store_page *page)
{
	struct exporting *x = ctx;
	struct store_run *r = x->r;
	pd_write_store_page(&r->store, page, r->json, &r->out);
	x->n++;
	return r->out.n < WRITE_AT ? PD_OK : flush_rows(r);
}

static int run_export(struct store_run *r)
{
	struct exporting x = { .r = r };
	r->store.damaged = leave_out;
	r->store.damaged_ctx = r;
	int status = pd_store_open(&r->store, r->dir, PD_STORE_READ, &r->err);
	if (!status)
		status = needs_pages(r);
	if (!status && !r->json)
		status = pd_write_header(&(struct pd_write_header){ .kind = PD_WRITE_STORE, .store = &r->store }, &r->out, &r->err);
	if (!status)
		status = pd_store_each(&r->store, export_page, &x, &r->err);
	if (!status)
		status = flush_rows(r);
	if (!status)
		pd_log_note(r->log, "%" PRIu64 " pages, %.1f s", x.n, pd_wall_seconds() - r->started);
	return status;
}

/* Options that some actions alone take; all take the others. */
enum { INIT = 1, ADD = 2, CHECK = 4, REMOVE = 8, COMPACT = 16, VERIFY = 32, INFO = 64, EXPORT = 128 };

/* As action_names. */
static const struct action {
	int bit;
	int most;			/* operands after DIR; -1: any */
	int (*run)(struct store_run *r);
} actions[] = {
	{ INIT, 0, run_init },	      { ADD, -1, run_add },	   { CHECK, -1, run_check },
	{ REMOVE, -1, run_remove },  { COMPACT, 0, run_compact }, { VERIFY, 0, run_verify },
	{ INFO, 0, run_info },	      { EXPORT, 0, run_export },
};

/* An option that has no effect on the action is misuse, not ignored. */
static int check_options(const struct store_options *o, const struct action *a, struct pd_err *e)
{
	const struct {
		bool given;
		int takes;
		const char *name;
	} rows[] = {
		{ o->bits >= 0, INIT, "--bits" },
		{ o->k >= 0, INIT | CHECK, "--distance" },
		{ o->method, INIT | ADD | CHECK, "--method" },
		{ o->require, ADD | CHECK, "--require" },
		{ o->keys >= 0, INIT, "--keys" },
		{ o->count, INIT, "--count" },
		{ o->error, INIT, "--error" },
		{ o->on_duplicate >= 0, ADD, "--on-duplicate" },
		{ o->same_url >= 0, ADD | CHECK, "--same-url" },
		{ o->verification.similar, ADD | CHECK, "--similar" },
		{ o->verification.similarity >= 0, ADD | CHECK, "--similarity" },
		{ o->verification.similarity_same_host >= 0, ADD | CHECK, "--similarity-same-host" },
		{ o->verification.verify >= 0, ADD | CHECK, "--verify" },
		{ o->preset >= 0, INIT | ADD | CHECK, "--preset" },
		{ o->line_buffered, ADD | CHECK, "--line-buffered" },
		{ o->by_url, REMOVE, "--by-url" },
		{ o->format >= 0, ADD | CHECK | INFO | EXPORT, "--format" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].given && !(rows[i].takes & a->bit))
			return pd_fail(e, PD_ERR_USAGE, "store %s does not take %s", action_names[a - actions],
				       rows[i].name);
	return PD_OK;
}

static int find_action(int argc, char **argv, int first, const struct action **out, struct pd_err *e)
{
	if (first == argc)
		return pd_fail(e, PD_ERR_USAGE,
			       "missing action: init, add, check, remove, compact, verify, info or export");
	for (size_t i = 0; action_names[i]; i++)
		if (!strcmp(argv[first], action_names[i]))
			*out = &actions[i];
	if (!*out) {
		const char *near = pd_nearest(argv[first], action_names);
		return near ? pd_fail(e, PD_ERR_USAGE, "unknown action '%s'; did you mean '%s'?", argv[first], near) :
			      pd_fail(e, PD_ERR_USAGE, "unknown action '%s': it is one of init, add, check, remove, compact, verify, "
				      "info and export", argv[first]);
	}
	if (first + 1 == argc || !*argv[first + 1])
		return pd_fail(e, PD_ERR_USAGE, "%s: missing operand DIR, the store's folder", argv[first]);
	if ((*out)->most >= 0 && argc - first - 2 > (*out)->most)
		return pd_fail(e, PD_ERR_USAGE, "extra operand '%s': 'store %s' takes none after DIR", argv[first + 2], argv[first]);
	return PD_OK;
}

static int run_store(int argc, char **argv)
{
	struct store_options o = { .preset = -1, .keys = -1, .bits = -1, .k = -1, .on_duplicate = -1, .same_url = -1, .format = -1,
				      .verification = PD_VERIFY_NOTHING_SAID };
	const struct action *a = NULL;
	struct pd_log log;
	int first;
	pd_log_init(&log, "store");
	int code = pd_command_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	log.quiet = o.quiet;
	if (pd_command_methods_help(o.method))
		return PD_EXIT_DONE;
	struct store_run r = { .o = &o, .log = &log, .store = { .lock = -1 },
			 .json = o.format == PD_ROWS_JSONL ? pd_json_new() : NULL, .started = pd_wall_seconds() };
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
	pd_json_free(r.json);
	pd_buf_release(&r.out);
	return code;
}

const struct pd_command pd_cmd_store = { "Store", &usage, run_store };
