/* SPDX-License-Identifier: MIT
 *
 * All pairs of a collection, as `match` finds them, in steps:
 *
 *	count	rows -> the file of parameters
 *	equal	rows -> pairs of equal rows, and the rows that represent them
 *	plan	output of `equal` -> the file of parameters, with the number of representatives and the large buckets
 *	near	output of `equal` -> candidates: pairs of fingerprints within k, and pairs of similar sketches, each in the first
 *		table that finds it; numbers of the rows of full buckets, which are not searched
 *	density	output of `near` -> the file of parameters, with the density of fingerprints, the number of rows in full buckets and
 *		a filter of the fingerprints of candidates and of these rows
 *	dense	output of `equal` and `near` -> the pairs of rows of full buckets, in one task, which treats them as `match` does
 *	fetch	output of `equal` and `near` -> the rows of candidates, by candidate
 *	verify	output of `near` and `fetch` -> pairs of candidates
 *	doubts	output of these -> for each page with similar pages that are not pairs, the most similar one
 *	pairs	output of all of these -> a file of pairs
 *
 * With --all-pairs every row represents itself, and `dense` is omitted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "row/fields.h"
#include "row/columns.h"
#include "tools/engine/near.h"
#include "match/pairs.h"

/* --- count --- */

/* Counts of sketches by their number of words; the kind with this number is in a header. */
struct sketches {
	uint64_t rows[PD_SKETCH_WORDS + 1];
};

struct totals {
	struct pd_engine_params p;
	struct sketches sketches;
	struct pd_sketch_options kind[PD_SKETCH_WORDS + 1];
};

static int take_must(struct totals *t, struct pd_span must, struct pd_err *e)
{
	if (t->p.must.n && !must.n)
		return PD_OK;
	return pd_params_check(&t->p.must, must, NULL, "fingerprints made with other parameters cannot be matched", "", e);
}

/* Check the hash of a row's parameters, "" if it has none, and the bits of its fingerprint, 0 without one. */
static int take_params(struct totals *t, struct pd_span params, int bits, struct pd_err *e)
{
	struct pd_row row = { .f[PD_FP_PARAMS] = params, .has_fingerprint = bits != 0, .bits = bits };
	return pd_row_check(&row, t->p.params, &t->p.bits, "the rows before", e);
}

/* If two kinds have the same size, the first by name is used. */
static void take_kind(struct totals *t, struct pd_span name)
{
	struct pd_sketch_options o = { 0 };
	struct pd_err e;
	if (!name.n || pd_sketch_read(&o, name, &e) || !o.minima)
		return;
	struct pd_sketch_options *known = &t->kind[pd_sketch_words(&o)];
	if (!known->minima || o.minima > known->minima || (o.minima == known->minima && o.shingle > known->shingle))
		*known = o;
}

/* The parameters that rows lack if they match by other methods are in a header. */
static int take_methods(struct pd_span recorded, struct pd_err *e)
{
	struct pd_span methods = pd_param(recorded, "methods");
	if (!methods.n || pd_span_is(methods, "simhash"))
		return PD_OK;
	return pd_fail(e, PD_ERR_PARAMS, "rows signed by other methods than simhash (%.*s) can only be matched on one machine",
		       (int)methods.n, methods.p);
}

static int count_row(struct totals *t, const struct pd_row *row, struct pd_err *e)
{
	struct pd_span sketch = row->f[PD_FP_SKETCH];
	int status = pd_row_check(row, t->p.params, &t->p.bits, "the rows before", e);
	t->p.rows++;
	if (status || !row->has_fingerprint)
		return status;
	t->p.fingerprints++;
	if (sketch.n && sketch.n % 16 == 0 && sketch.n / 16 <= PD_SKETCH_WORDS)
		t->sketches.rows[sketch.n / 16]++;
	return PD_OK;
}

static int take_header(struct totals *t, struct pd_engine_rows *in, struct pd_err *e)
{
	if (!in->in.new_header)
		return PD_OK;
	in->in.new_header = false;
	take_kind(t, pd_param(pd_buf_span(&in->in.header.recorded), "sketch"));
	int status = take_methods(pd_buf_span(&in->in.header.recorded), e);
	return status ? status : take_must(t, pd_buf_span(&in->in.header.must), e);
}

