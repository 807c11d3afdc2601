/* SPDX-License-Identifier: MIT
 * pagededup sites: dumps -> which hosts are one site under several names. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/threads.h"
#include "cmd/walk.h"
#include "link/alias.h"
#include "link/url.h"

struct sites_options {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	struct pd_alias_options alias;
	int by;
	const char *addresses;
};

#define AT(member) .at = offsetof(struct sites_options, member)

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "One site" },
	{ .type = PD_OPT_CHOICE, .name = "by", .arg = "NAME", AT(by), .choices = pd_alias_by_names,
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

static const struct pd_usage usage = {
	.name = "sites",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Find hosts that are one site under several names.",
	.text = "INPUT: as for 'pagededup fp'.",
	.example = "pagededup sites crawl-*.warc.gz > sites.tsv",
	.opts = opts,
};

struct sites_run {
	const struct sites_options *o;
	struct pd_log *log;
	struct pd_aliases *aliases;
	struct pd_url url;
	uint64_t pages, damaged;
	struct pd_err err;
};

static void count_damage(void *ctx, const struct pd_read_damage *d)
{
	struct sites_run *r = ctx;
	r->damaged++;
	pd_read_damage_tell(d, "left out", r->log);
}

/* Lines of host, blanks, address; '#' begins a comment. */
static int read_addresses(struct sites_run *r)
{
	const char *path = r->o->addresses;
	FILE *f = path ? pd_input_fopen(path, &r->err) : NULL;
	if (!f)
		return path ? r->err.status : PD_OK;
	struct pd_line_reader l = { .f = f, .path = path };
	struct pd_span line;
	int status;
	while ((status = pd_line_next(&l, &line, &r->err)) == 1) {
		line = pd_span_trim(line);
		size_t n = 0;
		if (!line.n || line.p[0] == '#')
			continue;
		while (n < line.n && !pd_ascii_space(line.p[n]))
			n++;
		struct pd_span address = pd_span_trim(pd_span(line.p + n, line.n - n));
		if (!address.n) {
			status = pd_fail(&r->err, PD_ERR_FORMAT, "%s:%" PRIu64 ": no address after the host", path, l.no);
			break;
		}
		pd_aliases_address(r->aliases, pd_span(line.p, n), address);
	}
	pd_line_reader_release(&l);
	fclose(f);
	return status;
}

static void take_page(struct sites_run *r, const struct pd_record *record, const struct pd_page *page)
{
	if (!pd_url_parse(page->url, NULL, &r->url) || !pd_url_host_of(&r->url).n)
		return;
	r->pages++;
	pd_aliases_page(r->aliases, pd_url_host_of(&r->url), pd_url_part(&r->url, r->url.path, r->url.fragment),
			pd_buf_span(&record->address), page->body);
}

static int read_pages(struct sites_run *r, struct pd_reader_options *in)
{
	const struct pd_options *o = &r->o->walk.page;
	struct pd_page_options po = { .max_page = o->max_page, .status = o->status, .content_types = o->content_types };
	struct pd_record record = { 0 };
	struct pd_reader *reader = NULL;
	struct pd_page page;
	const char *reason;
	int status = pd_reader_open(&reader, in, &r->err);
	struct pd_page_opener *opener = status ? NULL : pd_page_opener_new(&po);
	while (!status && (status = pd_reader_next(reader, &record, &r->err)) == 1) {
		enum pd_skip skip = pd_page_open(opener, &record, &page, &reason);
		if (skip == PD_SKIP_NONE)
			take_page(r, &record, &page);
		else if (skip == PD_SKIP_DAMAGED) {
			r->damaged++;
			pd_log_error(r->log, "%s: %s; left out", record.id.p, reason);
		}
		status = PD_OK;
	}
	pd_page_opener_free(opener);
	pd_reader_free(reader);
	pd_record_release(&record);
	pd_log_many_end(r->log);
	return status;
}

static int write_table(struct sites_run *r, struct pd_outfile *f, double from)
{
	struct pd_buf out = { 0 };
	struct pd_aliases_counts c = pd_aliases_write(r->aliases, &out);
	fwrite(out.p, 1, out.n, f->f);
	int status = pd_outfile_commit(f, &r->err);
	pd_buf_release(&out);
	if (!status)
		pd_log_note(r->log, "%" PRIu64 " pages of %" PRIu64 " hosts at %" PRIu64 " addresses, %" PRIu64 " sites, %.1f s", r->pages,
			    c.hosts, c.addresses, c.sites, pd_wall_seconds() - from);
	return status;
}

static int run_sites(int argc, char **argv)
{
	struct sites_options o = { .alias = PD_ALIAS_DEFAULTS };
	struct pd_log log;
	int first;
	double from = pd_wall_seconds();
	pd_log_init(&log, "sites");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	o.alias.by = (enum pd_alias_by)o.by;
	struct sites_run r = { .o = &o, .log = &log, .aliases = pd_aliases_new(&o.alias) };
	struct pd_reader_options in = pd_walk_inputs(&o.walk, argv + first, argc - first);
	in.damage = count_damage;
	in.damage_ctx = &r;
	int status = pd_outfile_check(o.walk.output, argv + first, argc - first, &r.err);
	struct pd_outfile out = { .slot = -1 };
	if (!status)
		status = pd_outfile_open(&out, o.walk.output, &r.err);
	if (!status)
		status = read_addresses(&r);
	if (!status)
		status = read_pages(&r, &in);
	if (!status)
		status = write_table(&r, &out, from);
	else if (out.f)
		pd_outfile_abandon(&out);
	code = status ? pd_command_failed(&log, &r.err) : r.damaged && !o.walk.ignore_damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	pd_aliases_free(r.aliases);
	pd_url_release(&r.url);
	return code;
}

const struct pd_command pd_cmd_sites = { "Links and URLs", &usage, run_sites };
