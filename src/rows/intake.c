/* SPDX-License-Identifier: MIT
 *
 * Rows go through one way, wherever they come from: key and host or language into memory, sketch and line into the spool.
 *
 * The sketch lies before its row's line, from where pairs are verified with it: sketches cost disk, not memory.
 *
 *	[words of the sketch, as they lie in memory][one byte: its kind, 0: none][the row's line ... \n]
 *	                                                                         ^ at[row]
 *
 * Only sketches of one kind are compared: that of most rows, then the larger, whatever the order of the files.  Rows
 * without a header are taken for the default kind.
 */
#include "rows/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/codec.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/tsv.h"
#include "rows/keyfile.h"

#define SKETCH_KINDS 16	/* more in one run: not compared */

struct sketch_kinds {
	struct pd_sketch_options kind[SKETCH_KINDS];
	uint64_t rows[SKETCH_KINDS];
	int n_kinds, current;		/* current: that of the rows now read, -1: one of another size or none known */
	uint64_t others;		/* sketches that fit no kind */
};

struct intake {
	struct pd_rows *rows;
	const struct pd_rows_options *o;
	struct pd_tsv_reader in;
	FILE *spool;
	uint64_t spooled;
	uint8_t side;			/* of the files now read: PD_SIDE_A or PD_SIDE_B */
	const char *file;		/* which the last row came from */
	struct sketch_kinds sketches;
	struct pd_buf scratch, host[2], recorded, sketch;
	uint64_t content;		/* hash of the row's content digest; 0: not known */
	const char *columns[PD_FP_COLUMNS + PD_METHODS_MAX + 1];	/* those of all rows, then of all methods */
	struct pd_buf idf, synonyms;	/* tables that the first header's rows were made with */
	bool methods_known;		/* from the first header */
};

static bool same_kind(const struct pd_sketch_options *a, const struct pd_sketch_options *b)
{
	return a->minima == b->minima && a->bits == b->bits && a->shingle == b->shingle;
}

static void set_kind(struct sketch_kinds *in, const struct pd_sketch_options *o)
{
	int i = 0;
	while (i < in->n_kinds && !same_kind(&in->kind[i], o))
		i++;
	if (i == SKETCH_KINDS || !o->minima) {
		in->current = -1;
		return;
	}
	in->kind[i] = *o;
	in->n_kinds += i == in->n_kinds;
	in->current = i;
}

/* A file begins that has no header yet. */
static void set_default_kind(struct sketch_kinds *in)
{
	set_kind(in, &PD_SKETCH_DEFAULT);
}

/* A header was read: `recorded` holds its recorded parameters. */
static void set_recorded_kind(struct sketch_kinds *in, struct pd_span recorded)
{
	struct pd_sketch_options o = { 0 };
	struct pd_span name = pd_param(recorded, "sketch");
	struct pd_err e;
	if (name.p)
		pd_sketch_read(&o, name, &e);
	set_kind(in, &o);
}

/* The bytes that go before the line.  False: not hexadecimal. */
static bool add_sketch_column(struct sketch_kinds *in, struct pd_span column, struct pd_buf *out)
{
	struct pd_sketch s = { 0 };
	if (column.n && !pd_span_is(column, "-")) {
		const struct pd_sketch_options *o = in->current < 0 ? NULL : &in->kind[in->current];
		if (!o || column.n != (size_t)pd_sketch_words(o) * 16)
			in->others++;
		else if (!pd_sketch_parse(o, column, &s))
			return false;
		else
			in->rows[in->current]++;
	}
	if (s.present)
		pd_buf_add(out, s.w, (size_t)pd_sketch_words(&in->kind[in->current]) * sizeof *s.w);
	pd_buf_add_c(out, (char)(s.present ? in->current + 1 : 0));
	return true;
}

