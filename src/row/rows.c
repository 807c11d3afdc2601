/* SPDX-License-Identifier: MIT
 *
 * Properties of rows; intake; ordering; saving.
 *
 * All sources of rows share one intake: key and host or language into memory, sketch and line into the spool.  The
 * sketch is stored before its row's line, from where pairs are verified with it: sketches use disk, not memory.
 *
 *	[words of the sketch, as in memory][one byte: its kind, 0: none][the row's line ... \n]
 *	                                                                ^ at[row]
 *
 * Only sketches of one kind are compared: the kind of most rows, in a tie the larger one, for any order of the
 * files.  Rows without a header are assumed to have the default kind.
 */
#include "row/rows.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/fields.h"
#include "base/file.h"
#include "row/parquet.h"
#include "base/threads.h"
#include "row/table.h"
#include "row/keyfile.h"
#include "row/plain.h"

/* --- properties of a row --- */

static bool is_said(struct pd_span s)
{
	return s.n && !pd_span_is(s, "-");
}

static double read_confidence(struct pd_span s)
{
	double v;
	return pd_span_real(s, &v) && v >= 0 && v <= 1 ? v : 1;
}

/* Hash of the languages in a row; 0: unknown. */
static uint64_t hash_language(struct pd_span languages)
{
	return is_said(languages) ? pd_hash64(languages.p, languages.n) | 1 : 0;
}

static struct pd_facts read_facts(struct pd_span terms, struct pd_span confidence, struct pd_span languages, struct pd_span subject)
{
	struct pd_facts f = PD_FACTS_UNKNOWN;
	uint64_t n;
	if (pd_span_u64(terms, &n) && n <= INT64_MAX)
		f.terms = (int64_t)n;
	f.confidence = read_confidence(confidence);
	f.language = hash_language(languages);
	f.subject = pd_subject_parse(subject);
	return f;
}

struct pd_facts pd_facts_read(struct pd_span url, struct pd_span terms, struct pd_span confidence, struct pd_span languages,
			      struct pd_span subject)
{
	struct pd_facts f = read_facts(terms, confidence, languages, subject);
	pd_subject_set_url(&f.subject, url);
	return f;
}

/* A row in the spool, without its newline. */
static struct pd_span line_of(const struct pd_rows *rows, uint32_t row)
{
	const char *text = pd_rows_text(rows, row);
	struct pd_span line = pd_span(text, rows->spool_size - (size_t)(text - rows->spool));
	line.n = (size_t)((const char *)memchr(line.p, '\n', line.n) - line.p);
	return line;
}

struct pd_rows_view pd_rows_view(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span f[PD_ROW_VIEWED];
	pd_tsv_fields(line_of(rows, row), f, PD_ROW_VIEWED);
	return (struct pd_rows_view){ f[PD_ROW_ID],	    f[PD_ROW_URL],     f[PD_ROW_FETCH_TIME],
				      f[PD_ROW_TEXT_BYTES], f[PD_ROW_QUALITY], f[PD_ROW_CONTENT_DIGEST] };
}

struct pd_span pd_rows_value(const struct pd_rows *rows, uint32_t row, int method)
{
	struct pd_span f[PD_ROW_FIELDS + PD_METHODS_MAX] = { { NULL, 0 } };
	int at = PD_ROW_FIELDS;
	for (int i = 0; i < method; i++)
		at += rows->methods.v[i].method->kind != PD_SIGN_BITS;
	pd_tsv_fields(line_of(rows, row), f, (size_t)at + 1);
	return f[at];
}

/* Hash of the host of the URL in a row. */
static uint64_t hash_host(struct pd_span url, struct pd_buf scratch[2])
{
	struct pd_buf *value = &scratch[0], *host = &scratch[1];
	pd_tsv_value(url, value);
	pd_url_host(pd_buf_span(value), host);
	return pd_hash64(host->p, host->n);
}

struct pd_facts pd_rows_facts(const struct pd_rows *rows, uint32_t row, uint64_t *host, struct pd_buf scratch[2])
{
	struct pd_span f[PD_ROW_FIELDS] = { { NULL, 0 } };
	if (rows->spool)
		pd_tsv_fields(line_of(rows, row), f, PD_ROW_FIELDS);
	*host = rows->realms == PD_REALM_HOST ? rows->realm[row] : hash_host(f[PD_ROW_URL], scratch);
	return rows->spool ? read_facts(f[PD_ROW_TERMS], f[PD_ROW_CONFIDENCE], f[PD_ROW_LANGUAGES], f[PD_ROW_SUBJECT])
			   : PD_FACTS_UNKNOWN;
}

void pd_rows_add_name(const struct pd_rows *rows, uint32_t row, struct pd_facts *f)
{
	if (rows->spool)
		pd_subject_set_url(&f->subject, pd_rows_view(rows, row).url);
}

/* A row set that was never spooled has no sketches, nor do rows whose texts were fetched late. */
bool pd_rows_sketch(const struct pd_rows *rows, uint32_t row, struct pd_sketch *out)
{
	*out = (struct pd_sketch){ 0 };
	if (!rows->sketched || !rows->spool || rows->late)
		return false;
	const char *line = pd_rows_text(rows, row);
	if (line[-1] != rows->sketch_kind)
		return false;
	size_t bytes = (size_t)pd_sketch_words(&rows->sketch) * sizeof *out->w;
	memcpy(out->w, line - 1 - sizeof(uint64_t) - bytes, bytes);
	out->present = true;
	return true;
}

/* --- intake: sketches, and parameters of headers --- */

#define SKETCH_KINDS 16 /* more in one run: not compared */

struct sketch_kinds {
	struct pd_sketch_options kind[SKETCH_KINDS];
	uint64_t rows[SKETCH_KINDS];
	int n_kinds, current; /* current: kind of the rows being read, -1: another size or unknown */
	uint64_t others;      /* sketches that fit no kind */
};

struct intake {
	struct pd_rows *rows;
	const struct pd_rows_options *o;
	struct pd_table_reader in;
	FILE *spool;
	struct pd_buf piece; /* the next one to be written there */
	uint64_t spooled;
	uint8_t side;	  /* of the files now read: PD_SIDE_A or PD_SIDE_B */
	const char *file; /* which the last row came from */
	struct sketch_kinds sketches;
	struct pd_buf scratch, host[2], recorded;
	struct pd_sketch sketch;	      /* of the row at work */
	const char *more[PD_METHODS_MAX + 1]; /* columns of all methods */
	struct pd_buf idf, synonyms;	      /* tables that the first header's rows were made with */
	bool methods_known;		      /* from the first header */
	bool descends;			      /* an id was not after the previous one, */
	struct pd_buf last_id;		      /* which is this */
	/* with rows->late */
	uint64_t line_at;   /* start in its file of the row being read */
	uint64_t bad_known; /* rows that were reported by a reading that did not do */
};

/* Not an error: files that were read for late texts must be read again, and spooled. */
#define NEEDS_SPOOL INT_MIN

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

/* A header was read: `recorded` contains its recorded parameters. */
static void set_recorded_kind(struct sketch_kinds *in, struct pd_span recorded)
{
	struct pd_sketch_options o = { 0 };
	struct pd_span name = pd_param(recorded, "sketch");
	struct pd_err e;
	if (name.p)
		pd_sketch_read(&o, name, &e);
	set_kind(in, &o);
}

