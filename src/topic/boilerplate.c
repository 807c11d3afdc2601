/* SPDX-License-Identifier: MIT
 *
 * Repeated lines and paths of sites.  In this order: marking the repeated lines of a page; making the record of a page;
 * reading and writing the table of all hosts; deciding which lines a host repeats, from its records; learning, which
 * combines these.
 */
#include "topic/boilerplate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/runs.h"
#include "base/sort.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "topic/site.h"

/* ==== repeated lines of a page ==== */

/* A line of text and its path; once all paths are known, the number of its path. */
struct pd_site_entry {
	uint64_t line, path;
};

/* A path, and the number of its lines that are mostly links. */
struct pd_site_place {
	uint64_t path;
	uint16_t links;
};

void pd_site_keys_release(struct pd_site_keys *k)
{
	free(k->boxes);
	free(k->entries);
	free(k->sorted);
	free(k->places);
	pd_buf_release(&k->scratch);
	pd_buf_release(&k->host);
	*k = (struct pd_site_keys){ 0 };
}

/* Find the paths of all boxes of a page that contain text. */
static void find_paths(struct pd_site_keys *k, const struct pd_blocks *in)
{
	k->boxes = pd_grow(k->boxes, in->n_boxes, &k->cap_boxes, sizeof *k->boxes);
	for (size_t i = 0; i < in->n_boxes; i++) {
		const struct pd_box *b = &in->boxes[i];
		if (b->first_run == b->end_run)
			continue;
		uint64_t above = b->parent == PD_BOX_NONE ? 0 : k->boxes[b->parent];
		k->boxes[i] = pd_hash64_seed(b->klass.p, b->klass.n, above ^ b->tag);
	}
}

/* Return the readable text of a line: its runs, with the spaces between them. */
static struct pd_span join_runs(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l)
{
	const struct pd_run *r = &in->runs[l->first_run];
	if (l->end_run == l->first_run + 1)
		return pd_run_text(in, r);
	pd_buf_clear(&k->scratch);
	for (size_t i = l->first_run; i < l->end_run; i++) {
		r = &in->runs[i];
		if (i > l->first_run && r->flags & PD_RUN_SPACE)
			pd_buf_add_c(&k->scratch, ' ');
		pd_buf_add_span(&k->scratch, pd_run_text(in, r));
	}
	return pd_buf_span(&k->scratch);
}

/* Return the key of a line's text. */
static uint64_t line_key(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l)
{
	struct pd_span text = join_runs(k, in, l);
	return pd_hash64(text.p, text.n);
}

/* Return whether it is an ASCII letter, or any character from U+00C0 on outside the blocks of punctuation and
 * symbols. */
static bool is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
	if (c < 0xC0 || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c < 0x2C00))
		return false;
	return (c < 0x3000 || c > 0x3004) && (c < 0x3008 || c > 0x3030) && (c < 0xFF00 || c > 0xFF20) && c < 0x1F000;
}

static bool run_has_letter(struct pd_span s)
{
	for (const char *p = s.p, *end = s.p + s.n; p < end;)
		if (is_letter(pd_utf8_next(&p)))
			return true;
	return false;
}

/* A line without letters (numbers, prices, dates) is never recognised as repeated by its text. */
static bool line_has_letter(const struct pd_blocks *in, const struct pd_line *l)
{
	for (size_t i = l->first_run; i < l->end_run; i++)
		if (run_has_letter(pd_run_text(in, &in->runs[i])))
			return true;
	return false;
}

static int key_order(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

/* Sorted keys, and a filter of their lowest bits, which excludes most other keys. */
struct key_set {
	const uint64_t *keys;
	size_t n;
	uint64_t low[64];
};

static void fill_keys(struct key_set *s, const uint64_t *keys, size_t n)
{
	*s = (struct key_set){ .keys = keys, .n = n };
	for (size_t i = 0; i < n; i++)
		s->low[keys[i] >> 6 & 63] |= UINT64_C(1) << (keys[i] & 63);
}

static bool holds_key(const struct key_set *s, uint64_t key)
{
	return s->low[key >> 6 & 63] >> (key & 63) & 1 && bsearch(&key, s->keys, s->n, sizeof key, key_order) != NULL;
}

uint64_t pd_site_mark(struct pd_site_keys *k, const struct pd_site *s, const struct pd_blocks *in, struct pd_line *lines, size_t n)
{
	uint64_t taken = 0;
	const uint64_t *path = NULL;
	struct key_set known_lines, known_paths;
	bool path_known = false;
	if (!s->n_lines && !s->n_paths)
		return 0;
	find_paths(k, in);
	fill_keys(&known_lines, s->lines, s->n_lines);
	fill_keys(&known_paths, s->paths, s->n_paths);
	for (size_t i = 0; i < n; i++) {
		struct pd_line *line = &lines[i];
		if (in->boxes[line->box].tag == PD_TAG_title)
			continue;
		if (!path || k->boxes[line->box] != *path) { /* adjacent lines mostly have the same path */
			path = &k->boxes[line->box];
			path_known = holds_key(&known_paths, *path);
		}
		if (!path_known && !holds_key(&known_lines, line_key(k, in, line)))
			continue;
		taken += line->mass - line->link_mass;
		line->site = true;
		line->mass = line->link_mass = 0;
		line->stop = false;
	}
	return taken;
}

/* ==== the record of a page (site.h) ==== */

static int entry_order(const void *x, const void *y)
{
	const struct pd_site_entry *a = x, *b = y;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->path > b->path) - (a->path < b->path);
}

/* Keys of lines are evenly spread hashes: only one or two keys of a page have the same first byte. */
static void sort_entries(struct pd_site_keys *k)
{
	enum { HIGH = 256 };
	size_t n = k->n_entries, end[HIGH] = { 0 };
	k->sorted = pd_grow(k->sorted, n, &k->cap_sorted, sizeof *k->sorted);
	for (size_t i = 0; i < n; i++)
		end[k->entries[i].line >> 56]++;
	for (size_t v = 0, at = 0, of; v < HIGH; v++, at += of) {
		of = end[v];
		end[v] = at;
	}
	for (size_t i = 0; i < n; i++)
		k->sorted[end[k->entries[i].line >> 56]++] = k->entries[i];
	for (size_t v = 0, at = 0; v < HIGH; at = end[v++])
		if (end[v] - at > 1)
			qsort(&k->sorted[at], end[v] - at, sizeof *k->sorted, entry_order);
}

static int place_order(const void *x, const void *y)
{
	uint64_t a = ((const struct pd_site_place *)x)->path, b = ((const struct pd_site_place *)y)->path;
	return (a > b) - (a < b);
}

static uint16_t add_links(unsigned a, unsigned b)
{
	return (uint16_t)(a + b < UINT16_MAX ? a + b : UINT16_MAX);
}

/* Add the path of a line.  Adjacent lines mostly have the same path. */
static void add_place(struct pd_site_keys *k, uint64_t path, bool link)
{
	struct pd_site_place *last = k->n_places ? &k->places[k->n_places - 1] : NULL;
	if (last && last->path == path) {
		last->links = add_links(last->links, link);
		return;
	}
	k->places = pd_grow(k->places, k->n_places, &k->cap_places, sizeof *k->places);
	k->places[k->n_places++] = (struct pd_site_place){ path, link };
}