static int map_count(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct totals totals = { 0 };
	struct pd_engine_rows in = { .task = t };
	struct pd_buf out = { 0 };
	int status;
	(void)p;
	while ((status = pd_engine_rows_next(&in, e)) == 1)
		if ((status = take_header(&totals, &in, e)) != 0 || (status = count_row(&totals, &in.row, e)) != 0)
			break;
	if (!status)
		status = take_header(&totals, &in, e);
	pd_buf_set(&totals.p.totals, pd_buf_span(&in.in.totals));
	struct pd_span rest = pd_buf_span(&totals.p.totals), line;
	if (totals.p.must.n)
		pd_buf_printf(&out, "must\t%s\n", totals.p.must.p);
	if (totals.p.params[0])
		pd_buf_printf(&out, "params\t%s\n", totals.p.params);
	if (totals.p.bits)
		pd_buf_printf(&out, "bits\t%d\n", totals.p.bits);
	pd_buf_printf(&out, "rows\t%" PRIu64 "\nprints\t%" PRIu64 "\n", totals.p.rows, totals.p.fingerprints);
	for (int i = 1; i <= PD_SKETCH_WORDS; i++) {
		if (totals.sketches.rows[i])
			pd_buf_printf(&out, "sketches-%d\t%" PRIu64 "\n", i, totals.sketches.rows[i]);
		if (!totals.kind[i].minima)
			continue;
		pd_buf_add_z(&out, "kind\t");
		pd_sketch_print(&totals.kind[i], &out);
		pd_buf_add_c(&out, '\n');
	}
	while (rest.n && pd_span_split(&rest, '\n', &line))
		if (line.n)
			pd_buf_printf(&out, "total\t%.*s\n", (int)line.n, line.p);
	if (!status)
		status = pd_engine_write(&out, e);
	pd_engine_count(t, "ROWS", in.n);
	pd_engine_count(t, "BAD_ROWS", in.bad);
	pd_buf_release(&out);
	pd_engine_rows_release(&in);
	pd_engine_params_release(&totals.p);
	return status;
}

static int take_count(struct totals *t, const struct pd_engine_lines *in, struct pd_err *e)
{
	struct pd_span name = in->key, value = in->value;
	uint64_t n = 0, words = 0;
	bool number = pd_span_u64(value, &n);
	static const char sketches[] = "sketches-";
	if (pd_span_is(name, "must"))
		return take_must(t, value, e);
	if (pd_span_is(name, "params"))
		return take_params(t, value, 0, e);
	if (pd_span_is(name, "kind"))
		return take_kind(t, value), PD_OK;
	if (pd_span_is(name, "total")) {
		pd_buf_add_span(&t->p.totals, value);
		return pd_buf_add_c(&t->p.totals, '\n'), PD_OK;
	}
	if (number && pd_span_is(name, "bits"))
		return take_params(t, pd_span(NULL, 0), (int)n, e);
	if (number && pd_span_is(name, "rows"))
		return t->p.rows += n, PD_OK;
	if (number && pd_span_is(name, "prints"))
		return t->p.fingerprints += n, PD_OK;
	if (number && pd_span_istarts(name, sketches) &&
	    pd_span_u64(pd_span(name.p + sizeof sketches - 1, name.n - (sizeof sketches - 1)), &words) && words <= PD_SKETCH_WORDS)
		return t->sketches.rows[words] += n, PD_OK;
	return pd_engine_lines_foreign(in, e);
}

/* Count the new pages like pages of the collection. */
static int take_batch(const struct pd_engine *t, struct totals *to, struct pd_err *e)
{
	struct pd_rows rows;
	struct pd_sketch s;
	struct pd_span rest, line;
	int status = pd_engine_batch_read(t, &rows, e);
	if (!status)
		status = take_must(to, pd_buf_span(&rows.must), e);
	if (!status)
		status = take_params(to, pd_span_z(rows.params), rows.bits, e);
	to->p.rows += rows.n;
	to->p.fingerprints += rows.fingerprints.n;
	for (uint32_t i = 0; i < rows.fingerprints.n; i++)
		to->sketches.rows[pd_sketch_words(&rows.sketch)] +=
			pd_rows_sketch(&rows, pd_rows_set_row(&rows.fingerprints, i), &s);
	if (rows.sketched)
		to->kind[pd_sketch_words(&rows.sketch)] = rows.sketch;
	rest = pd_buf_span(&rows.totals);
	while (rest.n && pd_span_split(&rest, '\n', &line))
		if (line.n)
			pd_buf_printf(&to->p.totals, "%.*s\n", (int)line.n, line.p);
	pd_rows_release(&rows);
	return status;
}