/* False: not hexadecimal. */
static bool take_sketch_column(struct sketch_kinds *in, struct pd_span column, struct pd_sketch *out)
{
	*out = (struct pd_sketch){ 0 };
	if (!column.n || pd_span_is(column, "-"))
		return true;
	const struct pd_sketch_options *o = in->current < 0 ? NULL : &in->kind[in->current];
	if (!o || column.n != (size_t)pd_sketch_words(o) * 16)
		in->others++;
	else if (!pd_sketch_parse(o, column, out))
		return false;
	else
		in->rows[in->current]++;
	return true;
}

/* The same for words as in memory (NULL: none). False: the number is not that of the kind. */
static bool take_sketch_words(struct sketch_kinds *in, const uint64_t *words, uint32_t n_words, struct pd_sketch *out)
{
	*out = (struct pd_sketch){ .present = words && in->current >= 0 };
	if (out->present && n_words != (uint32_t)pd_sketch_words(&in->kind[in->current]))
		return false;
	in->others += words && !out->present;
	if (out->present) {
		in->rows[in->current]++;
		memcpy(out->w, words, n_words * sizeof *words);
	}
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

/* A second header must have the same parameters as the first. */
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

/* The methods of the rows of a header; without a statement rows have fingerprints. */
static int read_signed_by(struct intake *in, struct pd_span recorded, struct pd_methods *out, struct pd_err *e)
{
	struct pd_span list = pd_param(recorded, "methods");
	struct pd_err why;
	if (!pd_methods_read(out, list.n ? list : pd_span_z("simhash"), PD_METHOD_SIGNS, in->o->paper, &why))
		return PD_OK;
	return pd_fail(e, PD_ERR_PARAMS, "%s: signed by a method that this program does not have (%.200s)", in->in.path, why.text);
}

/* The methods to join: the requested ones, or all of the first header. */
static void choose_methods(struct intake *in, const struct pd_methods *signed_by)
{
	struct pd_methods *to = &in->rows->methods;
	bool requested = in->o->requested && in->o->requested->n;
	*to = requested ? *in->o->requested : *signed_by;
	if (to->n == 1 && to->v[0].method->kind == PD_SIGN_BITS)
		to->n = 0;
}

/* Values made with one table cannot be compared with those made with another. */
static int check_table(struct intake *in, struct pd_span recorded, const char *table, bool first, struct pd_buf *known,
		       struct pd_err *e)
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
	return pd_fail(e, PD_ERR_PARAMS,
		       "%s: '%s' signed its rows with another table (%s=%.*s) than those before (%s=%s): sign both with the same "
		       "--%s",
		       in->in.path, user, table, (int)given.n, given.p, table, pd_buf_z(known), table);
}

static int check_methods(struct intake *in, struct pd_span recorded, struct pd_err *e)
{
	struct pd_methods signed_by, *wanted = &in->rows->methods;
	bool first = !in->methods_known, requested = in->o->requested && in->o->requested->n;
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
			return pd_fail(e, PD_ERR_PARAMS,
				       "%s: its rows have no signatures by '%s': run 'fp --method=%s', or name other methods with "
				       "'match --method'",
				       in->in.path, w->method->name, w->method->name);
		given = *w;
		pd_method_spec_take(&given, &signed_by.v[at], PD_METHOD_SIGNS);
		if (first)
			*w = given;
		else if (memcmp(given.value, w->value, sizeof w->value))
			return pd_fail(e, PD_ERR_PARAMS, "%s: '%s' signed its rows with other parameters than those before",
				       in->in.path, w->method->name);
	}
	if (requested && !wanted->n && pd_methods_fingerprint(&signed_by) < 0)
		return pd_fail(e, PD_ERR_PARAMS,
			       "%s: its rows have no signatures by 'simhash': run 'fp' with that method, or name other methods "
			       "with 'match --method'",
			       in->in.path);
	return PD_OK;
}

/* The values of the methods, after the columns that all rows have. */
static int add_values(struct intake *in, struct pd_err *e)
{
	const struct pd_methods *m = &in->rows->methods;
	for (int i = 0; i < m->n; i++) {
		int c = 0;
		if (m->v[i].method->kind == PD_SIGN_BITS)
			continue;
		while (in->more[c] != m->v[i].method->name)
			c++;
		struct pd_span value = in->in.fields[PD_FP_COLUMNS + c];
		if (!value.n)
			return pd_fail(e, PD_ERR_PARAMS, "%s:%" PRIu64 ": a row without the column '%s'", in->in.path,
				       in->in.line_no, in->more[c]);
		pd_buf_add_c(&in->piece, '\t');
		pd_buf_add_span(&in->piece, value);
	}
	return PD_OK;
}

/* --- rows of text files --- */

static int check_row_header(struct intake *in, struct pd_err *e)
{
	in->in.new_header = false;
	in->file = in->in.path;
	set_recorded_kind(&in->sketches, pd_buf_span(&in->in.header.recorded));
	int status = check_methods(in, pd_buf_span(&in->in.header.recorded), e);
	if (!status && in->rows->late && in->rows->methods.n)
		return NEEDS_SPOOL;
	return status ? status : check_must(in, pd_buf_span(&in->in.header.must), in->in.path, e);
}

/* Rows without their header still have a hash of their parameters. */
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
static void *array_room(struct intake *in, struct pd_array *b, size_t n, size_t elem)
{
	return pd_array_room(b, in->o->budget, (n + 1) * elem);
}

/* Members that are rows from 0 on without a gap need no numbers. */
static void add_member(struct intake *in, struct pd_rows_set *set, int which)
{
	uint32_t row = (uint32_t)in->rows->n;
	if (!set->row && row == set->n)
		return;
	bool numbered = set->row != NULL;
	set->row = array_room(in, &in->rows->memory.row[which], set->n, sizeof *set->row);
	for (size_t i = 0; !numbered && i < set->n; i++)
		set->row[i] = (uint32_t)i;
	set->row[set->n] = row;
}

static void add_set_key(struct intake *in, struct pd_rows_set *set, int which, const uint64_t *words)
{
	size_t w = (size_t)set->words;
	add_member(in, set, which);
	set->keys = array_room(in, &in->rows->memory.keys[which], set->n, w * sizeof *words);
	memcpy(set->keys + set->n * w, words, w * sizeof *words);
	set->n++;
}

static int check_bits(struct intake *in, int bits, const char *where, uint64_t line, struct pd_err *e)
{
	if (in->rows->bits && in->rows->bits != bits)
		return pd_fail(e, PD_ERR_PARAMS, "%s:%" PRIu64 ": a fingerprint of %d bits after fingerprints of %d", where, line,
			       bits, in->rows->bits);
	in->rows->bits = bits;
	in->rows->fingerprints.words = bits / 64;
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
	add_set_key(in, &in->rows->fingerprints, 0, key);
}

static void add_digest(struct intake *in, const uint64_t *key)
{
	in->rows->digests.words = 2;
	add_set_key(in, &in->rows->digests, 1, key);
}

/* A page without a fingerprint is identified only by its text; "-" matches nothing. */
static void read_digest(struct intake *in)
{
	struct pd_key key;
	int bits;
	if (pd_key_parse(in->in.fields[PD_FP_TEXT_DIGEST], &bits, &key) && bits == 128)
		add_digest(in, key.w);
}

