/* SPDX-License-Identifier: MIT
 * pagededup url: URLs, a line each -> which are new and which were seen; and rows of fp -> parameters that do not matter. */
#include <stddef.h>

#include "cmd/command.h"
#include "url/canonical.h"
#include "url/seen.h"

/* As enum pd_seen_print, enum pd_seen_formula. */
static const char *const prints[] = { "rows", "new", "seen", "none", NULL }, *const formulas[] = { "standard", "features", NULL };

#define AT(member) .at = offsetof(struct pd_seen_run, member)

static int take_features(void *options, const char *arg, struct pd_err *e)
{
	static const char *const names[PD_FEATURES] = { "site", "depth", "directory", "last" };
	struct pd_seen_run *o = options;
	struct pd_span rest = pd_span_z(arg), name;
	o->features = PD_FEATURE_SITE;
	while (pd_span_split(&rest, ',', &name)) {
		int i = 0;
		while (i < PD_FEATURES && !pd_span_is(name, names[i]))
			i++;
		if (i == PD_FEATURES)
			return pd_fail(e, PD_ERR_USAGE,
				       "--features takes a list of site, depth, directory, last, separated by commas, not '%s'",
				       arg);
		o->features |= 1u << i;
	}
	return PD_OK;
}

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "What was seen" },
	{ .type = PD_OPT_CHOICE, .name = "mode", .arg = "NAME", AT(mode), .choices = pd_seen_modes,
	  .help = "how URLs are remembered: exact (default), features, site-features" },
	{ .type = PD_OPT_TEXT, .name = "seen", .arg = "FILE", AT(seen), .help = "file of seen URLs: read if it exists, then written with the new ones" },
	{ .type = PD_OPT_FLAG, .name = "ask", AT(ask), .help = "with --seen: only look up, leave FILE as it is" },
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
/* clang-format on */

static const struct pd_usage usage = {
	.name = "url",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Say which URLs are new and which were seen.",
	.text = "INPUT holds one URL per line; none, or -: stdin.",
	.example = "pagededup url --seen=seen.urls --print=new frontier.txt",
	.opts = opts,
};

static int run_url(int argc, char **argv)
{
	struct pd_seen_run o = { .form = PD_FORM_CANONICAL, .features = PD_FEATURES_ALL, .count = 1e6, .error = .01, .least = 3 };
	struct pd_log log;
	struct pd_err err;
	int first;
	pd_log_init(&log, "url");
	int code = pd_command_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	log.quiet = o.quiet;
	int status = pd_seen_run(&o, argv + first, argc - first, &log, &err);
	return pd_command_exit(status, &log, &err);
}

const struct pd_command pd_cmd_url = { "Links and URLs", &usage, run_url };
