/* SPDX-License-Identifier: MIT */
#include "report/sums.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/tsv.h"

const char *const pd_report_size_names[PD_REPORT_SIZES] = {
	"2", "3", "4", "5 to 9", "10 to 19", "20 to 49", "50 to 99", "100 to 999", "1000 and more",
};
static const uint64_t size_ends[PD_REPORT_SIZES] = { 3, 4, 5, 10, 20, 50, 100, 1000, UINT64_MAX };

static void set_value(struct pd_buf *out, struct pd_span field)
{
	pd_buf_clear(out);
	if (pd_tsv_value(field, out) < 0)
		pd_buf_set(out, field);
}

/* --- hosts --- */

static uint64_t hash_of(const void *hosts, uint32_t i)
{
	struct pd_span name = ((const struct pd_report_host *)hosts)[i].name;
	return pd_hash64(name.p, name.n);
}

static bool is_host(const void *hosts, uint32_t i, const void *name)
{
	return pd_span_eq(((const struct pd_report_host *)hosts)[i].name, *(const struct pd_span *)name);
}

static void add_host(struct pd_report_sums *s, struct pd_span url, uint64_t bytes)
{
	pd_url_host(url, &s->host);
	struct pd_span name = pd_buf_span(&s->host);
	uint64_t hash = pd_hash64(name.p, name.n);
	uint32_t host = pd_index_find(&s->by_name, hash, is_host, s->hosts, &name);
	if (host == PD_NO_NUMBER) {
		host = (uint32_t)s->n_hosts++;
		s->hosts = pd_grow(s->hosts, host, &s->cap_hosts, sizeof *s->hosts);
		s->hosts[host] = (struct pd_report_host){ .name = pd_arena_copy(&s->arena, name) };
		pd_index_add(&s->by_name, hash, hash_of, s->hosts);
	}
	s->hosts[host].pages++;
	s->hosts[host].bytes += bytes;
}

static int by_pages(const void *x, const void *y)
{
	const struct pd_report_host *a = x, *b = y;
	if (a->pages != b->pages)
		return a->pages > b->pages ? -1 : 1;
	return pd_span_cmp(a->name, b->name);
}

/* --- the sample --- */

static void release_sampled(struct pd_report_sampled *d)
{
	struct pd_buf *const bufs[] = { &d->id, &d->url, &d->reason, &d->dup_of, &d->kept_url, &d->kept_reason };
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		pd_buf_release(bufs[i]);
}

/* Where a pair with this number would stand among those sampled; `want`: nowhere. */
static size_t rank_of(const struct pd_report_sums *s, const struct pd_report_stratum *t, uint64_t order)
{
	size_t i = t->n;
	while (i > 0 && t->v[i - 1].order > order)
		i--;
	return i < s->want ? i : s->want;
}

/* NULL: it is none of those sampled. */
static struct pd_report_sampled *sample_row(struct pd_report_sums *s, const struct pd_span *f, struct pd_report_stratum **stratum)
{
	uint64_t order = pd_hash64_seed(f[PD_VERDICTS_ID].p, f[PD_VERDICTS_ID].n, s->seed);
	if (!*stratum)
		*stratum = pd_zalloc(sizeof **stratum);
	struct pd_report_stratum *t = *stratum;
	size_t at = rank_of(s, t, order);
	if (at == s->want)
		return NULL;
	if (t->n == s->want)
		release_sampled(&t->v[--t->n]);
	memmove(&t->v[at + 1], &t->v[at], (t->n - at) * sizeof *t->v);
	t->n++;
	struct pd_report_sampled *d = &t->v[at];
	*d = (struct pd_report_sampled){ .order = order, .cluster = s->cluster };
	set_value(&d->id, f[PD_VERDICTS_ID]);
	set_value(&d->url, f[PD_VERDICTS_URL]);
	set_value(&d->reason, f[PD_VERDICTS_REASON]);
	set_value(&d->dup_of, f[PD_VERDICTS_DUP_OF]);
	return d;
}

static void sample_removed(struct pd_report_sums *s, const struct pd_span *f, int stratum)
{
	struct pd_report_sampled *d = sample_row(s, f, &s->strata[stratum]);
	if (!d)
		return;
	d->stratum = stratum;
	s->sampled_now = true;
}