static void add_entry(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l)
{
	bool link = (uint64_t)l->link_mass * 2 > l->mass;
	if (in->boxes[l->box].tag == PD_TAG_title || !line_has_letter(in, l))
		return;
	uint64_t path = k->boxes[l->box];
	add_place(k, path, link);
	if (link)
		return;
	k->entries = pd_grow(k->entries, k->n_entries, &k->cap_entries, sizeof *k->entries);
	k->entries[k->n_entries++] = (struct pd_site_entry){ line_key(k, in, l), path };
}

/* Merge equal paths, sum their links, and keep the smallest keys. */
static void merge_places(struct pd_site_keys *k)
{
	size_t n = 0;
	if (k->n_places)
		qsort(k->places, k->n_places, sizeof *k->places, place_order);
	for (size_t i = 0; i < k->n_places; i++) {
		if (n && k->places[n - 1].path == k->places[i].path)
			k->places[n - 1].links = add_links(k->places[n - 1].links, k->places[i].links);
		else
			k->places[n++] = k->places[i];
	}
	k->n_places = n < PD_SITE_PATHS_MAX ? n : PD_SITE_PATHS_MAX;
}

/* Merge equal pairs of line and path, and keep the smallest keys of paths that were kept. */
static void merge_entries(struct pd_site_keys *k)
{
	size_t n = 0;
	for (size_t i = 0; i < k->n_entries; i++) {
		const struct pd_site_entry *e = &k->entries[i];
		size_t place = PD_LOWER_BOUND(p, 0, k->n_places, k->places[p].path < e->path);
		if (place < k->n_places && k->places[place].path == e->path)
			k->entries[n++] = (struct pd_site_entry){ e->line, place };
	}
	k->n_entries = n;
	sort_entries(k);
	n = 0;
	for (size_t i = 0; i < k->n_entries && n < PD_SITE_LINES_MAX; i++)
		if (!n || entry_order(&k->entries[n - 1], &k->sorted[i]))
			k->entries[n++] = k->sorted[i];
	k->n_entries = n;
}

/*
 * The text around a line is identified by a signature: a 64-bit simhash over pairs of adjacent words.  A slightly
 * edited text differs in a few bits, another text in about half of them.  Words are split at every character that is
 * not a letter or digit; ideographs and kana are words.  No dictionary is necessary, because these signatures are only
 * compared with others of the same host.
 */

enum { CONTEXT_KEYS = 248 };

struct context {
	struct pd_simhash sum;
	uint64_t last; /* hash of the previous word; 0: none */
	size_t n;      /* number of buffered keys */
	uint64_t keys[CONTEXT_KEYS];
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
	c->n = 0;
}

static void add_context_keys(struct context *c)
{
	pd_simhash_add_words(&c->sum, c->keys, c->n);
	c->n = 0;
}

static inline void add_context_key(struct context *c, uint64_t key)
{
	c->keys[c->n++] = key;
	if (c->n == CONTEXT_KEYS)
		add_context_keys(c);
}

static inline uint64_t pair_key(uint64_t last, uint64_t hash)
{
	return mix(last * 0x9E3779B97F4A7C15ull + hash);
}

/* Add a word to one text, or to two. */
static inline void add_context_word(struct context *c, struct context *other, uint64_t word)
{
	uint64_t hash = mix(word), last = c->last, key = pair_key(last, hash);
	if (last)
		add_context_key(c, key);
	c->last = hash;
	if (!other)
		return;
	if (other->last)
		add_context_key(other, other->last == last ? key : pair_key(other->last, hash));
	other->last = hash;
}

enum sort { NOTHING, PART, ALONE };

/* Letters and digits of ASCII, in lower case; 0: another character. */
static const uint8_t ascii_part[256] = {
	['0'] = '0', '1', '2', '3', '4',	 '5', '6', '7', '8', '9', ['A'] = 'a', 'b', 'c', 'd', 'e', 'f',
	'g',	     'h', 'i', 'j', 'k',	 'l', 'm', 'n', 'o', 'p', 'q',	       'r', 's', 't', 'u', 'v',
	'w',	     'x', 'y', 'z', ['a'] = 'a', 'b', 'c', 'd', 'e', 'f', 'g',	       'h', 'i', 'j', 'k', 'l',
	'm',	     'n', 'o', 'p', 'q',	 'r', 's', 't', 'u', 'v', 'w',	       'x', 'y', 'z',
};

/* Classify a character beyond ASCII: part of a word, a word by itself, or neither. */
static enum sort classify_character(uint32_t c)
{
	if (c < 0xC0 || (c >= 0x2000 && c < 0x2E80) || (c >= 0x3000 && c < 0x3040) || c >= 0xFF00)
		return NOTHING;
	return c < 0x2000 ? PART : ALONE;
}

/* Add words.  `other`: another text that contains the same words, or NULL. */
static void add_context_words(struct context *c, struct context *other, struct pd_span utf8)
{
	uint64_t word = 0;
	for (const char *p = utf8.p, *end = p + utf8.n; p < end;) {
		uint8_t part;
		for (; p < end && (part = ascii_part[(uint8_t)*p]); p++)
			word = (word + part) * 0x9E3779B97F4A7C15ull;
		if (p == end)
			break;
		uint32_t ch = pd_utf8_next(&p);
		enum sort sort = ch < 0x80 ? NOTHING : classify_character(ch);
		if (word && sort != PART) {
			add_context_word(c, other, word);
			word = 0;
		}
		if (sort == PART)
			word = (word + ch) * 0x9E3779B97F4A7C15ull;
		else if (sort == ALONE)
			add_context_word(c, other, ch);
	}
	if (word)
		add_context_word(c, other, word);
}

static uint64_t end_context(struct context *c)
{
	struct pd_key key;
	add_context_keys(c);
	pd_simhash_end(&c->sum, &key);
	return key.w[0];
}

/* Return whether the byte may be part of a word that continues in the adjacent run. */
static bool is_open(char c)
{
	return c & 0x80 || ascii_part[(uint8_t)c];
}

/* Return whether a word of the line may begin in one run and end in another. */
static bool words_cross(const struct pd_blocks *in, const struct pd_line *l)
{
	for (size_t i = l->first_run + 1; i < l->end_run; i++) {
		struct pd_span before = pd_run_text(in, &in->runs[i - 1]), text = pd_run_text(in, &in->runs[i]);
		if (!(in->runs[i].flags & PD_RUN_SPACE) && before.n && text.n && is_open(before.p[before.n - 1]) &&
		    is_open(text.p[0]))
			return true;
	}
	return false;
}

/* Compute the signatures of the page's text outside links, run by run, and of its main text, which consists of the
 * lines that no rule drops.  Both texts share most words, so both are computed in one pass, except for words that
 * continue in the next run. */