static int reduce_count(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct totals totals = { 0 };
	struct pd_engine_lines in = { 0 };
	struct pd_buf out = { 0 };
	int status;
	while ((status = pd_engine_lines_next(&in, e)) == 1)
		if ((status = take_count(&totals, &in, e)) != 0)
			break;
	if (!status && t->batch)
		status = take_batch(t, &totals, e);
	/* Choose the kind of most rows, then the larger one; a kind that is in no header is the default of fp. */
	int best = 0, usual = pd_sketch_words(&PD_SKETCH_DEFAULT);
	if (!totals.kind[usual].minima)
		totals.kind[usual] = PD_SKETCH_DEFAULT;
	for (int i = 1; i <= PD_SKETCH_WORDS; i++)
		if (totals.kind[i].minima && totals.sketches.rows[i] && totals.sketches.rows[i] >= totals.sketches.rows[best])
			best = i;
	totals.p.sketch = totals.kind[best];
	totals.p.sketched = totals.p.representatives = totals.sketches.rows[best];
	pd_buf_set(&totals.p.options, pd_buf_span(&p->options));
	totals.p.n_options = p->n_options;
	pd_engine_params_write(&totals.p, &out);
	if (!status)
		status = pd_engine_write(&out, e);
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	pd_engine_params_release(&totals.p);
	return status;
}

/* --- plan, density: values computed from all rows --- */

#define SAMPLED 64 /* one of this many rows is sampled to find large buckets */
#define LARGE "large."
#define WANTED "wanted."
#define FILTER_PIECE 1024	   /* bytes in a line */
#define FILTER_BYTES_MAX (1 << 21) /* the driver and each task have the filter in memory */

/* Return the size of the filter: a byte for each fingerprint, so that few rows pass it by chance. */
static size_t filter_bytes(const struct pd_engine_params *p)
{
	size_t n = FILTER_PIECE;
	while (n < p->fingerprints && n < FILTER_BYTES_MAX)
		n *= 2;
	return n;
}

/* Buckets of the sampled rows, with their numbers of rows. */
struct sample {
	struct pd_engine_tables tables;
	struct pd_names names;
	uint32_t *rows;
	size_t cap;
	struct pd_buf name;
};

static void sample_buckets_of(struct sample *s, const struct pd_row *row)
{
	for (size_t i = 0; pd_engine_tables_bucket(&s->tables, row, i, &s->name); i++) {
		size_t before = s->names.n;
		uint32_t number = pd_names_add(&s->names, pd_buf_span(&s->name));
		s->rows = pd_grow(s->rows, number, &s->cap, sizeof *s->rows);
		s->rows[number] = s->names.n > before ? 1 : s->rows[number] + 1;
	}
}

static int sample_representatives(struct sample *s, const struct pd_engine_params *p, struct pd_buf *out, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_row row;
	uint64_t representatives = 0;
	int status;
	while ((status = pd_engine_tagged_next(&in, e)) == 1) {
		if (pd_span_is(in.key, "n"))
			pd_buf_printf(out, "%.*s\n", (int)in.value.n, in.value.p);
		if (!pd_span_is(in.key, "r"))
			continue;
		/* Most rows are only counted, so they are not parsed. */
		size_t n = pd_row_split(&row, in.value);
		bool sampled = n > PD_FP_ID && pd_hash64(row.f[PD_FP_ID].p, row.f[PD_FP_ID].n) % SAMPLED == 0;
		if ((n != PD_FP_COLUMNS || sampled) &&
		    (status = pd_engine_lines_name(&in, pd_engine_row_parse(&row, in.value, p, e), e)) != 0)
			break;
		representatives += pd_tsv_has(row.f[PD_FP_SKETCH]);
		if (sampled)
			sample_buckets_of(s, &row);
	}
	pd_buf_printf(out, "leaders\t%" PRIu64 "\n", representatives);
	pd_engine_lines_release(&in);
	return status;
}

static int map_plan(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct sample s = { .cap = 0 };
	struct pd_buf out = { 0 };
	pd_engine_tables_init(&s.tables, p);
	(void)t;
	int status = sample_representatives(&s, p, &out, e);
	for (uint32_t i = 0; i < s.names.n; i++)
		if (s.rows[i] > 1)
			pd_buf_printf(&out, LARGE "%.*s\t%u\n", (int)s.names.v[i].n, s.names.v[i].p, s.rows[i]);
	if (!status)
		status = pd_engine_write(&out, e);
	pd_engine_tables_release(&s.tables);
	pd_names_release(&s.names);
	free(s.rows);
	pd_buf_release(&s.name);
	pd_buf_release(&out);
	return status;
}