/* The page kept may stand behind those removed. */
static void name_kept(struct pd_report_sums *s)
{
	for (size_t i = 0; s->sampled_now && i < PD_BITS_MAX + 2; i++) {
		for (size_t k = 0; s->strata[i] && k < s->strata[i]->n; k++) {
			struct pd_report_sampled *d = &s->strata[i]->v[k];
			if (d->cluster != s->cluster)
				continue;
			pd_buf_set(&d->kept_url, pd_buf_span(&s->now.url));
			pd_buf_set(&d->kept_reason, pd_buf_span(&s->now.reason));
		}
	}
	s->sampled_now = false;
}

size_t pd_report_sums_sampled(const struct pd_report_sums *s, const struct pd_report_sampled **out)
{
	size_t take[PD_BITS_MAX + 2] = { 0 }, n = 0, before;
	do {
		before = n;
		for (size_t i = 0; i < PD_BITS_MAX + 2 && n < s->want; i++) {
			if (!s->strata[i] || take[i] == s->strata[i]->n)
				continue;
			take[i]++;
			n++;
		}
	} while (n > before);
	n = 0;
	for (size_t i = 0; i < PD_BITS_MAX + 2; i++)
		for (size_t k = 0; k < take[i]; k++)
			out[n++] = &s->strata[i]->v[k];
	return n;
}

/* --- clusters --- */

static void copy_cluster(struct pd_report_cluster *to, const struct pd_report_cluster *from)
{
	pd_buf_set(&to->id, pd_buf_span(&from->id));
	pd_buf_set(&to->url, pd_buf_span(&from->url));
	pd_buf_set(&to->reason, pd_buf_span(&from->reason));
	to->size = from->size;
	to->removed_bytes = from->removed_bytes;
}

/* Among those of one size the first stays in front. */
static void note_largest(struct pd_report_sums *s)
{
	size_t at = s->n_largest;
	while (at > 0 && s->largest[at - 1].size < s->now.size)
		at--;
	if (at == PD_REPORT_LARGEST)
		return;
	size_t last = s->n_largest < PD_REPORT_LARGEST ? s->n_largest++ : PD_REPORT_LARGEST - 1;
	struct pd_report_cluster again = s->largest[last];
	memmove(&s->largest[at + 1], &s->largest[at], (last - at) * sizeof *s->largest);
	s->largest[at] = again;
	copy_cluster(&s->largest[at], &s->now);
}

static void end_cluster(struct pd_report_sums *s)
{
	int bucket = 0;
	if (!s->any)
		return;
	while (s->now.size >= size_ends[bucket])
		bucket++;
	s->sizes[bucket]++;
	s->clusters++;
	note_largest(s);
	name_kept(s);
	pd_buf_clear(&s->now.id);
	pd_buf_clear(&s->now.url);
	pd_buf_clear(&s->now.reason);
	s->now.size = s->now.removed_bytes = 0;
}

/* --- rows --- */

static int fail_row(const struct pd_tsv_reader *in, const char *why, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": %s", in->path, in->line_no, why);
}

/* 0 and up, or negative. */
static int stratum_of(const struct pd_tsv_reader *in, struct pd_err *e)
{
	uint64_t distance;
	struct pd_span f = in->fields[PD_VERDICTS_DISTANCE];
	if (!f.n || pd_span_is(f, "-"))
		return 0;
	if (!pd_span_u64(f, &distance) || distance > PD_BITS_MAX)
		return fail_row(in, "invalid distance", e);
	return (int)distance + 1;
}

static int enter_cluster(struct pd_report_sums *s, const struct pd_tsv_reader *in, struct pd_err *e)
{
	uint64_t cluster;
	if (!pd_span_u64(in->fields[PD_VERDICTS_CLUSTER_ID], &cluster))
		return fail_row(in, "cluster_id is not a number", e);
	if (s->any && cluster == s->cluster)
		return PD_OK;
	if (s->any && cluster < s->cluster)
		return pd_fail(e, PD_ERR_VERSION, "%s:%" PRIu64 ": cluster %" PRIu64 " behind cluster %" PRIu64
			       ": the rows are needed in the order in which cluster writes them", in->path, in->line_no, cluster, s->cluster);
	end_cluster(s);
	s->cluster = cluster;
	s->any = true;
	return PD_OK;
}

static void take_kept(struct pd_report_sums *s, const struct pd_span *f)
{
	set_value(&s->now.id, f[PD_VERDICTS_ID]);
	set_value(&s->now.url, f[PD_VERDICTS_URL]);
	set_value(&s->now.reason, f[PD_VERDICTS_REASON]);
}