/* The same for words as they lie in memory (NULL: none).  False: not as many as the kind has. */
static bool add_sketch_words(struct sketch_kinds *in, const uint64_t *words, uint32_t n_words, struct pd_buf *out)
{
	bool there = words && in->current >= 0;
	if (there && n_words != (uint32_t)pd_sketch_words(&in->kind[in->current]))
		return false;
	in->others += words && !there;
	if (there) {
		in->rows[in->current]++;
		pd_buf_add(out, words, n_words * sizeof *words);
	}
	pd_buf_add_c(out, (char)(there ? in->current + 1 : 0));
	return true;
}

/* Is kind i to be preferred to kind j? */
static bool is_better(const struct sketch_kinds *in, int i, int j)
{
	const struct pd_sketch_options *a = &in->kind[i], *b = &in->kind[j];
	if (in->rows[i] != in->rows[j])
		return in->rows[i] > in->rows[j];
	if (a->minima * a->bits != b->minima * b->bits)
		return a->minima * a->bits > b->minima * b->bits;
	return a->minima != b->minima ? a->minima > b->minima : a->shingle > b->shingle;
}

/* Which kind is compared: fills rows->sketch, sketch_kind, sketched and other_sketches. */
static void choose_kind(const struct sketch_kinds *in, struct pd_rows *rows)
{
	int best = 0;
	uint64_t all = in->others;
	for (int i = 0; i < in->n_kinds; i++) {
		all += in->rows[i];
		if (is_better(in, i, best))
			best = i;
	}
	rows->sketch = in->kind[best];
	rows->sketch_kind = best + 1;
	rows->sketched = in->rows[best];
	rows->other_sketches = all - in->rows[best];
}

/* A second header must say the same as the first. */
static int check_must(struct intake *in, struct pd_span must, const char *path, struct pd_err *e)
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

/* --- methods --- */

/* What signed the rows of a header; rows of a header that does not say have fingerprints. */
static int read_signed_by(struct intake *in, struct pd_span recorded, struct pd_methods *out, struct pd_err *e)
{
	struct pd_span list = pd_param(recorded, "methods");
	struct pd_err why;
	if (!pd_methods_read(out, list.n ? list : pd_span_z("simhash"), PD_METHOD_SIGNS, in->o->paper, &why))
		return PD_OK;
	return pd_fail(e, PD_ERR_PARAMS, "%s: signed by a method that this program does not know (%.200s)", in->in.path, why.text);
}

/* What is joined: what was asked for, or all that the first header names. */
static void choose_methods(struct intake *in, const struct pd_methods *signed_by)
{
	struct pd_methods *to = &in->rows->methods;
	bool asked = in->o->asked && in->o->asked->n;
	*to = asked ? *in->o->asked : *signed_by;
	if (to->n == 1 && to->v[0].method->kind == PD_SIGN_BITS)
		to->n = 0;
}

/* Values made with one table say nothing beside those made with another. */
static int check_table(struct intake *in, struct pd_span recorded, const char *table, bool first, struct pd_buf *known, struct pd_err *e)
{
	const struct pd_methods *wanted = &in->rows->methods;
	struct pd_span given = pd_param(recorded, table);
	const char *user = NULL;
	for (int i = 0; i < wanted->n && !user; i++) {
		const struct pd_method *m = wanted->v[i].method;
		user = (known == &in->idf ? m->uses_idf : m->uses_synonyms) ? m->name : NULL;
	}
	if (!user)
		return PD_OK;
	if (!given.n)
		given = pd_span_z("none");
	if (first)
		pd_buf_set(known, given);
	if (pd_span_eq(given, pd_buf_span(known)))
		return PD_OK;
	return pd_fail(e, PD_ERR_PARAMS, "%s: '%s' signed its rows with another table (%s=%.*s) than those before (%s=%s): sign both with the same "
		       "--%s", in->in.path, user, table, (int)given.n, given.p, table, pd_buf_z(known), table);
}

