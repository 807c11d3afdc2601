/* SPDX-License-Identifier: MIT
 * pagededup cluster: pairs -> clusters, with a verdict for each page in one. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/columns.h"
#include "base/tempfile.h"
#include "base/threads.h"
#include "cmd/cluster.h"
#include "write/jsonl.h"
#include "write/verdict_row.h"

#define AT(member) .at = offsetof(struct pd_cluster_command, member)

const char *const pd_linkage_names[] = { "star", "connected", NULL };
const char *const pd_keep_names[] = { "first", "longest", "newest", "shortest-url", NULL };

static const struct pd_opt opts[] = {
	PD_CLUSTER_OPTS(AT),
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_CHOICE, .name = "format", .arg = "NAME", AT(format), .choices = pd_row_format_names,
	  .help = "tsv (default), or jsonl for other tools" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", AT(quiet), .help = "no closing line" },
	{ .type = PD_OPT_FLAG, .name = "ignore-damaged", AT(ignore_damaged), .help = "exit 0 although bad rows were left out" },
	PD_OPT_END,
};

const struct pd_usage pd_usage_cluster = {
	.name = "cluster",
	.synopsis = "[OPTION]... [PAIRS]...",
	.summary = "Group pairs into clusters and say which page of each is kept, and why the others are not.",
	.text = "PAIRS holds rows of 'pagededup match'; none, or -: stdin.  Pages that are not named are kept.",
	.example = "pagededup cluster --keep=newest pairs.tsv > verdicts.tsv",
	.opts = opts,
};

struct run {
	const struct pd_cluster_command *o;
	struct pd_log *log;
	struct pd_pages pages;
	uint32_t *rank, *by_id, *size, *order;
	struct pd_verdict *members;
	size_t n_clusters;
	double started;
	struct pd_outfile out;
	struct pd_err err;
};

static void bad_row(void *ctx, const char *why)
{
	struct run *r = ctx;
	pd_log_error(r->log, "%s; left out", why);
}

static int by_cluster_then_id(const void *x, const void *y, void *ctx)
{
	const struct run *r = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t ca = r->members[a].cluster, cb = r->members[b].cluster;
	if (ca != cb)
		return ca < cb ? -1 : 1;
	return r->by_id[a] < r->by_id[b] ? -1 : r->by_id[a] > r->by_id[b];
}

static void count_sizes(struct run *r)
{
	r->size = pd_zalloc((r->pages.n + 1) * sizeof *r->size);
	for (size_t i = 0; i < r->pages.n; i++)
		if (r->members[i].cluster != PD_NO_CLUSTER && r->size[r->members[i].cluster]++ == 0)
			r->n_clusters++;
}

static void add_verdict(const struct run *r, uint32_t page, struct pd_json *j, struct pd_buf *line)
{
	const struct pd_verdict *m = &r->members[page];
	if (m->cluster == PD_NO_CLUSTER)
		return;
	size_t at = line->n;
	pd_verdict_row(&r->pages, m, page, pd_keep_names[r->o->keep], r->size[m->cluster], line);
	if (j)
		pd_jsonl_row(j, pd_verdicts_columns, line, at);
}

static void write_totals(const struct run *r)
{
	struct pd_span rest = pd_buf_span(&r->pages.totals), total;
	while (rest.n && pd_span_split(&rest, '\n', &total))
		fprintf(r->out.f, "# total %.*s\n", (int)total.n, total.p);
}

/* Clusters are numbered by the page kept; the file is in the order of the cluster, then of ids. */
static int write_verdicts(struct run *r)
{
	struct pd_buf line = { 0 };
	struct pd_json *j = r->o->format == PD_ROWS_JSONL ? pd_json_new() : NULL;
	r->order = pd_alloc(r->pages.n * sizeof *r->order);
	for (size_t i = 0; i < r->pages.n; i++)
		r->order[i] = (uint32_t)i;
	qsort_r(r->order, r->pages.n, sizeof *r->order, by_cluster_then_id, r);
	if (!j)
		pd_verdicts_header(&r->pages, pd_linkage_names[r->o->linkage], pd_keep_names[r->o->keep], &line);
	for (size_t i = 0; i < r->pages.n; i++) {
		add_verdict(r, r->order[i], j, &line);
		fwrite(pd_buf_z(&line), 1, line.n, r->out.f);
		pd_buf_clear(&line);
	}
	fwrite(pd_buf_z(&line), 1, line.n, r->out.f);
	if (!j)
		write_totals(r);
	pd_json_free(j);
	pd_buf_release(&line);
	return PD_OK;
}

