/* SPDX-License-Identifier: MIT
 * pagededup link: dumps -> one row for each link of their pages. */
#include "cmd/walk.h"
#include "run/rows.h"

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Links" },
	PD_WALK_ADVERTS_OPT,
	PD_WALK_INPUT_OPTS, PD_WALK_TOPIC_OPTS, PD_WALK_OUTPUT_OPTS, PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "link",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Write one row for each link of the pages: its target, type, place and text.",
	.text = "INPUT: as for 'pagededup fp'.",
	.example = "pagededup link crawl.warc.gz > links.tsv",
	.opts = opts,
};

static void rows(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out)
{
	pd_page_link_rows(p, out);
}

static int run_link(int argc, char **argv)
{
	static const struct pd_walker walker = { .header = pd_page_link_header, .row = rows, .total = true };
	struct pd_walk_options o;
	struct pd_log log;
	int first;
	pd_log_init(&log, "link");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	o.page.links = true;
	return pd_walk_command(&walker, &o, argv + first, argc - first, &log);
}

const struct pd_command pd_cmd_link = { "Links and URLs", &usage, run_link };
