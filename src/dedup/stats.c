/* SPDX-License-Identifier: MIT */
#include "dedup/stats.h"

#include "base/fields.h"
#include "base/json.h"
#include "base/outfile.h"
#include "base/tsv.h"
#include "topic/boilerplate.h"

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
		add_total(&c->barren, line, "inputs_without_pages");
		add_total(&c->bytes, line, "bytes");
	}
}

int pd_dedup_stats_count(const char *verdicts, struct pd_dedup_counts *out, struct pd_err *e)
{
	static const char *const columns[] = { "id", "is_duplicate", NULL };
	char *path = (char *)verdicts;
	struct pd_tsv_reader in = { .kind = "verdicts", .columns = columns, .v1_columns = pd_verdicts_columns, .paths = &path, .n_paths = 1 };
	int r;
	*out = (struct pd_dedup_counts){ 0 };
	while ((r = pd_tsv_next(&in, e)) == 1) {
		bool kept = pd_span_is(in.fields[1], "0");
		out->clusters += kept;
		out->duplicates += !kept;
	}
	add_totals(out, pd_buf_span(&in.totals));
	pd_tsv_release(&in);
	return r;
}

static void add_removed(const struct pd_journal_sums *s, struct pd_json *j)
{
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

static int add_boilerplate(const char *path, struct pd_json *j, struct pd_err *e)
{
	struct pd_boilerplate *b;
	int status = path ? pd_boilerplate_open(path, &b, e) : PD_OK;
	if (status || !path)
		return status;
	add_table(b, j);
	pd_boilerplate_free(b);
	return PD_OK;
}

int pd_dedup_stats_write(const struct pd_dedup_stats *s, const char *path, struct pd_err *e)
{
	const struct pd_dedup_counts *c = &s->counts;
	struct pd_outfile f;
	struct pd_buf text = { 0 };
	int status = pd_outfile_open(&f, path, e);
	if (status)
		return status;
	struct pd_json *j = pd_json_new();
	pd_json_str(j, "version", pd_span_z(PD_VERSION));
	pd_json_str(j, "options", s->options);
	pd_json_int(j, "pages", (int64_t)c->pages);
	pd_json_int(j, "without_fingerprint", (int64_t)c->without_fingerprint);
	pd_json_int(j, "left_out", (int64_t)c->left_out);
	pd_json_int(j, "damaged", (int64_t)c->damaged);
	pd_json_int(j, "bytes", (int64_t)c->bytes);
	pd_json_int(j, "clusters", (int64_t)c->clusters);
	pd_json_int(j, "duplicates", (int64_t)c->duplicates);
	if (s->removed)
		add_removed(s->removed, j);
	status = add_boilerplate(s->table, j, e);
	pd_json_write(j, &text);
	fprintf(f.f, "%s\n", text.p);
	pd_json_free(j);
	pd_buf_release(&text);
	if (!status)
		return pd_outfile_commit(&f, e);
	pd_outfile_abandon(&f);
	return status;
}
