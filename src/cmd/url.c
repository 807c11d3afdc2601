/* SPDX-License-Identifier: MIT
 * pagededup url: URLs, a line each -> which are new and which were seen; and rows of fp -> parameters that do not matter. */
#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/threads.h"
#include "base/tsv.h"
#include "cmd/command.h"
#include "link/canonical.h"
#include "link/host.h"
#include "link/seen.h"

enum { PRINT_ROWS, PRINT_NEW, PRINT_SEEN, PRINT_NONE };
static const char *const prints[] = { "rows", "new", "seen", "none", NULL };

enum { FORMULA_STANDARD, FORMULA_FEATURES };
static const char *const formulas[] = { "standard", "features", NULL };

struct url_options {
	int mode, hash, form, print, formula, least;
	double count, error;
	unsigned features;
	const char *seen, *base, *drop, *params, *output;
	bool ask, with_base, keep_fragment, drop_known, learn, domain, line_buffered, quiet;
};

#define AT(member) .at = offsetof(struct url_options, member)

static int take_features(void *options, const char *arg, struct pd_err *e)
{
	static const char *const names[PD_FEATURES] = { "site", "depth", "directory", "last" };
	struct url_options *o = options;
	struct pd_span rest = pd_span_z(arg), name;
	o->features = PD_FEATURE_SITE;
	while (pd_span_split(&rest, ',', &name)) {
		int i = 0;
		while (i < PD_FEATURES && !pd_span_is(name, names[i]))
			i++;
		if (i == PD_FEATURES)
			return pd_fail(e, PD_ERR_USAGE, "--features takes a list of site, depth, directory, last, separated by commas, not '%s'", arg);
		o->features |= 1u << i;
	}
	return PD_OK;
}

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "What was seen" },
	{ .type = PD_OPT_CHOICE, .name = "mode", .arg = "NAME", AT(mode), .choices = pd_seen_modes,
	  .help = "how URLs are remembered: exact (default), features, site-features" },
	{ .type = PD_OPT_TEXT, .name = "seen", .arg = "FILE", AT(seen), .help = "file of seen URLs: read if it exists, then written with the new ones" },
	{ .type = PD_OPT_FLAG, .name = "ask", AT(ask), .help = "with --seen: only ask, leave FILE as it is" },
	{ .type = PD_OPT_CALL, .name = "features", .arg = "LIST", .call = take_features,
	  .help = "site-features: parts besides the site: depth, directory, last (all)" },
	{ .type = PD_OPT_REAL, .name = "count", .arg = "N", AT(count), .min = 1, .max = 1e13, .help = "features: URLs to make room for (1000000)" },
	{ .type = PD_OPT_REAL, .name = "error", .arg = "P", AT(error), .min = 1e-9, .max = .5,
	  .help = "features: error rate at that number of URLs (0.01)" },
	{ .type = PD_OPT_CHOICE, .name = "formula", .arg = "NAME", AT(formula), .choices = formulas, .rare = true,
	  .help = "features: filter size by formula: standard (default), features" },
	{ .type = PD_OPT_CHOICE, .name = "hash", .arg = "NAME", AT(hash), .choices = pd_seen_hashes, .rare = true,
	  .help = "hash of features: xxh3 (default), md5" },
	{ .type = PD_OPT_HEADING, .name = "URLs" },
	{ .type = PD_OPT_CHOICE, .name = "form", .arg = "NAME", AT(form), .choices = pd_url_forms,
	  .help = "form in which URLs are compared: canonical (default), standard, loose" },
	{ .type = PD_OPT_TEXT, .name = "base", .arg = "URL", AT(base), .help = "resolve relative URLs against URL" },
	{ .type = PD_OPT_FLAG, .name = "with-base", AT(with_base), .rare = true, .help = "lines are URL<TAB>BASE, escaped as in rows" },
	{ .type = PD_OPT_FLAG, .name = "keep-fragment", AT(keep_fragment), .rare = true, .help = "URLs that differ after '#' are different" },
	{ .type = PD_OPT_TEXT, .name = "drop-params", .arg = "LIST", AT(drop), .help = "ignore these query parameters, such as sid,utm_*" },
	{ .type = PD_OPT_FLAG, .name = "drop-known-params", AT(drop_known), .help = "ignore session ids and campaign parameters known by name" },
	{ .type = PD_OPT_TEXT, .name = "params", .arg = "FILE", AT(params), .help = "ignore the parameters that --learn-params found" },
	{ .type = PD_OPT_HEADING, .name = "Learning" },
	{ .type = PD_OPT_FLAG, .name = "learn-params", AT(learn), .help = "INPUT is rows of 'fp': print which parameters change no page" },
	{ .type = PD_OPT_INT, .name = "least", .arg = "N", AT(least), .min = 1, .max = 1000000, .rare = true,
	  .help = "least evidence for a parameter: groups of URLs, texts, values (3)" },
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_CHOICE, .name = "print", .arg = "NAME", AT(print), .choices = prints,
	  .help = "rows (default); new or seen: those URLs as they came; none" },
	{ .type = PD_OPT_FLAG, .name = "domain", AT(domain), .help = "fill the column 'domain' with the registered domain" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_FLAG, .name = "line-buffered", AT(line_buffered), .rare = true, .help = "write each row at once" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", AT(quiet), .help = "print no summary line" },
	PD_OPT_END,
};