static void sign_texts(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *lines, const char *const *why,
		       size_t n, uint64_t signatures[2])
{
	struct context page, main;
	clear_context(&page);
	clear_context(&main);
	for (size_t i = 0; i < n; i++) {
		const struct pd_line *l = &lines[i];
		bool kept = !why[i], title = in->boxes[l->box].tag == PD_TAG_title, joined = kept && words_cross(in, l);
		if (joined)
			add_context_words(&main, NULL, join_runs(k, in, l));
		for (size_t r = l->first_run; r < l->end_run; r++) {
			bool outside = !(in->runs[r].flags & PD_RUN_LINK) && !title, both = kept && !joined;
			if (outside)
				add_context_words(&page, both ? &main : NULL, pd_run_text(in, &in->runs[r]));
			else if (both)
				add_context_words(&main, NULL, pd_run_text(in, &in->runs[r]));
		}
	}
	signatures[0] = end_context(&page);
	signatures[1] = end_context(&main);
}

/* Return a 48-bit key of the page's title and first h1; 0: it has neither. */
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

static void add_u16(struct pd_buf *out, size_t n)
{
	uint16_t v = (uint16_t)n;
	pd_buf_add(out, &v, sizeof v);
}

static void add_u64(struct pd_buf *out, uint64_t v)
{
	pd_buf_add(out, &v, sizeof v);
}

static size_t record_bytes(size_t paths, size_t lines, size_t name)
{
	return (PD_SITE_HEADER + 10 * (paths + lines) + name + 7) / 8 * 8;
}

static void write_record(const struct pd_site_keys *k, const uint64_t head[4], uint64_t title, struct pd_span name,
			 struct pd_buf *out)
{
	size_t at = out->n;
	uint32_t size = (uint32_t)record_bytes(k->n_places, k->n_entries, name.n);
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
		add_u16(out, k->entries[i].path);
	pd_buf_add_span(out, name);
	while (out->n < at + size)
		pd_buf_add_c(out, 0);
}

/* Return the key of a host, as used in records and tables.  Anyone can compute a name with the key of another host, so
 * a host is identified by its name: the key is only compared first. */
static uint64_t host_key(struct pd_span name)
{
	return pd_hash64(name.p, name.n);
}

struct site_host {
	uint64_t key;
	struct pd_span name;
};

static struct site_host host_of(struct pd_span name)
{
	return (struct site_host){ host_key(name), name };
}

/* Order of hosts in tables and of their records: by key, then by name. */
static int compare_hosts(struct site_host a, struct site_host b)
{
	return a.key != b.key ? (a.key < b.key ? -1 : 1) : pd_span_cmp(a.name, b.name);
}

/* Return the host of a page, as named in records.  False: it has none that can be stored. */
static bool read_host(struct pd_span url, struct pd_buf *host)
{
	pd_url_host(url, host);
	return host->n && host->n <= PD_SITE_NAME_MAX;
}

static uint64_t url_key(struct pd_span url)
{
	return pd_hash64(url.p, url.n);
}

bool pd_site_page_make(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *lines, const char *const *why,
		       size_t n, struct pd_span url, struct pd_buf *out)
{
	if (!read_host(url, &k->host) || !in->n_runs)
		return false;
	k->n_entries = k->n_places = 0;
	find_paths(k, in);
	for (size_t i = 0; i < n; i++)
		add_entry(k, in, &lines[i]);
	merge_places(k);
	merge_entries(k);
	struct pd_span host = pd_buf_span(&k->host);
	uint64_t head[4] = { host_key(host), url_key(url) };
	sign_texts(k, in, lines, why, n, head + 2);
	write_record(k, head, title_key(in), host, out);
	return true;
}

/* A record, used in place. */
struct site_page {
	uint64_t host, url, text, main, title;
	uint32_t size;
	uint16_t n_name, n_paths, n_lines;
	const uint64_t *paths, *lines;
	const uint16_t *links, *path_of;
	const char *name;
};

static bool keys_ascend(const uint64_t *v, size_t n, bool strictly)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1] > v[i] || (strictly && v[i - 1] == v[i]))
			return false;
	return true;
}

/* Read the record at the start of `bytes` (aligned to 8).  Return false if it is missing or damaged. */
static bool read_site_record(struct pd_span bytes, struct site_page *out)
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
	    out->size != record_bytes(n[1], n[2], n[0]) || out->size > bytes.n)
		return false;
	out->paths = (const uint64_t *)(const void *)(bytes.p + PD_SITE_HEADER);
	out->lines = out->paths + n[1];
	out->links = (const uint16_t *)(const void *)(out->lines + n[2]);
	out->path_of = out->links + n[1];
	out->name = (const char *)(out->path_of + n[2]);
	for (size_t i = 0; i < n[2]; i++)
		if (out->path_of[i] >= n[1])
			return false;
	return keys_ascend(out->paths, n[1], true) && keys_ascend(out->lines, n[2], false);
}

static struct site_host page_host(const struct site_page *p)
{
	return (struct site_host){ p->host, pd_span(p->name, p->n_name) };
}

/* ==== the table ==== */

/* Writer of a table.  Hosts are written in the order of their keys, each once.  Their data is spooled, and the file is
 * assembled at the end. */
struct table_writer;

struct pd_boilerplate {
	FILE *f;
	char *name;
	char *head; /* everything before the samples */
	struct pd_boilerplate_header h;
	const struct pd_boilerplate_entry *hosts;
	const uint64_t *keys;
	const char *names;
	struct pd_boilerplate_info info;
	bool samples_checked;
};

static int table_damaged(const struct pd_boilerplate *b, const char *why, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s is damaged: %s", b->name, why);
}

static int read_table_header(struct pd_boilerplate *b, struct pd_err *e)
{
	struct pd_boilerplate_header *h = &b->h;
	size_t n = fseeko(b->f, 0, SEEK_SET) < 0 ? 0 : fread(h, 1, sizeof *h, b->f);
	if (n < sizeof *h && !feof(b->f))
		return pd_fail_errno(e, "cannot read %s", b->name);
	if (n < 8 || memcmp(h->magic, PD_BOILERPLATE_MAGIC, 8) != 0)
		return pd_fail(e, PD_ERR_FORMAT, "%s is not a boilerplate table: 'pagededup boilerplate' makes one", b->name);
	if (n >= 28 && h->version != PD_BOILERPLATE_VERSION)
		return pd_fail(e, PD_ERR_VERSION,
			       "%s is a table of boilerplate of version %" PRIu32 "; this program knows version %d", b->name,
			       h->version, PD_BOILERPLATE_VERSION);
	if (fseeko(b->f, 0, SEEK_END) != 0)
		return pd_fail_errno(e, "cannot read %s", b->name);
	if (n < sizeof *h || (uint64_t)ftello(b->f) != h->length)
		return table_damaged(b, "its length is not the length that its header gives", e);
	return PD_OK;
}

/* Return whether the parts are contiguous, up to the samples. */
static bool sizes_fit(const struct pd_boilerplate_header *h)
{
	uint64_t room = h->samples_at - sizeof *h;
	if (h->samples_at < sizeof *h || h->samples_at > h->length)
		return false;
	if (h->hosts > room / sizeof(struct pd_boilerplate_entry))
		return false;
	room -= h->hosts * sizeof(struct pd_boilerplate_entry);
	if (h->keys > room / 8)
		return false;
	room -= h->keys * 8;
	return h->names == room && h->names % 8 == 0 && !h->zero && h->hidden < 2 && !h->zeroes[0] && !h->zeroes[1] &&
	       !h->zeroes[2];
}

