/* SPDX-License-Identifier: MIT */
#include "rows/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/columns.h"
#include "base/params.h"
#include "base/tempfile.h"
#include "base/url.h"
#include "rows/keyfile.h"
#include "rows/intake.h"
#include "rows/order.h"

/* A second header must say the same as the first. */
int pd_intake_must(struct pd_row_intake *in, struct pd_span must, const char *path, struct pd_err *e)
{
	if (!in->rows->must.n) {
		pd_buf_set(&in->rows->must, must);
		return PD_OK;
	}
	pd_params_differ(pd_buf_span(&in->rows->must), must, &in->scratch);
	if (!in->scratch.n)
		return PD_OK;
	return pd_fail(e, PD_ERR_PARAMS, "%s: fingerprints made with other parameters cannot be matched (%s)", path, in->scratch.p);
}

static int check_header(struct pd_row_intake *in, struct pd_err *e)
{
	in->in.new_header = false;
	in->file = in->in.path;
	pd_sketch_intake_header(&in->sketches, pd_buf_span(&in->in.header.recorded));
	return pd_intake_must(in, pd_buf_span(&in->in.header.must), in->in.path, e);
}

/* Rows that lost their header still say with which parameters they were made. */
int pd_intake_params(struct pd_row_intake *in, struct pd_span p, const char *where, uint64_t line, struct pd_err *e)
{
	char *known = in->rows->params;
	if (!p.n || pd_span_is(p, "-") || p.n >= sizeof in->rows->params)
		return PD_OK;
	if (!known[0])
		memcpy(known, p.p, p.n);
	if (pd_span_is(p, known))
		return PD_OK;
	return pd_fail(e, PD_ERR_PARAMS, "%s:%" PRIu64 ": made with other parameters (%.*s) than the rows before (%s)", where, line,
		       (int)p.n, p.p, known);
}

/* Room for an array's element number n. */
static void *room(struct pd_row_intake *in, struct pd_array *b, size_t n, size_t elem)
{
	return pd_array_room(b, in->o->budget, (n + 1) * elem);
}

/* Members that are rows from 0 on without a gap need no numbers. */
static void add_row(struct pd_row_intake *in, struct pd_rows_set *set, int which)
{
	uint32_t row = (uint32_t)in->rows->n;
	if (!set->row && row == set->n)
		return;
	bool numbered = set->row != NULL;
	set->row = room(in, &in->rows->memory.row[which], set->n, sizeof *set->row);
	for (size_t i = 0; !numbered && i < set->n; i++)
		set->row[i] = (uint32_t)i;
	set->row[set->n] = row;
}

static void add_key(struct pd_row_intake *in, struct pd_rows_set *set, int which, const uint64_t *words)
{
	size_t w = (size_t)set->words;
	add_row(in, set, which);
	set->keys = room(in, &in->rows->memory.keys[which], set->n, w * sizeof *words);
	memcpy(set->keys + set->n * w, words, w * sizeof *words);
	set->n++;
}

int pd_intake_bits(struct pd_row_intake *in, int bits, const char *where, uint64_t line, struct pd_err *e)
{
	if (in->rows->bits && in->rows->bits != bits)
		return pd_fail(e, PD_ERR_PARAMS, "%s:%" PRIu64 ": a fingerprint of %d bits after fingerprints of %d", where, line, bits,
			       in->rows->bits);
	in->rows->bits = bits;
	in->rows->prints.words = bits / 64;
	return PD_OK;
}

static int read_fingerprint(struct pd_row_intake *in, struct pd_span hex, struct pd_key *key, struct pd_err *e)
{
	int bits;
	if (!pd_key_parse(hex, &bits, key)) {
		pd_buf_clear(&in->scratch);
		pd_tsv_add(&in->scratch, pd_span(hex.p, hex.n < 64 ? hex.n : 64));
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": '%s' is no fingerprint of 16, 32 or 64 hex digits",
			       in->in.path, in->in.line_no, in->scratch.p);
	}
	return pd_intake_bits(in, bits, in->in.path, in->in.line_no, e);
}

void pd_intake_print(struct pd_row_intake *in, const uint64_t *key)
{
	add_key(in, &in->rows->prints, 0, key);
}

void pd_intake_digest(struct pd_row_intake *in, const uint64_t *key)
{
	in->rows->digests.words = 2;
	add_key(in, &in->rows->digests, 1, key);
}

/* A page without a fingerprint is known by its text alone; "-" matches nothing. */
static void read_digest(struct pd_row_intake *in)
{
	struct pd_key key;
	int bits;
	if (pd_key_parse(in->in.fields[PD_FP_TEXT_DIGEST], &bits, &key) && bits == 128)
		pd_intake_digest(in, key.w);
}

/* `value`, `host`: scratch. */
static uint64_t host_of(struct pd_span url, struct pd_buf *value, struct pd_buf *host)
{
	pd_tsv_value(url, value);
	pd_url_host(pd_buf_span(value), host);
	return pd_hash64(host->p, host->n);
}

