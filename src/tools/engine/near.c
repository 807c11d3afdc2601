/* SPDX-License-Identifier: MIT */
#include "tools/engine/near.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "index/join.h"
#include "index/scan.h"
#include "match/bands.h"
#include "row/columns.h"
#include "row/tsv.h"

/* --- candidates --- */

static bool take_key(struct pd_engine_row_key *k, struct pd_span fingerprint, struct pd_span number,
		     const struct pd_engine_params *p)
{
	int bits;
	k->number = 0;
	return pd_key_parse(fingerprint, &bits, &k->fingerprint) && bits == p->bits &&
	       (!number.p || pd_hex_u64(number, &k->number));
}

int pd_engine_candidate_parse(struct pd_engine_candidate *c, const struct pd_engine_lines *in, const struct pd_engine_params *p,
			      struct pd_err *e)
{
	static const struct pd_span none = { NULL, 0 };
	struct pd_span f[6];
	size_t n = pd_tsv_fields(in->value, f, 6);
	bool rows = n == 5 && pd_span_is(f[0], "b");
	c->kind = rows ? 'b' : 'h';
	c->hex[0] = f[1];
	c->hex[1] = rows ? f[3] : f[2];
	if ((!rows && (n != 3 || !pd_span_is(f[0], "h"))) || !take_key(&c->row[0], c->hex[0], rows ? f[2] : none, p) ||
	    !take_key(&c->row[1], c->hex[1], rows ? f[4] : none, p))
		return pd_engine_lines_foreign(in, e);
	return PD_OK;
}

int pd_engine_full_parse(struct pd_engine_candidate *c, const struct pd_engine_lines *in, const struct pd_engine_params *p,
			 struct pd_err *e)
{
	struct pd_span f[4];
	uint64_t band;
	if (pd_tsv_fields(in->value, f, 4) != 3 || !pd_span_u64(f[0], &band) || !p->width ||
	    band >= (uint64_t)(p->sketch.minima / p->width) || !take_key(&c->row[0], f[1], f[2], p))
		return pd_engine_lines_foreign(in, e);
	c->band = (int)band;
	return PD_OK;
}

int pd_engine_row_key(struct pd_engine_row_key *k, const struct pd_engine_lines *in, const struct pd_engine_params *p,
		      struct pd_err *e)
{
	struct pd_span f[PD_FP_ID + 2];
	if (pd_tsv_fields(in->value, f, PD_FP_ID + 2) <= PD_FP_ID || !take_key(k, f[PD_FP_FINGERPRINT], pd_span(NULL, 0), p))
		return pd_engine_lines_foreign(in, e);
	k->number = pd_hash64(f[PD_FP_ID].p, f[PD_FP_ID].n);
	return PD_OK;
}

/* Return whether a candidate counts.  If fingerprints are dense, those within k are compared only by sketches, or by one task.
 * Otherwise tables of fingerprints find them all, except for fingerprints with too many dissimilar pages. */
static bool is_counted(const struct pd_engine_params *p, const struct pd_engine_candidate *c)
{
	int distance = pd_hamming(&c->row[0].fingerprint, &c->row[1].fingerprint, p->bits);
	bool within = p->match.candidates == PD_CANDIDATES_BOTH && distance && distance <= p->match.k;
	if (pd_engine_params_one_task(p))
		return false;
	return c->kind == 'h' ? !p->dense : !within || p->dense || p->many_subgroups;
}

/* --- near: map --- */

struct sending {
	const struct pd_engine_params *p;
	struct pd_engine_packs packs;
	struct pd_key fingerprint;
	bool is_repeated;	 /* the row before had the same fingerprint */
	struct pd_buf short_row; /* fingerprint, number, sketch */
};

static int send_to(void *ctx, char kind, struct pd_span key, struct pd_err *e)
{
	struct sending *s = ctx;
	if (kind == 'h' && s->is_repeated)
		return PD_OK;
	return pd_engine_packs_add(&s->packs, pd_names_add(&s->packs.keys, key),
				   pd_span(s->short_row.p, kind == 'h' ? (size_t)s->p->bits / 8 : s->short_row.n), e);
}