static int read_table_head(struct pd_boilerplate *b, struct pd_err *e)
{
	uint64_t sum[2];
	if (!sizes_fit(&b->h))
		return table_damaged(b, "its parts are inconsistent", e);
	b->head = pd_alloc(b->h.samples_at);
	if (fseeko(b->f, 0, SEEK_SET) < 0 || fread(b->head, 1, b->h.samples_at, b->f) != b->h.samples_at)
		return pd_fail_errno(e, "cannot read %s", b->name);
	pd_hash128(b->head + PD_BOILERPLATE_UNCHECKED, b->h.samples_at - PD_BOILERPLATE_UNCHECKED, 0, sum);
	if (memcmp(sum, b->h.checksum, sizeof sum) != 0)
		return table_damaged(b, "its checksum does not match", e);
	b->info = (struct pd_boilerplate_info){ .hosts = b->h.hosts,
						.hidden_kept = b->h.hidden,
						.has_samples = b->h.samples_at < b->h.length || !b->h.hosts };
	snprintf(b->info.checksum, sizeof b->info.checksum, "%016" PRIx64, sum[0]);
	b->hosts = (const void *)(b->head + sizeof b->h);
	b->keys = (const void *)(b->hosts + b->h.hosts);
	b->names = (const void *)(b->keys + b->h.keys);
	return PD_OK;
}

/* A checksum can be made for any content, so the values of an entry are checked too. */
static bool entry_fits(const struct pd_boilerplate *b, const struct pd_boilerplate_entry *x)
{
	uint64_t samples = b->h.length - b->h.samples_at;
	if (x->keys_at > b->h.keys || (uint64_t)x->lines + x->paths > b->h.keys - x->keys_at)
		return false;
	if (x->name_at > b->h.names || x->name > b->h.names - x->name_at || x->name > PD_SITE_NAME_MAX)
		return false;
	if (samples && (x->sample_at > samples || x->sample > samples - x->sample_at || x->sample_at % 8))
		return false;
	const uint64_t *keys = b->keys + x->keys_at;
	return keys_ascend(keys, x->lines, true) && keys_ascend(keys + x->lines, x->paths, true);
}

static struct site_host entry_host(const struct pd_boilerplate *b, const struct pd_boilerplate_entry *x)
{
	return (struct site_host){ x->key, pd_span(b->names + x->name_at, x->name) };
}

static int check_entries(struct pd_boilerplate *b, struct pd_err *e)
{
	for (uint64_t i = 0; i < b->h.hosts; i++) {
		if (!entry_fits(b, &b->hosts[i]))
			return table_damaged(b, "the entry of a host is invalid", e);
		if (i && compare_hosts(entry_host(b, &b->hosts[i - 1]), entry_host(b, &b->hosts[i])) >= 0)
			return table_damaged(b, "its hosts are not in order", e);
	}
	return PD_OK;
}

int pd_boilerplate_read(FILE *f, const char *name, struct pd_boilerplate **out, struct pd_err *e)
{
	struct pd_boilerplate *b = pd_zalloc(sizeof *b);
	b->f = f;
	b->name = pd_strdup(name);
	int status = read_table_header(b, e);
	if (!status)
		status = read_table_head(b, e);
	if (!status)
		status = check_entries(b, e);
	if (status) {
		pd_boilerplate_free(b);
		b = NULL;
	}
	*out = b;
	return status;
}

int pd_boilerplate_open(const char *path, struct pd_boilerplate **out, struct pd_err *e)
{
	FILE *f = pd_input_fopen(path, e);
	*out = NULL;
	return f ? pd_boilerplate_read(f, path, out, e) : e->status;
}

void pd_boilerplate_free(struct pd_boilerplate *b)
{
	if (!b)
		return;
	fclose(b->f);
	free(b->name);
	free(b->head);
	free(b);
}

const struct pd_boilerplate_info *pd_boilerplate_info(const struct pd_boilerplate *b)
{
	return &b->info;
}

static const struct pd_boilerplate_entry *find_host(const struct pd_boilerplate *b, struct site_host host)
{
	uint64_t at = PD_LOWER_BOUND(i, 0, b->h.hosts, compare_hosts(entry_host(b, &b->hosts[i]), host) < 0);
	return at < b->h.hosts && compare_hosts(entry_host(b, &b->hosts[at]), host) == 0 ? &b->hosts[at] : NULL;
}

static struct pd_site site_of(const struct pd_boilerplate *b, const struct pd_boilerplate_entry *x)
{
	const uint64_t *keys = b->keys + x->keys_at;
	return (struct pd_site){ keys, keys + x->lines, x->lines, x->paths };
}

struct pd_site pd_boilerplate_site(const struct pd_boilerplate *b, struct pd_span host)
{
	const struct pd_boilerplate_entry *x = host.n ? find_host(b, host_of(host)) : NULL;
	return x ? site_of(b, x) : (struct pd_site){ 0 };
}

struct pd_boilerplate_host pd_boilerplate_host(const struct pd_boilerplate *b, size_t i)
{
	const struct pd_boilerplate_entry *x = &b->hosts[i];
	return (struct pd_boilerplate_host){ x->key, entry_host(b, x).name, x->pages, site_of(b, x) };
}

/* Check all samples once, before the first is used. */
static int check_samples(struct pd_boilerplate *b, struct pd_err *e)
{
	enum { PIECE = 1 << 16 };
	uint64_t sum[2], left = b->h.length - b->h.samples_at;
	if (b->samples_checked)
		return PD_OK;
	if (fseeko(b->f, (off_t)b->h.samples_at, SEEK_SET) < 0)
		return pd_fail_errno(e, "cannot read %s", b->name);
	struct pd_hasher *hasher = pd_hasher_new();
	char *piece = pd_alloc(PIECE);
	for (size_t n; left && (n = fread(piece, 1, left < PIECE ? left : PIECE, b->f)) > 0; left -= n)
		pd_hasher_add(hasher, piece, n);
	pd_hasher_end(hasher, sum);
	pd_hasher_free(hasher);
	free(piece);
	if (ferror(b->f))
		return pd_fail_errno(e, "cannot read %s", b->name);
	if (left || memcmp(sum, b->h.samples_checksum, sizeof sum) != 0)
		return table_damaged(b, "the checksum of its samples does not match", e);
	b->samples_checked = true;
	return PD_OK;
}

/* Check `n` records of the host, in the order of their URLs. */
static bool records_fit(struct pd_span bytes, struct site_host host, unsigned n)
{
	struct site_page p;
	uint64_t last = 0;
	unsigned i = 0;
	for (; bytes.n; i++) {
		if (!read_site_record(bytes, &p) || compare_hosts(page_host(&p), host) || (i && p.url <= last))
			return false;
		last = p.url;
		bytes.p += p.size;
		bytes.n -= p.size;
	}
	return i == n;
}