static void add_host(struct pd_row_intake *in, struct pd_span url)
{
	if (!in->o->hosts)
		return;
	in->rows->host = room(in, &in->rows->memory.host, in->rows->n, sizeof *in->rows->host);
	in->rows->host[in->rows->n] = host_of(url, &in->value, &in->name);
}

static int read_sketch(struct pd_row_intake *in, struct pd_err *e)
{
	if (in->in.path != in->file)
		pd_sketch_intake_file(&in->sketches);
	in->file = in->in.path;
	pd_buf_clear(&in->sketch);
	if (pd_sketch_intake_row(&in->sketches, in->in.fields[PD_FP_SKETCH], &in->sketch))
		return PD_OK;
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": the sketch is not hexadecimal", in->in.path, in->in.line_no);
}

static void add_side(struct pd_row_intake *in)
{
	if (!in->o->n_against)
		return;
	in->rows->side = room(in, &in->rows->memory.side, in->rows->n, sizeof *in->rows->side);
	in->rows->side[in->rows->n] = in->side;
}

int pd_intake_line(struct pd_row_intake *in, struct pd_span line, struct pd_span url, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	if (rows->n == UINT32_MAX / 2)
		return pd_fail(e, PD_ERR_LIMIT, "over %u rows", UINT32_MAX / 2);
	add_host(in, url);
	add_side(in);
	rows->at.low = room(in, &rows->memory.low, rows->n, sizeof *rows->at.low);
	rows->at.high = room(in, &rows->memory.high, rows->n, sizeof *rows->at.high);
	fwrite_unlocked(in->sketch.p, 1, in->sketch.n - 1, in->spool);
	fwrite_unlocked(&in->content, sizeof in->content, 1, in->spool);
	fwrite_unlocked(in->sketch.p + in->sketch.n - 1, 1, 1, in->spool);
	in->spooled += in->sketch.n + sizeof in->content;
	if (in->spooled >> 40)
		return pd_fail(e, PD_ERR_LIMIT, "rows of over a tebibyte");
	rows->at.low[rows->n] = (uint32_t)in->spooled;
	rows->at.high[rows->n++] = (uint8_t)(in->spooled >> 32);
	in->spooled += line.n;
	fwrite_unlocked(line.p, 1, line.n, in->spool);
	return PD_OK;
}

static uint64_t content_of(struct pd_span digest)
{
	return digest.n && !pd_span_is(digest, "-") ? pd_hash64(digest.p, digest.n) | 1 : 0;
}

static int spool_row(struct pd_row_intake *in, struct pd_err *e)
{
	static const int kept[] = { PD_FP_ID, PD_FP_URL, PD_FP_FETCH_TIME, PD_FP_TEXT_BYTES, PD_FP_QUALITY,
				    PD_FP_TERMS, PD_FP_CONFIDENCE, PD_FP_LANGUAGES, PD_FP_SUBJECT };
	pd_buf_clear(&in->scratch);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		struct pd_span f = in->in.fields[kept[i]];
		pd_buf_add_span(&in->scratch, f.n ? f : pd_span("-", 1));
		pd_buf_add_c(&in->scratch, i + 1 < sizeof kept / sizeof *kept ? '\t' : '\n');
	}
	in->content = content_of(in->in.fields[PD_FP_CONTENT_DIGEST]);
	return pd_intake_line(in, pd_buf_span(&in->scratch), in->in.fields[PD_FP_URL], e);
}

static int take_row(struct pd_row_intake *in, struct pd_err *e)
{
	struct pd_span hex = in->in.fields[PD_FP_FINGERPRINT], id = in->in.fields[PD_FP_ID];
	if (!hex.n || !id.n || pd_span_is(id, "-"))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": a row without fingerprint or id", in->in.path, in->in.line_no);
	struct pd_key key;
	bool print = !pd_span_is(hex, "-");
	int status = pd_intake_params(in, in->in.fields[PD_FP_PARAMS], in->in.path, in->in.line_no, e);
	if (!status && print)
		status = read_fingerprint(in, hex, &key, e);
	if (!status)
		status = read_sketch(in, e);
	if (status)
		return status;
	if (print)
		pd_intake_print(in, key.w);
	else
		read_digest(in);
	return spool_row(in, e);
}

/* Rows of the text files that in->in names. */
static int take_text(struct pd_row_intake *in, struct pd_err *e)
{
	int status;
	while ((status = pd_tsv_next(&in->in, e)) != 0) {
		if (status > 0 && in->in.new_header)
			status = check_header(in, e);
		if (status >= 0)
			status = take_row(in, e);
		if (status == PD_ERR_FORMAT) {
			in->rows->bad++;
			in->o->bad_row(in->o->ctx, e->text);
		} else if (status) {
			return status;
		}
	}
	/* A file may be a header and nothing else: it counts when nothing better was seen. */
	return in->in.new_header ? check_header(in, e) : PD_OK;
}