/* Write `line` into the spool. Pages of unknown language share one language of their own. */
static void add_realm(struct intake *in, struct pd_span line)
{
	struct pd_rows *rows = in->rows;
	struct pd_span f[PD_ROW_FIELDS] = { { NULL, 0 } };
	if (in->o->realms == PD_REALM_NONE)
		return;
	pd_tsv_fields(line, f, PD_ROW_FIELDS);
	rows->realm = array_room(in, &rows->memory.realm, rows->n, sizeof *rows->realm);
	rows->realm[rows->n] = in->o->realms == PD_REALM_HOST	 ? hash_host(f[PD_ROW_URL], in->host)
			       : in->o->realms == PD_REALM_OWNER ? pd_owners_hash(in->o->owners, f[PD_ROW_URL])
								 : hash_language(f[PD_ROW_LANGUAGES]);
}

static int read_sketch(struct intake *in, struct pd_err *e)
{
	if (in->in.path != in->file)
		set_default_kind(&in->sketches);
	in->file = in->in.path;
	if (take_sketch_column(&in->sketches, in->in.fields[PD_FP_SKETCH], &in->sketch))
		return PD_OK;
	return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": the sketch is not hexadecimal", in->in.path, in->in.line_no);
}

static void add_side(struct intake *in)
{
	if (!in->o->n_against)
		return;
	in->rows->side = array_room(in, &in->rows->memory.side, in->rows->n, sizeof *in->rows->side);
	in->rows->side[in->rows->n] = in->side;
}

#define SPOOL_PIECE (256 * 1024)

/* Rows are short, and a write per row would be expensive. Errors are noticed at the end (map_spool). */
static void spool_piece(struct intake *in)
{
	if (in->piece.n)
		fwrite_unlocked(in->piece.p, 1, in->piece.n, in->spool);
	pd_buf_clear(&in->piece);
}

static void set_offset(const struct pd_rows_offsets *to, size_t i, uint64_t at)
{
	to->low[i] = (uint32_t)at;
	to->high[i] = (uint8_t)(at >> 32);
}

/* Reserve room for the offsets of more rows, after `spooled` bytes in total. */
static int spool_room(struct intake *in, size_t n, uint64_t spooled, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	if (rows->n + n > UINT32_MAX / 2)
		return pd_fail(e, PD_ERR_LIMIT, "over %u rows", UINT32_MAX / 2);
	if (spooled >> 40)
		return pd_fail(e, PD_ERR_LIMIT, "rows of over a tebibyte");
	rows->at.low = array_room(in, &rows->memory.low, rows->n + n, sizeof *rows->at.low);
	rows->at.high = array_room(in, &rows->memory.high, rows->n + n, sizeof *rows->at.high);
	return PD_OK;
}

/* Return whether all rows from one to another follow the earlier ones. */
static bool ids_follow(struct intake *in, struct pd_span first, struct pd_span last)
{
	bool behind = !in->last_id.n || pd_page_id_cmp(pd_buf_span(&in->last_id), first) < 0;
	pd_buf_set(&in->last_id, last);
	return behind;
}

/* A row in in->piece from `from` on, with its columns from `at` on. */
static int spool_row(struct intake *in, size_t from, size_t at, struct pd_err *e)
{
	struct pd_span line = pd_span(in->piece.p + at, in->piece.n - at - 1), rest = line, id;
	pd_span_split(&rest, '\t', &id);
	in->descends |= !ids_follow(in, id, id);
	add_realm(in, line);
	add_side(in);
	int status = spool_room(in, 1, in->spooled + at - from, e);
	if (status)
		return status;
	set_offset(&in->rows->at, in->rows->n++, in->spooled + at - from);
	in->spooled += in->piece.n - from;
	if (in->piece.n >= SPOOL_PIECE)
		spool_piece(in);
	return PD_OK;
}

/* The data before its columns, including the hash of the content digest. */
static void begin_spooled(struct intake *in, struct pd_span content_digest)
{
	const struct sketch_kinds *kinds = &in->sketches;
	int kind = in->sketch.present ? kinds->current + 1 : 0;
	pd_spooled_begin(&in->piece, in->sketch.w, kind ? (size_t)pd_sketch_words(&kinds->kind[kinds->current]) : 0, content_digest,
			 kind);
}

/* --- rows that stay in their files (row/late.h) --- */

static struct pd_late_file *add_late_file(struct pd_rows_late *l, const char *path, size_t row)
{
	l->file = pd_grow(l->file, l->n, &l->cap, sizeof *l->file);
	l->file[l->n] = (struct pd_late_file){ .path = path, .row = row };
	return &l->file[l->n++];
}

static int keep_order(struct intake *in, struct pd_span first, struct pd_span last)
{
	return ids_follow(in, first, last) ? PD_OK : NEEDS_SPOOL;
}

static bool is_verified(const struct intake *in)
{
	return in->o->texts == PD_TEXTS_TO_VERIFY;
}

/* Which columns rows have from here on. */
static void note_columns(struct intake *in)
{
	struct pd_late_file *f = &in->rows->late->file[in->rows->late->n - 1];
	const struct pd_late_columns *last = f->n_columns ? f->columns + f->n_columns - 1 : NULL;
	if (last && last->n == in->in.n_order && !memcmp(last->order, in->in.order, (size_t)last->n * sizeof *last->order))
		return;
	f->columns = pd_grow(f->columns, f->n_columns, &f->cap_columns, sizeof *f->columns);
	struct pd_late_columns *c = &f->columns[f->n_columns++];
	*c = (struct pd_late_columns){ .row = in->rows->n, .n = in->in.n_order };
	memcpy(c->order, in->in.order, (size_t)c->n * sizeof *c->order);
}

/* Reserve room for the offsets of more rows. */
static int late_room(struct intake *in, size_t n, struct pd_err *e)
{
	struct pd_rows_late *l = in->rows->late;
	if (in->rows->n + n > UINT32_MAX / 2)
		return pd_fail(e, PD_ERR_LIMIT, "over %u rows", UINT32_MAX / 2);
	l->at.low = array_room(in, &l->low, in->rows->n + n, sizeof *l->at.low);
	l->at.high = array_room(in, &l->high, in->rows->n + n, sizeof *l->at.high);
	return PD_OK;
}

static void add_late_row(struct intake *in, uint64_t at)
{
	add_side(in);
	set_offset(&in->rows->late->at, in->rows->n++, at);
}

static int keep_row(struct intake *in, struct pd_err *e)
{
	int status = keep_order(in, in->in.fields[PD_FP_ID], in->in.fields[PD_FP_ID]);
	if (is_verified(in) && (in->sketch.present || in->rows->digests.n))
		return NEEDS_SPOOL;
	if (!status)
		status = late_room(in, 1, e);
	if (status)
		return status;
	note_columns(in);
	add_late_row(in, in->line_at);
	return PD_OK;
}

static int spool_fields(struct intake *in, struct pd_err *e)
{
	size_t from = in->piece.n;
	begin_spooled(in, in->in.fields[PD_FP_CONTENT_DIGEST]);
	size_t at = in->piece.n;
	pd_spooled_columns(&in->piece, in->in.fields);
	int status = in->rows->methods.n ? add_values(in, e) : PD_OK;
	pd_buf_add_c(&in->piece, '\n');
	return status ? status : spool_row(in, from, at, e);
}