int pd_boilerplate_sample(struct pd_boilerplate *b, size_t i, struct pd_buf *out, struct pd_err *e)
{
	const struct pd_boilerplate_entry *x = &b->hosts[i];
	pd_buf_clear(out);
	if (!b->info.has_samples)
		return pd_fail(e, PD_ERR_USAGE,
			       "%s has no samples because it was written with --no-samples; learn it again without that option",
			       b->name);
	if (b->h.sample != PD_SITE_SAMPLE || b->h.texts != PD_SITE_TEXTS || b->h.bits != PD_SITE_BITS)
		return pd_fail(e, PD_ERR_PARAMS, "%s was learned with other rules; learn it again from the dumps", b->name);
	int status = check_samples(b, e);
	if (status)
		return status;
	char *at = pd_buf_reserve(out, x->sample);
	if (fseeko(b->f, (off_t)(b->h.samples_at + x->sample_at), SEEK_SET) < 0 || fread(at, 1, x->sample, b->f) != x->sample)
		return pd_fail_errno(e, "cannot read %s", b->name);
	out->n = x->sample;
	if (records_fit(pd_buf_span(out), entry_host(b, x), x->pages))
		return PD_OK;
	return table_damaged(b, "the sample of a host is invalid, or has pages of another host; learn it again from the dumps", e);
}

/*
 * Writing.  The table is assembled from four spools, one for each part, because the length of a part is known only at
 * its end.
 */

enum part { HOSTS, KEYS, NAMES, SAMPLES, PARTS };

struct table_writer {
	FILE *parts[PARTS];
	uint64_t bytes[PARTS];
	struct pd_boilerplate_header h;
	struct pd_hasher *hasher; /* of the samples, then of the bytes before them */
	bool samples;
};

static void writer_free(struct table_writer *w)
{
	if (!w)
		return;
	for (int i = 0; i < PARTS; i++)
		if (w->parts[i])
			fclose(w->parts[i]);
	pd_hasher_free(w->hasher);
	free(w);
}

static int writer_new(struct table_writer **out, const char *tmp_dir, bool hidden_kept, bool samples, struct pd_err *e)
{
	struct table_writer *w = pd_zalloc(sizeof *w);
	w->samples = samples;
	w->hasher = pd_hasher_new();
	w->h = (struct pd_boilerplate_header){ .version = PD_BOILERPLATE_VERSION,
					       .sample = PD_SITE_SAMPLE,
					       .texts = PD_SITE_TEXTS,
					       .bits = PD_SITE_BITS,
					       .hidden = hidden_kept };
	memcpy(w->h.magic, PD_BOILERPLATE_MAGIC, sizeof w->h.magic);
	*out = w;
	for (int i = 0; i < PARTS; i++) {
		w->parts[i] = pd_tempfile_open(tmp_dir, e);
		if (w->parts[i])
			continue;
		writer_free(w);
		*out = NULL;
		return PD_ERR_SYSTEM;
	}
	return PD_OK;
}

static void put(struct table_writer *w, enum part part, const void *p, size_t n)
{
	if (n)
		fwrite(p, 1, n, w->parts[part]);
	w->bytes[part] += n;
}

/* Add a host.  Write errors are reported by writer_end. */
static void writer_add(struct table_writer *w, const struct pd_boilerplate_host *h, struct pd_span records)
{
	const struct pd_site *s = &h->site;
	struct pd_boilerplate_entry entry = {
		.key = h->key,
		.keys_at = w->bytes[KEYS] / 8,
		.name_at = w->bytes[NAMES],
		.sample_at = w->bytes[SAMPLES],
		.lines = (uint32_t)s->n_lines,
		.paths = (uint32_t)s->n_paths,
		.sample = w->samples ? (uint32_t)records.n : 0,
		.name = (uint16_t)h->name.n,
		.pages = (uint16_t)h->pages,
	};
	put(w, HOSTS, &entry, sizeof entry);
	put(w, KEYS, s->lines, s->n_lines * sizeof *s->lines);
	put(w, KEYS, s->paths, s->n_paths * sizeof *s->paths);
	put(w, NAMES, h->name.p, h->name.n);
	if (!w->samples)
		return;
	put(w, SAMPLES, records.p, records.n);
	pd_hasher_add(w->hasher, records.p, records.n);
}

/* Read a part from its beginning, into the checksum or into `to`. */
static bool read_part(struct table_writer *w, enum part part, FILE *to)
{
	enum { PIECE = 1 << 16 };
	uint64_t left = w->bytes[part];
	char *piece = pd_alloc(PIECE);
	/* which flushes buffered data */
	bool good = !ferror(w->parts[part]) && fseeko(w->parts[part], 0, SEEK_SET) == 0;
	while (good && left) {
		size_t n = fread(piece, 1, left < PIECE ? left : PIECE, w->parts[part]);
		good = n > 0;
		left -= n;
		if (to)
			good = good && fwrite(piece, 1, n, to) == n;
		else
			pd_hasher_add(w->hasher, piece, n);
	}
	free(piece);
	return good;
}

static bool close_header(struct table_writer *w)
{
	struct pd_boilerplate_header *h = &w->h;
	pd_hasher_end(w->hasher, h->samples_checksum);
	pd_hasher_clear(w->hasher);
	put(w, NAMES, "\0\0\0\0\0\0\0", -w->bytes[NAMES] % 8);
	h->hosts = w->bytes[HOSTS] / sizeof(struct pd_boilerplate_entry);
	h->keys = w->bytes[KEYS] / 8;
	h->names = w->bytes[NAMES];
	h->samples_at = sizeof *h + w->bytes[HOSTS] + w->bytes[KEYS] + w->bytes[NAMES];
	h->length = h->samples_at + w->bytes[SAMPLES];
	pd_hasher_add(w->hasher, (const char *)h + PD_BOILERPLATE_UNCHECKED, sizeof *h - PD_BOILERPLATE_UNCHECKED);
	bool good = true;
	for (enum part i = HOSTS; i < SAMPLES; i++)
		good = read_part(w, i, NULL) && good;
	pd_hasher_end(w->hasher, h->checksum);
	return good;
}

/* Write the table into `f`, which need not be seekable. */
static int writer_end(struct table_writer *w, FILE *f, struct pd_err *e)
{
	if (!close_header(w))
		return pd_fail_errno(e, "cannot write a temporary file");
	bool good = fwrite(&w->h, sizeof w->h, 1, f) == 1;
	for (enum part i = HOSTS; i < PARTS; i++)
		good = good && read_part(w, i, f);
	return good && fflush(f) == 0 ? PD_OK : pd_fail_errno(e, "cannot write the boilerplate table");
}

/* ==== deciding which lines are boilerplate ==== */

#define SITE_TITLES 6 /* different titles, for a line on more than half of the sample */

/* Decide which lines a host repeats.  Input: the sample of its pages (site.h).  Output: keys of lines and of paths.
 *
 * A line is repeated if it occurs with several different texts.  The number of pages alone is not sufficient: if a host
 * has a page three times, all its lines occur three times, although they are its text.  Two pages have different texts
 * if their signatures differ in more than PD_SITE_BITS bits.  The signatures of the texts outside links are compared,
 * and also those of the main texts, unless the line is on more than half of the sample.  (If chrome outweighs a short
 * text, copies look different by the first signature; if the extractor fails on a layout, its pages look the same by
 * the second.)  A line with PD_SITE_TEXTS texts that all differ from each other is repeated.
 *
 * A line on more than half of the sample, with PD_SITE_TITLES titles, is repeated too: if pages contain little besides
 * repeated lines, such as those of a reference, all their texts look the same.  Texts are processed in the order of
 * their signatures.
 *
 * Then paths are decided.  A path is chrome as a whole, even where its words change from page to page, if it is on at
 * least PD_SITE_PATH_PAGES pages, at least half of its lines are repeated or mostly links, and at least one is
 * repeated.  A wrong decision for a path removes whole texts, so it requires more pages than a line does: three threads
 * of a forum with the same stock replies are not a layout.
 *
 * The result depends only on the set of pages. */

