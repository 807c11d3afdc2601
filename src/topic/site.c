/* SPDX-License-Identifier: MIT */
#include "topic/site.h"

#include <stdlib.h>

#include "base/fields.h"
#include "base/hash.h"
#include "base/utf8.h"

void pd_site_keys_release(struct pd_site_keys *k)
{
	free(k->boxes);
	free(k->entries);
	free(k->places);
	pd_buf_release(&k->scratch);
	pd_buf_release(&k->host);
	*k = (struct pd_site_keys){ 0 };
}

void pd_site_paths(struct pd_site_keys *k, const struct pd_blocks *in)
{
	k->boxes = pd_grow(k->boxes, in->n_boxes, &k->cap_boxes, sizeof *k->boxes);
	for (size_t i = 0; i < in->n_boxes; i++) {
		const struct pd_box *b = &in->boxes[i];
		uint64_t above = b->parent == PD_BOX_NONE ? 0 : k->boxes[b->parent];
		k->boxes[i] = pd_hash64_seed(b->klass.p, b->klass.n, above ^ b->tag);
	}
}

uint64_t pd_site_line(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l)
{
	const struct pd_run *r = &in->runs[l->first_run];
	if (l->end_run == l->first_run + 1)
		return pd_hash64(in->text.p + r->at, r->n);
	pd_buf_clear(&k->scratch);
	for (size_t i = l->first_run; i < l->end_run; i++) {
		r = &in->runs[i];
		if (i > l->first_run && r->flags & PD_RUN_SPACE)
			pd_buf_add_c(&k->scratch, ' ');
		pd_buf_add_span(&k->scratch, pd_run_text(in, r));
	}
	return pd_hash64(k->scratch.p, k->scratch.n);
}

/* ASCII letters, and any character from U+00C0 on that is no punctuation or symbol of the blocks that hold little else. */
static bool is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
	if (c < 0xC0 || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c < 0x2C00))
		return false;
	return (c < 0x3000 || c > 0x3004) && (c < 0x3008 || c > 0x3030) && (c < 0xFF00 || c > 0xFF20) && c < 0x1F000;
}

static bool run_letter(struct pd_span s)
{
	for (const char *p = s.p, *end = s.p + s.n; p < end;)
		if (is_letter(pd_utf8_next(&p)))
			return true;
	return false;
}

bool pd_site_letter(const struct pd_blocks *in, const struct pd_line *l)
{
	for (size_t i = l->first_run; i < l->end_run; i++)
		if (run_letter(pd_run_text(in, &in->runs[i])))
			return true;
	return false;
}