static int check_methods(struct intake *in, struct pd_span recorded, struct pd_err *e)
{
	struct pd_methods signed_by, *wanted = &in->rows->methods;
	bool first = !in->methods_known, asked = in->o->asked && in->o->asked->n;
	if (!first && !wanted->n)
		return PD_OK;
	int status = read_signed_by(in, recorded, &signed_by, e);
	if (status)
		return status;
	if (first)
		choose_methods(in, &signed_by);
	in->methods_known = true;
	status = check_table(in, recorded, "idf", first, &in->idf, e);
	if (!status)
		status = check_table(in, recorded, "synonyms", first, &in->synonyms, e);
	if (status)
		return status;
	for (int i = 0; i < wanted->n; i++) {
		struct pd_method_spec *w = &wanted->v[i], given;
		int at = pd_methods_find(&signed_by, pd_span_z(w->method->name));
		if (at < 0)
			return pd_fail(e, PD_ERR_PARAMS, "%s: its rows were not signed by '%s': run fp --method=%s, or name others with match --method",
				       in->in.path, w->method->name, w->method->name);
		given = *w;
		pd_method_spec_take(&given, &signed_by.v[at], PD_METHOD_SIGNS);
		if (first)
			*w = given;
		else if (memcmp(given.value, w->value, sizeof w->value))
			return pd_fail(e, PD_ERR_PARAMS, "%s: '%s' signed its rows with other parameters than those before", in->in.path, w->method->name);
	}
	if (asked && !wanted->n && pd_methods_find(&signed_by, pd_span_z("simhash")) < 0)
		return pd_fail(e, PD_ERR_PARAMS, "%s: its rows were not signed by 'simhash': run fp with it, or name others with match --method", in->in.path);
	return PD_OK;
}

/* The values of the methods, behind the columns that all rows have. */
static int add_values(struct intake *in, struct pd_err *e)
{
	const struct pd_methods *m = &in->rows->methods;
	for (int i = 0; i < m->n; i++) {
		int c = PD_FP_COLUMNS;
		if (m->v[i].method->kind == PD_SIGN_BITS)
			continue;
		while (strcmp(in->columns[c], m->v[i].method->name))
			c++;
		if (!in->in.fields[c].n)
			return pd_fail(e, PD_ERR_PARAMS, "%s:%" PRIu64 ": a row without the column '%s'", in->in.path, in->in.line_no, in->columns[c]);
		pd_buf_add_c(&in->scratch, '\t');
		pd_buf_add_span(&in->scratch, in->in.fields[c]);
	}
	return PD_OK;
}

/* --- rows of text files --- */

static int check_header(struct intake *in, struct pd_err *e)
{
	in->in.new_header = false;
	in->file = in->in.path;
	set_recorded_kind(&in->sketches, pd_buf_span(&in->in.header.recorded));
	int status = check_methods(in, pd_buf_span(&in->in.header.recorded), e);
	return status ? status : check_must(in, pd_buf_span(&in->in.header.must), in->in.path, e);
}

/* Rows that lost their header still say with which parameters they were made. */
static int check_params(struct intake *in, struct pd_span p, const char *where, uint64_t line, struct pd_err *e)
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
static void *room(struct intake *in, struct pd_array *b, size_t n, size_t elem)
{
	return pd_array_room(b, in->o->budget, (n + 1) * elem);
}

/* Members that are rows from 0 on without a gap need no numbers. */
static void add_row(struct intake *in, struct pd_rows_set *set, int which)
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

static void add_key(struct intake *in, struct pd_rows_set *set, int which, const uint64_t *words)
{
	size_t w = (size_t)set->words;
	add_row(in, set, which);
	set->keys = room(in, &in->rows->memory.keys[which], set->n, w * sizeof *words);
	memcpy(set->keys + set->n * w, words, w * sizeof *words);
	set->n++;
}

static int check_bits(struct intake *in, int bits, const char *where, uint64_t line, struct pd_err *e)
{
	if (in->rows->bits && in->rows->bits != bits)
		return pd_fail(e, PD_ERR_PARAMS, "%s:%" PRIu64 ": a fingerprint of %d bits after fingerprints of %d", where, line, bits,
			       in->rows->bits);
	in->rows->bits = bits;
	in->rows->prints.words = bits / 64;
	return PD_OK;
}

