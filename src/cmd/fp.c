/* SPDX-License-Identifier: MIT
 * pagededup fp: dumps -> one row per page with its fingerprint. */
#include "cmd/walk.h"
#include "write/fp_row.h"

static const struct pd_opt opts[] = {
	PD_WALK_INPUT_OPTS, PD_WALK_TOPIC_OPTS, PD_WALK_SIGN_OPTS, PD_WALK_OUTPUT_OPTS, PD_OPT_END,
};

const struct pd_usage pd_usage_fp = {
	.name = "fp",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Write one row per page of the dumps: its fingerprint, address, charset, digests.",
	.text = "INPUT: WARC, ARC, WET, JSONL, tar (plain, gzip, zstd, lz4), HTML files, folders; none, or -: stdin.",
	.example = "pagededup fp crawl.warc.gz | pagededup match | pagededup cluster > verdicts.tsv",
	.opts = opts,
};

static void row(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out)
{
	pd_fp_row(p, t->params, out);
}

int pd_cmd_fp(int argc, char **argv)
{
	static const struct pd_walker walker = { .header = pd_fp_header, .row = row, .total = true };
	struct pd_walk_options o;
	struct pd_log log;
	int first;
	pd_log_init(&log, "fp");
	int code = pd_walk_parse(&pd_usage_fp, argc, argv, &o, &first, &log);
	return code ? code - 1 : pd_walk(&walker, &o, argv + first, argc - first, &log);
}
