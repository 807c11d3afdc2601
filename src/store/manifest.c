/* SPDX-License-Identifier: MIT */
#include "store/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/layout.h"

static const char first_words[] = "pagededup store ";

static void print_or_dash(struct pd_buf *out, const char *key, const char *value)
{
	pd_buf_printf(out, "%s %s\n", key, *value ? value : "-");
}

void pd_store_manifest_print(const struct pd_store_manifest *m, struct pd_buf *out)
{
	pd_buf_clear(out);
	pd_buf_printf(out, "%s%d\nbits %d\nk %d\nalone %d\n", first_words, PD_STORE_VERSION, m->bits, m->k, m->alone);
	print_or_dash(out, "must", pd_buf_z(&m->must));
	print_or_dash(out, "params", m->params);
	print_or_dash(out, "sketch", m->sketch);
	pd_buf_printf(out, "next %" PRIu64 "\nfile %" PRIu64 "\nlog %" PRIu64 "\ngone %" PRIu64 "\n", m->next,
		      m->next_file, m->log, m->tombstones);
	for (size_t i = 0; i < m->n_segments; i++) {
		const struct pd_store_manifest_segment *s = &m->segments[i];
		pd_buf_printf(out, "segment %" PRIu64 " %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n", s->file, s->rows,
			      s->bytes, s->check);
	}
	pd_buf_printf(out, "check %016" PRIx64 "\n", pd_hash64(out->p, out->n));
}

struct text {
	struct pd_span all, rest;
	const char *name;
	struct pd_err *e;
};

static int fail_line(const struct text *t, const char *what)
{
	return pd_fail(t->e, PD_ERR_FORMAT, "%s: damaged at offset %zu: %s", t->name, t->all.n - t->rest.n, what);
}

/* The value on a line "key value". */
static bool take_line(struct text *t, const char *key, struct pd_span *value)
{
	struct pd_span rest = t->rest, line, word;
	if (!rest.n || !memchr(rest.p, '\n', rest.n) || !pd_span_split(&rest, '\n', &line))
		return false;
	pd_span_split(&line, ' ', &word);
	if (!pd_span_is(word, key) || !line.p)
		return false;
	t->rest = rest;
	*value = line;
	return true;
}

static int take_number(struct text *t, const char *key, uint64_t most, uint64_t *out)
{
	struct pd_span v;
	if (take_line(t, key, &v) && pd_span_u64(v, out) && *out <= most)
		return PD_OK;
	return fail_line(t, key);
}

static int take_words(struct text *t, const char *key, struct pd_buf *out)
{
	struct pd_span v;
	pd_buf_clear(out);
	if (!take_line(t, key, &v) || memchr(v.p, 0, v.n))
		return fail_line(t, key);
	if (!pd_span_is(v, "-"))
		pd_buf_set(out, v);
	return PD_OK;
}

static int take_short_words(struct text *t, const char *key, char *out, size_t room)
{
	struct pd_buf v = { 0 };
	int status = take_words(t, key, &v);
	if (!status && v.n >= room)
		status = fail_line(t, key);
	if (!status)
		snprintf(out, room, "%s", pd_buf_z(&v));
	pd_buf_release(&v);
	return status;
}

static bool hex64(struct pd_span v, uint64_t *out)
{
	struct pd_key key;
	int bits;
	if (!pd_key_parse(v, &bits, &key) || bits != 64)
		return false;
	*out = key.w[0];
	return true;
}

static int take_segment(struct text *t, struct pd_store_manifest *m, struct pd_span v)
{
	struct pd_store_manifest_segment s;
	struct pd_span f[4];
	size_t n = 0;
	while (n < 4 && pd_span_split(&v, ' ', &f[n]))
		n++;
	if (n < 4 || v.p || !pd_span_u64(f[0], &s.file) || !pd_span_u64(f[1], &s.rows) ||
	    !pd_span_u64(f[2], &s.bytes) || !hex64(f[3], &s.check))
		return fail_line(t, "segment");
	pd_store_manifest_put(m, m->n_segments, m->n_segments, s);
	return PD_OK;
}

/* The last line is over all before it. */
static int check_sum(struct text *t, uint64_t *check)
{
	static const char word[] = "check ";
	size_t n = sizeof word - 1 + 17;
	const char *at = t->all.p + (t->all.n < n ? 0 : t->all.n - n);
	t->rest = t->all;
	if (t->all.n < n || memcmp(at, word, sizeof word - 1) || t->all.p[t->all.n - 1] != '\n' ||
	    !hex64(pd_span(at + sizeof word - 1, 16), check) || *check != pd_hash64(t->all.p, t->all.n - n))
		return fail_line(t, "its checksum does not match");
	t->all.n -= n;
	t->rest = t->all;
	return PD_OK;
}