static void take_removed(struct pd_report_sums *s, const struct pd_span *f, int stratum)
{
	uint64_t bytes = 0;
	pd_span_u64(f[PD_VERDICTS_TEXT_BYTES], &bytes);
	s->removed++;
	s->removed_bytes += bytes;
	s->now.removed_bytes += bytes;
	set_value(&s->value, f[PD_VERDICTS_URL]);
	add_host(s, pd_buf_span(&s->value), bytes);
	if (s->want)
		sample_removed(s, f, stratum);
}

/* A page that stays although it may be a duplicate; it is in no cluster. */
static bool is_suspect(const struct pd_span *f)
{
	struct pd_span why = f[PD_VERDICTS_SUSPECT];
	return why.n && !pd_span_is(why, "-") && pd_span_is(f[PD_VERDICTS_IS_DUPLICATE], "0");
}

static void take_suspect(struct pd_report_sums *s, const struct pd_span *f, int stratum)
{
	size_t i = 0;
	set_value(&s->value, f[PD_VERDICTS_SUSPECT]);
	while (i < s->n_doubts && !pd_span_eq(pd_buf_span(&s->doubts[i].name), pd_buf_span(&s->value)))
		i++;
	if (i == s->n_doubts && i < PD_REPORT_DOUBTS) {
		s->n_doubts++;
		pd_buf_set(&s->doubts[i].name, i + 1 < PD_REPORT_DOUBTS ? pd_buf_span(&s->value) : pd_span_z("other reasons"));
	}
	s->doubts[i < PD_REPORT_DOUBTS ? i : PD_REPORT_DOUBTS - 1].pages++;
	s->suspects++;
	struct pd_report_sampled *d = s->want ? sample_row(s, f, &s->suspected) : NULL;
	if (!d)
		return;
	d->stratum = stratum;
	if (!d->reason.n)
		pd_buf_set(&d->reason, pd_buf_span(&s->value));
}

static int count_row(struct pd_report_sums *s, const struct pd_tsv_reader *in, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	bool removed = pd_span_is(f[PD_VERDICTS_IS_DUPLICATE], "1");
	if (!f[PD_VERDICTS_ID].n)
		return fail_row(in, "a row without an id", e);
	if (!removed && !pd_span_is(f[PD_VERDICTS_IS_DUPLICATE], "0"))
		return fail_row(in, "is_duplicate is neither 0 nor 1", e);
	int stratum = stratum_of(in, e);
	if (stratum >= 0 && is_suspect(f)) {
		take_suspect(s, f, stratum);
		return PD_OK;
	}
	int status = stratum < 0 ? stratum : enter_cluster(s, in, e);
	if (status)
		return status;
	s->members++;
	s->now.size++;
	if (removed)
		take_removed(s, f, stratum);
	else
		take_kept(s, f);
	return PD_OK;
}

static int check_columns(const struct pd_tsv_reader *in, struct pd_err *e)
{
	static const int needed[] = { PD_VERDICTS_CLUSTER_ID, PD_VERDICTS_ID, PD_VERDICTS_IS_DUPLICATE, PD_VERDICTS_DUP_OF };
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!in->fields[needed[i]].p)
			return pd_fail(e, PD_ERR_VERSION, "%s: no column %s", in->path, pd_verdicts_columns[needed[i]]);
	return PD_OK;
}

static void add_total(uint64_t *to, struct pd_span line, const char *key)
{
	uint64_t n = 0;
	if (pd_span_u64(pd_param(line, key), &n))
		*to += n;
}

static void close_sums(struct pd_report_sums *s, const struct pd_tsv_reader *in)
{
	struct pd_span totals = pd_buf_span(&in->totals), line;
	end_cluster(s);
	while (totals.n && pd_span_split(&totals, '\n', &line)) {
		add_total(&s->pages, line, "pages");
		add_total(&s->input_bytes, line, "bytes");
	}
	pd_buf_set(&s->params, pd_buf_span(&in->header.must));
	if (s->n_hosts)
		qsort(s->hosts, s->n_hosts, sizeof *s->hosts, by_pages);
}

/* --- answers of a store, in the order of its questions -> the same as `cluster` would write them --- */

/* Pages that no other was near to are left out.  A page that was kept on another day has no answer of its own: its row then
 * says that. */
struct answer {
	uint64_t cluster, at;		/* at: in the file of rows */
	uint32_t bytes;
	bool removed;
};

struct answers {
	FILE *rows;			/* as they come */
	struct answer *v;
	size_t n, cap;
	uint64_t at;
	struct pd_buf line;
};

