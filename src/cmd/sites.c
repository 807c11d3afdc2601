/* SPDX-License-Identifier: MIT
 * pagededup sites: dumps -> which hosts are one site under several names. */
#include "base/file.h"
#include "cmd/walk.h"
#include "url/alias.h"

struct sites_options {
	struct pd_walk_options walk; /* first: the options of pages are parsed into it */
	struct pd_alias_options alias;
	const char *addresses;
};

#define AT(member) .at = offsetof(struct sites_options, member)

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "One site" },
	{ .type = PD_OPT_CHOICE, .name = "by", .arg = "NAME", AT(alias.by), .choices = pd_alias_by_names,
	  .help = "both (default): same IP address and same first pages; ip, pages" },
	{ .type = PD_OPT_TEXT, .name = "addresses", .arg = "FILE", AT(addresses), .help = "lines of 'host address', besides those in the dumps" },
	{ .type = PD_OPT_INT, .name = "first", .arg = "N", AT(alias.first), .min = 1, .max = 32, .help = "first pages of a host to compare (5)" },
	{ .type = PD_OPT_REAL, .name = "similar", .arg = "S", AT(alias.similar), .min = .5, .max = 1,
	  .help = "least similarity of two pages' HTML, from 0.5 to 1 (0.95)" },
	PD_WALK_INPUT_OPTS,
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", PD_AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", PD_AT(quiet), .help = "print no summary line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", .rare = true, PD_AT(ignore_damaged),
	  .help = "exit 0 even if damaged records were left out" },
	PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "sites",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Find hosts that are one site under several names.",
	.text = "INPUT: as for 'pagededup fp'.",
	.example = "pagededup sites crawl-*.warc.gz > sites.tsv",
	.opts = opts,
};

static int run_sites(int argc, char **argv)
{
	struct sites_options o = { .alias = PD_ALIAS_DEFAULTS };
	struct pd_log log;
	struct pd_err err;
	int first;
	pd_log_init(&log, "sites");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	const struct pd_options *p = &o.walk.page;
	struct pd_aliases_run run = {
		.o = &o.alias,
		.in = pd_walk_inputs(&o.walk, argv + first, argc - first),
		.pages = { .max_page = p->max_page, .status = p->status, .content_types = p->content_types },
		.addresses = o.addresses,
		.output = o.walk.output,
	};
	int status = pd_outfile_check(o.walk.output, argv + first, argc - first, &err);
	if (!status)
		status = pd_aliases_run(&run, &log, &err);
	return status < 0 ? pd_command_failed(&log, &err) : status && !o.walk.ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
}

const struct pd_command pd_cmd_sites = { "Links and URLs", &usage, run_sites };