/* Send the rows that represent others according to `equal`; none if a single task matches them. */
int pd_engine_map_near(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_tables tables;
	struct sending s = { .p = p, .packs.binary = true };
	struct pd_engine_lines in = { 0 };
	struct pd_row row;
	uint64_t rows = 0;
	int status;
	pd_engine_tables_init(&tables, p);
	while ((status = pd_engine_tagged_next(&in, e)) == 1) {
		if (!pd_span_is(in.key, "r") || pd_engine_params_one_task(p))
			continue;
		if ((status = pd_engine_lines_name(&in, pd_engine_row_parse(&row, in.value, p, e), e)) != 0)
			break;
		s.is_repeated = rows++ && !memcmp(&s.fingerprint, &row.key, sizeof row.key);
		s.fingerprint = row.key;
		uint64_t number = pd_hash64(row.f[PD_FP_ID].p, row.f[PD_FP_ID].n);
		pd_buf_clear(&s.short_row);
		pd_buf_add(&s.short_row, row.key.w, (size_t)row.bits / 8);
		pd_buf_add(&s.short_row, &number, sizeof number);
		pd_buf_add(&s.short_row, row.sketch.w, (size_t)pd_sketch_words(&p->sketch) * 8);
		if ((status = pd_engine_tables_near(&tables, &row, send_to, &s, e)) != 0)
			break;
	}
	if (!status)
		status = pd_engine_packs_end(&s.packs, e);
	pd_engine_count(t, "REPRESENTATIVES", rows);
	pd_engine_packs_release(&s.packs);
	pd_engine_tables_release(&tables);
	pd_engine_lines_release(&in);
	pd_buf_release(&s.short_row);
	return status;
}

/* --- near: reduce ---
 *
 * The fingerprints of a partition of a table are sorted by their buckets, and those of each bucket are joined.  The short rows of
 * a partition of the bands are searched by the code of `match`. */

#define SMALL 1024 /* number of fingerprints of a bucket that are all compared with each other */
#define PIECE 256  /* at a time */

struct joining {
	const struct pd_engine *task;
	const struct pd_engine_params *p;
	const struct pd_engine_tables *tables;
	struct pd_engine_table table;
	size_t words;
	struct pd_buf bytes; /* fingerprints or short rows as they come */
	struct pd_index_columns columns;
	uint64_t *sorted; /* by bucket */
	struct pd_index_hits hits;
	uint64_t candidates, similar; /* by fingerprints, by bands */
	bool is_over;		      /* there are more than match would write */
	struct pd_buf out;
};

static int write_out(struct joining *j, struct pd_err *e)
{
	int status = pd_engine_write(&j->out, e);
	pd_buf_clear(&j->out);
	return status;
}

static int write_candidate(struct joining *j, const uint64_t *a, const uint64_t *b, struct pd_err *e)
{
	if (!pd_engine_tables_own(j->tables, &j->table, a, b))
		return PD_OK;
	pd_buf_add_z(&j->out, "x\th");
	for (int i = 0; i < 2; i++) {
		pd_buf_add_c(&j->out, '\t');
		for (size_t w = 0; w < j->words; w++)
			pd_hex_add(&j->out, (i ? b : a)[w]);
	}
	pd_buf_add_c(&j->out, '\n');
	j->is_over |= ++j->candidates > j->p->near_most && !j->p->match.all_pairs;
	return j->out.n >= 65536 ? write_out(j, e) : PD_OK;
}

static int write_hits(struct joining *j, struct pd_err *e)
{
	int status = PD_OK;
	for (size_t i = 0; !status && !j->is_over && i < j->hits.n; i++)
		status = write_candidate(j, j->sorted + j->hits.v[i].a * j->words, j->sorted + j->hits.v[i].b * j->words, e);
	j->hits.n = 0;
	return status;
}

static int compare_bucket(struct joining *j, size_t from, size_t to, struct pd_err *e)
{
	const struct pd_index_scan_loops *loops = &pd_index_scan_best()->by[pd_index_scan_width_of(j->p->bits)];
	int status = PD_OK;
	for (size_t at = from, end; !status && !j->is_over && at < to; at = end) {
		end = at + PIECE < to ? at + PIECE : to;
		struct pd_index_run piece = { &j->columns, at, end };
		loops->self(piece, j->p->match.k, &j->hits);
		if (end < to)
			loops->cross(piece, (struct pd_index_run){ &j->columns, end, to }, j->p->match.k, &j->hits);
		status = write_hits(j, e);
	}
	return status;
}