static int read_fingerprint(struct intake *in, struct pd_span hex, struct pd_key *key, struct pd_err *e)
{
	int bits;
	if (!pd_key_parse(hex, &bits, key)) {
		pd_buf_clear(&in->scratch);
		pd_tsv_add(&in->scratch, pd_span(hex.p, hex.n < 64 ? hex.n : 64));
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": '%s' is not a fingerprint of 16, 32 or 64 hex digits",
			       in->in.path, in->in.line_no, in->scratch.p);
	}
	return check_bits(in, bits, in->in.path, in->in.line_no, e);
}

static void add_print(struct intake *in, const uint64_t *key)
{
	add_key(in, &in->rows->prints, 0, key);
}

static void add_digest(struct intake *in, const uint64_t *key)
{
	in->rows->digests.words = 2;
	add_key(in, &in->rows->digests, 1, key);
}

/* A page without a fingerprint is known by its text alone; "-" matches nothing. */
static void read_digest(struct intake *in)
{
	struct pd_key key;
	int bits;
	if (pd_key_parse(in->in.fields[PD_FP_TEXT_DIGEST], &bits, &key) && bits == 128)
		add_digest(in, key.w);
}

/* `line` as it goes into the spool.  Pages that do not say their language are in one of their own. */
static void add_realm(struct intake *in, struct pd_span line)
{
	struct pd_rows *rows = in->rows;
	struct pd_span f[PD_ROW_FIELDS] = { { NULL, 0 } };
	if (in->o->realms == PD_REALM_NONE)
		return;
	pd_tsv_fields(line, f, PD_ROW_FIELDS);
	rows->realm = room(in, &rows->memory.realm, rows->n, sizeof *rows->realm);
	rows->realm[rows->n] = in->o->realms == PD_REALM_HOST  ? pd_rows_hash_host(f[1], in->host) :
			       in->o->realms == PD_REALM_OWNER ? pd_owners_hash(in->o->owners, f[1]) :
								 pd_rows_hash_language(f[7]);
}

static int read_sketch(struct intake *in, struct pd_err *e)
{
	if (in->in.path != in->file)
		set_default_kind(&in->sketches);
	in->file = in->in.path;
	pd_buf_clear(&in->sketch);
	if (add_sketch_column(&in->sketches, in->in.fields[PD_FP_SKETCH], &in->sketch))
		return PD_OK;
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": the sketch is not hexadecimal", in->in.path, in->in.line_no);
}

static void add_side(struct intake *in)
{
	if (!in->o->n_against)
		return;
	in->rows->side = room(in, &in->rows->memory.side, in->rows->n, sizeof *in->rows->side);
	in->rows->side[in->rows->n] = in->side;
}

/* The last part of a row: `line`, its columns and the newline, goes into the spool behind in->sketch. */
static int spool_line(struct intake *in, struct pd_span line, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	if (rows->n == UINT32_MAX / 2)
		return pd_fail(e, PD_ERR_LIMIT, "over %u rows", UINT32_MAX / 2);
	add_realm(in, pd_span(line.p, line.n - 1));
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

static int spool_row(struct intake *in, struct pd_err *e)
{
	static const int kept[] = { PD_FP_ID, PD_FP_URL, PD_FP_FETCH_TIME, PD_FP_TEXT_BYTES, PD_FP_QUALITY,
				    PD_FP_TERMS, PD_FP_CONFIDENCE, PD_FP_LANGUAGES, PD_FP_SUBJECT };
	pd_buf_clear(&in->scratch);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		struct pd_span f = in->in.fields[kept[i]];
		if (i)
			pd_buf_add_c(&in->scratch, '\t');
		pd_buf_add_span(&in->scratch, f.n ? f : pd_span("-", 1));
	}
	int status = in->rows->methods.n ? add_values(in, e) : PD_OK;
	if (status)
		return status;
	pd_buf_add_c(&in->scratch, '\n');
	in->content = content_of(in->in.fields[PD_FP_CONTENT_DIGEST]);
	return spool_line(in, pd_buf_span(&in->scratch), e);
}