static const struct pd_usage usage = {
	.name = "url",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Say which URLs are new and which were seen.",
	.text = "INPUT holds one URL per line; none, or -: stdin.",
	.example = "pagededup url --seen=seen.urls --print=new frontier.txt",
	.opts = opts,
};

static const char columns[] = "#status\turl\tkey\tdomain\treason\n";

/* URLs that wait for an answer together: memory is slow, and is asked for the places of all of them before it is waited for. */
enum { TOGETHER = 32 };

struct waiting {
	struct pd_seen_key key;
	bool good;		/* a URL */
	size_t end;		/* in `waiting_text`: what is printed of it, if it is, after its status */
};

struct url_run {
	const struct url_options *o;
	struct pd_log *log;
	struct pd_params params;
	struct pd_canonical canonical;
	struct pd_seen *seen;
	struct pd_seen_options how;
	struct pd_url base, url;
	struct waiting waiting[TOGETHER];
	int n_waiting;
	struct pd_buf shape, key, domain, text, line_base, waiting_text, out;
	struct pd_outfile file;
	uint64_t urls, fresh, again, bad;
	struct pd_err err;
};

/* --- what to do, from the options --- */

static void describe_shape(struct url_run *r)
{
	pd_buf_printf(&r->shape, "form=%s", pd_url_forms[r->o->form]);
	pd_buf_add_z(&r->shape, r->o->keep_fragment ? " fragment=keep" : "");
	if (r->params.hash)
		pd_buf_printf(&r->shape, " dropped=%016" PRIx64, r->params.hash);
	r->how.shape = pd_buf_span(&r->shape);
}

static int prepare_params(struct url_run *r)
{
	const struct url_options *o = r->o;
	int status = o->drop ? pd_params_name(&r->params, pd_span_z(o->drop), &r->err) : PD_OK;
	if (!status && o->params)
		status = pd_params_read(&r->params, o->params, &r->err);
	if (o->drop_known || o->form == PD_FORM_LOOSE)
		pd_params_know(&r->params);
	r->canonical = (struct pd_canonical){ .form = (enum pd_url_form)o->form,
					      .keep_fragment = o->keep_fragment,
					      .params = r->params.hash ? &r->params : NULL };
	return status;
}

/* --formula=features sizes one filter; each feature has its own share of it. */
static uint64_t filter_bits(const struct url_options *o)
{
	int n = __builtin_popcount(o->features);
	uint64_t count = (uint64_t)o->count;
	uint64_t all = o->formula == FORMULA_STANDARD ? pd_bloom_bits(count, o->error) : pd_seen_bits_of(count, o->error, n);
	return o->mode == PD_SEEN_EXACT ? 0 : all;
}