/* A line on a page of the sample. */
struct seen_line {
	uint64_t line, path;
	uint32_t page; /* index in the order of contexts */
	bool repeated;
};

/* A path on a page of the sample. */
struct path_vote {
	uint64_t path;
	uint32_t links;
};

struct judge {
	struct site_page *pages; /* in the order of their contexts */
	struct seen_line *seen, *spare;
	struct path_vote *votes;
	uint64_t *lines, *paths;
	size_t n_pages, n_seen, n_votes, n_lines, n_paths;
	size_t cap_pages, cap_seen, cap_spare, cap_votes, cap_lines, cap_paths;
	struct pd_items order;
};

static struct judge *judge_new(void)
{
	return pd_zalloc(sizeof(struct judge));
}

static void judge_free(struct judge *j)
{
	if (!j)
		return;
	free(j->pages);
	free(j->seen);
	free(j->spare);
	pd_items_release(&j->order);
	free(j->votes);
	free(j->lines);
	free(j->paths);
	free(j);
}

static int by_context(const void *x, const void *y)
{
	const struct site_page *a = x, *b = y;
	if (a->text != b->text)
		return a->text < b->text ? -1 : 1;
	return (a->main > b->main) - (a->main < b->main);
}

/* Sort by line or by path.  Entries of one line or path keep the order of the pages. */
static void sort_seen(struct judge *j, bool by_path)
{
	j->order.n = 0;
	for (size_t i = 0; i < j->n_seen; i++)
		pd_items_add(&j->order, by_path ? j->seen[i].path : j->seen[i].line, (uint32_t)i);
	pd_items_sort(&j->order);
	j->spare = pd_grow(j->spare, j->n_seen, &j->cap_spare, sizeof *j->spare);
	for (size_t i = 0; i < j->n_seen; i++)
		j->spare[i] = j->seen[j->order.v[i].value];
	struct seen_line *sorted = j->spare;
	size_t cap = j->cap_spare;
	j->spare = j->seen;
	j->cap_spare = j->cap_seen;
	j->seen = sorted;
	j->cap_seen = cap;
}

static int by_vote(const void *x, const void *y)
{
	const struct path_vote *a = x, *b = y;
	return (a->path > b->path) - (a->path < b->path);
}

static void gather_page(struct judge *j, uint32_t page)
{
	const struct site_page *p = &j->pages[page];
	for (size_t i = 0; i < p->n_lines; i++) {
		j->seen = pd_grow(j->seen, j->n_seen, &j->cap_seen, sizeof *j->seen);
		j->seen[j->n_seen++] = (struct seen_line){ p->lines[i], p->paths[p->path_of[i]], page, false };
	}
	for (size_t i = 0; i < p->n_paths; i++) {
		j->votes = pd_grow(j->votes, j->n_votes, &j->cap_votes, sizeof *j->votes);
		j->votes[j->n_votes++] = (struct path_vote){ p->paths[i], p->links[i] };
	}
}

static void gather(struct judge *j, const struct site_page *pages, size_t n)
{
	j->n_seen = j->n_votes = j->n_lines = j->n_paths = 0;
	for (j->n_pages = 0; j->n_pages < n; j->n_pages++) {
		j->pages = pd_grow(j->pages, j->n_pages, &j->cap_pages, sizeof *j->pages);
		j->pages[j->n_pages] = pages[j->n_pages];
	}
	qsort(j->pages, n, sizeof *j->pages, by_context);
	for (uint32_t i = 0; i < n; i++)
		gather_page(j, i);
}

static bool differ(uint64_t a, uint64_t b)
{
	return __builtin_popcountll(a ^ b) > PD_SITE_BITS;
}

/* Return whether the pages with this line (in the order of contexts) have PD_SITE_TEXTS different texts. */
static bool has_different_texts(const struct judge *j, const struct seen_line *s, size_t n, bool often)
{
	const struct site_page *kept[PD_SITE_TEXTS];
	size_t n_kept = 0;
	for (size_t i = 0; i < n && n_kept < PD_SITE_TEXTS; i++) {
		const struct site_page *p = &j->pages[s[i].page];
		bool other = true;
		for (size_t k = 0; k < n_kept && other; k++)
			other = differ(p->text, kept[k]->text) && (often || differ(p->main, kept[k]->main));
		if (other)
			kept[n_kept++] = p;
	}
	return n_kept == PD_SITE_TEXTS;
}

/* Return whether these pages have SITE_TITLES different titles. */
static bool has_different_titles(const struct judge *j, const struct seen_line *s, size_t n)
{
	uint64_t titles[SITE_TITLES];
	size_t found = 0;
	for (size_t i = 0; i < n && found < SITE_TITLES; i++) {
		uint64_t title = j->pages[s[i].page].title;
		bool other = title != 0;
		for (size_t k = 0; k < found && other; k++)
			other = title != titles[k];
		if (other)
			titles[found++] = title;
	}
	return found == SITE_TITLES;
}

static size_t count_pages(const struct seen_line *s, size_t n)
{
	size_t pages = 0;
	for (size_t i = 0; i < n; i++)
		pages += i == 0 || s[i].page != s[i - 1].page;
	return pages;
}

static void judge_lines(struct judge *j)
{
	sort_seen(j, false);
	for (size_t i = 0, end; i < j->n_seen; i = end) {
		for (end = i + 1; end < j->n_seen && j->seen[end].line == j->seen[i].line; end++)
			;
		size_t pages = count_pages(j->seen + i, end - i);
		bool often = pages * 2 > j->n_pages;
		if (pages < PD_SITE_TEXTS || (!has_different_texts(j, j->seen + i, end - i, often) &&
					      !(often && has_different_titles(j, j->seen + i, end - i))))
			continue;
		for (size_t k = i; k < end; k++)
			j->seen[k].repeated = true;
		j->lines = pd_grow(j->lines, j->n_lines, &j->cap_lines, sizeof *j->lines);
		j->lines[j->n_lines++] = j->seen[i].line;
	}
}

/* Decide a path.  `at`: index in j->seen of the first entry that is not before this path.  Return the index after its
 * entries. */
static size_t judge_path(struct judge *j, size_t at, const struct path_vote *v, size_t n)
{
	uint64_t lines = 0, repeated = 0, links = 0;
	for (size_t i = 0; i < n; i++)
		links += v[i].links;
	for (; at < j->n_seen && j->seen[at].path == v->path; at++) {
		lines++;
		repeated += j->seen[at].repeated;
	}
	if (n >= PD_SITE_PATH_PAGES && repeated && (repeated + links) * 2 >= lines + links) {
		j->paths = pd_grow(j->paths, j->n_paths, &j->cap_paths, sizeof *j->paths);
		j->paths[j->n_paths++] = v->path;
	}
	return at;
}