static int take_row(struct intake *in, struct pd_err *e)
{
	struct pd_span hex = in->in.fields[PD_FP_FINGERPRINT], id = in->in.fields[PD_FP_ID];
	if (!hex.n || !id.n || pd_span_is(id, "-"))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": a row without fingerprint or id", in->in.path, in->in.line_no);
	struct pd_key key;
	bool print = !pd_span_is(hex, "-");
	if (in->o->asked && in->o->asked->n && !in->methods_known)	/* no header tells */
		return check_methods(in, pd_span("", 0), e);
	int status = check_params(in, in->in.fields[PD_FP_PARAMS], in->in.path, in->in.line_no, e);
	if (!status && print)
		status = read_fingerprint(in, hex, &key, e);
	if (!status)
		status = read_sketch(in, e);
	if (status)
		return status;
	if (print)
		add_print(in, key.w);
	else
		read_digest(in);
	return spool_row(in, e);
}

/* Where in the columns the next row stands. */
struct row_cursor {
	const struct pd_keyfile *k;
	const char *path;
	uint64_t print, digest, sketch;
};

/* "name value" lines. */
static int take_key_params(struct intake *in, const struct row_cursor *c, struct pd_err *e)
{
	struct pd_span rest = c->k->params, line, name;
	int status = PD_OK;
	pd_buf_clear(&in->recorded);
	while (!status && rest.n && pd_span_split(&rest, '\n', &line)) {
		if (!pd_span_split(&line, ' ', &name))
			continue;
		if (pd_span_is(name, "must"))
			status = check_must(in, line, c->path, e);
		else if (pd_span_is(name, "params"))
			status = check_params(in, line, c->path, 1, e);
		else if (pd_span_is(name, "sketch"))
			pd_buf_printf(&in->recorded, "sketch=%.*s", (int)line.n, line.p);
		else if (pd_span_is(name, "total"))
			pd_buf_printf(&in->in.totals, "%.*s\n", (int)line.n, line.p);
	}
	set_recorded_kind(&in->sketches, pd_buf_span(&in->recorded));
	return status;
}

static int take_key_sketch(struct intake *in, struct row_cursor *c, uint64_t row, struct pd_err *e)
{
	const uint64_t *words = NULL;
	if (c->k->sketched[row] == 1)
		words = c->k->sketches + c->sketch++ * c->k->h.sketch_words;
	pd_buf_clear(&in->sketch);
	if (add_sketch_words(&in->sketches, words, c->k->h.sketch_words, &in->sketch))
		return PD_OK;
	return pd_fail(e, PD_ERR_INPUT, "%s: damaged key file: its sketches are not of the kind that it names", c->path);
}

static int take_key_row(struct intake *in, struct row_cursor *c, uint64_t row, struct pd_span line, struct pd_err *e)
{
	const struct pd_keyfile *k = c->k;
	int status = take_key_sketch(in, c, row, e);
	if (status)
		return status;
	if (c->print < k->h.prints && k->print_row[c->print] == row)
		add_print(in, k->prints + c->print++ * (k->h.bits / 64));
	else if (c->digest < k->h.digests && k->digest_row[c->digest] == row)
		add_digest(in, k->digests + 2 * c->digest++);
	return spool_line(in, line, e);
}

static int take_key_rows(struct intake *in, struct row_cursor *c, struct pd_err *e)
{
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf text = { 0 };
	const uint64_t *at = c->k->row_at;
	int status = PD_OK;
	for (uint64_t row = 0; !status && row < c->k->h.rows; row++) {
		uint64_t first = row / PD_KEYFILE_BLOCK * PD_KEYFILE_BLOCK;
		if (row == first)
			status = pd_keyfile_block(c->k, u, row / PD_KEYFILE_BLOCK, c->path, &text, e);
		if (!status)
			status = take_key_row(in, c, row, pd_span(text.p + at[row] - at[first], at[row + 1] - at[row]), e);
	}
	pd_buf_release(&text);
	pd_unpacker_free(u);
	return status;
}