static int take_file(struct pd_row_intake *in, char *path, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	rows->origin = pd_grow(rows->origin, rows->n_origins, &rows->cap_origins, sizeof *rows->origin);
	rows->origin[rows->n_origins++] = (struct pd_rows_origin){ path, rows->n };
	in->content = 0;	/* key files do not tell */
	if (pd_keyfile_is(path))
		return pd_intake_keyfile(in, path, e);
	in->in.paths = &path;
	in->in.n_paths = 1;
	in->in.at = 0;
	return take_text(in, e);
}

static int take_files(struct pd_row_intake *in, char **paths, int n_paths, uint8_t side, struct pd_err *e)
{
	int status = PD_OK;
	in->side = side;
	for (int i = 0; !status && i < n_paths; i++)
		status = take_file(in, paths[i], e);
	return status;
}

static int take_all(struct pd_row_intake *in, struct pd_err *e)
{
	static char dash[] = "-";
	char *standard_input[] = { dash };
	const struct pd_rows_options *o = in->o;
	int status = take_files(in, o->n_paths ? o->paths : standard_input, o->n_paths ? o->n_paths : 1, PD_SIDE_A, e);
	return status ? status : take_files(in, o->against, o->n_against, PD_SIDE_B, e);
}

static int map_spool(struct pd_row_intake *in, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	if (fflush(in->spool) || ferror(in->spool))
		return pd_fail_errno(e, "cannot write the temporary file (choose another place with --tmp-dir)");
	rows->spool_size = in->spooled;
	if (!in->spooled)
		return PD_OK;
	rows->spool = mmap(NULL, in->spooled, PROT_READ, MAP_PRIVATE, fileno(in->spool), 0);
	if (rows->spool == MAP_FAILED) {
		rows->spool = NULL;
		return pd_fail_errno(e, "cannot map the temporary file");
	}
	return PD_OK;
}

int pd_rows_read(struct pd_rows *rows, const struct pd_rows_options *o, struct pd_err *e)
{
	*rows = (struct pd_rows){ .budget = o->budget };
	struct pd_row_intake in = { .rows = rows,
			     .o = o,
			     .in = { .kind = "fp",
				     .columns = pd_fp_columns,
				     .v1_columns = pd_fp_columns } };
	int status = PD_ERR_SYSTEM;
	in.spool = pd_tempfile_open(o->tmp_dir, e);
	if (in.spool)
		status = take_all(&in, e);
	if (!status)
		status = map_spool(&in, e);
	pd_sketch_intake_close(&in.sketches, rows);
	if (!status)
		status = pd_budget_check(o->budget, e);
	if (!status)
		status = pd_rows_order(rows, e);
	free(rows->origin);
	rows->origin = NULL;
	rows->n_origins = rows->cap_origins = 0;
	pd_buf_add_span(&rows->totals, pd_buf_span(&in.in.totals));
	if (in.spool)
		fclose(in.spool);
	pd_tsv_release(&in.in);
	pd_buf_release(&in.scratch);
	pd_buf_release(&in.value);
	pd_buf_release(&in.sketch);
	pd_buf_release(&in.name);
	return status;
}

struct pd_span pd_rows_line(const struct pd_rows *rows, uint32_t row)
{
	uint64_t at = pd_offset(&rows->at, row);
	struct pd_span line = pd_span(rows->spool + at, rows->spool_size - at);
	line.n = (size_t)((const char *)memchr(line.p, '\n', line.n) - line.p);
	return line;
}

struct pd_rows_view pd_rows_view(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span f[5];
	pd_tsv_fields(pd_rows_line(rows, row), f, 5);
	return (struct pd_rows_view){ f[0], f[1], f[2], f[3], f[4] };
}

struct pd_facts pd_rows_facts(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span f[PD_ROW_FIELDS] = { { NULL, 0 } };
	if (!rows->spool)
		return PD_FACTS_UNKNOWN;
	pd_tsv_fields(pd_rows_line(rows, row), f, PD_ROW_FIELDS);
	return pd_facts_read(f[5], f[6], f[7], f[8]);
}

uint64_t pd_rows_host(const struct pd_rows *rows, uint32_t row, struct pd_buf scratch[2])
{
	if (rows->host)
		return rows->host[row];
	if (!rows->spool)
		return pd_hash64("", 0);
	return host_of(pd_rows_view(rows, row).url, &scratch[0], &scratch[1]);
}

void pd_rows_release(struct pd_rows *rows)
{
	if (rows->spool)
		munmap(rows->spool, rows->spool_size);
	struct pd_rows_memory *m = &rows->memory;
	struct pd_array *blocks[] = { &m->row[0], &m->row[1], &m->keys[0], &m->keys[1], &m->low, &m->high, &m->host, &m->side };
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
		pd_array_release(blocks[i]);
	pd_buf_release(&rows->must);
	pd_buf_release(&rows->totals);
	*rows = (struct pd_rows){ 0 };
}