static int prepare(struct url_run *r)
{
	const struct url_options *o = r->o;
	if (o->ask && !o->seen)
		return pd_fail(&r->err, PD_ERR_USAGE, "--ask needs --seen=FILE, which says what was seen");
	if (o->form == PD_FORM_STANDARD && (o->drop || o->drop_known || o->params || o->keep_fragment))
		return pd_fail(&r->err, PD_ERR_USAGE, "--form=standard keeps fragments and all parameters: use --form=canonical or --form=loose with this option");
	if (o->base && !pd_url_parse(pd_span_z(o->base), NULL, &r->base))
		return pd_fail(&r->err, PD_ERR_USAGE, "--base=%s is not a URL: %s", o->base, r->base.why);
	int status = prepare_params(r);
	r->how = (struct pd_seen_options){ .mode = (enum pd_seen_mode)o->mode, .hash = (enum pd_seen_hash)o->hash,
					   .features = o->features, .bits = filter_bits(o) };
	describe_shape(r);
	return status;
}

/* What was seen before; nothing, when the file is not there yet and may be made. */
static int open_seen(struct url_run *r)
{
	const struct url_options *o = r->o;
	/* It is read whole before it is written again, and so is no input in the sense of base/file.h. */
	FILE *f = o->seen ? fopen(o->seen, "rb") : NULL;
	if (!f && o->seen && (errno != ENOENT || o->ask))
		return pd_fail_errno(&r->err, "cannot open %s", o->seen);
	if (!f) {
		r->seen = pd_seen_new(&r->how);
		return PD_OK;
	}
	r->seen = pd_seen_read(f, o->seen, &r->err);
	fclose(f);
	return r->seen ? pd_seen_check(r->seen, &r->how, o->seen, &r->err) : r->err.status;
}

/* What was answered appears before what was seen does: a run that fails between the two is run again, and no URL is lost. */
static int commit(struct url_run *r)
{
	struct pd_outfile seen;
	bool keep = r->o->seen && !r->o->ask && !r->o->learn;
	int status = keep ? pd_outfile_open(&seen, r->o->seen, &r->err) : PD_OK;
	if (status) {
		pd_outfile_abandon(&r->file);
		return status;
	}
	if (keep)
		status = pd_seen_write(r->seen, seen.f, r->o->seen, &r->err);
	if (!status)
		status = pd_outfile_commit(&r->file, &r->err);
	else
		pd_outfile_abandon(&r->file);
	if (!keep)
		return status;
	if (!status)
		return pd_outfile_commit(&seen, &r->err);
	pd_outfile_abandon(&seen);
	return status;
}

/* --- a line --- */

/* "example.org/page", as people write it. */
static bool parse_bare(struct url_run *r, struct pd_span text)
{
	if (r->o->form == PD_FORM_STANDARD || !text.n || text.p[0] == '/' || text.p[0] == '\\')
		return false;
	pd_buf_set(&r->key, pd_span_z("http://"));
	pd_buf_add_span(&r->key, text);
	return pd_url_parse(pd_buf_span(&r->key), NULL, &r->url) && pd_domain_listed(pd_url_host_of(&r->url), &r->domain);
}

static bool parse(struct url_run *r, struct pd_span text, const struct pd_url *base)
{
	if (pd_url_parse(text, base, &r->url))
		return true;
	const char *why = r->url.why;
	if (!base && !strcmp(why, "no scheme") && parse_bare(r, pd_span_trim(text)))
		return true;
	r->url.why = why;
	return false;
}

/* What a row says after the status. */
static void add_url_row(struct url_run *r, struct pd_span url, struct pd_span key)
{
	struct pd_buf *out = &r->waiting_text;
	pd_buf_add_c(out, '\t');
	pd_tsv_add(out, url);
	pd_buf_add_c(out, '\t');
	pd_tsv_add(out, key);
	pd_buf_add_c(out, '\t');
	pd_buf_clear(&r->domain);
	if (key.n && r->o->domain)
		pd_domain_of(pd_url_host_of(&r->url), &r->domain);
	pd_tsv_add(out, pd_buf_span(&r->domain));
	pd_buf_add_c(out, '\t');
	pd_buf_add_z(out, r->url.why ? r->url.why : "-");
	pd_buf_add_c(out, '\n');
}

static int flush(struct url_run *r, size_t least)
{
	if (r->out.n < least)
		return PD_OK;
	bool good = !r->out.n || fwrite(r->out.p, 1, r->out.n, r->file.f) == r->out.n;
	if (good && r->o->line_buffered)
		good = !fflush(r->file.f);
	pd_buf_clear(&r->out);
	return good ? PD_OK : pd_fail_errno(&r->err, "cannot write %s", r->o->output ? r->o->output : "standard output");
}