/* The memory of the task; at least what n rows need. */
static struct pd_budget budget_for(const struct joining *j, size_t n, bool bands)
{
	size_t least = pd_memory_least(n, bands), limit = j->task->memory ? j->task->memory : pd_memory_default();
	return (struct pd_budget){ .limit = limit < least ? least : limit, .tmp_dir = j->task->tmp_dir };
}

static int join_bucket(struct joining *j, size_t from, size_t to, struct pd_err *e)
{
	struct pd_budget budget = budget_for(j, to - from, false);
	struct pd_index_limit limit = { .most = j->p->near_most };
	struct pd_index_keys keys = { .bits = j->p->bits, .n = to - from, .v = j->sorted + from * j->words };
	struct pd_index_pairs pairs = { 0 };
	struct pd_index_plan plan;
	keys.limit = j->p->match.all_pairs ? NULL : &limit;
	int status = pd_index_plan_choose(&plan, j->p->match.plan, keys.bits, j->p->match.k, keys.n, 0, e);
	if (!status)
		status = pd_index_join(&keys, &plan, 1, &budget, &pairs, e);
	j->is_over |= pd_index_is_over(&keys);
	for (size_t i = 0; !status && !j->is_over && i < pairs.n; i++)
		status = write_candidate(j, keys.v + pairs.v[i].a * j->words, keys.v + pairs.v[i].b * j->words, e);
	pd_index_pairs_release(&pairs);
	return status;
}

static int by_words(const void *a, const void *b, void *bytes)
{
	return memcmp(a, b, *(const size_t *)bytes);
}

/* Sort n fingerprints and remove repetitions; return their number. */
static size_t sort_distinct(const struct joining *j, uint64_t *v, uint64_t *spare, size_t n)
{
	size_t bytes = j->words * sizeof *v, distinct = 0;
	if (j->words == 1) {
		uint64_t *sorted = pd_sort_words(v, spare, n, 0);
		if (sorted != v)
			memcpy(v, sorted, n * bytes);
	} else {
		qsort_r(v, n, bytes, by_words, &bytes);
	}
	for (size_t i = 0; i < n; i++)
		if (!i || memcmp(v + i * j->words, v + (distinct - 1) * j->words, bytes))
			memmove(v + distinct++ * j->words, v + i * j->words, bytes);
	return distinct;
}

static void add_row_key(struct joining *j, const char *row)
{
	uint64_t v[PD_KEY_WORDS + 1];
	memcpy(v, row, (j->words + 1) * sizeof *v);
	for (size_t w = 0; w <= j->words; w++) {
		if (!w || w == j->words)
			pd_buf_add_c(&j->out, '\t');
		pd_hex_add(&j->out, v[w]);
	}
}

/* Write the rows of full buckets, and the number of these buckets. */
static int write_full(struct joining *j, const struct pd_match_share *share, size_t n, const char *rows, size_t size,
		      struct pd_err *e)
{
	uint64_t full = 0;
	int status = PD_OK;
	for (size_t i = 0; !status && i < n; i++) {
		for (size_t band = 0; band < share->full_words * 64; band++) {
			if (!(share->full[i * share->full_words + band / 64] >> (band % 64) & 1))
				continue;
			full++;
			pd_buf_printf(&j->out, "c\t%zu", band);
			add_row_key(j, rows + i * size);
			pd_buf_add_c(&j->out, '\n');
		}
		status = j->out.n >= 65536 ? write_out(j, e) : PD_OK;
	}
	if (full)
		pd_buf_printf(&j->out, "n\tfull\t%" PRIu64 "\n", full);
	return status;
}

static size_t short_row_bytes(const struct joining *j)
{
	return (j->words + 1 + (size_t)pd_sketch_words(&j->p->sketch)) * 8;
}

