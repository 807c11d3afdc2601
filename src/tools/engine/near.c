/* SPDX-License-Identifier: MIT */
#include "tools/engine/near.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "index/join.h"
#include "index/scan.h"
#include "row/tsv.h"

/* --- candidates --- */

int pd_engine_candidate_parse(struct pd_engine_candidate *c, const struct pd_engine_lines *in, const struct pd_engine_params *p,
			      struct pd_err *e)
{
	struct pd_span f[4];
	int bits[2];
	if (pd_tsv_fields(in->value, f, 4) != 3 || !pd_span_is(f[0], "h"))
		return pd_engine_lines_foreign(in, e);
	for (int i = 0; i < 2; i++) {
		c->hex[i] = f[1 + i];
		if (!pd_key_parse(f[1 + i], &bits[i], &c->fingerprint[i]) || bits[i] != p->bits)
			return pd_engine_lines_foreign(in, e);
	}
	return PD_OK;
}

/* Return whether a candidate counts: if fingerprints are dense, they are compared only by sketches, or by one task. */
static bool is_counted(const struct pd_engine_params *p)
{
	return !p->dense && !pd_engine_params_one_task(p);
}

/* --- near: map --- */

struct sending {
	const struct pd_engine_params *p;
	struct pd_engine_packs packs;
	struct pd_key last, fingerprint;
	struct pd_span row;
	bool is_repeated; /* the row before had the same fingerprint */
	struct pd_buf out;
};

static int send_to(void *ctx, char kind, struct pd_span key, struct pd_err *e)
{
	struct sending *s = ctx;
	if (kind == 'h')
		return s->is_repeated ? PD_OK
				      : pd_engine_packs_add(&s->packs, pd_names_add(&s->packs.keys, key),
							    pd_span((const char *)s->fingerprint.w, (size_t)s->p->bits / 8), e);
	pd_buf_set(&s->out, key);
	pd_buf_add_c(&s->out, '\t');
	pd_buf_add_span(&s->out, s->row);
	pd_buf_add_c(&s->out, '\n');
	return pd_engine_write(&s->out, e);
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
		s.row = in.value;
		if ((status = pd_engine_tables_near(&tables, &row, send_to, &s, e)) != 0)
			break;
	}
	if (!status)
		status = pd_engine_packs_end(&s.packs, e);
	pd_engine_count(t, "REPRESENTATIVES", rows);
	pd_engine_packs_release(&s.packs);
	pd_engine_tables_release(&tables);
	pd_engine_lines_release(&in);
	pd_buf_release(&s.out);
	return status;
}

/* --- near: reduce ---
 *
 * The fingerprints of a partition of a table are sorted by their buckets, and those of each bucket are joined. */

#define SMALL 1024 /* number of fingerprints of a bucket that are all compared with each other */
#define PIECE 256  /* at a time */

struct joining {
	const struct pd_engine *task;
	const struct pd_engine_params *p;
	const struct pd_engine_tables *tables;
	struct pd_engine_table table;
	size_t words;
	struct pd_buf bytes; /* fingerprints as they come */
	struct pd_index_columns columns;
	uint64_t *sorted; /* by bucket */
	struct pd_index_hits hits;
	uint64_t candidates;
	bool is_over; /* there are more than match would write */
	struct pd_buf out;
};

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
	if (j->out.n < 65536)
		return PD_OK;
	int status = pd_engine_write(&j->out, e);
	pd_buf_clear(&j->out);
	return status;
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