static int take_keyfile(struct intake *in, const char *path, struct pd_err *e)
{
	struct pd_keyfile k;
	struct row_cursor c = { .k = &k, .path = strcmp(path, "-") ? path : "standard input" };
	int status = pd_keyfile_open(&k, path, in->o->tmp_dir, e);
	if (status)
		return status == PD_ERR_FORMAT ? PD_ERR_INPUT : status;
	if (k.h.bits)
		status = check_bits(in, (int)k.h.bits, path, 1, e);
	if (!status)
		status = take_key_params(in, &c, e);
	if (!status)
		status = take_key_rows(in, &c, e);
	in->file = path;
	pd_keyfile_close(&k);
	return status == PD_ERR_FORMAT ? PD_ERR_INPUT : status;
}

/* Rows of the text files that in->in names. */
static int take_text(struct intake *in, struct pd_err *e)
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

static int take_file(struct intake *in, char *path, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	rows->origin = pd_grow(rows->origin, rows->n_origins, &rows->cap_origins, sizeof *rows->origin);
	rows->origin[rows->n_origins++] = (struct pd_rows_origin){ path, rows->n };
	in->content = 0;	/* key files do not tell */
	if (pd_keyfile_is(path)) {
		if (in->rows->methods.n || (in->o->asked && in->o->asked->n))
			return pd_fail(e, PD_ERR_PARAMS, "%s: a key file holds fingerprints alone, and no other methods", path);
		return take_keyfile(in, path, e);
	}
	in->in.paths = &path;
	in->in.n_paths = 1;
	in->in.at = 0;
	return take_text(in, e);
}

static int take_files(struct intake *in, char **paths, int n_paths, uint8_t side, struct pd_err *e)
{
	int status = PD_OK;
	in->side = side;
	for (int i = 0; !status && i < n_paths; i++)
		status = take_file(in, paths[i], e);
	return status;
}

static int take_all(struct intake *in, struct pd_err *e)
{
	static char dash[] = "-";
	char *standard_input[] = { dash };
	const struct pd_rows_options *o = in->o;
	int status = take_files(in, o->n_paths ? o->paths : standard_input, o->n_paths ? o->n_paths : 1, PD_SIDE_A, e);
	return status ? status : take_files(in, o->against, o->n_against, PD_SIDE_B, e);
}

static int map_spool(struct intake *in, struct pd_err *e)
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

static void name_columns(struct intake *in)
{
	int n = PD_FP_COLUMNS;
	memcpy(in->columns, pd_fp_columns, PD_FP_COLUMNS * sizeof *in->columns);
	for (const struct pd_method *const *m = pd_sign_methods; *m; m++)
		if ((*m)->kind != PD_SIGN_BITS)
			in->columns[n++] = (*m)->name;
	in->in.columns = in->columns;
}

int pd_rows_read(struct pd_rows *rows, const struct pd_rows_options *o, struct pd_err *e)
{
	*rows = (struct pd_rows){ .budget = o->budget, .realms = o->realms };
	struct intake in = { .rows = rows, .o = o, .in = { .kind = "fp", .v1_columns = pd_fp_columns } };
	int status = PD_ERR_SYSTEM;
	name_columns(&in);
	in.spool = pd_tempfile_open(o->tmp_dir, e);
	if (in.spool)
		status = take_all(&in, e);
	if (!status)
		status = map_spool(&in, e);
	choose_kind(&in.sketches, rows);
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
	pd_buf_release(&in.idf);
	pd_buf_release(&in.synonyms);
	pd_buf_release(&in.host[0]);
	pd_buf_release(&in.host[1]);
	pd_buf_release(&in.recorded);
	pd_buf_release(&in.sketch);
	return status;
}