/* Search the short rows of a partition of the bands. */
static int search_bands(struct joining *j, struct pd_err *e)
{
	const size_t size = short_row_bytes(j), n = j->bytes.n / size, words = (size_t)pd_sketch_words(&j->p->sketch);
	struct pd_budget budget = budget_for(j, n, true);
	struct pd_match_options o = j->p->match;
	struct pd_match_share share = { .band = PD_BANDS_ALL,
					.part_bits = j->tables->part_bits,
					.part = (uint32_t)j->table.number,
					.full_words = (size_t)(j->tables->n_bands + 63) / 64 };
	uint64_t *keys = pd_alloc((n * j->words + 1) * sizeof *keys), *sketches = pd_alloc((n * words + 1) * sizeof *sketches);
	struct pd_rows rows = { .bits = j->p->bits, .n = n, .sketched = n, .sketch = j->p->sketch, .budget = &budget };
	rows.fingerprints = (struct pd_rows_set){ .words = (int)j->words, .n = n, .keys = keys };
	for (size_t i = 0; i < n; i++) {
		memcpy(keys + i * j->words, j->bytes.p + i * size, j->words * sizeof *keys);
		memcpy(sketches + i * words, j->bytes.p + i * size + (j->words + 1) * 8, words * sizeof *sketches);
	}
	share.sketches = sketches;
	share.full = pd_zalloc((n * share.full_words + 1) * sizeof *share.full);
	o.share = &share;
	o.candidates = PD_CANDIDATES_BANDS;
	struct pd_match_set m = { .rows = &rows, .o = &o, .set = &rows.fingerprints };
	m.links = (struct pd_match_links){ .all_pairs = o.all_pairs, .rows = &rows, .set = m.set };
	struct pd_match_bands bands = { .width = 0 };
	int status = pd_match_bands_find(&bands, &m, NULL, -1, e);
	bool both = j->p->match.candidates == PD_CANDIDATES_BOTH;
	for (size_t i = 0; !status && i < bands.pairs.n; i++) {
		uint32_t a = (uint32_t)(bands.pairs.v[i].key >> 32), b = (uint32_t)bands.pairs.v[i].key;
		int distance = pd_rows_set_distance(m.set, a, b);
		/* Then the pair is found by the step equal, or by fingerprints. */
		if (o.all_pairs && (!distance || (both && distance <= o.k)))
			continue;
		pd_buf_add_z(&j->out, "x\tb");
		add_row_key(j, j->bytes.p + a * size);
		add_row_key(j, j->bytes.p + b * size);
		pd_buf_add_c(&j->out, '\n');
		j->similar++;
		status = j->out.n >= 65536 ? write_out(j, e) : PD_OK;
	}
	if (!status && !o.all_pairs)
		status = write_full(j, &share, n, j->bytes.p, size, e);
	pd_items_release(&bands.pairs);
	free(keys);
	free(sketches);
	free(share.full);
	pd_buf_release(&j->bytes);
	return status;
}

static int join_partition(struct joining *j, struct pd_err *e)
{
	if (j->table.kind == 'b' && j->bytes.n)
		return search_bands(j, e);
	size_t n = j->bytes.n / 8 / j->words;
	int status = PD_OK;
	if (!n || j->is_over) {
		pd_buf_clear(&j->bytes);
		return PD_OK;
	}
	/* The scan reads some keys after the last one. */
	uint64_t *v = pd_alloc((n + 1) * j->words * sizeof *v), *block = pd_alloc((n + PD_SCAN_PAD) * sizeof *block);
	memcpy(v, j->bytes.p, n * j->words * sizeof *v);
	pd_buf_release(&j->bytes);
	j->sorted = pd_alloc((n + PD_SCAN_PAD) * j->words * sizeof *j->sorted);
	n = sort_distinct(j, v, j->sorted, n);
	for (size_t i = 0; i < n; i++)
		block[i] = pd_engine_tables_block(j->tables, v + i * j->words, j->table.number);
	uint32_t *order = pd_order_new(n);
	if (j->tables->shared)
		pd_order_by(order, n, block);
	for (size_t i = 0; i < n; i++)
		memcpy(j->sorted + i * j->words, v + order[i] * j->words, j->words * sizeof *v);
	free(v);
	for (size_t w = 0; w < j->words; w++) {
		j->columns.w[w] = pd_zalloc((n + PD_SCAN_PAD) * sizeof **j->columns.w);
		for (size_t i = 0; i < n; i++)
			j->columns.w[w][i] = j->sorted[i * j->words + w];
	}
	for (size_t from = 0, to; !status && !j->is_over && from < n; from = to) {
		for (to = from + 1; to < n && block[order[to]] == block[order[from]]; to++)
			;
		status = to - from > SMALL ? join_bucket(j, from, to, e) : compare_bucket(j, from, to, e);
	}
	for (size_t w = 0; w < j->words; w++)
		free(j->columns.w[w]);
	free(order);
	free(block);
	free(j->sorted);
	return status;
}