/* Split a bucket by its sampled rows, so that no part is expected to exceed --bucket. */
static void take_large(struct pd_engine_params *p, struct pd_span bucket, uint64_t sampled, uint64_t most)
{
	uint64_t parts = (sampled * SAMPLED + most - 1) / most;
	if (bucket.n && parts > 1)
		pd_engine_params_add_split(p, bucket, parts < PD_ENGINE_PARTS ? (uint32_t)parts : PD_ENGINE_PARTS);
}

/* Add a piece of the filter. */
static bool take_wanted(struct pd_engine_params *p, const struct pd_engine_lines *in)
{
	pd_local_buf piece = { 0 };
	uint64_t number;
	struct pd_span name = pd_span(in->key.p + sizeof WANTED - 1, in->key.n - (sizeof WANTED - 1));
	if (!pd_span_u64(name, &number) || number >= filter_bytes(p) / FILTER_PIECE || !pd_base64_parse(in->value, &piece) ||
	    piece.n != FILTER_PIECE)
		return false;
	if (!p->wanted.n) {
		memset(pd_buf_reserve(&p->wanted, filter_bytes(p)), 0, filter_bytes(p));
		p->wanted.n = filter_bytes(p);
	}
	for (size_t i = 0; i < piece.n; i++)
		p->wanted.p[number * FILTER_PIECE + i] |= piece.p[i];
	return true;
}

/* Read numbers by name and sum them; numbers of buckets are sorted by key. */
static int take_sums(const struct pd_engine *t, struct pd_engine_params *p, uint64_t *near, struct pd_err *e)
{
	const struct {
		const char *name;
		uint64_t *to;
	} sums[] = { { "leaders", &p->representatives },
		     { "distinct", &p->distinct },
		     { "full", &p->full },
		     { "parts", &p->many_subgroups },
		     { "near", near } };
	struct pd_engine_lines in = { 0 };
	struct pd_buf bucket = { 0 };
	uint64_t n, rows = 0, most = t->bucket ? (uint64_t)t->bucket : PD_ENGINE_BUCKET;
	int status;
	while ((status = pd_engine_lines_next(&in, e)) == 1) {
		size_t i = 0;
		if (in.key.n >= sizeof WANTED && !memcmp(in.key.p, WANTED, sizeof WANTED - 1)) {
			if (!take_wanted(p, &in)) {
				status = pd_engine_lines_foreign(&in, e);
				break;
			}
			continue;
		}
		bool large = in.key.n > sizeof LARGE && !memcmp(in.key.p, LARGE, sizeof LARGE - 1);
		while (i < sizeof sums / sizeof *sums && !pd_span_is(in.key, sums[i].name))
			i++;
		if (!pd_span_u64(in.value, &n) || (!large && i == sizeof sums / sizeof *sums)) {
			status = pd_engine_lines_foreign(&in, e);
			break;
		}
		if (in.is_new) {
			take_large(p, pd_buf_span(&bucket), rows, most);
			rows = 0;
			pd_buf_set(&bucket,
				   large ? pd_span(in.key.p + sizeof LARGE - 1, in.key.n - (sizeof LARGE - 1)) : pd_span("", 0));
		}
		rows += n;
		if (!large)
			*sums[i].to += n;
	}
	take_large(p, pd_buf_span(&bucket), rows, most);
	pd_buf_release(&bucket);
	pd_engine_lines_release(&in);
	return status;
}

static int write_params(const struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_buf out = { 0 };
	pd_engine_params_write(p, &out);
	int status = pd_engine_write(&out, e);
	pd_buf_release(&out);
	return status;
}

static int reduce_plan(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	uint64_t near = 0;
	p->representatives = 0;
	int status = take_sums(t, p, &near, e);
	pd_engine_count(t, "SPLIT_BUCKETS", p->split.n);
	return status ? status : write_params(p, e);
}