static int cluster(struct run *r, char **paths, int n_paths)
{
	struct pd_pages_options in = { .paths = paths, .n_paths = n_paths, .bad_row = bad_row, .ctx = r };
	int status = pd_pages_read(&r->pages, &in, &r->err);
	if (status)
		return status;
	size_t n = r->pages.n;
	r->rank = pd_alloc(n * sizeof *r->rank);
	r->by_id = pd_alloc(n * sizeof *r->by_id);
	r->members = pd_alloc(n * sizeof *r->members);
	pd_keep_rank(&r->pages, (enum pd_keep)r->o->keep, r->rank, r->by_id);
	status = pd_cluster(r->pages.edges, r->pages.n_edges, r->rank, n, (enum pd_linkage)r->o->linkage, r->members, &r->err);
	if (!status)
		status = pd_outfile_open(&r->out, r->o->output, &r->err);
	if (status)
		return status;
	count_sizes(r);
	return write_verdicts(r);
}

static int close_run(const struct run *r)
{
	size_t members = 0;
	struct pd_buf line = { 0 };
	for (size_t c = 0; c < r->n_clusters; c++)
		members += r->size[c];
	pd_buf_count(&line, r->n_clusters, "cluster");
	pd_buf_add_z(&line, " of ");
	pd_buf_count(&line, members, "page");
	pd_buf_add_z(&line, ", ");
	pd_buf_count(&line, members - r->n_clusters, "duplicate");
	if (r->pages.bad) {
		pd_buf_add_z(&line, ", ");
		pd_buf_count(&line, r->pages.bad, "bad row");
		pd_buf_add_z(&line, " left out");
	}
	pd_log_note(r->log, "%s, %.1f s", line.p, pd_wall_seconds() - r->started);
	pd_buf_release(&line);
	return r->pages.bad && !r->o->ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
}

int pd_cluster_settle(struct pd_cluster_command *o, struct pd_err *e)
{
	return PD_OK;
}

void pd_cluster_say_options(const struct pd_cluster_command *o, struct pd_buf *out)
{
	pd_buf_printf(out, "linkage=%s keep=%s", pd_linkage_names[o->linkage], pd_keep_names[o->keep]);
}

int pd_cluster_run(const struct pd_cluster_command *o, char **paths, int n_paths, struct pd_log *log)
{
	struct run r = { .o = o, .log = log, .out = { .slot = -1 }, .started = pd_wall_seconds() };
	int status = pd_outfile_check(o->output, paths, n_paths, &r.err);
	if (!status)
		status = cluster(&r, paths, n_paths);
	if (!status)
		status = pd_outfile_commit(&r.out, &r.err);
	else if (r.out.f)
		pd_outfile_abandon(&r.out);
	int code = status ? pd_command_failed(log, &r.err) : close_run(&r);
	pd_pages_release(&r.pages);
	free(r.rank);
	free(r.by_id);
	free(r.size);
	free(r.order);
	free(r.members);
	return code;
}

int pd_cmd_cluster(int argc, char **argv)
{
	struct pd_cluster_command o = { 0 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "cluster");
	int code = pd_command_parse(&pd_usage_cluster, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	log.quiet = o.quiet;
	return pd_cluster_run(&o, argv + first, argc - first, &log);
}
