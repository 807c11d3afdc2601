/* SPDX-License-Identifier: MIT */
#include "topic/site_page.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/url.h"
#include "base/utf8.h"

/* A line of text and where it stands. */
struct pd_site_entry {
	uint64_t line, path;
};

/* A path, and how many of its lines are mostly links. */
struct pd_site_place {
	uint64_t path;
	uint16_t links;
};

static int by_line(const void *x, const void *y)
{
	const struct pd_site_entry *a = x, *b = y;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->path > b->path) - (a->path < b->path);
}

static int by_path(const void *x, const void *y)
{
	uint64_t a = ((const struct pd_site_place *)x)->path, b = ((const struct pd_site_place *)y)->path;
	return (a > b) - (a < b);
}

static void add_line(struct pd_site_draft *d, struct pd_site_keys *keys, const struct pd_blocks *in, const struct pd_line *l)
{
	bool link = (uint64_t)l->link_mass * 2 > l->mass;
	if (in->boxes[l->box].tag == PD_TAG_title || !pd_site_letter(in, l))
		return;
	uint64_t path = keys->boxes[l->box];
	d->places = pd_grow(d->places, d->n_places, &d->cap_places, sizeof *d->places);
	d->places[d->n_places++] = (struct pd_site_place){ path, link };
	if (link)
		return;
	d->entries = pd_grow(d->entries, d->n_entries, &d->cap_entries, sizeof *d->entries);
	d->entries[d->n_entries++] = (struct pd_site_entry){ pd_site_line(keys, in, l), path };
}

/* Each path once, with the sum of its links; the smallest. */
static void close_places(struct pd_site_draft *d)
{
	size_t n = 0;
	if (d->n_places)
		qsort(d->places, d->n_places, sizeof *d->places, by_path);
	for (size_t i = 0; i < d->n_places; i++) {
		if (n && d->places[n - 1].path == d->places[i].path) {
			unsigned links = d->places[n - 1].links + d->places[i].links;
			d->places[n - 1].links = (uint16_t)(links < UINT16_MAX ? links : UINT16_MAX);
		} else {
			d->places[n++] = d->places[i];
		}
	}
	d->n_places = n < PD_SITE_PATHS_MAX ? n : PD_SITE_PATHS_MAX;
}

static const struct pd_site_place *place_of(const struct pd_site_draft *d, uint64_t path)
{
	struct pd_site_place key = { .path = path };
	return d->n_places ? bsearch(&key, d->places, d->n_places, sizeof key, by_path) : NULL;
}

/* Each line once with each path that was taken; the smallest. */
static void close_entries(struct pd_site_draft *d)
{
	size_t n = 0;
	if (d->n_entries)
		qsort(d->entries, d->n_entries, sizeof *d->entries, by_line);
	for (size_t i = 0; i < d->n_entries && n < PD_SITE_LINES_MAX; i++)
		if ((!n || by_line(&d->entries[n - 1], &d->entries[i])) && place_of(d, d->entries[i].path))
			d->entries[n++] = d->entries[i];
	d->n_entries = n;
}

/*
 * Under which text does a line stand?  A simhash of 64 bits of the words of a text, two by two: the same text, edited a
 * little, differs in a few bits, another one in about half of them.  Words are cut at anything that is no letter or
 * digit, ideographs and kana stand alone; no dictionary is needed, because these signatures are only compared with others
 * of the same host.
 */

struct context {
	struct pd_simhash sum;
	uint64_t last;		/* hash of the word before; 0: none */
};

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xD6E8FEB86659FD93ull;
	h ^= h >> 32;
	h *= 0xD6E8FEB86659FD93ull;
	return h ^ h >> 29;
}

static void clear_context(struct context *c)
{
	pd_simhash_clear(&c->sum, 64);
	c->last = 0;
}

static void add_word(struct context *c, uint64_t word)
{
	uint64_t hash = mix(word);
	if (c->last) {
		struct pd_key key = { { mix(c->last * 0x9E3779B97F4A7C15ull + hash) } };
		pd_simhash_add(&c->sum, &key, 1);
	}
	c->last = hash;
}

enum sort { NOTHING, PART, ALONE };

/* A character that is part of a word, a word by itself, or neither. */
static enum sort sort_of(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ? PART : NOTHING;
	if (c < 0xC0 || (c >= 0x2000 && c < 0x2E80) || (c >= 0x3000 && c < 0x3040) || c >= 0xFF00)
		return NOTHING;
	return c < 0x2000 ? PART : ALONE;
}

static void add_text(struct context *c, struct pd_span utf8)
{
	uint64_t word = 0;
	for (const char *p = utf8.p, *end = p + utf8.n; p < end;) {
		uint32_t ch = pd_utf8_next(&p);
		enum sort sort = sort_of(ch);
		if (word && sort != PART) {
			add_word(c, word);
			word = 0;
		}
		if (ch >= 'A' && ch <= 'Z')
			ch |= 0x20;
		if (sort == PART)
			word = (word + ch) * 0x9E3779B97F4A7C15ull;
		else if (sort == ALONE)
			add_word(c, ch);
	}
	if (word)
		add_word(c, word);
}

static uint64_t end_context(struct context *c)
{
	struct pd_key key;
	pd_simhash_end(&c->sum, &key);
	return key.w[0];
}

static uint64_t text_context(const struct pd_blocks *in)
{
	struct context c;
	clear_context(&c);
	for (size_t i = 0; i < in->n_runs; i++)
		if (!(in->runs[i].flags & PD_RUN_LINK) && in->boxes[in->runs[i].box].tag != PD_TAG_title)
			add_text(&c, pd_run_text(in, &in->runs[i]));
	return end_context(&c);
}