/* The path of each line is also a path of its page, so both lists contain the same paths in the same order. */
static void judge_paths(struct judge *j)
{
	sort_seen(j, true);
	qsort(j->votes, j->n_votes, sizeof *j->votes, by_vote);
	for (size_t i = 0, end, at = 0; i < j->n_votes; i = end) {
		for (end = i + 1; end < j->n_votes && j->votes[end].path == j->votes[i].path; end++)
			;
		at = judge_path(j, at, j->votes + i, end - i);
	}
}

/* Return the repeated lines and paths of `pages`, all of one host.  The result is valid until the next call. */
static struct pd_site judge_pages(struct judge *j, const struct site_page *pages, size_t n)
{
	if (n < PD_SITE_TEXTS)
		return (struct pd_site){ 0 };
	gather(j, pages, n);
	if (j->n_seen)
		judge_lines(j);
	if (j->n_lines)
		judge_paths(j);
	return (struct pd_site){ j->lines, j->paths, j->n_lines, j->n_paths };
}

/* ==== learning ==== */

#define MEMORY (64u << 20)

/*
 * The samples of all hosts, in bounded memory.  Records are added in any order and returned by host and URL, each URL
 * once, and at most a sample per host.  This is an external merge sort (base/runs.h).  The records in memory are sorted
 * and cut to the samples of their hosts before they are written: a record beyond the sample here cannot be in the final
 * sample.
 */

/* Records are ordered by host, then by URL.  The name is in the record. */
struct host_and_url {
	struct site_host host;
	uint64_t url;
};

struct samples {
	size_t memory;
	struct pd_buf records;
	size_t *order; /* offset of each record */
	size_t n, cap;
	struct pd_runs *runs;
};

static struct host_and_url record_key(const char *record)
{
	struct host_and_url key;
	uint16_t n[3]; /* bytes of the name, paths, lines */
	memcpy(&key.host.key, record, 8);
	memcpy(&key.url, record + 8, 8);
	memcpy(n, record + 36, sizeof n);
	key.host.name = pd_span(record + PD_SITE_HEADER + (size_t)10 * (n[1] + n[2]), n[0]);
	return key;
}

static size_t record_size(struct pd_span bytes)
{
	struct site_page p;
	return read_site_record(bytes, &p) ? p.size : 0;
}

static uint64_t record_host_key(const char *record)
{
	return record_key(record).host.key;
}

/* Order by host, then URL, then length, then bytewise. */
static int compare_records(struct pd_span a, struct pd_span b)
{
	struct host_and_url key_a = record_key(a.p), key_b = record_key(b.p);
	int hosts = compare_hosts(key_a.host, key_b.host);
	if (hosts)
		return hosts;
	if (key_a.url != key_b.url)
		return key_a.url < key_b.url ? -1 : 1;
	size_t size_a = record_size(a), size_b = record_size(b);
	if (size_a != size_b)
		return size_a < size_b ? -1 : 1;
	return memcmp(a.p, b.p, size_a);
}

static struct samples *samples_new(const char *tmp_dir, size_t memory)
{
	static const struct pd_runs_type type = { .size = record_size, .key = record_host_key, .compare = compare_records };
	struct samples *r = pd_zalloc(sizeof *r);
	r->memory = memory;
	r->runs = pd_runs_new(&type, tmp_dir);
	return r;
}

static void samples_free(struct samples *r)
{
	if (!r)
		return;
	pd_runs_free(r->runs);
	pd_buf_release(&r->records);
	free(r->order);
	free(r);
}

static struct pd_span record_at(const struct samples *r, size_t begin)
{
	return pd_span(r->records.p + begin, r->records.n - begin);
}

static int compare_places(const void *x, const void *y, void *ctx)
{
	const struct samples *r = ctx;
	return compare_records(record_at(r, *(const size_t *)x), record_at(r, *(const size_t *)y));
}

/* Sort the records in memory and cut them to the samples. */
static void sort_records(struct samples *r)
{
	size_t n = 0, of_host = 0;
	struct host_and_url last = { 0 };
	if (r->n)
		qsort_r(r->order, r->n, sizeof *r->order, compare_places, r);
	for (size_t i = 0; i < r->n; i++) {
		struct host_and_url key = record_key(r->records.p + r->order[i]);
		bool same_host = i && compare_hosts(key.host, last.host) == 0;
		if (same_host && key.url == last.url)
			continue;
		of_host = same_host ? of_host + 1 : 1;
		last = key;
		if (of_host <= PD_SITE_SAMPLE)
			r->order[n++] = r->order[i];
	}
	r->n = n;
}

static int write_run(struct samples *r, struct pd_err *e)
{
	sort_records(r);
	pd_runs_begin(r->runs);
	for (size_t i = 0; i < r->n; i++)
		pd_runs_add(r->runs, r->records.p + r->order[i], record_size(record_at(r, r->order[i])));
	r->n = 0;
	pd_buf_clear(&r->records);
	return pd_runs_end(r->runs, e);
}

static int samples_add(struct samples *r, const struct site_page *p, const char *bytes, struct pd_err *e)
{
	int status = r->n && r->records.n + p->size > r->memory ? write_run(r, e) : PD_OK;
	if (status)
		return status;
	r->order = pd_grow(r->order, r->n, &r->cap, sizeof *r->order);
	r->order[r->n++] = r->records.n;
	pd_buf_add(&r->records, bytes, p->size);
	return PD_OK;
}

static int samples_close(struct samples *r, struct pd_err *e)
{
	struct pd_buf rest = { 0 };
	sort_records(r);
	for (size_t i = 0; i < r->n; i++)
		pd_buf_add(&rest, r->records.p + r->order[i], record_size(record_at(r, r->order[i])));
	pd_buf_release(&r->records);
	pd_runs_keep(r->runs, &rest);
	return pd_runs_merge(r->runs, r->memory, e);
}

static int samples_next(struct samples *r, struct pd_buf *out, struct pd_err *e)
{
	struct pd_span record;
	uint64_t last_url = 0;
	size_t n = 0;
	int status = PD_OK;
	pd_buf_clear(out);
	while (!status && pd_runs_see(r->runs, &record)) {
		struct host_and_url key = record_key(record.p);
		if (n && compare_hosts(key.host, record_key(out->p).host))
			break;
		if (n < PD_SITE_SAMPLE && (!n || key.url != last_url)) {
			pd_buf_add(out, record.p, record.n);
			last_url = key.url;
			n++;
		}
		status = pd_runs_step(r->runs, e);
	}
	return status ? status : n > 0;
}

/*
 * Filter of pages that cannot be in a sample.  A bound has the smallest keys of the URLs of a host so far, as many as a
 * sample has; a page with a larger key is not in the sample.  Several hosts share a slot.  If a host replaces another
 * in a slot, its keys start empty, which lets unnecessary records pass but never excludes a necessary one.
 */

struct bound {
	struct pd_buf host; /* its name */
	size_t n;
	uint64_t keys[PD_SITE_SAMPLE]; /* without duplicates; once full, the largest is first */
};