static void answer(struct url_run *r)
{
	static const char *const names[] = { "new", "seen", "bad" };
	size_t from = 0;
	for (int i = 0; i < r->n_waiting; i++) {
		const struct waiting *w = &r->waiting[i];
		int status = w->good ? pd_seen_ask(r->seen, &w->key, !r->o->ask) : 2;
		r->fresh += status == 0;
		r->again += status == 1;
		r->bad += status == 2;
		if (r->o->print == PRINT_ROWS)
			pd_buf_add_z(&r->out, names[status]);
		if (r->o->print == PRINT_ROWS || r->o->print == (status == 0 ? PRINT_NEW : status == 1 ? PRINT_SEEN : -1))
			pd_buf_add(&r->out, r->waiting_text.p + from, w->end - from);
		from = w->end;
	}
	r->n_waiting = 0;
	pd_buf_clear(&r->waiting_text);
}

static void take_url(struct url_run *r, struct pd_span line, struct pd_span text, const struct pd_url *base)
{
	struct waiting *w = &r->waiting[r->n_waiting++];
	r->urls++;
	pd_buf_clear(&r->key);
	w->good = parse(r, text, base);
	if (w->good) {
		pd_canonical_make(&r->canonical, &r->url, &r->key);
		pd_seen_key_of(r->seen, pd_buf_span(&r->key), &w->key);
	} else {
		pd_buf_clear(&r->key);
	}
	if (r->o->print == PRINT_ROWS) {
		add_url_row(r, text, pd_buf_span(&r->key));
	} else if (r->o->print != PRINT_NONE) {
		pd_buf_add_span(&r->waiting_text, line);
		pd_buf_add_c(&r->waiting_text, '\n');
	}
	w->end = r->waiting_text.n;
	if (r->n_waiting == TOGETHER || r->o->line_buffered)
		answer(r);
}

/* URL, tab, base; both escaped. */
static int answer_with_base(struct url_run *r, struct pd_span line, const struct pd_line_reader *l)
{
	struct pd_span rest = line, url;
	pd_span_split(&rest, '\t', &url);
	if (pd_tsv_value(url, &r->text) || pd_tsv_value(rest, &r->line_base))
		return pd_fail(&r->err, PD_ERR_FORMAT, "%s:%" PRIu64 ": an invalid escape", l->path, l->no);
	bool based = r->line_base.n > 0;
	if (based && !pd_url_parse(pd_buf_span(&r->line_base), NULL, &r->base))
		return pd_fail(&r->err, PD_ERR_FORMAT, "%s:%" PRIu64 ": the base is not a URL: %s", l->path, l->no, r->base.why);
	take_url(r, line, pd_buf_span(&r->text), based ? &r->base : NULL);
	return PD_OK;
}

static int read_lines(struct url_run *r, const char *path)
{
	bool standard = !strcmp(path, "-");
	FILE *f = standard ? stdin : pd_input_fopen(path, &r->err);
	if (!f)
		return r->err.status;
	struct pd_line_reader l = { .f = f, .path = standard ? "standard input" : path };
	struct pd_span line;
	int status;
	__fsetlocking(f, FSETLOCKING_BYCALLER);	/* one thread reads it: a lock for each line waits for memory */
	while ((status = pd_line_next(&l, &line, &r->err)) == 1) {
		if (!pd_span_trim(line).n)
			continue;
		if (r->o->with_base)
			status = answer_with_base(r, line, &l);
		else
			take_url(r, line, line, r->o->base ? &r->base : NULL);
		if (status < 0 || (status = flush(r, r->o->line_buffered ? 1 : 1 << 16)) < 0)
			break;
	}
	answer(r);
	pd_line_reader_release(&l);
	if (!standard)
		fclose(f);
	return status;
}

static int read_all(struct url_run *r, char **paths, int n_paths)
{
	char dash[] = "-", *standard[] = { dash };
	int status = PD_OK;
	if (!n_paths) {
		paths = standard;
		n_paths = 1;
	}
	if (r->o->print == PRINT_ROWS)
		pd_buf_printf(&r->out, "# pagededup urls 1 %s |\n%s", pd_buf_z(&r->shape), columns);
	for (int i = 0; i < n_paths && !status; i++)
		status = read_lines(r, paths[i]);
	if (r->o->print == PRINT_ROWS)
		pd_buf_printf(&r->out, "# total urls=%" PRIu64 " new=%" PRIu64 " seen=%" PRIu64 " bad=%" PRIu64 "\n", r->urls, r->fresh,
			      r->again, r->bad);
	return status ? status : flush(r, 0);
}

