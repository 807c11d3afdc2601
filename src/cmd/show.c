/* SPDX-License-Identifier: MIT
 *
 * pagededup show: the output of each stage for one page.
 */
#include "cmd/walk.h"
#include "tools/inspect.h"

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Page" },
	{ .type = PD_OPT_CHOICE, .letter = 's', .name = "stage", .arg = "NAME", PD_PICK_AT(stage), .choices = pd_stage_names,
	  .help = "utf8, html, blocks, terms, topic, features, signature" },
	PD_PICK_URL_OPT("choose the page of INPUT by its URL"),
	PD_PICK_RUN_OPT,
	PD_WALK_PAGE_OPTS,
	PD_WALK_TOPIC_OPTS,
	PD_WALK_SIGN_OPTS(true),
	PD_WALK_METHOD_OPT,
	PD_COLOR_OPTS(PD_PICK_AT(color)),
	PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "show",
	.synopsis = "[OPTION]... ID | --url=URL INPUT...",
	.summary = "Print what a stage makes of one page (default: topic).",
	.text = "ID is what 'pagededup fp' printed, or the path of an HTML file.",
	.example = "pagededup show --stage=blocks crawl.warc.gz:53120",
	.opts = opts,
};

static int run_show(int argc, char **argv)
{
	struct pd_pick_options o;
	struct pd_log log;
	struct pd_err e;
	int first;
	pd_log_init(&log, "show");
	int code = pd_pick_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	int n = argc - first;
	struct pd_pick_which which = { argv[first], o.urls[0], argv + first, n };
	int status = n == 0 && o.urls[0] ? pd_fail(&e, PD_ERR_USAGE, "missing operand INPUT: the dumps in which to find the URL")
		     : n == 0	 ? pd_fail(&e, PD_ERR_USAGE, "missing operand ID: the id of a page, or the path of an HTML file")
		     : o.urls[1] ? pd_fail(&e, PD_ERR_USAGE, "--url can be given only once")
		     : n > 1 && !o.urls[0]
			     ? pd_fail(&e, PD_ERR_USAGE, "extra operand '%s': show takes one page", argv[first + 1])
			     : pd_show_page(&o.walk, &which, (enum pd_stage)o.stage, (enum pd_color)o.color, &log, &e);
	pd_pick_options_release(&o);
	return pd_command_exit(status, &log, &e);
}

const struct pd_command pd_cmd_show = { "Inspecting and measuring", &usage, run_show };