static int take_row(struct intake *in, struct pd_err *e)
{
	struct pd_span hex = in->in.fields[PD_FP_FINGERPRINT], id = in->in.fields[PD_FP_ID];
	if (!hex.n || !id.n || pd_span_is(id, "-"))
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": a row without fingerprint or id", in->in.path, in->in.line_no);
	struct pd_key key;
	bool print = !pd_span_is(hex, "-");
	if (in->o->requested && in->o->requested->n && !in->methods_known) /* no header names it */
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
	return in->rows->late ? keep_row(in, e) : spool_fields(in, e);
}

/* --- rows of key files: into memory --- */

/* Offset of the next row in the columns. */
struct row_cursor {
	const struct pd_keyfile *k;
	const char *path;
	uint64_t print, digest, sketch;
};

/* The table that a key file was made of. */
static int take_cut_keys(struct intake *in, const char *name, struct pd_err *e)
{
	in->in.cut++;
	pd_fail(e, PD_ERR_FORMAT, "%s: it was made of a table of which " PD_CUT_ROWS, name);
	if (++in->rows->bad > in->bad_known)
		in->o->bad_row(in->o->ctx, e->text);
	return PD_OK;
}

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
		else if (pd_span_is(name, "cut"))
			status = take_cut_keys(in, c->path, e);
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
	if (take_sketch_words(&in->sketches, words, c->k->h.sketch_words, &in->sketch))
		return PD_OK;
	return pd_fail(e, PD_ERR_INPUT, "%s: damaged key file: its sketches are not of the kind that it names", c->path);
}

