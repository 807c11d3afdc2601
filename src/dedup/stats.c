/* SPDX-License-Identifier: MIT */
#include "base/columns.h"
#include "base/params.h"
#include "base/tempfile.h"
#include "base/tsv.h"
#include "dedup/dedup.h"

static void add_total(uint64_t *to, struct pd_span totals, const char *key)
{
	struct pd_span value = pd_param(totals, key);
	uint64_t n = 0;
	if (pd_span_u64(value, &n))
		*to += n;
}

/* A line for each unit of the inputs. */
static void add_totals(struct pd_dedup_counts *c, struct pd_span totals)
{
	struct pd_span line;
	while (totals.n && pd_span_split(&totals, '\n', &line)) {
		add_total(&c->pages, line, "pages");
		add_total(&c->without_fingerprint, line, "without_fingerprint");
		add_total(&c->left_out, line, "left_out");
		add_total(&c->damaged, line, "damaged");
		add_total(&c->bytes, line, "bytes");
	}
}

int pd_dedup_count(struct pd_dedup *d)
{
	static const char *const columns[] = { "id", "is_duplicate", NULL };
	char *path = (char *)pd_dedup_path(d, "verdicts.tsv");
	struct pd_tsv_reader in = { .kind = "verdicts", .columns = columns, .v1_columns = pd_verdicts_columns, .paths = &path, .n_paths = 1 };
	int r;
	d->counts = (struct pd_dedup_counts){ 0 };
	while ((r = pd_tsv_next(&in, &d->err)) == 1) {
		bool kept = pd_span_is(in.fields[1], "0");
		d->counts.clusters += kept;
		d->counts.duplicates += !kept;
	}
	add_totals(&d->counts, pd_buf_span(&in.totals));
	pd_tsv_release(&in);
	return r;
}

static void add_outputs(const struct pd_dedup *d, struct pd_json *j)
{
	const struct pd_journal_sums *s = &d->journal.sums;
	struct pd_json *out = pd_json_new();
	pd_json_int(out, "inputs", (int64_t)s->inputs);
	pd_json_int(out, "pages", (int64_t)s->pages);
	pd_json_int(out, "records_with_them", (int64_t)s->along);
	pd_json_int(out, "bytes_in", (int64_t)s->bytes_in);
	pd_json_int(out, "bytes_out", (int64_t)s->bytes_out);
	pd_json_int(out, "members_rewritten", (int64_t)s->rewritten);
	pd_json_int(out, "bytes_lost", (int64_t)s->lost);
	pd_json_object(j, "removed", out);
}

static void add_table(const struct pd_boilerplate *b, struct pd_json *j)
{
	struct pd_json *out = pd_json_new();
	int64_t repeat = 0, lines = 0, paths = 0;
	for (size_t i = 0; i < pd_boilerplate_hosts(b); i++) {
		struct pd_boilerplate_host h = pd_boilerplate_host(b, i);
		repeat += h.site.n_lines || h.site.n_paths;
		lines += (int64_t)h.site.n_lines;
		paths += (int64_t)h.site.n_paths;
	}
	pd_json_str(out, "checksum", pd_span_z(pd_boilerplate_checksum(b)));
	pd_json_int(out, "hosts", (int64_t)pd_boilerplate_hosts(b));
	pd_json_int(out, "hosts_that_repeat", repeat);
	pd_json_int(out, "lines", lines);
	pd_json_int(out, "paths", paths);
	pd_json_object(j, "boilerplate", out);
}

static int add_boilerplate(struct pd_dedup *d, struct pd_json *j)
{
	struct pd_boilerplate *b;
	const char *path = pd_dedup_boilerplate(d);
	if (!path)
		return PD_OK;
	int status = pd_boilerplate_open(path, &b, &d->err);
	if (status)
		return status;
	add_table(b, j);
	pd_boilerplate_free(b);
	return PD_OK;
}

int pd_dedup_write_stats(struct pd_dedup *d)
{
	struct pd_outfile f;
	struct pd_buf text = { 0 };
	int status = pd_outfile_open(&f, pd_dedup_path(d, "stats.json"), &d->err);
	if (status)
		return status;
	struct pd_json *j = pd_json_new();
	pd_json_str(j, "version", pd_span_z(PD_VERSION));
	pd_json_str(j, "options", pd_buf_span(&d->journal.options));
	pd_json_int(j, "pages", (int64_t)d->counts.pages);
	pd_json_int(j, "without_fingerprint", (int64_t)d->counts.without_fingerprint);
	pd_json_int(j, "left_out", (int64_t)d->counts.left_out);
	pd_json_int(j, "damaged", (int64_t)d->counts.damaged);
	pd_json_int(j, "bytes", (int64_t)d->counts.bytes);
	pd_json_int(j, "clusters", (int64_t)d->counts.clusters);
	pd_json_int(j, "duplicates", (int64_t)d->counts.duplicates);
	if (!d->o->dry_run)
		add_outputs(d, j);
	status = add_boilerplate(d, j);
	pd_json_write(j, &text);
	fprintf(f.f, "%s\n", text.p);
	pd_json_free(j);
	pd_buf_release(&text);
	if (!status)
		return pd_outfile_commit(&f, &d->err);
	pd_outfile_abandon(&f);
	return status;
}