/* Copy the sums, and collect the fingerprints of candidates. */
static int map_density(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_buf out = { 0 };
	const size_t bytes = filter_bytes(p);
	char *filter = pd_zalloc(bytes);
	int status;
	(void)t;
	while ((status = pd_engine_tagged_next(&in, e)) == 1) {
		struct pd_engine_candidate c;
		if (pd_span_is(in.key, "n"))
			pd_buf_printf(&out, "%.*s\n", (int)in.value.n, in.value.p);
		bool candidate = pd_span_is(in.key, "x");
		if (!candidate && !pd_span_is(in.key, "c"))
			continue;
		if ((status = candidate ? pd_engine_candidate_parse(&c, &in, p, e) : pd_engine_full_parse(&c, &in, p, e)) != 0)
			break;
		for (int i = 0; i < (candidate ? 2 : 1); i++) {
			uint64_t bit = pd_engine_params_bit(&c.row[i].fingerprint, p->bits, bytes);
			filter[bit / 8] |= (char)(1 << bit % 8);
		}
	}
	for (size_t i = 0; i < bytes / FILTER_PIECE; i++) {
		const char *piece = filter + i * FILTER_PIECE;
		if (!piece[0] && !memcmp(piece, piece + 1, FILTER_PIECE - 1))
			continue;
		pd_buf_printf(&out, WANTED "%zu\t", i);
		pd_base64_add(&out, piece, FILTER_PIECE);
		pd_buf_add_c(&out, '\n');
	}
	if (!status)
		status = pd_engine_write(&out, e);
	free(filter);
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	return status;
}

static int reduce_density(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	uint64_t near = 0;
	int status = take_sums(t, p, &near, e);
	p->dense = near > p->near_most;
	pd_engine_count(t, "DENSE", p->dense);
	pd_engine_count(t, "FULL", p->full);
	return status ? status : write_params(p, e);
}

/* --- equal --- */

static int map_equal(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_tables tables;
	struct pd_engine_packs packs = { .n = 0 };
	struct pd_engine_rows in = { .task = t, .p = p };
	struct pd_buf value = { 0 }, key = { 0 };
	int status;
	pd_engine_tables_init(&tables, p);
	while ((status = pd_engine_rows_next(&in, e)) == 1) {
		if (!pd_engine_tables_equal(&tables, &in.row, &key))
			continue;
		pd_buf_clear(&value);
		pd_engine_row_add(&in.row, &value);
		uint32_t number = pd_names_add(&packs.keys, pd_buf_span(&key));
		if ((status = pd_engine_packs_add(&packs, number, pd_buf_span(&value), e)) != 0)
			break;
	}
	if (!status)
		status = pd_engine_packs_end(&packs, e);
	pd_engine_count(t, "ROWS", in.n);
	pd_engine_count(t, "BAD_ROWS", in.bad);
	pd_engine_rows_release(&in);
	pd_engine_packs_release(&packs);
	pd_engine_tables_release(&tables);
	pd_buf_release(&value);
	pd_buf_release(&key);
	return status;
}

#define PARTITION_BYTES ((size_t)64 << 20) /* rows of a partition in memory; if there are more, all are matched */

/* Rows of a partition, each followed by a newline. */
struct partition {
	struct pd_engine_table table;
	struct pd_buf rows, out;
	struct pd_map seen; /* hash of a signature -> number of rows */
	bool is_large;	    /* its first rows are with the matched ones */
	uint64_t distinct;
};

static struct pd_span signature_of(const struct partition *w, struct pd_span row)
{
	return pd_tsv_field(row, w->table.kind == 'e' ? PD_FP_FINGERPRINT : PD_FP_TEXT_DIGEST);
}

/* Add rows to be matched: all, or only rows whose signature is not unique. */
static int match_partition(struct partition *w, struct pd_engine_buckets *b, bool all, struct pd_err *e)
{
	struct pd_span rest = pd_buf_span(&w->rows), row;
	int status = PD_OK;
	if (!all)
		pd_map_clear(&w->seen, 0);
	while (!all && rest.n && pd_span_split(&rest, '\n', &row))
		++*pd_map_put(&w->seen, pd_map_key(signature_of(w, row)));
	for (rest = pd_buf_span(&w->rows); !status && rest.n && pd_span_split(&rest, '\n', &row);) {
		if (all || *pd_map_find(&w->seen, pd_map_key(signature_of(w, row))) > 1) {
			status = pd_engine_buckets_add(b, w->table, false, row, e);
		} else if (w->table.kind == 'e') {
			w->distinct++;
			pd_buf_add_z(&w->out, "r\t");
			pd_buf_add(&w->out, row.p, row.n + 1);
		}
	}
	pd_buf_clear(&w->rows);
	if (!status)
		status = pd_engine_write(&w->out, e);
	pd_buf_clear(&w->out);
	return status;
}

static int end_partition(struct partition *w, struct pd_engine_buckets *b, struct pd_engine_table next, struct pd_err *e)
{
	int status = match_partition(w, b, w->is_large, e);
	if (!status && b->n_waiting && (b->n_waiting >= PD_ENGINE_TOGETHER || w->table.kind != next.kind))
		status = pd_engine_buckets_end(b, e);
	w->table = next;
	w->is_large = false;
	return status;
}

