/* SPDX-License-Identifier: MIT
 * pagededup rank: dumps -> ranks of their pages and domains by links, and what those say of each page. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/walk.h"
#include "link/rank.h"

struct rank_options {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	struct pd_rank_options rank;
	const char *signature, *quality;
	size_t memory;
};

#define AT(member) .at = offsetof(struct rank_options, member)

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Ranks" },
	{ .type = PD_OPT_REAL, .name = "damping", .arg = "D", AT(rank.damping), .min = 0, .max = .999, .help = "share of the rank that links pass on (0.85)" },
	{ .type = PD_OPT_TEXT, .name = "signature", .arg = "A,B,C", AT(signature),
	  .help = "weights of page ranks, domain ranks, anchors (.6,.2,.2)" },
	{ .type = PD_OPT_TEXT, .name = "quality", .arg = "X,Y,Z", AT(quality), .help = "the same weights for the quality (.2,.6,.6)" },
	{ .type = PD_OPT_TEXT, .name = "page-ranks", .arg = "FILE", AT(rank.page_ranks), .help = "lines of URL<TAB>RANK, instead of ranks from the dump" },
	{ .type = PD_OPT_TEXT, .name = "domain-ranks", .arg = "FILE", AT(rank.domain_ranks),
	  .help = "lines of DOMAIN<TAB>RANK, instead of ranks from the dump" },
	{ .type = PD_OPT_SIZE, .name = "memory", .arg = "SIZE", AT(memory), .help = "memory to use (half of the machine's); a larger graph is refused" },
	{ .type = PD_OPT_TEXT, .name = "tmp-dir", .rare = true, .arg = "DIR", PD_AT(tmp_dir), .help = "folder for temporary files (TMPDIR, /tmp)" },
	PD_WALK_INPUT_OPTS, PD_WALK_OUTPUT_OPTS, PD_OPT_END,
};

static const struct pd_usage usage = {
	.name = "rank",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Rank pages and domains by the links between them, and pages by what they link to.",
	.text = "INPUT: as for 'pagededup fp'.",
	.example = "pagededup rank crawl.warc.gz -o ranks.tsv",
	.opts = opts,
};

struct rank_run {
	struct pd_ranker *ranker;
	int status;
	struct pd_err err;
};

static void pack(struct pd_pipeline *p, struct pd_json *j, const struct pd_tables *t, struct pd_buf *out)
{
	pd_rank_pack(&p->links, p->page.id, p->page.url, p->segmenter, out);
}

static void take_page(void *ctx, struct pd_span packed)
{
	struct rank_run *r = ctx;
	pd_rank_take(r->ranker, packed);
}

static int end(void *ctx, FILE *out, struct pd_err *e)
{
	struct rank_run *r = ctx;
	return pd_rank_write(r->ranker, out, e);
}

/* Three numbers from 0 to 1. */
static int read_weights(const char *name, const char *text, double out[3], struct pd_err *e)
{
	const char *at = text;
	for (int i = 0; text && i < 3; i++) {
		char *stop;
		out[i] = strtod(at, &stop);
		if (stop == at || !(out[i] >= 0 && out[i] <= 1) || *stop != (i < 2 ? ',' : 0))
			return pd_fail(e, PD_ERR_USAGE, "--%s takes three numbers from 0 to 1, with commas between, not '%s'", name, text);
		at = stop + 1;
	}
	return PD_OK;
}

static int run_rank(int argc, char **argv)
{
	struct rank_options o = { .rank = PD_RANK_DEFAULTS };
	struct rank_run r = { .status = PD_OK };
	struct pd_walker walker = { .row = pack, .take = take_page, .finish = end, .ctx = &r };
	struct pd_log log;
	int first;
	pd_log_init(&log, "rank");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	o.walk.page.links = true;
	struct pd_budget budget = { .limit = o.memory ? o.memory : pd_memory_default(), .tmp_dir = o.walk.tmp_dir };
	int status = read_weights("signature", o.signature, o.rank.signature, &r.err);
	if (!status)
		status = read_weights("quality", o.quality, o.rank.quality, &r.err);
	if (!status)
		status = pd_ranker_new(&r.ranker, &o.rank, &budget, &r.err);
	code = status ? pd_command_failed(&log, &r.err) : pd_walk_command(&walker, &o.walk, argv + first, argc - first, &log);
	if (code != PD_EXIT_FAILED && !o.walk.quiet) {
		struct pd_rank_counts c = pd_rank_counts(r.ranker);
		pd_log_note(&log, "%" PRIu64 " pages, %" PRIu64 " links between them, %" PRIu64 " domains", c.pages, c.links, c.domains);
	}
	pd_ranker_free(r.ranker);
	return code;
}

const struct pd_command pd_cmd_rank = { "Links and URLs", &usage, run_rank };