static int take_pack(struct joining *j, const struct pd_engine_lines *in, struct pd_engine_table table, struct pd_err *e)
{
	int status = in->is_new ? join_partition(j, e) : PD_OK;
	size_t before = j->bytes.n, size = table.kind == 'h' ? j->words * 8 : short_row_bytes(j);
	j->table = table;
	if (status)
		return status;
	if ((table.kind != 'h' && table.kind != 'b') || !pd_base64_parse(in->value, &j->bytes) || j->bytes.n == before ||
	    (j->bytes.n - before) % size)
		return pd_engine_lines_foreign(in, e);
	return PD_OK;
}

int pd_engine_reduce_near(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_tables tables;
	struct pd_engine_lines in = { 0 };
	struct pd_engine_table table;
	pd_engine_tables_init(&tables, p);
	struct joining j = { .task = t, .p = p, .tables = &tables, .words = p->bits ? (size_t)p->bits / 64 : 1 };
	int status;
	while ((status = pd_engine_lines_next(&in, e)) == 1)
		if ((status = pd_engine_tables_take(&tables, &in, &table, e)) != 0 || (status = take_pack(&j, &in, table, e)) != 0)
			break;
	if (!status)
		status = join_partition(&j, e);
	if (!status && (j.candidates || j.is_over) && !p->match.all_pairs)
		pd_buf_printf(&j.out, "n\tnear\t%" PRIu64 "\n", j.is_over ? p->near_most + 1 : j.candidates);
	if (!status)
		status = pd_engine_write(&j.out, e);
	pd_engine_count(t, "CANDIDATES", j.candidates + j.similar);
	pd_engine_tables_release(&tables);
	pd_engine_lines_release(&in);
	pd_buf_release(&j.bytes);
	pd_buf_release(&j.out);
	free(j.hits.v);
	return status;
}

/* --- fetch ---
 *
 * The rows of both fingerprints of a candidate, or both rows, are sent to the second fingerprint. */

static int map_candidate(const struct pd_engine_lines *in, const struct pd_engine_params *p, struct pd_buf *out, struct pd_err *e)
{
	struct pd_engine_candidate c;
	int status = pd_engine_candidate_parse(&c, in, p, e);
	for (int i = 0; !status && i < 2 && is_counted(p, &c); i++) {
		pd_buf_add_span(out, c.hex[i]);
		pd_buf_add_z(out, "\tq\t");
		pd_buf_add_span(out, c.hex[1]);
		if (c.kind == 'b') {
			pd_buf_add_c(out, '\t');
			pd_hex_add(out, c.row[i].number);
		}
		pd_buf_add_c(out, '\n');
	}
	return status;
}

static int map_wanted_row(const struct pd_engine_lines *in, const struct pd_engine_params *p, struct pd_buf *out, struct pd_err *e)
{
	struct pd_engine_row_key k;
	int status = pd_engine_row_key(&k, in, p, e);
	if (status || pd_engine_params_one_task(p) || !pd_engine_params_wants(p, &k.fingerprint))
		return status;
	pd_key_hex(&k.fingerprint, p->bits, out);
	pd_buf_add_z(out, "\tr\t");
	pd_buf_add_span(out, in->value);
	pd_buf_add_c(out, '\n');
	return PD_OK;
}

int pd_engine_map_fetch(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_buf out = { 0 };
	int status;
	(void)t;
	while ((status = pd_engine_tagged_next(&in, e)) == 1) {
		pd_buf_clear(&out);
		if (pd_span_is(in.key, "x"))
			status = map_candidate(&in, p, &out, e);
		else if (pd_span_is(in.key, "r"))
			status = map_wanted_row(&in, p, &out, e);
		if (status < 0 || (status = pd_engine_write(&out, e)) != 0)
			break;
	}
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	return status;
}

/* Rows of a fingerprint, and the fingerprints that they are sent to, with the number of a row or for all rows. */
struct sent_rows {
	struct pd_buf rows, to, out; /* lines */
	struct pd_map seen;	     /* hashes of `to` */
};

static bool has_number(struct pd_span row, uint64_t number)
{
	struct pd_span id = pd_tsv_field(row, PD_FP_ID);
	return pd_hash64(id.p, id.n) == number;
}