/* A newer version is told before anything else is looked at, its checksum too. */
static int check_version(struct text *t, struct pd_store_manifest *m)
{
	struct pd_span line = t->all, v;
	uint64_t n;
	size_t words_n = sizeof first_words - 1;
	pd_span_split(&t->all, '\n', &line);
	if (line.n < words_n || memcmp(line.p, first_words, words_n))
		return pd_fail(t->e, PD_ERR_FORMAT, "%s: damaged at offset 0: not the manifest of a store", t->name);
	v = pd_span(line.p + words_n, line.n - words_n);
	if (!pd_span_u64(v, &n) || n == 0)
		return pd_fail(t->e, PD_ERR_FORMAT, "%s: damaged at offset %zu: no version", t->name, words_n);
	if (n > PD_STORE_VERSION)
		return pd_fail(t->e, PD_ERR_VERSION,
			       "%s: a store of version %" PRIu64 "; this program knows version %d", t->name, n, PD_STORE_VERSION);
	m->version = (int)n;
	return PD_OK;
}

static int take_settings(struct text *t, struct pd_store_manifest *m)
{
	uint64_t bits = 0, k = 0, alone = 0;
	int status = take_number(t, "bits", PD_BITS_MAX, &bits);
	if (!status)
		status = take_number(t, "k", PD_BITS_MAX / 4, &k);
	if (!status)
		status = take_number(t, "alone", k, &alone);
	if (!status && ((bits != 64 && bits != 128 && bits != 256) || k > bits / 4))
		status = fail_line(t, "bits and k");
	m->bits = (int)bits;
	m->k = (int)k;
	m->alone = (int)alone;
	if (!status)
		status = take_words(t, "must", &m->must);
	if (!status)
		status = take_short_words(t, "params", m->params, sizeof m->params);
	if (!status)
		status = take_short_words(t, "sketch", m->sketch, sizeof m->sketch);
	return status;
}

static int take_files(struct text *t, struct pd_store_manifest *m)
{
	struct pd_span v;
	int status = take_number(t, "next", UINT64_MAX, &m->next);
	if (!status)
		status = take_number(t, "file", UINT64_MAX, &m->next_file);
	if (!status)
		status = take_number(t, "log", UINT64_MAX, &m->log);
	if (!status)
		status = take_number(t, "gone", UINT64_MAX, &m->tombstones);
	while (!status && t->rest.n)
		status = take_line(t, "segment", &v) ? take_segment(t, m, v) : fail_line(t, "segment");
	return status;
}

int pd_store_manifest_parse(struct pd_store_manifest *m, struct pd_span text, const char *name, struct pd_err *e)
{
	struct text t = { .all = text, .name = name, .e = e };
	struct pd_span skip;
	*m = (struct pd_store_manifest){ 0 };
	int status = check_version(&t, m);
	t.all = text;
	if (!status)
		status = check_sum(&t, &m->check);
	if (!status)
		pd_span_split(&t.rest, '\n', &skip);
	if (!status)
		status = take_settings(&t, m);
	if (!status)
		status = take_files(&t, m);
	return status;
}

int pd_store_manifest_load(struct pd_store_manifest *m, const struct pd_store_io *io, struct pd_err *e)
{
	struct pd_store_io_map map;
	struct pd_buf name = { 0 };
	*m = (struct pd_store_manifest){ 0 };
	int status = pd_store_io_map(io, "manifest", &map, e);
	if (status == PD_ERR_NOT_FOUND)
		return pd_fail(e, status, "%s is not a store (it has no manifest): 'pagededup store init' makes one",
			       io->dir);
	if (status)
		return status;
	pd_buf_printf(&name, "%s/manifest", io->dir);
	status = pd_store_manifest_parse(m, pd_span((const char *)map.p, map.n), name.p, e);
	pd_buf_release(&name);
	pd_store_io_unmap(&map);
	return status;
}

int pd_store_manifest_save(const struct pd_store_manifest *m, struct pd_store_io *io, struct pd_err *e)
{
	struct pd_store_io_file f;
	struct pd_buf text = { 0 };
	pd_store_manifest_print(m, &text);
	int status = pd_store_io_create(io, "manifest.new", &f, e);
	if (!status)
		status = pd_store_io_append(&f, text.p, text.n, e);
	if (!status)
		status = pd_store_io_sync(&f, e);
	pd_store_io_close(&f);
	if (!status)
		status = pd_store_io_rename(io, "manifest.new", "manifest", e);
	if (!status)
		status = pd_store_io_sync_dir(io, e);
	pd_buf_release(&text);
	return status;
}

void pd_store_manifest_release(struct pd_store_manifest *m)
{
	pd_buf_release(&m->must);
	free(m->segments);
	*m = (struct pd_store_manifest){ 0 };
}

void pd_store_manifest_put(struct pd_store_manifest *m, size_t from, size_t to, struct pd_store_manifest_segment s)
{
	if (from == to)
		m->segments = pd_grow(m->segments, m->n_segments, &m->cap, sizeof *m->segments);
	memmove(m->segments + from + 1, m->segments + to, (m->n_segments - to) * sizeof *m->segments);
	m->segments[from] = s;
	m->n_segments = m->n_segments - (to - from) + 1;
}

void pd_store_manifest_cut(struct pd_store_manifest *m, size_t from, size_t to)
{
	memmove(m->segments + from, m->segments + to, (m->n_segments - to) * sizeof *m->segments);
	m->n_segments -= to - from;
}
