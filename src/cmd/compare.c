/* SPDX-License-Identifier: MIT
 * pagededup compare: why two pages match, or do not. */
#include "cmd/walk.h"
#include "inspect/inspect.h"

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Pages" },
	PD_PICK_URL_OPT("choose a page of INPUT by its URL; give it twice"),
	PD_PICK_RUN_OPT,
	PD_WALK_PAGE_OPTS,
	PD_WALK_TOPIC_OPTS,
	PD_WALK_SIGN_OPTS,
	PD_WALK_METHOD_OPT,
	{ .type = PD_OPT_TEXT, .name = "ranks", .rare = true, .arg = "FILE", PD_AT(page.ranks),
	  .help = "with --method=links: rows of 'rank', for the rule signature" },
	PD_COLOR_OPTS(PD_PICK_AT(color)),
	PD_OPT_END,
};

static const struct pd_usage usage = {
	.name = "compare",
	.synopsis = "[OPTION]... ID ID | --url=URL --url=URL INPUT...",
	.summary = "Explain why two pages match or not: distance, shared shingles, lines that differ.",
	.text = "ID is what 'pagededup fp' printed, or the path of an HTML file.",
	.example = "pagededup compare crawl.warc.gz:53120 crawl.warc.gz:81034",
	.opts = opts,
};

static int compare_pages(const struct pd_pick_options *o, char **operands, int n, struct pd_log *log, struct pd_err *e)
{
	struct pd_tables t;
	struct pd_pick a = { 0 }, b = { 0 };
	struct pd_buf out = { 0 };
	int status = pd_tables_open(&t, &o->walk.page, e);
	if (status)
		return status;
	status = pd_pick_page(&a, &o->walk, &t, operands[0], o->urls[0], operands, n, log, e);
	if (!status)
		status = pd_pick_page(&b, &o->walk, &t, n > 1 ? operands[1] : NULL, o->urls[1], operands, n, log, e);
	if (!status) {
		pd_compare(&a.pipeline, &b.pipeline, &o->walk.page.sign, &out);
		pd_print(stdout, pd_buf_span(&out), pd_compare_paint, (enum pd_color)o->color);
	}
	pd_buf_release(&out);
	pd_pick_release(&a);
	pd_pick_release(&b);
	pd_tables_release(&t);
	return status;
}

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
	bool ok = o.urls[0] ? o.urls[1] && n > 0 : n == 2;
	int status = ok ? compare_pages(&o, argv + first, n, &log, &e) :
			  pd_fail(&e, PD_ERR_USAGE, "missing operands: two IDs, or --url twice and the INPUT to search");
	pd_pick_options_release(&o);
	return pd_command_exit(status, &log, &e);
}

const struct pd_command pd_cmd_compare = { "Inspecting and measuring", &usage, run_compare };