static int spool_answer(struct answers *a, const struct pd_tsv_reader *in, struct pd_err *e)
{
	const struct pd_span *f = in->fields;
	struct answer answer = { .at = a->at, .removed = pd_span_is(f[PD_VERDICTS_IS_DUPLICATE], "1") };
	if (pd_span_is(f[PD_VERDICTS_CLUSTER_ID], "-"))		/* not kept, and no duplicate */
		return PD_OK;
	if (!pd_span_u64(f[PD_VERDICTS_CLUSTER_ID], &answer.cluster))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": cluster_id is not a number", in->path, in->line_no);
	pd_buf_clear(&a->line);
	for (int i = 0; i < PD_VERDICTS_COLUMNS; i++) {
		if (f[i].n)
			pd_buf_add_span(&a->line, f[i]);
		else
			pd_buf_add_c(&a->line, '-');
		pd_buf_add_c(&a->line, i + 1 < PD_VERDICTS_COLUMNS ? '\t' : '\n');
	}
	answer.bytes = (uint32_t)a->line.n;
	a->v = pd_grow(a->v, a->n, &a->cap, sizeof *a->v);
	a->v[a->n++] = answer;
	a->at += a->line.n;
	if (fwrite(a->line.p, 1, a->line.n, a->rows) != a->line.n)
		return pd_fail_errno(e, "cannot write a temporary file");
	return PD_OK;
}

static int spool_answers(struct answers *a, struct pd_tsv_reader *in, void (*bad_row)(void *ctx, const char *why), void *ctx, struct pd_err *e)
{
	int status = 1;
	for (; status; status = pd_tsv_next(in, e)) {
		if (status > 0)
			status = spool_answer(a, in, e);
		if (status == PD_ERR_FORMAT)
			bad_row(ctx, e->text);
		else if (status)
			return status;
	}
	return fflush(a->rows) ? pd_fail_errno(e, "cannot write a temporary file") : PD_OK;
}

static int by_cluster(const void *x, const void *y)
{
	const struct answer *a = x, *b = y;
	if (a->cluster != b->cluster)
		return a->cluster < b->cluster ? -1 : 1;
	if (a->removed != b->removed)
		return a->removed ? 1 : -1;
	return a->at < b->at ? -1 : 1;
}

static int load_answer(struct answers *a, const struct answer *answer, struct pd_err *e)
{
	pd_buf_clear(&a->line);
	char *p = pd_buf_reserve(&a->line, answer->bytes);
	if (fseeko(a->rows, (off_t)answer->at, SEEK_SET) < 0 || fread(p, 1, answer->bytes, a->rows) != answer->bytes)
		return pd_fail_errno(e, "cannot read a temporary file");
	a->line.n = answer->bytes;
	return PD_OK;
}

/* The page kept in place of the first of a cluster, where that page was not asked about. */
static void write_kept_before(struct answers *a, uint64_t cluster, FILE *out)
{
	struct pd_span f[PD_VERDICTS_COLUMNS] = { 0 };
	pd_tsv_fields(pd_buf_span(&a->line), f, PD_VERDICTS_COLUMNS);
	fprintf(out, "%" PRIu64 "\t%.*s\t-\t0\t-\t-\t-\t-\t-\t1\tkept before\n", cluster, (int)f[PD_VERDICTS_DUP_OF].n,
		f[PD_VERDICTS_DUP_OF].p);
}

static int write_answered(struct answers *a, const struct answer *v, size_t n, FILE *out, struct pd_err *e)
{
	bool any = v[n - 1].removed, kept = !v[0].removed;
	for (size_t i = 0; i < n && any; i++) {
		if (i && !v[i].removed)		/* asked about again */
			continue;
		int status = load_answer(a, &v[i], e);
		if (status)
			return status;
		if (!i && !kept)
			write_kept_before(a, v[0].cluster, out);
		fwrite(a->line.p, 1, a->line.n, out);
	}
	return PD_OK;
}

static int write_sorted(struct answers *a, FILE *out, struct pd_err *e)
{
	int status = PD_OK;
	if (a->n)
		qsort(a->v, a->n, sizeof *a->v, by_cluster);
	for (size_t i = 0, n; i < a->n && !status; i += n) {
		for (n = 1; i + n < a->n && a->v[i + n].cluster == a->v[i].cluster;)
			n++;
		status = write_answered(a, a->v + i, n, out, e);
	}
	if (!status && (ferror(out) || fflush(out)))
		status = pd_fail_errno(e, "cannot write a temporary file");
	return status;
}