static int write_fetched(struct sent_rows *f, struct pd_err *e)
{
	struct pd_span to = pd_buf_span(&f->to), line, hex, row;
	int status = PD_OK;
	while (!status && to.n && pd_span_split(&to, '\n', &line)) {
		uint64_t number = 0;
		pd_span_split(&line, '\t', &hex);
		bool all = !line.p || !pd_hex_u64(line, &number);
		pd_buf_clear(&f->out);
		for (struct pd_span rows = pd_buf_span(&f->rows); rows.n && pd_span_split(&rows, '\n', &row);) {
			if (!all && !has_number(row, number))
				continue;
			pd_buf_add_z(&f->out, "w\t");
			pd_buf_add_span(&f->out, hex);
			pd_buf_add_c(&f->out, '\t');
			pd_buf_add(&f->out, row.p, row.n + 1);
		}
		status = pd_engine_write(&f->out, e);
	}
	pd_buf_clear(&f->rows);
	pd_buf_clear(&f->to);
	pd_map_clear(&f->seen, 0);
	return status;
}

int pd_engine_reduce_fetch(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct sent_rows f = { .seen.n = 0 };
	struct pd_span kind;
	int status;
	(void)t;
	(void)p;
	while ((status = pd_engine_lines_next(&in, e)) == 1) {
		if (in.is_new && (status = write_fetched(&f, e)) != 0)
			break;
		if (!pd_span_split(&in.value, '\t', &kind) || (!pd_span_is(kind, "r") && !pd_span_is(kind, "q")) ||
		    (kind.p[0] == 'r' && !pd_engine_row_is_whole(in.value))) {
			status = pd_engine_lines_foreign(&in, e);
			break;
		}
		struct pd_buf *lines = kind.p[0] == 'r' ? &f.rows : &f.to;
		if (kind.p[0] == 'q' && !pd_map_add(&f.seen, pd_map_key(in.value)))
			continue;
		pd_buf_add_span(lines, in.value);
		pd_buf_add_c(lines, '\n');
	}
	if (!status)
		status = write_fetched(&f, e);
	pd_buf_release(&f.rows);
	pd_buf_release(&f.to);
	pd_buf_release(&f.out);
	pd_map_release(&f.seen);
	pd_engine_lines_release(&in);
	return status;
}

/* --- verify --- */

int pd_engine_map_verify(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_engine_candidate c;
	struct pd_buf out = { 0 };
	int status;
	(void)t;
	while ((status = pd_engine_tagged_next(&in, e)) == 1) {
		struct pd_span value = in.value, hex = { NULL, 0 };
		bool candidate = pd_span_is(in.key, "x");
		if (candidate && (status = pd_engine_candidate_parse(&c, &in, p, e)) != 0)
			break;
		if (candidate ? !is_counted(p, &c) : !pd_span_is(in.key, "w"))
			continue;
		if (candidate)
			hex = c.hex[1];
		else if (!pd_span_split(&value, '\t', &hex))
			hex = pd_span(NULL, 0);
		if ((status = pd_engine_write_line(&out, hex, candidate ? "\tx\t" : "\tw\t", value, e)) != 0)
			break;
	}
	pd_buf_release(&out);
	pd_engine_lines_release(&in);
	return status;
}

int pd_engine_reduce_verify(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_lines in = { 0 };
	struct pd_engine_candidate c;
	struct pd_engine_buckets b = { .task = t, .p = p, .table.kind = 'h', .compares = true };
	struct pd_span kind;
	int status;
	while ((status = pd_engine_lines_next(&in, e)) == 1) {
		if (in.is_new && b.n_waiting >= PD_ENGINE_TOGETHER && (status = pd_engine_buckets_end(&b, e)) != 0)
			break;
		struct pd_engine_lines line = in;
		if (!pd_span_split(&line.value, '\t', &kind))
			kind = pd_span(NULL, 0);
		if (pd_span_is(kind, "x")) {
			status = pd_engine_candidate_parse(&c, &line, p, e);
			if (!status)
				pd_engine_buckets_add_candidate(&b, &c);
		} else if (pd_span_is(kind, "w") && pd_engine_row_is_whole(line.value)) {
			status = pd_engine_buckets_add_new(&b, line.value, e);
		} else {
			status = pd_engine_lines_foreign(&in, e);
		}
		if (status)
			break;
	}
	if (!status)
		status = pd_engine_buckets_end(&b, e);
	pd_engine_count(t, "PAIRS", b.pairs);
	pd_engine_buckets_release(&b);
	pd_engine_lines_release(&in);
	return status;
}
