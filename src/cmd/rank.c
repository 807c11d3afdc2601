/* SPDX-License-Identifier: MIT
 *
 * pagededup rank: dumps -> ranks of their pages and domains by links, and the ranks of each page.
 */
#include <stdlib.h>

#include "cmd/walk.h"
#include "run/rank.h"

struct rank_options {
	struct pd_walk_options walk; /* first: the options of pages are parsed into it */
	struct pd_rank_options rank;
	const char *signature, *quality;
};

#define AT(member) .at = offsetof(struct rank_options, member)

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Ranks" },
	{ .type = PD_OPT_REAL, .name = "damping", .arg = "D", AT(rank.damping), .min = 0, .max = .999, .help = "share of the rank that links pass on (0.85)" },
	{ .type = PD_OPT_TEXT, .name = "signature", .arg = "A,B,C", AT(signature),
	  .help = "weights of page ranks, domain ranks, anchors (.6,.2,.2)" },
	{ .type = PD_OPT_TEXT, .name = "quality", .arg = "X,Y,Z", AT(quality), .help = "the same weights for the quality (.2,.6,.6)" },
	{ .type = PD_OPT_TEXT, .name = "page-ranks", .arg = "FILE", AT(rank.page_ranks), .help = "lines of URL<TAB>RANK, instead of ranks from the dump" },
	{ .type = PD_OPT_TEXT, .name = "domain-ranks", .arg = "FILE", AT(rank.domain_ranks),
	  .help = "lines of DOMAIN<TAB>RANK, instead of ranks from the dump" },
	{ .type = PD_OPT_SIZE, .name = "memory", .arg = "SIZE", AT(rank.memory), .help = "memory to use (half of the machine's); a larger graph is refused" },
	{ .type = PD_OPT_TEXT, .name = "tmp-dir", .rare = true, .arg = "DIR", PD_AT(tmp_dir), .help = "folder for temporary files (TMPDIR, /tmp)" },
	PD_WALK_INPUT_OPTS, PD_WALK_OUTPUT_OPTS, PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "rank",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Rank pages and domains by the links between them, and pages by what they link to.",
	.text = "INPUT: as for 'pagededup fp'.",
	.example = "pagededup rank crawl.warc.gz -o ranks.tsv",
	.opts = opts,
};

/* Three numbers from 0 to 1. */
static int read_weights(const char *name, const char *text, double out[3], struct pd_err *e)
{
	const char *at = text;
	for (int i = 0; text && i < 3; i++) {
		char *stop;
		out[i] = strtod(at, &stop);
		if (stop == at || !(out[i] >= 0 && out[i] <= 1) || *stop != (i < 2 ? ',' : 0))
			return pd_fail(e, PD_ERR_USAGE, "--%s takes three numbers from 0 to 1, with commas between, not '%s'", name,
				       text);
		at = stop + 1;
	}
	return PD_OK;
}

static int run_rank(int argc, char **argv)
{
	struct rank_options o = { .rank = PD_RANK_DEFAULTS };
	struct pd_log log;
	struct pd_err err;
	int first;
	pd_log_init(&log, "rank");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	int status = read_weights("signature", o.signature, o.rank.signature, &err);
	if (!status)
		status = read_weights("quality", o.quality, o.rank.quality, &err);
	if (!status)
		status = pd_walk_rank(&o.walk, &o.rank, argv + first, argc - first, &log, &err);
	return pd_command_exit(status, &log, &err);
}

const struct pd_command pd_cmd_rank = { "Links and URLs", &usage, run_rank };