/* `in` stands at the first.  *out: rows as `cluster` writes them, without a header, to be closed by the caller. */
static int sort_answers(struct pd_tsv_reader *in, const char *tmp_dir, void (*bad_row)(void *ctx, const char *why), void *ctx,
			FILE **out, struct pd_err *e)
{
	struct answers a = { .rows = pd_tempfile_open(tmp_dir, e) };
	*out = a.rows ? pd_tempfile_open(tmp_dir, e) : NULL;
	int status = *out ? spool_answers(&a, in, bad_row, ctx, e) : PD_ERR_SYSTEM;
	if (!status)
		status = write_sorted(&a, *out, e);
	if (a.rows)
		fclose(a.rows);
	if (status && *out)
		fclose(*out);
	free(a.v);
	pd_buf_release(&a.line);
	return status;
}

/* --- the file --- */

static int read_answers(struct pd_report_sums *s, struct pd_tsv_reader *in, const struct pd_report_reading *o, struct pd_err *e);

static int read_rows(struct pd_report_sums *s, struct pd_tsv_reader *in, const struct pd_report_reading *o, struct pd_err *e)
{
	int status;
	while ((status = pd_tsv_next(in, e)) != 0) {
		if (status > 0)
			status = check_columns(in, e);
		if (!status && in->new_header && !strcmp(in->header.kind, "answers"))
			return read_answers(s, in, o, e);
		if (!status)
			status = count_row(s, in, e);
		if (status == PD_ERR_FORMAT) {
			s->bad++;
			o->bad_row(o->ctx, e->text);
		} else if (status) {
			return status;
		}
	}
	return PD_OK;
}

struct bad_answers {
	struct pd_report_sums *sums;
	const struct pd_report_reading *o;
};

static void bad_answer(void *ctx, const char *why)
{
	struct bad_answers *c = ctx;
	c->sums->bad++;
	c->o->bad_row(c->o->ctx, why);
}

/* `in` stands at the first of them. */
static int read_answers(struct pd_report_sums *s, struct pd_tsv_reader *in, const struct pd_report_reading *o, struct pd_err *e)
{
	struct bad_answers counted = { s, o };
	char path[40], *paths = path;
	struct pd_tsv_reader sorted = { .kind = "verdicts", .columns = pd_verdicts_columns, .v1_columns = pd_verdicts_columns,
					.paths = &paths, .n_paths = 1 };
	FILE *f;
	in->new_header = false;
	int status = sort_answers(in, o->tmp_dir, bad_answer, &counted, &f, e);
	if (status)
		return status;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
	status = read_rows(s, &sorted, o, e);
	pd_tsv_release(&sorted);
	fclose(f);
	return status;
}

int pd_report_sums_read(struct pd_report_sums *s, const struct pd_report_reading *o, struct pd_err *e)
{
	char *path = (char *)o->path;
	struct pd_tsv_reader in = { .kind = "verdicts", .or_kind = "answers", .columns = pd_verdicts_columns,
				    .v1_columns = pd_verdicts_columns, .paths = &path, .n_paths = 1 };
	int status = read_rows(s, &in, o, e);
	if (!status)
		close_sums(s, &in);
	pd_tsv_release(&in);
	return status;
}

static void release_cluster(struct pd_report_cluster *c)
{
	pd_buf_release(&c->id);
	pd_buf_release(&c->url);
	pd_buf_release(&c->reason);
}

void pd_report_sums_release(struct pd_report_sums *s)
{
	for (size_t i = 0; i < PD_BITS_MAX + 2; i++) {
		for (size_t k = 0; s->strata[i] && k < s->strata[i]->n; k++)
			release_sampled(&s->strata[i]->v[k]);
		free(s->strata[i]);
	}
	for (size_t i = 0; i < s->n_largest; i++)
		release_cluster(&s->largest[i]);
	for (size_t k = 0; s->suspected && k < s->suspected->n; k++)
		release_sampled(&s->suspected->v[k]);
	free(s->suspected);
	for (size_t i = 0; i < s->n_doubts; i++)
		pd_buf_release(&s->doubts[i].name);
	release_cluster(&s->now);
	pd_arena_release(&s->arena);
	free(s->hosts);
	pd_index_release(&s->by_name);
	pd_buf_release(&s->params);
	pd_buf_release(&s->value);
	pd_buf_release(&s->host);
	*s = (struct pd_report_sums){ 0 };
}