static int reduce_equal(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_tables tables;
	struct pd_engine_lines in = { 0 };
	struct pd_engine_table table;
	struct partition w = { .distinct = 0 };
	pd_engine_tables_init(&tables, p);
	struct pd_engine_buckets b = { .task = t, .p = p, .tables = &tables, .representatives = true };
	int status;
	while ((status = pd_engine_lines_next(&in, e)) == 1) {
		struct pd_span row;
		if ((status = pd_engine_tables_take(&tables, &in, &table, e)) != 0 ||
		    (in.is_new && (status = end_partition(&w, &b, table, e)) != 0))
			break;
		while (in.value.n && pd_engine_row_next(&in.value, &row)) {
			pd_buf_add_span(&w.rows, row);
			pd_buf_add_c(&w.rows, '\n');
		}
		if (in.value.n) {
			status = pd_engine_lines_foreign(&in, e);
			break;
		}
		w.is_large |= w.rows.n > PARTITION_BYTES;
		if (w.is_large && (status = match_partition(&w, &b, true, e)) != 0)
			break;
	}
	if (!status)
		status = end_partition(&w, &b, w.table, e);
	if (!status)
		status = pd_engine_buckets_end(&b, e);
	if (!status && w.distinct) {
		pd_buf_printf(&w.out, "n\tdistinct\t%" PRIu64 "\n", w.distinct);
		status = pd_engine_write(&w.out, e);
	}
	pd_engine_count(t, "PAIRS", b.pairs);
	pd_engine_buckets_release(&b);
	pd_engine_tables_release(&tables);
	pd_engine_lines_release(&in);
	pd_map_release(&w.seen);
	pd_buf_release(&w.rows);
	pd_buf_release(&w.out);
	return status;
}

/* --- dense: decisions of one row for others --- */

/* Lines have the key c, a row of a full bucket by its numbers, or r, a row; the engine sorts them in this order.  If all rows
 * that represent others are matched, there is no c. */
static int map_dense(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_engine_candidate c;
	struct pd_buf out = { 0 };
	const bool all = pd_engine_params_one_task(p);
	int status;
	(void)t;
	while ((status = pd_engine_tagged_next(&in, e)) == 1) {
		bool row = pd_span_is(in.key, "r"), full = pd_span_is(in.key, "c");
		if ((!row && !full) || (full && all) || (row && !all && !p->full))
			continue;
		if ((status = row ? pd_engine_row_key(&c.row[0], &in, p, e) : pd_engine_full_parse(&c, &in, p, e)) != 0)
			break;
		if (row && !all && !pd_engine_params_wants(p, &c.row[0].fingerprint))
			continue;
		if ((status = pd_engine_write_line(&out, in.key, "\t", in.value, e)) != 0)
			break;
	}
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	return status;
}

static int take_dense(struct pd_engine_buckets *b, const struct pd_engine_lines *in, bool all, struct pd_err *e)
{
	struct pd_engine_candidate c;
	bool row = pd_span_is(in->key, "r");
	if (!row && (all || !pd_span_is(in->key, "c")))
		return pd_engine_lines_foreign(in, e);
	if (row && !pd_engine_row_is_whole(in->value))
		return pd_engine_lines_foreign(in, e);
	int status = row ? pd_engine_row_key(&c.row[0], in, b->p, e) : pd_engine_full_parse(&c, in, b->p, e);
	if (status)
		return status;
	if (!row)
		return pd_engine_buckets_add_full(b, c.band, &c.row[0]), PD_OK;
	return all || pd_engine_buckets_is_full(b, &c.row[0]) ? pd_engine_buckets_add_new(b, in->value, e) : PD_OK;
}

static int reduce_dense(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	bool all = pd_engine_params_one_task(p);
	struct pd_engine_buckets b = { .task = t, .p = p, .table.kind = all ? PD_ENGINE_DENSE : PD_ENGINE_FULL };
	int status;
	while ((status = pd_engine_lines_next(&in, e)) == 1)
		if ((status = take_dense(&b, &in, all, e)) != 0)
			break;
	if (!status)
		status = pd_engine_buckets_end(&b, e);
	pd_engine_count(t, "PAIRS", b.pairs);
	pd_engine_buckets_release(&b);
	pd_engine_lines_release(&in);
	return status;
}

/* --- doubts: for each page the most similar one --- */

static bool is_doubt(const struct pd_engine_params *p, struct pd_span tag)
{
	(void)p;
	return pd_span_is(tag, "s");
}