static int join_bucket(struct joining *j, size_t from, size_t to, struct pd_err *e)
{
	struct pd_budget budget = { .limit = j->task->memory ? j->task->memory : pd_memory_default(), .tmp_dir = j->task->tmp_dir };
	struct pd_index_limit limit = { .most = j->p->near_most };
	struct pd_index_keys keys = { .bits = j->p->bits, .n = to - from, .v = j->sorted + from * j->words };
	struct pd_index_pairs pairs = { 0 };
	struct pd_index_plan plan;
	size_t least = pd_memory_least(keys.n, false);
	budget.limit = budget.limit < least ? least : budget.limit;
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

static int join_partition(struct joining *j, struct pd_err *e)
{
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

static int take_fingerprints(struct joining *j, const struct pd_engine_lines *in, struct pd_engine_table table, struct pd_err *e)
{
	int status = in->is_new ? join_partition(j, e) : PD_OK;
	size_t before = j->bytes.n;
	j->table = table;
	if (status)
		return status;
	if (!pd_engine_base64_parse(in->value, &j->bytes) || j->bytes.n == before || (j->bytes.n - before) % (j->words * 8))
		return pd_engine_lines_foreign(in, e);
	return PD_OK;
}

int pd_engine_reduce_near(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e)
{
	struct pd_engine_tables tables;
	struct pd_engine_lines in = { 0 };
	struct pd_engine_table table;
	pd_engine_tables_init(&tables, p);
	struct pd_engine_buckets b = { .task = t, .p = p, .tables = &tables };
	struct joining j = { .task = t, .p = p, .tables = &tables, .words = p->bits ? (size_t)p->bits / 64 : 1 };
	int status;
	while ((status = pd_engine_lines_next(&in, e)) == 1) {
		if ((status = pd_engine_tables_take(&tables, &in, &table, e)) != 0)
			break;
		if (table.kind == 'h')
			status = take_fingerprints(&j, &in, table, e);
		else if (!pd_engine_row_is_whole(in.value))
			status = pd_engine_lines_foreign(&in, e);
		else
			status = pd_engine_buckets_add(&b, table, in.is_new, in.value, e);
		if (status)
			break;
	}
	if (!status)
		status = join_partition(&j, e);
	if (!status && (j.candidates || j.is_over) && !p->match.all_pairs)
		pd_buf_printf(&j.out, "n\tnear\t%" PRIu64 "\n", j.is_over ? p->near_most + 1 : j.candidates);
	if (!status)
		status = pd_engine_write(&j.out, e);
	if (!status)
		status = pd_engine_buckets_end(&b, e);
	pd_engine_count(t, "CANDIDATES", j.candidates);
	pd_engine_count(t, "PAIRS", b.pairs);
	pd_engine_buckets_release(&b);
	pd_engine_tables_release(&tables);
	pd_engine_lines_release(&in);
	pd_buf_release(&j.bytes);
	pd_buf_release(&j.out);
	free(j.hits.v);
	return status;
}

/* --- fetch ---
 *
 * The rows of both fingerprints of a candidate are sent to the second one. */

static int map_candidate(const struct pd_engine_lines *in, const struct pd_engine_params *p, struct pd_buf *out, struct pd_err *e)
{
	struct pd_engine_candidate c;
	int status = pd_engine_candidate_parse(&c, in, p, e);
	for (int i = 0; !status && is_counted(p) && i < 2; i++) {
		pd_buf_add_span(out, c.hex[i]);
		pd_buf_add_z(out, "\tq\t");
		pd_buf_add_span(out, c.hex[1]);
		pd_buf_add_c(out, '\n');
	}
	return status;
}

static int map_wanted_row(const struct pd_engine_lines *in, const struct pd_engine_params *p, struct pd_buf *out, struct pd_err *e)
{
	struct pd_span rest = in->value, hex;
	struct pd_key key;
	int bits;
	if (!pd_span_split(&rest, '\t', &hex) || !pd_key_parse(hex, &bits, &key) || bits != p->bits)
		return pd_engine_lines_foreign(in, e);
	if (!is_counted(p) || !pd_engine_params_wants(p, &key))
		return PD_OK;
	pd_key_hex(&key, bits, out);
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

/* Rows of a fingerprint, and the fingerprints that they are sent to. */
struct fetched {
	struct pd_buf rows, to, out; /* lines */
	struct pd_map seen;	     /* hashes of `to` */
};

static int write_fetched(struct fetched *f, struct pd_err *e)
{
	struct pd_span to = pd_buf_span(&f->to), hex, row;
	int status = PD_OK;
	while (!status && to.n && pd_span_split(&to, '\n', &hex)) {
		pd_buf_clear(&f->out);
		for (struct pd_span rows = pd_buf_span(&f->rows); rows.n && pd_span_split(&rows, '\n', &row);) {
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
	struct fetched f = { .seen.n = 0 };
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
		if (!(candidate && is_counted(p)) && !pd_span_is(in.key, "w"))
			continue;
		if (candidate && (status = pd_engine_candidate_parse(&c, &in, p, e)) != 0)
			break;
		if (candidate)
			hex = c.hex[1];
		else if (!pd_span_split(&value, '\t', &hex))
			hex = pd_span(NULL, 0);
		pd_buf_clear(&out);
		pd_buf_add_span(&out, hex);
		pd_buf_add_z(&out, candidate ? "\tx\t" : "\tw\t");
		pd_buf_add_span(&out, value);
		pd_buf_add_c(&out, '\n');
		if ((status = pd_engine_write(&out, e)) != 0)
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
				pd_engine_buckets_add_candidate(&b, c.fingerprint);
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