static struct bound *bound_of(struct bound *bounds, struct site_host host)
{
	return &bounds[host.key % PD_SITE_BOUNDS];
}

static bool is_within(const struct bound *b, struct site_host host, uint64_t url)
{
	return !pd_span_eq(pd_buf_span(&b->host), host.name) || b->n < PD_SITE_SAMPLE || url <= b->keys[0];
}

static void largest_first(struct bound *b)
{
	for (size_t i = 1; i < b->n; i++) {
		if (b->keys[i] < b->keys[0])
			continue;
		uint64_t larger = b->keys[i];
		b->keys[i] = b->keys[0];
		b->keys[0] = larger;
	}
}

static void lower_bound(struct bound *b, struct site_host host, uint64_t url)
{
	if (!pd_span_eq(pd_buf_span(&b->host), host.name)) {
		pd_buf_set(&b->host, host.name);
		b->n = 0;
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->keys[i] == url)
			return;
	if (b->n < PD_SITE_SAMPLE)
		b->keys[b->n++] = url;
	else if (url < b->keys[0])
		b->keys[0] = url;
	if (b->n == PD_SITE_SAMPLE)
		largest_first(b);
}

/*
 * The learner: samples, and the decision for each host.
 */

struct pd_site_learner {
	struct pd_site_learn_options o;
	struct pd_lock *lock; /* protects `bounds` */
	struct bound *bounds;
	struct samples *samples;
	struct judge *judge;
	struct pd_buf sample;
	size_t next_known; /* next host of o.known to be written */
	struct pd_site_learn_counts counts;
};

struct pd_site_learner *pd_site_learner_new(const struct pd_site_learn_options *o)
{
	struct pd_site_learner *l = pd_zalloc(sizeof *l);
	l->o = *o;
	l->lock = pd_lock_new();
	l->bounds = pd_zalloc(PD_SITE_BOUNDS * sizeof *l->bounds);
	l->samples = samples_new(o->tmp_dir, o->memory ? o->memory : MEMORY);
	l->judge = judge_new();
	return l;
}

void pd_site_learner_free(struct pd_site_learner *l)
{
	if (!l)
		return;
	pd_lock_free(l->lock);
	for (size_t i = 0; i < PD_SITE_BOUNDS; i++)
		pd_buf_release(&l->bounds[i].host);
	free(l->bounds);
	samples_free(l->samples);
	judge_free(l->judge);
	pd_buf_release(&l->sample);
	free(l);
}

bool pd_site_learner_wants(struct pd_site_learner *l, struct pd_span url, struct pd_buf *name)
{
	if (!read_host(url, name))
		return false;
	struct site_host host = host_of(pd_buf_span(name));
	if (l->o.known && find_host(l->o.known, host))
		return false;
	pd_lock_take(l->lock);
	bool wants = is_within(bound_of(l->bounds, host), host, url_key(url));
	pd_lock_give(l->lock);
	return wants;
}

int pd_site_learner_add(struct pd_site_learner *l, struct pd_span records, struct pd_err *e)
{
	while (records.n) {
		struct site_page p;
		if (!read_site_record(records, &p))
			return pd_fail(e, PD_ERR_FORMAT, "the record of a page is invalid");
		if (!l->o.known || !find_host(l->o.known, page_host(&p))) {
			int status = samples_add(l->samples, &p, records.p, e);
			if (status)
				return status;
			pd_lock_take(l->lock);
			lower_bound(bound_of(l->bounds, page_host(&p)), page_host(&p), p.url);
			pd_lock_give(l->lock);
		}
		records.p += p.size;
		records.n -= p.size;
	}
	return PD_OK;
}

int pd_site_learner_merge(struct pd_site_learner *l, struct pd_boilerplate *b, struct pd_err *e)
{
	int status = PD_OK;
	if (b->info.hidden_kept != l->o.hidden_kept)
		return pd_fail(e, PD_ERR_PARAMS,
			       "a table was learned with --hidden=%s; give that option, and merge only tables learned with it",
			       b->info.hidden_kept ? "keep" : "drop");
	for (size_t i = 0; !status && i < b->info.hosts; i++) {
		status = pd_boilerplate_sample(b, i, &l->sample, e);
		if (!status)
			status = pd_site_learner_add(l, pd_buf_span(&l->sample), e);
	}
	return status;
}

static void write_host(struct pd_site_learner *l, struct table_writer *w, const struct pd_boilerplate_host *h,
		       struct pd_span records)
{
	writer_add(w, h, records);
	l->counts.hosts++;
	l->counts.taught += h->site.n_lines > 0;
	l->counts.lines += h->site.n_lines;
	l->counts.paths += h->site.n_paths;
}

/* Write the hosts of the known table that come before `next`; NULL: the rest. */
static int write_known(struct pd_site_learner *l, struct table_writer *w, const struct pd_boilerplate_host *next, struct pd_err *e)
{
	struct pd_buf records = { 0 };
	int status = PD_OK;
	while (!status && l->o.known && l->next_known < l->o.known->info.hosts) {
		struct pd_boilerplate_host h = pd_boilerplate_host(l->o.known, l->next_known);
		if (next && compare_hosts((struct site_host){ h.key, h.name }, (struct site_host){ next->key, next->name }) >= 0)
			break;
		if (l->o.samples)
			status = pd_boilerplate_sample(l->o.known, l->next_known, &records, e);
		if (!status)
			write_host(l, w, &h, pd_buf_span(&records));
		l->next_known++;
	}
	pd_buf_release(&records);
	return status;
}

/* Decide from the records in l->sample. */
static struct pd_boilerplate_host decide(struct pd_site_learner *l)
{
	struct site_page pages[PD_SITE_SAMPLE] = { 0 };
	struct pd_boilerplate_host h = { 0 };
	struct pd_span rest = pd_buf_span(&l->sample);
	for (; rest.n; h.pages++) {
		struct site_page *p = &pages[h.pages];
		read_site_record(rest, p);
		rest.p += p->size;
		rest.n -= p->size;
	}
	h.key = pages[0].host;
	h.name = pd_span(pages[0].name, pages[0].n_name);
	h.site = judge_pages(l->judge, pages, h.pages);
	return h;
}

static int write_hosts(struct pd_site_learner *l, struct table_writer *w, struct pd_err *e)
{
	int status = samples_close(l->samples, e);
	if (status)
		return status;
	while ((status = samples_next(l->samples, &l->sample, e)) > 0) {
		struct pd_boilerplate_host h = decide(l);
		status = write_known(l, w, &h, e);
		if (status)
			return status;
		write_host(l, w, &h, pd_buf_span(&l->sample));
	}
	return status ? status : write_known(l, w, NULL, e);
}

int pd_site_learner_end(struct pd_site_learner *l, FILE *f, struct pd_site_learn_counts *counts, struct pd_err *e)
{
	struct table_writer *w;
	int status = writer_new(&w, l->o.tmp_dir, l->o.hidden_kept, l->o.samples, e);
	if (status)
		return status;
	status = write_hosts(l, w, e);
	if (!status)
		status = writer_end(w, f, e);
	writer_free(w);
	if (counts)
		*counts = l->counts;
	return status;
}