static int map_doubts(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	(void)t;
	return pd_engine_copy_values(is_doubt, "", p, e);
}

struct doubted {
	uint64_t similarity, look;
	struct pd_buf other, line;
};

static int read_doubt(const struct pd_engine_lines *in, struct doubted *d, struct pd_err *e)
{
	struct pd_span value = in->value, similarity, other, look;
	if (!pd_span_split(&value, '\t', &similarity) || !pd_span_split(&value, '\t', &other) ||
	    !pd_span_split(&value, '\t', &look) || !value.p || !pd_span_u64(similarity, &d->similarity) ||
	    !pd_span_u64(look, &d->look))
		return pd_engine_lines_foreign(in, e);
	pd_buf_set(&d->other, other);
	pd_buf_set(&d->line, value);
	return PD_OK;
}

/* Compare as pd_doubts_note does. */
static bool is_likelier(const struct doubted *a, const struct doubted *b)
{
	if (a->similarity != b->similarity)
		return a->similarity > b->similarity;
	int order = pd_page_id_cmp(pd_buf_span(&a->other), pd_buf_span(&b->other));
	return order ? order < 0 : a->look > b->look;
}

static int write_doubt(const struct doubted *best, struct pd_buf *out, struct pd_err *e)
{
	pd_buf_clear(out);
	if (!best->line.n)
		return PD_OK;
	pd_buf_add_z(out, "q\t");
	pd_buf_add_span(out, pd_buf_span(&best->line));
	pd_buf_add_c(out, '\n');
	return pd_engine_write(out, e);
}

static int reduce_doubts(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct doubted best = { 0 }, now = { 0 };
	struct pd_buf out = { 0 };
	int status;
	(void)t;
	(void)p;
	while ((status = pd_engine_lines_next(&in, e)) == 1) {
		if ((status = read_doubt(&in, &now, e)) != 0 || (in.is_new && (status = write_doubt(&best, &out, e)) != 0))
			break;
		if (in.is_new || is_likelier(&now, &best)) {
			struct doubted last = best;
			best = now;
			now = last;
		}
	}
	if (!status)
		status = write_doubt(&best, &out, e);
	for (struct doubted *d = (struct doubted *[]){ &best, &now }[0]; d; d = d == &best ? &now : NULL) {
		pd_buf_release(&d->other);
		pd_buf_release(&d->line);
	}
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	return status;
}

/* --- pairs: a file of them --- */

/* Return both ids of a row of pairs, with the tab between them. */
static struct pd_span ids_of(struct pd_span row)
{
	struct pd_span rest = row, id;
	pd_span_split(&rest, '\t', &id);
	pd_span_split(&rest, '\t', &id);
	return id.p ? pd_span(row.p, (size_t)(id.p + id.n - row.p)) : row;
}

static int map_pairs(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_buf out = { 0 };
	int status;
	(void)t;
	if (p->totals.n)
		pd_buf_add_z(&out, "t\ttotals\n");
	while ((status = pd_engine_tagged_next(&in, e)) == 1) {
		if (pd_span_is(in.key, "p")) {
			pd_buf_printf(&out, "p.%016" PRIx64, pd_hash64(in.value.p, ids_of(in.value).n));
		} else if (pd_span_is(in.key, "q")) {
			pd_buf_printf(&out, "q.%016" PRIx64, pd_hash64(in.value.p, in.value.n));
		} else {
			continue;
		}
		pd_buf_add_c(&out, '\t');
		pd_buf_add_span(&out, in.value);
		pd_buf_add_c(&out, '\n');
		if ((status = pd_engine_write(&out, e)) != 0)
			break;
		pd_buf_clear(&out);
	}
	if (!status)
		status = pd_engine_write(&out, e);
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	return status;
}

/* The rows of one key: a pair may have several rows, from tables and from a full bucket in which one page represents
 * the other. */
struct same_pages {
	struct pd_buf text;
	struct {
		size_t at, n;
	} * row;
	size_t n, cap;
};

static void keep_pair_once(struct same_pages *s, struct pd_span row)
{
	size_t i = 0;
	while (i < s->n && !pd_span_eq(ids_of(pd_span(s->text.p + s->row[i].at, s->row[i].n)), ids_of(row)))
		i++;
	/* If a pair has several rows, keep the one with the method "linked", otherwise the first. */
	struct pd_span f[PD_PAIRS_METHOD + 1];
	bool linked = pd_tsv_fields(row, f, PD_PAIRS_METHOD + 1) > PD_PAIRS_METHOD && pd_span_is(f[PD_PAIRS_METHOD], "linked");
	if (i < s->n && !linked)
		return;
	s->row = pd_grow(s->row, i, &s->cap, sizeof *s->row);
	s->row[i].at = s->text.n;
	s->row[i].n = row.n;
	pd_buf_add_span(&s->text, row);
	s->n += i == s->n;
}

