/* SPDX-License-Identifier: MIT
 * pagededup text: dumps -> each page's record with its main text, as JSONL. */
#include "cmd/walk.h"
#include "run/rows.h"

static const struct pd_opt opts[] = { PD_WALK_INPUT_OPTS, PD_WALK_SELECT_OPT, PD_WALK_TOPIC_OPTS, PD_WALK_OUTPUT_OPTS, PD_OPT_END };

static const struct pd_usage usage = {
	.name = "text",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Write each page's main text, title and metadata as JSON lines.",
	.text = "INPUT: as for 'pagededup fp'.\n"
		"Keys: id, url, title, timestamp, text, keywords, description, anchor_text.",
	.example = "pagededup text crawl.warc.gz > pages.jsonl",
	.opts = opts,
};

static void add_row(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out)
{
	pd_page_text_row(p, j, out);
}

static int run_text(int argc, char **argv)
{
	static const struct pd_walker walker = { .row = add_row };
	struct pd_walk_options o;
	struct pd_log log;
	int first;
	pd_log_init(&log, "text");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o, &first, &log);
	return code ? code - 1 : pd_walk_command(&walker, &o, argv + first, argc - first, &log);
}

const struct pd_command pd_cmd_text = { &usage, run_text };