static int by_value(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static bool known(const uint64_t *keys, size_t n, uint64_t key)
{
	return n && bsearch(&key, keys, n, sizeof key, by_value) != NULL;
}

uint64_t pd_site_mark(struct pd_site_keys *k, const struct pd_site *s, const struct pd_blocks *in, struct pd_lines *l)
{
	uint64_t taken = 0;
	if (!s->n_lines && !s->n_paths)
		return 0;
	pd_site_paths(k, in);
	for (size_t i = 0; i < l->n; i++) {
		struct pd_line *line = &l->v[i];
		if (in->boxes[line->box].tag == PD_TAG_title)
			continue;
		if (!known(s->paths, s->n_paths, k->boxes[line->box]) &&
		    !known(s->lines, s->n_lines, pd_site_line(k, in, line)))
			continue;
		taken += line->mass - line->link_mass;
		line->site = true;
		line->mass = line->link_mass = 0;
		line->stop = false;
	}
	return taken;
}

/*
 * The record of a page.
 */

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

static void add_line(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l)
{
	bool link = (uint64_t)l->link_mass * 2 > l->mass;
	if (in->boxes[l->box].tag == PD_TAG_title || !pd_site_letter(in, l))
		return;
	uint64_t path = k->boxes[l->box];
	k->places = pd_grow(k->places, k->n_places, &k->cap_places, sizeof *k->places);
	k->places[k->n_places++] = (struct pd_site_place){ path, link };
	if (link)
		return;
	k->entries = pd_grow(k->entries, k->n_entries, &k->cap_entries, sizeof *k->entries);
	k->entries[k->n_entries++] = (struct pd_site_entry){ pd_site_line(k, in, l), path };
}

/* Each path once, with the sum of its links; the smallest. */
static void close_places(struct pd_site_keys *k)
{
	size_t n = 0;
	if (k->n_places)
		qsort(k->places, k->n_places, sizeof *k->places, by_path);
	for (size_t i = 0; i < k->n_places; i++) {
		if (n && k->places[n - 1].path == k->places[i].path) {
			unsigned links = k->places[n - 1].links + k->places[i].links;
			k->places[n - 1].links = (uint16_t)(links < UINT16_MAX ? links : UINT16_MAX);
		} else {
			k->places[n++] = k->places[i];
		}
	}
	k->n_places = n < PD_SITE_PATHS_MAX ? n : PD_SITE_PATHS_MAX;
}

static const struct pd_site_place *place_of(const struct pd_site_keys *k, uint64_t path)
{
	struct pd_site_place key = { .path = path };
	return k->n_places ? bsearch(&key, k->places, k->n_places, sizeof key, by_path) : NULL;
}

/* Each line once with each path that was taken; the smallest. */
static void close_entries(struct pd_site_keys *k)
{
	size_t n = 0;
	if (k->n_entries)
		qsort(k->entries, k->n_entries, sizeof *k->entries, by_line);
	for (size_t i = 0; i < k->n_entries && n < PD_SITE_LINES_MAX; i++)
		if ((!n || by_line(&k->entries[n - 1], &k->entries[i])) && place_of(k, k->entries[i].path))
			k->entries[n++] = k->entries[i];
	k->n_entries = n;
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

static void write_record(const struct pd_site_keys *k, const uint64_t head[4], uint64_t title, struct pd_span name,
			 struct pd_buf *out)
{
	size_t at = out->n;
	uint32_t size = (uint32_t)size_of(k->n_places, k->n_entries, name.n);
	pd_buf_add(out, head, 4 * sizeof *head);
	pd_buf_add(out, &size, sizeof size);
	add_u16(out, name.n);
	add_u16(out, k->n_places);
	add_u16(out, k->n_entries);
	pd_buf_add(out, &title, 6);
	for (size_t i = 0; i < k->n_places; i++)
		add_u64(out, k->places[i].path);
	for (size_t i = 0; i < k->n_entries; i++)
		add_u64(out, k->entries[i].line);
	for (size_t i = 0; i < k->n_places; i++)
		add_u16(out, k->places[i].links);
	for (size_t i = 0; i < k->n_entries; i++)
		add_u16(out, (size_t)(place_of(k, k->entries[i].path) - k->places));
	pd_buf_add_span(out, name);
	while (out->n < at + size)
		pd_buf_add_c(out, 0);
}

uint64_t pd_site_host(struct pd_span name)
{
	return pd_hash64(name.p, name.n);
}

bool pd_site_page_make(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_lines *lines, struct pd_span text,
		       struct pd_span url, struct pd_buf *out)
{
	pd_url_host(url, &k->host);
	if (!k->host.n || k->host.n > PD_SITE_NAME_MAX || !in->n_runs)
		return false;
	k->n_entries = k->n_places = 0;
	pd_site_paths(k, in);
	for (size_t i = 0; i < lines->n; i++)
		add_line(k, in, &lines->v[i]);
	close_places(k);
	close_entries(k);
	struct pd_span host = pd_buf_span(&k->host);
	uint64_t head[4] = { pd_site_host(host), pd_hash64(url.p, url.n), text_context(in), pd_site_signature(text) };
	write_record(k, head, title_key(in), host, out);
	return true;
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