/* What the page calls itself, in title and first h1: 48 bits, 0 when it says nothing. */
static uint64_t title_key(const struct pd_blocks *in)
{
	uint32_t i = 0;
	uint64_t key = in->meta.title.n ? pd_hash64(in->meta.title.p, in->meta.title.n) : 0;
	while (i < in->n_boxes && (in->boxes[i].tag != PD_TAG_h1 || in->boxes[i].first_run == in->boxes[i].end_run))
		i++;
	for (size_t r = i < in->n_boxes ? in->boxes[i].first_run : in->n_runs; r < in->n_runs && r < in->boxes[i].end_run; r++)
		key = pd_hash64_seed(in->text.p + in->runs[r].at, in->runs[r].n, key);
	return key >> 16;
}

uint64_t pd_site_signature(struct pd_span text)
{
	struct context c;
	clear_context(&c);
	add_text(&c, text);
	return end_context(&c);
}

static void add_u16(struct pd_buf *out, size_t n)
{
	uint16_t v = (uint16_t)n;
	pd_buf_add(out, &v, sizeof v);
}

static void add_u64(struct pd_buf *out, uint64_t v)
{
	pd_buf_add(out, &v, sizeof v);
}

static size_t size_of(size_t paths, size_t lines, size_t name)
{
	return (PD_SITE_HEADER + 10 * (paths + lines) + name + 7) / 8 * 8;
}

static void write_record(const struct pd_site_draft *d, const uint64_t head[4], uint64_t title, struct pd_span name,
			 struct pd_buf *out)
{
	size_t at = out->n;
	uint32_t size = (uint32_t)size_of(d->n_places, d->n_entries, name.n);
	pd_buf_add(out, head, 4 * sizeof *head);
	pd_buf_add(out, &size, sizeof size);
	add_u16(out, name.n);
	add_u16(out, d->n_places);
	add_u16(out, d->n_entries);
	pd_buf_add(out, &title, 6);
	for (size_t i = 0; i < d->n_places; i++)
		add_u64(out, d->places[i].path);
	for (size_t i = 0; i < d->n_entries; i++)
		add_u64(out, d->entries[i].line);
	for (size_t i = 0; i < d->n_places; i++)
		add_u16(out, d->places[i].links);
	for (size_t i = 0; i < d->n_entries; i++)
		add_u16(out, (size_t)(place_of(d, d->entries[i].path) - d->places));
	pd_buf_add_span(out, name);
	while (out->n < at + size)
		pd_buf_add_c(out, 0);
}

uint64_t pd_site_host(struct pd_span name)
{
	return pd_hash64(name.p, name.n);
}

bool pd_site_page_make(struct pd_site_draft *d, struct pd_site_keys *keys, const struct pd_blocks *in, const struct pd_lines *lines,
		       struct pd_span text, struct pd_span url, struct pd_buf *out)
{
	pd_url_host(url, &d->host);
	if (!d->host.n || d->host.n > PD_SITE_NAME_MAX || !in->n_runs)
		return false;
	d->n_entries = d->n_places = 0;
	pd_site_paths(keys, in);
	for (size_t i = 0; i < lines->n; i++)
		add_line(d, keys, in, &lines->v[i]);
	close_places(d);
	close_entries(d);
	struct pd_span host = pd_buf_span(&d->host);
	uint64_t head[4] = { pd_site_host(host), pd_hash64(url.p, url.n), text_context(in), pd_site_signature(text) };
	write_record(d, head, title_key(in), host, out);
	return true;
}

void pd_site_draft_release(struct pd_site_draft *d)
{
	free(d->entries);
	free(d->places);
	pd_buf_release(&d->host);
	*d = (struct pd_site_draft){ 0 };
}

static bool ascending(const uint64_t *v, size_t n, bool strictly)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1] > v[i] || (strictly && v[i - 1] == v[i]))
			return false;
	return true;
}

bool pd_site_page_see(struct pd_span bytes, struct pd_site_page *out)
{
	uint16_t n[3];
	if (bytes.n < PD_SITE_HEADER)
		return false;
	memcpy(&out->host, bytes.p, 8);
	memcpy(&out->url, bytes.p + 8, 8);
	memcpy(&out->text, bytes.p + 16, 8);
	memcpy(&out->main, bytes.p + 24, 8);
	memcpy(&out->size, bytes.p + 32, 4);
	memcpy(n, bytes.p + 36, 6);
	out->title = 0;
	memcpy(&out->title, bytes.p + 42, 6);
	out->n_name = n[0];
	out->n_paths = n[1];
	out->n_lines = n[2];
	if (n[0] > PD_SITE_NAME_MAX || n[1] > PD_SITE_PATHS_MAX || n[2] > PD_SITE_LINES_MAX ||
	    out->size != size_of(n[1], n[2], n[0]) || out->size > bytes.n)
		return false;
	out->paths = (const uint64_t *)(const void *)(bytes.p + PD_SITE_HEADER);
	out->lines = out->paths + n[1];
	out->links = (const uint16_t *)(const void *)(out->lines + n[2]);
	out->path_of = out->links + n[1];
	out->name = (const char *)(out->path_of + n[2]);
	for (size_t i = 0; i < n[2]; i++)
		if (out->path_of[i] >= n[1])
			return false;
	return ascending(out->paths, n[1], true) && ascending(out->lines, n[2], false);
}

int pd_site_page_cmp(const struct pd_site_page *a, const struct pd_site_page *b, const char *bytes_a, const char *bytes_b)
{
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->url != b->url)
		return a->url < b->url ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return memcmp(bytes_a, bytes_b, a->size);
}