static int take_key_row(struct intake *in, struct row_cursor *c, uint64_t row, struct pd_span line, struct pd_err *e)
{
	const struct pd_keyfile *k = c->k;
	int status = take_key_sketch(in, c, row, e);
	if (status)
		return status;
	if (c->print < k->h.fingerprints && k->print_row[c->print] == row)
		add_print(in, k->fingerprints + c->print++ * (k->h.bits / 64));
	else if (c->digest < k->h.digests && k->digest_row[c->digest] == row)
		add_digest(in, k->digests + 2 * c->digest++);
	struct pd_span f[PD_ROW_FIELDS + 1] = { { NULL, 0 } };
	bool old = k->c.version < 3;
	size_t from = in->piece.n, n = pd_tsv_fields(pd_span(line.p, line.n - 1), f, PD_ROW_FIELDS);
	begin_spooled(in, old ? pd_span(NULL, 0) : f[PD_ROW_CONTENT_DIGEST]);
	size_t at = in->piece.n, head = n > PD_ROW_QUALITY ? (size_t)(f[PD_ROW_QUALITY].p + f[PD_ROW_QUALITY].n - line.p) : 0;
	pd_buf_add(&in->piece, line.p, old ? head : line.n);
	if (old) /* its rows have no content digest */
		pd_buf_add_z(&in->piece, "\t-");
	if (old)
		pd_buf_add(&in->piece, line.p + head, line.n - head);
	return spool_row(in, from, at, e);
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

static int begin_keyfile(struct intake *in, struct pd_keyfile *k, const char *path, const char *name, struct pd_err *e)
{
	struct row_cursor c = { .k = k, .path = name };
	int status = pd_keyfile_open(k, path, in->o->tmp_dir, in->o->threads > 1 ? in->o->threads : 1, e);
	if (!status && k->h.bits)
		status = check_bits(in, (int)k->h.bits, path, 1, e);
	in->file = path;
	return status ? status : take_key_params(in, &c, e);
}

static const char *name_of(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static int take_keyfile(struct intake *in, const char *path, struct pd_err *e)
{
	struct pd_keyfile k;
	struct row_cursor c = { .k = &k, .path = name_of(path) };
	int status = begin_keyfile(in, &k, path, c.path, e);
	if (!status)
		status = take_key_rows(in, &c, e);
	pd_keyfile_close(&k);
	return status == PD_ERR_FORMAT ? PD_ERR_INPUT : status;
}

/* --- rows of key files: they stay in the file --- */

/* The keys of a file whose rows all have fingerprints are used in place, if it is the only file. */
static void take_key_columns(struct intake *in, const struct pd_keyfile *k)
{
	struct pd_rows *rows = in->rows;
	const struct pd_keyfile_counts *h = &k->h;
	size_t first = rows->n, words = h->bits / 64;
	uint64_t print = 0, digest = 0;
	if (!first && h->fingerprints == h->rows) {
		rows->fingerprints.keys = (uint64_t *)k->fingerprints;
		rows->fingerprints.n = h->fingerprints;
		rows->n = h->rows;
	}
	for (uint64_t row = 0; rows->n < first + h->rows; row++, rows->n++)
		if (print < h->fingerprints && k->print_row[print] == row)
			add_print(in, k->fingerprints + print++ * words);
		else if (digest < h->digests && k->digest_row[digest] == row)
			add_digest(in, k->digests + 2 * digest++);
	for (rows->n = first; in->o->n_against && rows->n < first + h->rows; rows->n++)
		add_side(in);
	rows->n = first + h->rows;
}

/* Number of keys in the file before this one. */
static void own_keys(struct intake *in)
{
	struct pd_rows_set *set = &in->rows->fingerprints;
	const uint64_t *there = set->keys;
	size_t bytes = set->n * (size_t)set->words * sizeof *there;
	if (!bytes || there == in->rows->memory.keys[0].p)
		return;
	set->keys = pd_array_room(&in->rows->memory.keys[0], in->o->budget, bytes);
	memcpy(set->keys, there, bytes);
}

/* The first and the last id of a file's rows. */
static int key_order(struct intake *in, const struct pd_keyfile *k, const char *name, struct pd_err *e)
{
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf text = { 0 }, first = { 0 };
	struct pd_span f[PD_ROW_FIELDS];
	uint64_t ends[2] = { 0, k->h.rows - 1 };
	int status = PD_OK;
	for (int i = 0; !status && i < 2; i++) {
		status = pd_keyfile_unpack(k, u, ends[i] / PD_KEYFILE_BLOCK, name, &text, e);
		if (!status)
			status = pd_keyfile_row(k, &text, ends[i], name, f, e);
		if (!status && i == 0)
			pd_buf_set(&first, f[0]);
	}
	if (!status)
		status = keep_order(in, pd_buf_span(&first), f[0]);
	pd_buf_release(&first);
	pd_buf_release(&text);
	pd_unpacker_free(u);
	return status;
}

static int count_key_sketches(struct intake *in, const struct pd_keyfile *k, const char *name, struct pd_err *e)
{
	uint64_t n = k->h.sketch_words ? k->c.section[PD_KEYFILE_SKETCHES].n / 8 / k->h.sketch_words : 0;
	int kind = in->sketches.current;
	if (is_verified(in) && (n || k->h.digests))
		return NEEDS_SPOOL;
	if (n && kind >= 0 && k->h.sketch_words != (uint32_t)pd_sketch_words(&in->sketches.kind[kind]))
		return pd_fail(e, PD_ERR_INPUT, "%s: damaged key file: its sketches are not of the kind that it names", name);
	if (kind >= 0)
		in->sketches.rows[kind] += n;
	else
		in->sketches.others += n;
	return PD_OK;
}

static int take_late_keyfile(struct intake *in, const char *path, struct pd_err *e)
{
	struct pd_late_file *file = add_late_file(in->rows->late, name_of(path), in->rows->n);
	struct pd_keyfile *k = file->keys = pd_zalloc(sizeof *k);
	int status = begin_keyfile(in, k, path, file->path, e);
	if (!status)
		status = count_key_sketches(in, k, file->path, e);
	if (!status && k->h.rows)
		status = key_order(in, k, file->path, e);
	if (!status && in->rows->n + k->h.rows > UINT32_MAX / 2)
		status = pd_fail(e, PD_ERR_LIMIT, "over %u rows", UINT32_MAX / 2);
	if (!status)
		take_key_columns(in, k);
	return status == PD_ERR_FORMAT ? PD_ERR_INPUT : status;
}

/* --- rows of text files --- */

/* Result of the reader of text: 1 a row, or an error. */
static int take_given(struct intake *in, int status, struct pd_err *e)
{
	if (status > 0 && in->in.new_header)
		status = check_row_header(in, e);
	if (status >= 0)
		status = take_row(in, e);
	if (status != PD_ERR_FORMAT)
		return status;
	if (++in->rows->bad > in->bad_known)
		in->o->bad_row(in->o->ctx, e->text);
	return PD_OK;
}

/* A file may consist of a header: it counts if no other file had one. */
static int end_text_file(struct intake *in, struct pd_err *e)
{
	int status = pd_table_end(&in->in, e);
	if (status)
		status = take_given(in, status, e);
	return !status && in->in.new_header ? check_row_header(in, e) : status;
}

/* Rows of the text files that in->in names. */
static int take_text_file(struct intake *in, struct pd_err *e)
{
	int status;
	while ((status = pd_table_next(&in->in, e)) != 0) {
		status = take_given(in, status, e);
		if (status)
			return status;
	}
	return end_text_file(in, e);
}

/* --- seekable text files: pieces on threads, and other lines one by one --- */

#define PIECE (256 * 1024)

struct text_file {
	struct intake *in;
	struct pd_plain plain;
	uint64_t next, size; /* next: used by the thread that distributes pieces */
	struct pd_buf raw;
	/* Used by the thread that takes in results: the common properties of rows have changed, so that pieces
	 * parsed ahead are invalid; the offset to restart.  Other pieces may still be distributed in the meantime. */
	bool anew;
	uint64_t again;
	struct pd_err *e;
};

/* The common properties of the rows so far.  Nothing is plain before there are any, or if rows have more columns
 * than plain ones. */
static struct pd_plain plain_now(const struct intake *in, int fd)
{
	const struct pd_rows *rows = in->rows;
	struct pd_plain p;
	memset(&p, 0, sizeof p); /* it is compared as bytes */
	p.path = in->in.path;
	p.fd = fd;
	bool known = in->in.names_known && in->file == in->in.path, more = rows->methods.n || rows->realms != PD_REALM_NONE;
	p.least = known && !more ? (size_t)in->in.n_least : SIZE_MAX;
	p.bits = rows->bits;
	p.ascending = rows->late != NULL;
	p.prints_alone = rows->late && is_verified(in);
	memcpy(p.params, rows->params, sizeof p.params);
	if (in->sketches.current >= 0)
		p.sketch = in->sketches.kind[in->sketches.current];
	p.kind = rows->late ? 0 : in->sketches.current + 1;
	p.spooled = !rows->late;
	for (int c = 0; c < PD_FP_COLUMNS; c++)
		p.column[c] = -1;
	for (int i = 0; i < in->in.n_order; i++)
		if (in->in.order[i] >= 0 && in->in.order[i] < PD_FP_COLUMNS)
			p.column[in->in.order[i]] = i;
	return p;
}

static int next_piece(void *shared, void *worker)
{
	struct text_file *t = shared;
	struct pd_plain_worker *w = worker;
	if (t->next >= t->size)
		return 0;
	w->from = t->next;
	w->to = t->next += t->size - t->next < PIECE ? t->size - t->next : PIECE;
	return 1;
}

static void parse_piece(void *worker, struct pd_buf *out)
{
	pd_plain_parse(worker, out);
}

/* Line by line. */
static int take_lines(struct text_file *t, const struct pd_plain_piece *piece)
{
	struct intake *in = t->in;
	pd_buf_clear(&t->raw);
	if (!pd_plain_read(t->plain.fd, piece->from, piece->to, &t->raw))
		return pd_fail_errno(t->e, "cannot read %s", t->plain.path);
	struct pd_span rest = pd_buf_span(&t->raw), line;
	while (rest.n) {
		in->line_at = piece->from + (uint64_t)(rest.p - t->raw.p);
		pd_span_split(&rest, '\n', &line);
		int status = pd_table_line(&in->in, line, t->e);
		if (status)
			status = take_given(in, status, t->e);
		if (status)
			return status;
	}
	struct pd_plain now = plain_now(in, t->plain.fd);
	if (!memcmp(&now, &t->plain, sizeof now))
		return PD_OK;
	t->anew = true;
	t->again = piece->to;
	return NEEDS_SPOOL;
}

static void add_plain_keys(struct intake *in, const struct pd_plain_piece *piece)
{
	struct pd_rows_set *set = &in->rows->fingerprints;
	size_t words = (size_t)set->words, rows = in->rows->n;
	const uint64_t *print = piece->print, *digest = piece->digest;
	if (piece->fingerprints == piece->rows && !set->row && set->n == rows) {
		set->keys = array_room(in, &in->rows->memory.keys[0], set->n + piece->rows, words * sizeof *set->keys);
		memcpy(set->keys + set->n * words, print, piece->rows * words * sizeof *print);
		set->n += piece->rows;
		return;
	}
	for (size_t i = 0; i < piece->rows; i++, in->rows->n++) {
		if (piece->kind[i] == PD_PLAIN_PRINT) {
			add_print(in, print);
			print += words;
		} else if (piece->kind[i] == PD_PLAIN_DIGEST) {
			add_digest(in, digest);
			digest += 2;
		}
	}
	in->rows->n = rows;
}

static int keep_plain(struct text_file *t, const struct pd_plain_piece *piece)
{
	struct intake *in = t->in;
	int status = keep_order(in, piece->first, piece->last);
	if (!status)
		status = late_room(in, piece->rows, t->e);
	if (status)
		return status;
	note_columns(in);
	add_plain_keys(in, piece);
	for (size_t i = 0; i < piece->rows; i++)
		add_late_row(in, piece->from + piece->at[i]);
	return PD_OK;
}

static int spool_plain(struct text_file *t, const struct pd_plain_piece *piece)
{
	struct intake *in = t->in;
	in->descends |= !ids_follow(in, piece->first, piece->last) || !piece->ascends;
	int status = spool_room(in, piece->rows, in->spooled + piece->spooled.n, t->e);
	if (status)
		return status;
	add_plain_keys(in, piece);
	for (size_t i = 0; i < piece->rows; i++) {
		add_side(in);
		set_offset(&in->rows->at, in->rows->n++, in->spooled + piece->at[i]);
	}
	spool_piece(in);
	fwrite_unlocked(piece->spooled.p, 1, piece->spooled.n, in->spool);
	in->spooled += piece->spooled.n;
	return PD_OK;
}

static int take_plain(struct text_file *t, const struct pd_plain_piece *piece)
{
	struct intake *in = t->in;
	int status = in->rows->late ? keep_plain(t, piece) : spool_plain(t, piece);
	if (status)
		return status;
	in->in.line_no += piece->lines;
	in->in.bytes += piece->to - piece->from;
	in->sketches.others += piece->others;
	if (piece->sketched)
		in->sketches.rows[in->sketches.current] += piece->sketched;
	return PD_OK;
}

static int take_piece(void *shared, const struct pd_buf *out)
{
	struct text_file *t = shared;
	struct pd_plain_piece piece = pd_plain_unpack(out);
	if (piece.failed)
		return pd_fail_errno(t->e, "cannot read %s", t->plain.path);
	if (piece.from == piece.to)
		return PD_OK;
	return piece.plain ? take_plain(t, &piece) : take_lines(t, &piece);
}

static int take_pieces(struct text_file *t, int threads)
{
	static const struct pd_pool_ops ops = { next_piece, parse_piece, take_piece };
	struct pd_plain_worker *w = pd_zalloc((size_t)threads * sizeof *w);
	void **workers = pd_zalloc((size_t)threads * sizeof *workers);
	int status;
	for (int i = 0; i < threads; i++) {
		w[i].plain = &t->plain;
		workers[i] = &w[i];
	}
	do {
		t->anew = false;
		t->plain = plain_now(t->in, t->plain.fd);
		t->next = t->again;
		status = pd_pool_run(&ops, t, workers, threads);
	} while (t->anew);
	for (int i = 0; i < threads; i++)
		pd_plain_worker_release(&w[i]);
	free(w);
	free(workers);
	return status;
}

static int take_text_in_pieces(struct intake *in, const char *path, struct pd_err *e)
{
	struct text_file t = { .in = in, .e = e };
	struct stat st;
	FILE *f = pd_input_fopen(path, e);
	if (!f)
		return e->status;
	int status = fstat(fileno(f), &st) < 0 ? pd_fail_errno(e, "cannot read %s", path) : PD_OK;
	t.plain.fd = fileno(f);
	t.size = (uint64_t)st.st_size;
	if (in->rows->late)
		add_late_file(in->rows->late, path, in->rows->n)->st = st;
	pd_table_begin(&in->in, path);
	if (!status)
		status = take_pieces(&t, in->o->threads > 1 ? in->o->threads : 1);
	pd_buf_release(&t.raw);
	fclose(f);
	return status ? status : end_text_file(in, e);
}

/* Text or a key file, and no columns, that can be read anywhere. */
static bool is_regular(const char *path)
{
	struct stat st;
	if (!strcmp(path, "-")) /* rows that come so are read once */
		return pd_keyfile_is(path) && fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && ftello(stdin) == 0;
	struct pd_parquet_rows_input *columns = NULL;
	struct pd_err e;
	FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	bool is = f && !pd_parquet_rows_open(&columns, f, path, &e) && !columns;
	pd_parquet_rows_close(columns);
	if (f)
		fclose(f);
	return is;
}

/* --- all files --- */

static int take_file(struct intake *in, char *path, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	rows->origin = pd_grow(rows->origin, rows->n_origins, &rows->cap_origins, sizeof *rows->origin);
	rows->origin[rows->n_origins++] = (struct pd_rows_origin){ path, rows->n };
	if (rows->late)
		own_keys(in);
	bool is_source = pd_table_source_find(in->in.sources, path) != NULL;
	if (!is_source && pd_keyfile_is(path)) {
		if (in->rows->methods.n || (in->o->requested && in->o->requested->n))
			return pd_fail(e, PD_ERR_PARAMS, "%s: a key file holds fingerprints alone, and no other methods", path);
		return rows->late ? take_late_keyfile(in, path, e) : take_keyfile(in, path, e);
	}
	if (rows->late || (!is_source && is_regular(path)))
		return take_text_in_pieces(in, path, e);
	in->in.paths = &path;
	in->in.n_paths = 1;
	in->in.at = 0;
	return take_text_file(in, e);
}

static int take_files(struct intake *in, char **paths, int n_paths, uint8_t side, struct pd_err *e)
{
	int status = PD_OK;
	in->side = side;
	in->in.or_else =
		side == PD_SIDE_B ? "; pages that hold items of a test set are found by 'pagededup decontaminate --against'" : NULL;
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

/* --- the order of rows --- */

#define REPEATED UINT32_MAX

static struct pd_span id_of(const struct pd_rows *rows, uint32_t row)
{
	const char *p = pd_rows_text(rows, row), *end = rows->spool + rows->spool_size;
	return pd_span(p, (size_t)((const char *)memchr(p, '\t', (size_t)(end - p)) - p));
}

static bool have_one_id(const struct pd_rows *rows, uint32_t a, uint32_t b)
{
	return pd_span_eq(id_of(rows, a), id_of(rows, b));
}

/* An id is parsed once, for any number of comparisons. */
struct row_id {
	struct pd_span text;
	struct pd_page_id id;
};

static struct row_id read_id(const struct pd_rows *rows, uint32_t row)
{
	struct pd_span text = id_of(rows, row);
	return (struct row_id){ text, pd_page_id_parse(text) };
}

static int compare_ids(const struct row_id *a, const struct row_id *b)
{
	return pd_page_id_order(&a->id, a->text, &b->id, b->text);
}

/* Merge two consecutive runs.  Of equal ids the earlier one stays first.  Runs that are already in order, like those
 * of one file, cost one comparison. */
static void merge_runs(const struct pd_rows *rows, const uint32_t *from, size_t middle, size_t n, uint32_t *to)
{
	size_t a = 0, b = middle;
	if (middle < n) {
		struct row_id last = read_id(rows, from[middle - 1]), y = read_id(rows, from[middle]);
		if (compare_ids(&last, &y) > 0) {
			struct row_id x = read_id(rows, from[0]);
			while (a < middle && b < n) {
				bool left = compare_ids(&x, &y) <= 0;
				*to++ = from[left ? a++ : b++];
				if (left && a < middle)
					x = read_id(rows, from[a]);
				else if (!left && b < n)
					y = read_id(rows, from[b]);
			}
		}
	}
	memcpy(to, from + a, (middle - a) * sizeof *to);
	memcpy(to + (middle - a), from + b, (n - b) * sizeof *to);
}

/* Rows sorted by id, stable, in one of two arrays. */
static uint32_t *sort_by_id(const struct pd_rows *rows, uint32_t *order, uint32_t *spare)
{
	for (size_t i = 0; i < rows->n; i++)
		order[i] = (uint32_t)i;
	for (size_t run = 1; run < rows->n; run *= 2) {
		for (size_t at = 0; at < rows->n; at += 2 * run) {
			size_t left = rows->n - at, n = left < 2 * run ? left : 2 * run;
			merge_runs(rows, order + at, n < run ? n : run, n, spare + at);
		}
		uint32_t *sorted = spare;
		spare = order;
		order = sorted;
	}
	return order;
}

/* An array by row -> the same by new row. */
static void move_array(void *array, struct pd_array *b, size_t elem, const uint32_t *place, const struct pd_rows *rows, size_t left)
{
	struct pd_array moved = { 0 };
	void **v = array;
	if (!*v)
		return;
	char *to = pd_array_room(&moved, rows->budget, left * elem);
	for (size_t i = 0; i < rows->n; i++)
		if (place[i] != REPEATED)
			memcpy(to + place[i] * elem, (const char *)*v + i * elem, elem);
	pd_array_release(b);
	*b = moved;
	*v = b->p;
}

/* An id on both sides is on both. */
static void move_sides(struct pd_rows *rows, const uint32_t *place, const uint32_t *order, size_t left)
{
	struct pd_array moved = { 0 };
	size_t at = 0;
	if (!rows->side)
		return;
	uint8_t *to = pd_array_room(&moved, rows->budget, left + 1);
	memset(to, 0, left + 1);
	for (size_t i = 0; i < rows->n; i++) {
		at = place[order[i]] == REPEATED ? at : place[order[i]];
		to[at] |= rows->side[order[i]];
	}
	pd_array_release(&rows->memory.side);
	rows->memory.side = moved;
	rows->side = to;
}

/* A set's rows, ascending again. */
static void move_set(struct pd_rows *rows, struct pd_rows_set *s, int which, const uint32_t *place, size_t left)
{
	struct pd_array at_memory = { 0 }, row_memory = { 0 }, keys_memory = { 0 };
	size_t w = (size_t)s->words, n = 0;
	uint32_t *at = pd_array_room(&at_memory, rows->budget, left * sizeof *at); /* new row -> its index in the set */
	uint32_t *row = pd_array_room(&row_memory, rows->budget, (s->n + 1) * sizeof *row);
	uint64_t *keys = pd_array_room(&keys_memory, rows->budget, (s->n + 1) * w * sizeof *keys);
	for (size_t i = 0; i < left; i++)
		at[i] = REPEATED;
	for (uint32_t i = 0; i < s->n; i++)
		if (place[pd_rows_set_row(s, i)] != REPEATED)
			at[place[pd_rows_set_row(s, i)]] = i;
	for (size_t i = 0; i < left; i++) {
		if (at[i] == REPEATED)
			continue;
		row[n] = (uint32_t)i;
		memcpy(keys + n * w, s->keys + at[i] * w, w * sizeof *keys);
		n++;
	}
	pd_array_release(&at_memory);
	pd_array_release(&rows->memory.row[which]);
	pd_array_release(&rows->memory.keys[which]);
	rows->memory.row[which] = row_memory;
	rows->memory.keys[which] = keys_memory;
	s->keys = keys;
	s->row = row;
	s->n = n;
	if (n == left) { /* rows from 0 on need no numbers */
		pd_array_release(&rows->memory.row[which]);
		s->row = NULL;
	}
}

static const char *origin_of(const struct pd_rows *rows, uint32_t row)
{
	size_t i = rows->n_origins;
	while (i > 1 && rows->origin[i - 1].row > row)
		i--;
	return i ? rows->origin[i - 1].path : "-";
}

/* Rows with the same id are one page that was read twice; if their contents differ, they are two pages, of which one
 * would be lost.  order: the rows sorted by id. */
static int check_repeated(const struct pd_rows *rows, const uint32_t *order, struct pd_err *e)
{
	for (size_t i = 1; i < rows->n; i++) {
		uint32_t a = order[i - 1], b = order[i];
		if (!have_one_id(rows, a, b))
			continue;
		uint64_t x = pd_rows_content(rows, a), y = pd_rows_content(rows, b);
		if (x == y || !x || !y)
			continue;
		struct pd_buf id = { 0 };
		pd_tsv_value(id_of(rows, a), &id);
		int status = pd_fail(e, PD_ERR_INPUT,
				     "the id %.*s stands for two pages, one in %s and one in %s: give ids another name where the "
				     "rows are made, standard input with 'fp --name=NAME', files by another path",
				     id.n < 100 ? (int)id.n : 100, pd_buf_z(&id), origin_of(rows, a), origin_of(rows, b));
		pd_buf_release(&id);
		return status;
	}
	return PD_OK;
}

/* order: the rows sorted by id. */
static void renumber(struct pd_rows *rows, const uint32_t *order)
{
	struct pd_array memory = { 0 };
	uint32_t *place = pd_array_room(&memory, rows->budget, rows->n * sizeof *place), next = 0;
	for (size_t i = 0; i < rows->n; i++)
		place[order[i]] = i && have_one_id(rows, order[i - 1], order[i]) ? REPEATED : next++;
	move_sides(rows, place, order, next);
	move_set(rows, &rows->fingerprints, 0, place, next);
	move_set(rows, &rows->digests, 1, place, next);
	move_array(&rows->realm, &rows->memory.realm, sizeof *rows->realm, place, rows, next);
	move_array(&rows->at.low, &rows->memory.low, sizeof *rows->at.low, place, rows, next);
	move_array(&rows->at.high, &rows->memory.high, sizeof *rows->at.high, place, rows, next);
	rows->repeated = rows->n - next;
	rows->n = next;
	pd_array_release(&memory);
}

/* Reorder the rows by id, each id once; `repeated` counts the others. */
static int order_rows(struct pd_rows *rows, struct pd_err *e)
{
	struct pd_array order = { 0 }, spare = { 0 };
	uint32_t *a = pd_array_room(&order, rows->budget, rows->n * sizeof *a);
	uint32_t *b = pd_array_room(&spare, rows->budget, rows->n * sizeof *b);
	const uint32_t *sorted = sort_by_id(rows, a, b);
	int status = check_repeated(rows, sorted, e);
	if (!status)
		renumber(rows, sorted);
	pd_array_release(&order);
	pd_array_release(&spare);
	return status ? status : pd_budget_check(rows->budget, e);
}

/* --- reading --- */

static int map_spool(struct intake *in, struct pd_err *e)
{
	struct pd_rows *rows = in->rows;
	spool_piece(in);
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

/* Return whether texts may be fetched late. Conditions on the rows are checked as they are read. */
static bool may_be_late(const struct pd_rows_options *o)
{
	bool may = o->texts != PD_TEXTS_ALL && o->realms == PD_REALM_NONE && !(o->requested && o->requested->n) && !o->sources.n;
	for (int i = 0; may && i < o->n_paths; i++)
		may = is_regular(o->paths[i]);
	for (int i = 0; may && i < o->n_against; i++)
		may = is_regular(o->against[i]);
	return may && (o->n_paths || is_regular("-"));
}

static int take_late(struct intake *in, struct pd_err *e)
{
	in->rows->late = pd_zalloc(sizeof *in->rows->late);
	int status = take_all(in, e);
	choose_kind(&in->sketches, in->rows);
	return status ? status : pd_budget_check(in->o->budget, e);
}

static int take_and_spool(struct intake *in, struct pd_err *e)
{
	int status = PD_ERR_SYSTEM;
	in->spool = pd_tempfile_open(in->o->tmp_dir, e);
	if (in->spool)
		status = take_all(in, e);
	if (!status)
		status = map_spool(in, e);
	choose_kind(&in->sketches, in->rows);
	if (!status)
		status = pd_budget_check(in->o->budget, e);
	if (!status && in->descends)
		status = order_rows(in->rows, e);
	if (in->spool)
		fclose(in->spool);
	return status;
}

static int read_rows(struct pd_rows *rows, const struct pd_rows_options *o, bool late, uint64_t bad_known, struct pd_err *e)
{
	*rows = (struct pd_rows){ .budget = o->budget, .realms = o->realms };
	struct intake in = {
		.rows = rows, .o = o, .in = { .kind = PD_TABLE_FP, .more = in.more, .sources = o->sources }, .bad_known = bad_known
	};
	for (int i = 0, n = 0; pd_sign_methods[i]; i++)
		if (pd_sign_methods[i]->kind != PD_SIGN_BITS)
			in.more[n++] = pd_sign_methods[i]->name;
	int status = late ? take_late(&in, e) : take_and_spool(&in, e);
	free(rows->origin);
	rows->origin = NULL;
	rows->n_origins = rows->cap_origins = 0;
	pd_buf_add_span(&rows->totals, pd_buf_span(&in.in.totals));
	rows->cut = in.in.cut;
	pd_table_release(&in.in);
	pd_buf_release(&in.scratch);
	pd_buf_release(&in.idf);
	pd_buf_release(&in.synonyms);
	pd_buf_release(&in.host[0]);
	pd_buf_release(&in.host[1]);
	pd_buf_release(&in.recorded);
	pd_buf_release(&in.piece);
	pd_buf_release(&in.last_id);
	return status;
}

int pd_rows_read(struct pd_rows *rows, const struct pd_rows_options *o, struct pd_err *e)
{
	bool late = may_be_late(o);
	int status = read_rows(rows, o, late, 0, e);
	if (status != NEEDS_SPOOL)
		return status;
	uint64_t bad = rows->bad;
	pd_rows_release(rows);
	return read_rows(rows, o, false, bad, e);
}

static void free_late(struct pd_rows_late *l)
{
	for (size_t i = 0; l && i < l->n; i++) {
		if (l->file[i].keys)
			pd_keyfile_close(l->file[i].keys);
		free(l->file[i].keys);
		free(l->file[i].columns);
	}
	if (!l)
		return;
	struct pd_array *arrays[] = { &l->low, &l->high, &l->there, &l->before, &l->text };
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		pd_array_release(arrays[i]);
	free(l->file);
	free(l);
}

void pd_rows_release(struct pd_rows *rows)
{
	if (rows->spool && !rows->late)
		munmap(rows->spool, rows->spool_size);
	free_late(rows->late);
	struct pd_rows_memory *m = &rows->memory;
	struct pd_array *blocks[] = { &m->row[0], &m->row[1], &m->keys[0], &m->keys[1], &m->low, &m->high, &m->realm, &m->side };
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
		pd_array_release(blocks[i]);
	pd_buf_release(&rows->must);
	pd_buf_release(&rows->totals);
	*rows = (struct pd_rows){ 0 };
}

/* --- saving --- */

struct keyfile_writing {
	const struct pd_rows *rows;
	struct pd_buf section[PD_KEYFILE_SECTIONS];
};

static void add_param(struct pd_buf *out, const char *name, struct pd_span value)
{
	if (value.n)
		pd_buf_printf(out, "%s %.*s\n", name, (int)value.n, value.p);
}

static void make_params(struct keyfile_writing *w)
{
	struct pd_buf *out = &w->section[PD_KEYFILE_PARAMS], sketch = { 0 };
	struct pd_span rest = pd_buf_span(&w->rows->totals), line;
	add_param(out, "must", pd_buf_span(&w->rows->must));
	add_param(out, "params", pd_span_z(w->rows->params));
	if (w->rows->sketched)
		pd_sketch_print(&w->rows->sketch, &sketch);
	add_param(out, "sketch", pd_buf_span(&sketch));
	while (rest.n && pd_span_split(&rest, '\n', &line))
		add_param(out, "total", line);
	if (w->rows->cut)
		add_param(out, "cut", pd_span_z("yes"));
	pd_buf_release(&sketch);
}

static void make_sketches(struct keyfile_writing *w)
{
	size_t bytes = (size_t)pd_sketch_words(&w->rows->sketch) * sizeof(uint64_t);
	for (size_t i = 0; i < w->rows->n; i++) {
		struct pd_sketch s;
		bool there = pd_rows_sketch(w->rows, (uint32_t)i, &s);
		pd_buf_add_c(&w->section[PD_KEYFILE_SKETCHED], there);
		if (there)
			pd_buf_add(&w->section[PD_KEYFILE_SKETCHES], s.w, bytes);
	}
}

static void end_block(struct keyfile_writing *w, struct pd_zstd_packer *packer, struct pd_buf *text)
{
	uint64_t at = w->section[PD_KEYFILE_ROWS].n;
	pd_buf_add(&w->section[PD_KEYFILE_BLOCK_AT], &at, sizeof at);
	if (text->n)
		pd_zstd_pack(packer, pd_buf_span(text), &w->section[PD_KEYFILE_ROWS]);
	pd_buf_clear(text);
}

static void make_rows(struct keyfile_writing *w)
{
	struct pd_zstd_packer *packer = pd_zstd_packer_new();
	struct pd_buf text = { 0 };
	uint64_t at = 0;
	for (size_t i = 0; i < w->rows->n; i++) {
		struct pd_span line = line_of(w->rows, (uint32_t)i);
		if (i && i % PD_KEYFILE_BLOCK == 0)
			end_block(w, packer, &text);
		pd_buf_add(&w->section[PD_KEYFILE_ROW_AT], &at, sizeof at);
		pd_buf_add_span(&text, line);
		pd_buf_add_c(&text, '\n');
		at += line.n + 1;
	}
	pd_buf_add(&w->section[PD_KEYFILE_ROW_AT], &at, sizeof at);
	if (w->rows->n)
		end_block(w, packer, &text);
	end_block(w, packer, &text);
	pd_buf_release(&text);
	pd_zstd_packer_free(packer);
}

/* A column that is in memory in the form of the file. */
static void make_set(struct keyfile_writing *w, const struct pd_rows_set *set, enum pd_keyfile_section rows,
		     enum pd_keyfile_section keys)
{
	for (uint32_t i = 0; i < set->n; i++)
		pd_buf_add(&w->section[rows], &(uint32_t){ pd_rows_set_row(set, i) }, sizeof(uint32_t));
	pd_buf_add(&w->section[keys], set->keys, set->n * (size_t)set->words * sizeof *set->keys);
}

int pd_rows_save(const struct pd_rows *rows, FILE *to, const char *name, struct pd_err *e)
{
	struct keyfile_writing w = { .rows = rows };
	make_params(&w);
	make_set(&w, &rows->fingerprints, PD_KEYFILE_PRINT_ROWS, PD_KEYFILE_PRINTS);
	make_set(&w, &rows->digests, PD_KEYFILE_DIGEST_ROWS, PD_KEYFILE_DIGESTS);
	make_sketches(&w);
	make_rows(&w);
	struct pd_keyfile_counts counts = { .rows = rows->n,
					    .fingerprints = rows->fingerprints.n,
					    .digests = rows->digests.n,
					    .bits = (uint32_t)rows->bits,
					    .sketch_words = rows->sketched ? (uint32_t)pd_sketch_words(&rows->sketch) : 0 };
	pd_buf_add(&w.section[PD_KEYFILE_COUNTS], &counts, sizeof counts);
	struct pd_container_writer out;
	pd_container_begin(&out, &pd_keyfile_kind, 0, pd_container_to_file, &(struct pd_container_file){ to, name }, e);
	for (int i = 0; i < PD_KEYFILE_SECTIONS; i++) {
		pd_container_add_section(&out, w.section[i].p, w.section[i].n);
		pd_buf_release(&w.section[i]);
	}
	return pd_container_end(&out, NULL);
}