/* --- learning --- */

enum { URL, DIGEST };

static int read_pages(struct url_run *r, struct pd_params_lesson *l, char **paths, int n_paths)
{
	static const char *const wanted[] = { "url", "text_digest", NULL };
	struct pd_tsv_reader t = { .kind = "fp", .columns = wanted, .v1_columns = pd_fp_columns, .paths = paths, .n_paths = n_paths };
	int status;
	while ((status = pd_tsv_next(&t, &r->err)) == 1 || status == PD_ERR_FORMAT) {
		if (status == PD_ERR_FORMAT || pd_tsv_value(t.fields[URL], &r->text)) {
			pd_log_bad_row(r->log, status == PD_ERR_FORMAT ? r->err.text : "a URL with an invalid escape");
			r->bad++;
			continue;
		}
		r->urls++;
		if (pd_span_is(t.fields[DIGEST], "-") || !parse(r, pd_buf_span(&r->text), NULL))
			continue;
		pd_canonical_make(&r->canonical, &r->url, &r->key);
		pd_params_lesson_add(l, pd_url_host_of(&r->url), pd_buf_span(&r->key), t.fields[DIGEST]);
	}
	pd_tsv_release(&t);
	return status;
}

static int learn(struct url_run *r, char **paths, int n_paths)
{
	struct pd_params_lesson *l = pd_params_lesson_new();
	int status = read_pages(r, l, paths, n_paths);
	if (!status) {
		struct pd_params_counts c = pd_params_lesson_write(l, (unsigned)r->o->least, &r->out);
		status = flush(r, 0);
		pd_log_note(r->log, "%" PRIu64 " pages, %" PRIu64 " parameters with different values for one URL, %" PRIu64
			    " of them change no page", r->urls, c.parameters, c.learnt);
	}
	pd_params_lesson_free(l);
	return status;
}

/* --- all --- */

static int run_all(struct url_run *r, char **paths, int n_paths)
{
	const struct url_options *o = r->o;
	double from = pd_wall_seconds();
	int status = prepare(r);
	if (!status)
		status = pd_outfile_check(o->output, paths, n_paths, &r->err);
	if (!status && o->seen)
		status = pd_outfile_check(o->seen, paths, n_paths, &r->err);
	if (!status && !o->learn)
		status = open_seen(r);
	if (!status)
		status = pd_outfile_open(&r->file, o->output, &r->err);
	if (status)
		return status;
	status = o->learn ? learn(r, paths, n_paths) : read_all(r, paths, n_paths);
	if (status)
		pd_outfile_abandon(&r->file);
	else
		status = commit(r);
	if (!status && !o->learn)
		pd_log_note(r->log, "%" PRIu64 " URLs, %" PRIu64 " new, %" PRIu64 " seen, %" PRIu64 " invalid, %.1f s", r->urls,
			    r->fresh, r->again, r->bad, pd_wall_seconds() - from);
	return status;
}

static void release(struct url_run *r)
{
	struct pd_buf *bufs[] = { &r->shape, &r->key, &r->domain, &r->text, &r->line_base, &r->waiting_text, &r->out };
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		pd_buf_release(bufs[i]);
	pd_seen_free(r->seen);
	pd_params_release(&r->params);
	pd_canonical_release(&r->canonical);
	pd_url_release(&r->base);
	pd_url_release(&r->url);
}

static int run_url(int argc, char **argv)
{
	struct url_options o = { .form = PD_FORM_CANONICAL, .features = PD_FEATURES_ALL, .count = 1e6, .error = .01, .least = 3 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "url");
	int code = pd_command_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	log.quiet = o.quiet;
	struct url_run r = { .o = &o, .log = &log, .file = { .slot = -1 } };
	int status = run_all(&r, argv + first, argc - first);
	code = status < 0 ? pd_command_failed(&log, &r.err) : o.learn && r.bad ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	release(&r);
	return code;
}

const struct pd_command pd_cmd_url = { "Links and URLs", &usage, run_url };