static int write_same_pages(struct same_pages *s, struct pd_buf *out, uint64_t *n, struct pd_err *e)
{
	pd_buf_clear(out);
	for (size_t i = 0; i < s->n; i++) {
		pd_buf_add(out, s->text.p + s->row[i].at, s->row[i].n);
		pd_buf_add_c(out, '\n');
	}
	*n += s->n;
	s->n = 0;
	pd_buf_clear(&s->text);
	return pd_engine_write(out, e);
}

/* Return whether `map_pairs` writes such a line: its totals, a pair or a suspected duplicate. */
static bool is_pairs_line(const struct pd_engine_lines *in)
{
	static const char mark[] = "# " PD_SUSPECT_MARK " ";
	struct pd_span f[PD_PAIRS_COLUMNS + 2], key = in->key;
	uint64_t hash;
	if (pd_span_is(key, "t"))
		return pd_span_is(in->value, "totals");
	if (key.n != sizeof "p.0123456789abcdef" - 1 || key.p[1] != '.' || !pd_hex_u64(pd_span(key.p + 2, key.n - 2), &hash))
		return false;
	size_t n = pd_tsv_fields(in->value, f, PD_PAIRS_COLUMNS + 2);
	return key.p[0] == 'p' ? n == PD_PAIRS_COLUMNS
			       : key.p[0] == 'q' && n == PD_PAIRS_COLUMNS + 1 && in->value.n > sizeof mark &&
					 !memcmp(in->value.p, mark, sizeof mark - 1);
}

static int reduce_pairs(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_buf out = { 0 };
	struct pd_map seen = { 0 };
	struct same_pages same = { .n = 0 };
	uint64_t n[2] = { 0, 0 };
	bool totals = false;
	pd_pairs_header(&p->as_rows, &p->match, false, &out);
	int status = pd_engine_write(&out, e);
	while (status >= 0 && (status = pd_engine_lines_next(&in, e)) == 1) {
		if (!is_pairs_line(&in)) {
			status = pd_engine_lines_foreign(&in, e);
			break;
		}
		bool pair = in.key.p[0] == 'p', suspect = in.key.p[0] == 'q';
		totals |= pd_span_is(in.key, "t");
		if (in.is_new && (status = write_same_pages(&same, &out, &n[0], e)) != 0)
			break;
		if (pair)
			keep_pair_once(&same, in.value);
		if (!suspect)
			continue;
		/* If two pages doubt each other, their lines are merged. */
		if (in.is_new)
			pd_map_clear(&seen, 0);
		if (!pd_map_add(&seen, pd_hash64_seed(in.value.p, in.value.n, 1)))
			continue;
		n[1]++;
		pd_buf_set(&out, in.value);
		pd_buf_add_c(&out, '\n');
		if ((status = pd_engine_write(&out, e)) != 0)
			break;
	}
	if (!status)
		status = write_same_pages(&same, &out, &n[0], e);
	struct pd_span rest = pd_buf_span(&p->totals), line;
	while (!status && totals && rest.n && pd_span_split(&rest, '\n', &line))
		if (line.n)
			printf("# total %.*s\n", (int)line.n, line.p);
	pd_engine_count(t, "PAIRS", n[0]);
	pd_engine_count(t, "SUSPECTS", n[1]);
	pd_map_release(&seen);
	free(same.row);
	pd_buf_release(&same.text);
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	return status;
}

const struct pd_engine_step pd_engine_join_steps[] = {
	{ "count", false, map_count, reduce_count },
	{ "equal", true, map_equal, reduce_equal },
	{ "plan", true, map_plan, reduce_plan },
	{ "near", true, pd_engine_map_near, pd_engine_reduce_near },
	{ "density", true, map_density, reduce_density },
	{ "dense", true, map_dense, reduce_dense },
	{ "fetch", true, pd_engine_map_fetch, pd_engine_reduce_fetch },
	{ "verify", true, pd_engine_map_verify, pd_engine_reduce_verify },
	{ "doubts", true, map_doubts, reduce_doubts },
	{ "pairs", true, map_pairs, reduce_pairs },
	{ NULL, false, NULL, NULL },
};
