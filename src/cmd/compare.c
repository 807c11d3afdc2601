/* SPDX-License-Identifier: MIT
 * pagededup compare: why two pages match, or do not. */
#include "cmd/walk.h"
#include "tools/inspect.h"

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Pages" },
	PD_PICK_URL_OPT("choose a page of INPUT by its URL; give it twice"),
	PD_PICK_RUN_OPT,
	PD_WALK_PAGE_OPTS,
	PD_WALK_TOPIC_OPTS,
	PD_WALK_SIGN_OPTS(true),
	PD_WALK_METHOD_OPT,
	{ .type = PD_OPT_TEXT, .name = "ranks", .rare = true, .arg = "FILE", PD_AT(page.ranks),
	  .help = "with --method=links: rows of 'rank', for the rule signature" },
	PD_COLOR_OPTS(PD_PICK_AT(color)),
	PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "compare",
	.synopsis = "[OPTION]... ID ID | --url=URL --url=URL INPUT...",
	.summary = "Explain why two pages match or not: distance, shared shingles, lines that differ.",
	.text = "ID is what 'pagededup fp' printed, or the path of an HTML file.",
	.example = "pagededup compare crawl.warc.gz:53120 crawl.warc.gz:81034",
	.opts = opts,
};

static int run_compare(int argc, char **argv)
{
	struct pd_pick_options o;
	struct pd_log log;
	struct pd_err e;
	int first;
	pd_log_init(&log, "compare");
	int code = pd_pick_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	int n = argc - first;
	char **operands = argv + first;
	struct pd_pick_which which[2] = { { operands[0], o.urls[0], operands, n },
					  { n > 1 ? operands[1] : NULL, o.urls[1], operands, n } };
	bool ok = o.urls[0] ? o.urls[1] && n > 0 : n == 2;
	int status = ok ? pd_compare_pages(&o.walk, which, (enum pd_color)o.color, &log, &e)
		     : n > 2 && !o.urls[0]
			     ? pd_fail(&e, PD_ERR_USAGE, "extra operand '%s': compare takes two pages", operands[2])
			     : pd_fail(&e, PD_ERR_USAGE, "missing operands: two IDs, or --url twice and the INPUT to search");
	pd_pick_options_release(&o);
	return pd_command_exit(status, &log, &e);
}

const struct pd_command pd_cmd_compare = { "Inspecting and measuring", &usage, run_compare };
