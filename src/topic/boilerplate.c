/* SPDX-License-Identifier: MIT */
#include "topic/boilerplate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "base/runs.h"
#include "topic/boilerplate_layout.h"

/* ==== the table ==== */

/* Writing: hosts in the order of their keys, each once; what they hold is spooled, and the file put together at the end. */
struct table_writer;

struct pd_boilerplate {
	FILE *f;
	char *name;
	char *head;			/* everything before the samples */
	struct pd_boilerplate_header h;
	const struct pd_boilerplate_entry *hosts;
	const uint64_t *keys;
	const char *names;
	char checksum[17];
	bool samples_checked;
};

static int damaged(const struct pd_boilerplate *b, const char *why, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s is damaged: %s", b->name, why);
}

static int read_header(struct pd_boilerplate *b, struct pd_err *e)
{
	struct pd_boilerplate_header *h = &b->h;
	size_t n = fseeko(b->f, 0, SEEK_SET) < 0 ? 0 : fread(h, 1, sizeof *h, b->f);
	if (n < sizeof *h && !feof(b->f))
		return pd_fail_errno(e, "cannot read %s", b->name);
	if (n < 8 || memcmp(h->magic, PD_BOILERPLATE_MAGIC, 8) != 0)
		return pd_fail(e, PD_ERR_FORMAT, "%s is not a boilerplate table: 'pagededup boilerplate' makes one", b->name);
	if (n >= 28 && h->version != PD_BOILERPLATE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%s is a table of boilerplate of version %" PRIu32 "; this program knows version %d",
			       b->name, h->version, PD_BOILERPLATE_VERSION);
	if (fseeko(b->f, 0, SEEK_END) != 0)
		return pd_fail_errno(e, "cannot read %s", b->name);
	if (n < sizeof *h || (uint64_t)ftello(b->f) != h->length)
		return damaged(b, "it is shorter or longer than it says", e);
	return PD_OK;
}

/* Do the parts lie one behind the other, up to the samples? */
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
	return h->names == room && h->names % 8 == 0 && !h->zero && h->hidden < 2 && !h->zeroes[0] && !h->zeroes[1] && !h->zeroes[2];
}

static int read_head(struct pd_boilerplate *b, struct pd_err *e)
{
	uint64_t sum[2];
	if (!sizes_fit(&b->h))
		return damaged(b, "its parts do not fit", e);
	b->head = pd_alloc(b->h.samples_at);
	if (fseeko(b->f, 0, SEEK_SET) < 0 || fread(b->head, 1, b->h.samples_at, b->f) != b->h.samples_at)
		return pd_fail_errno(e, "cannot read %s", b->name);
	pd_hash128(b->head + PD_BOILERPLATE_UNCHECKED, b->h.samples_at - PD_BOILERPLATE_UNCHECKED, 0, sum);
	if (memcmp(sum, b->h.checksum, sizeof sum) != 0)
		return damaged(b, "its checksum is not that of its bytes", e);
	snprintf(b->checksum, sizeof b->checksum, "%016" PRIx64, sum[0]);
	b->hosts = (const void *)(b->head + sizeof b->h);
	b->keys = (const void *)(b->hosts + b->h.hosts);
	b->names = (const void *)(b->keys + b->h.keys);
	return PD_OK;
}

static bool ascending(const uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1] >= v[i])
			return false;
	return true;
}

/* A checksum can be made for any content: what it says must be possible. */
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
	return ascending(keys, x->lines) && ascending(keys + x->lines, x->paths);
}

static int check_entries(struct pd_boilerplate *b, struct pd_err *e)
{
	for (uint64_t i = 0; i < b->h.hosts; i++) {
		if (i && b->hosts[i - 1].key >= b->hosts[i].key)
			return damaged(b, "its hosts are not in order", e);
		if (!entry_fits(b, &b->hosts[i]))
			return damaged(b, "a host lies outside of it", e);
	}
	return PD_OK;
}

int pd_boilerplate_read(FILE *f, const char *name, struct pd_boilerplate **out, struct pd_err *e)
{
	struct pd_boilerplate *b = pd_zalloc(sizeof *b);
	b->f = f;
	b->name = pd_strdup(name);
	int status = read_header(b, e);
	if (!status)
		status = read_head(b, e);
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

const char *pd_boilerplate_checksum(const struct pd_boilerplate *b)
{
	return b->checksum;
}

bool pd_boilerplate_hidden_kept(const struct pd_boilerplate *b)
{
	return b->h.hidden;
}

bool pd_boilerplate_has_samples(const struct pd_boilerplate *b)
{
	return b->h.samples_at < b->h.length || !b->h.hosts;
}

static int by_key(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = ((const struct pd_boilerplate_entry *)y)->key;
	return (a > b) - (a < b);
}

static const struct pd_boilerplate_entry *find(const struct pd_boilerplate *b, uint64_t key)
{
	return b->h.hosts ? bsearch(&key, b->hosts, b->h.hosts, sizeof *b->hosts, by_key) : NULL;
}

bool pd_boilerplate_knows(const struct pd_boilerplate *b, uint64_t key)
{
	return find(b, key) != NULL;
}

static struct pd_site site_of(const struct pd_boilerplate *b, const struct pd_boilerplate_entry *x)
{
	const uint64_t *keys = b->keys + x->keys_at;
	return (struct pd_site){ keys, keys + x->lines, x->lines, x->paths };
}

struct pd_site pd_boilerplate_site(const struct pd_boilerplate *b, struct pd_span host)
{
	const struct pd_boilerplate_entry *x = host.n ? find(b, pd_site_host(host)) : NULL;
	return x ? site_of(b, x) : (struct pd_site){ 0 };
}

size_t pd_boilerplate_hosts(const struct pd_boilerplate *b)
{
	return b->h.hosts;
}

struct pd_boilerplate_host pd_boilerplate_host(const struct pd_boilerplate *b, size_t i)
{
	const struct pd_boilerplate_entry *x = &b->hosts[i];
	return (struct pd_boilerplate_host){ x->key, pd_span(b->names + x->name_at, x->name), x->pages, site_of(b, x) };
}

/* All of them once, before the first is believed. */
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
		return damaged(b, "the checksum of its samples is not that of their bytes", e);
	b->samples_checked = true;
	return PD_OK;
}

/* `n` records of the host, in the order of their URLs. */
static bool records_fit(struct pd_span bytes, uint64_t host, unsigned n)
{
	struct pd_site_page p;
	uint64_t last = 0;
	unsigned i = 0;
	for (; bytes.n; i++) {
		if (!pd_site_page_see(bytes, &p) || p.host != host || (i && p.url <= last))
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
	if (!pd_boilerplate_has_samples(b))
		return pd_fail(e, PD_ERR_USAGE, "%s holds no samples: it was written with --no-samples", b->name);
	if (b->h.sample != PD_SITE_SAMPLE || b->h.texts != PD_SITE_TEXTS || b->h.bits != PD_SITE_BITS)
		return pd_fail(e, PD_ERR_PARAMS, "%s was learned with other rules (sample, texts, bits): learn it again", b->name);
	int status = check_samples(b, e);
	if (status)
		return status;
	char *at = pd_buf_reserve(out, x->sample);
	if (fseeko(b->f, (off_t)(b->h.samples_at + x->sample_at), SEEK_SET) < 0 || fread(at, 1, x->sample, b->f) != x->sample)
		return pd_fail_errno(e, "cannot read %s", b->name);
	out->n = x->sample;
	return records_fit(pd_buf_span(out), x->key, x->pages) ? PD_OK : damaged(b, "a sample cannot be", e);
}

/*
 * Writing.  The table is put together from four spools, one for each part, because how long a part is shows only at its end.
 */

enum part { HOSTS, KEYS, NAMES, SAMPLES, PARTS };

struct table_writer {
	FILE *parts[PARTS];
	uint64_t bytes[PARTS];
	struct pd_boilerplate_header h;
	struct pd_hasher *hasher;	/* of the samples, then of what lies before them */
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

static int writer_new(struct table_writer **out, const char *tmp_dir, bool hidden_kept, bool samples,
			      struct pd_err *e)
{
	struct table_writer *w = pd_zalloc(sizeof *w);
	w->samples = samples;
	w->hasher = pd_hasher_new();
	w->h = (struct pd_boilerplate_header){ .version = PD_BOILERPLATE_VERSION, .sample = PD_SITE_SAMPLE, .texts = PD_SITE_TEXTS,
					       .bits = PD_SITE_BITS, .hidden = hidden_kept };
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

/* A failure to write shows in `end`. */
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

/* A part from its beginning: into the checksum, or into `to`. */
static bool run_through(struct table_writer *w, enum part part, FILE *to)
{
	enum { PIECE = 1 << 16 };
	uint64_t left = w->bytes[part];
	char *piece = pd_alloc(PIECE);
	bool good = !ferror(w->parts[part]) && fseeko(w->parts[part], 0, SEEK_SET) == 0;	/* which writes what waits */
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
		good = run_through(w, i, NULL) && good;
	pd_hasher_end(w->hasher, h->checksum);
	return good;
}

/* Into `f`, which need not be a file that can be sought in. */
static int writer_end(struct table_writer *w, FILE *f, struct pd_err *e)
{
	if (!close_header(w))
		return pd_fail_errno(e, "cannot write a temporary file");
	bool good = fwrite(&w->h, sizeof w->h, 1, f) == 1;
	for (enum part i = HOSTS; i < PARTS; i++)
		good = good && run_through(w, i, f);
	return good && fflush(f) == 0 ? PD_OK : pd_fail_errno(e, "cannot write the table of boilerplate");
}

/* ==== what of a site is boilerplate ==== */

#define SITE_TITLES 6

/* A line of a page of the sample. */
struct pd_site_seen {
	uint64_t line, path;
	uint32_t page;		/* number in the order of contexts */
	bool repeated;
};

/* A path of a page of the sample. */
struct pd_site_vote {
	uint64_t path;
	uint32_t links;
};

struct pd_site_judge {
	struct pd_site_page *pages;	/* in the order of their contexts */
	struct pd_site_seen *seen;
	struct pd_site_vote *votes;
	uint64_t *lines, *paths;
	size_t n_pages, n_seen, n_votes, n_lines, n_paths;
	size_t cap_pages, cap_seen, cap_votes, cap_lines, cap_paths;
};

struct pd_site_judge *pd_site_judge_new(void)
{
	return pd_zalloc(sizeof(struct pd_site_judge));
}

void pd_site_judge_free(struct pd_site_judge *j)
{
	if (!j)
		return;
	free(j->pages);
	free(j->seen);
	free(j->votes);
	free(j->lines);
	free(j->paths);
	free(j);
}

static int by_context(const void *x, const void *y)
{
	const struct pd_site_page *a = x, *b = y;
	if (a->text != b->text)
		return a->text < b->text ? -1 : 1;
	return (a->main > b->main) - (a->main < b->main);
}

static int by_line(const void *x, const void *y)
{
	const struct pd_site_seen *a = x, *b = y;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->page > b->page) - (a->page < b->page);
}

static int by_path(const void *x, const void *y)
{
	const struct pd_site_seen *a = x, *b = y;
	return (a->path > b->path) - (a->path < b->path);
}

static int by_vote(const void *x, const void *y)
{
	const struct pd_site_vote *a = x, *b = y;
	return (a->path > b->path) - (a->path < b->path);
}

static void gather_page(struct pd_site_judge *j, uint32_t page)
{
	const struct pd_site_page *p = &j->pages[page];
	for (size_t i = 0; i < p->n_lines; i++) {
		j->seen = pd_grow(j->seen, j->n_seen, &j->cap_seen, sizeof *j->seen);
		j->seen[j->n_seen++] = (struct pd_site_seen){ p->lines[i], p->paths[p->path_of[i]], page, false };
	}
	for (size_t i = 0; i < p->n_paths; i++) {
		j->votes = pd_grow(j->votes, j->n_votes, &j->cap_votes, sizeof *j->votes);
		j->votes[j->n_votes++] = (struct pd_site_vote){ p->paths[i], p->links[i] };
	}
}

static void gather(struct pd_site_judge *j, const struct pd_site_page *pages, size_t n)
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

/* Do the pages on which these stand (one line, in the order of contexts) have so many different texts? */
static bool under_texts(const struct pd_site_judge *j, const struct pd_site_seen *s, size_t n, bool often)
{
	const struct pd_site_page *kept[PD_SITE_TEXTS];
	size_t n_kept = 0;
	for (size_t i = 0; i < n && n_kept < PD_SITE_TEXTS; i++) {
		const struct pd_site_page *p = &j->pages[s[i].page];
		bool other = true;
		for (size_t k = 0; k < n_kept && other; k++)
			other = differ(p->text, kept[k]->text) && (often || differ(p->main, kept[k]->main));
		if (other)
			kept[n_kept++] = p;
	}
	return n_kept == PD_SITE_TEXTS;
}

/* Have those pages so many different titles? */
static bool under_titles(const struct pd_site_judge *j, const struct pd_site_seen *s, size_t n)
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

static size_t count_pages(const struct pd_site_seen *s, size_t n)
{
	size_t pages = 0;
	for (size_t i = 0; i < n; i++)
		pages += i == 0 || s[i].page != s[i - 1].page;
	return pages;
}

static void judge_lines(struct pd_site_judge *j)
{
	qsort(j->seen, j->n_seen, sizeof *j->seen, by_line);
	for (size_t i = 0, end; i < j->n_seen; i = end) {
		for (end = i + 1; end < j->n_seen && j->seen[end].line == j->seen[i].line; end++)
			;
		size_t pages = count_pages(j->seen + i, end - i);
		bool often = pages * 2 > j->n_pages;
		if (pages < PD_SITE_TEXTS ||
		    (!under_texts(j, j->seen + i, end - i, often) && !(often && under_titles(j, j->seen + i, end - i))))
			continue;
		for (size_t k = i; k < end; k++)
			j->seen[k].repeated = true;
		j->lines = pd_grow(j->lines, j->n_lines, &j->cap_lines, sizeof *j->lines);
		j->lines[j->n_lines++] = j->seen[i].line;
	}
}

/* `at`: the first of j->seen that is not before this path; returns where the next begins. */
static size_t judge_path(struct pd_site_judge *j, size_t at, const struct pd_site_vote *v, size_t n)
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

/* Each line's path is one of its page's, so both lists run through the same paths. */
static void judge_paths(struct pd_site_judge *j)
{
	qsort(j->seen, j->n_seen, sizeof *j->seen, by_path);
	qsort(j->votes, j->n_votes, sizeof *j->votes, by_vote);
	for (size_t i = 0, end, at = 0; i < j->n_votes; i = end) {
		for (end = i + 1; end < j->n_votes && j->votes[end].path == j->votes[i].path; end++)
			;
		at = judge_path(j, at, j->votes + i, end - i);
	}
}

struct pd_site pd_site_decide(struct pd_site_judge *j, const struct pd_site_page *pages, size_t n)
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
 * The samples of all hosts, within bounded memory: records come in any order, and out by host and URL, each URL once, and of
 * each host no more than its sample.  An external merge sort (base/runs.h): what memory holds is sorted and cut to the samples
 * of its hosts before it is written, because what is over a sample here cannot be in it.
 */

/* What a record begins with, and is ordered by. */
struct host_and_url {
	uint64_t host, url;
};

struct samples {
	size_t memory;
	struct pd_buf records;
	size_t *order;			/* record -> where it begins */
	size_t n, cap;
	struct pd_runs *runs;
};

static struct host_and_url key_of(const char *record)
{
	struct host_and_url key;
	memcpy(&key, record, sizeof key);
	return key;
}

static size_t record_size(struct pd_span bytes)
{
	struct pd_site_page p;
	return pd_site_page_see(bytes, &p) ? p.size : 0;
}

static uint64_t record_host(const char *record)
{
	return key_of(record).host;
}

static int compare_records(struct pd_span a, struct pd_span b)
{
	struct host_and_url key_a = key_of(a.p), key_b = key_of(b.p);
	if (key_a.host != key_b.host)
		return key_a.host < key_b.host ? -1 : 1;
	if (key_a.url != key_b.url)
		return key_a.url < key_b.url ? -1 : 1;
	struct pd_site_page page_a, page_b;
	pd_site_page_see(a, &page_a);
	pd_site_page_see(b, &page_b);
	return pd_site_page_cmp(&page_a, &page_b, a.p, b.p);
}

static struct samples *samples_new(const char *tmp_dir, size_t memory)
{
	static const struct pd_runs_type type = { .size = record_size, .key = record_host, .compare = compare_records };
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

/* Sorts what is in memory and cuts it to the samples. */
static void sort_records(struct samples *r)
{
	size_t n = 0, of_host = 0;
	struct host_and_url last = { 0, 0 };
	if (r->n)
		qsort_r(r->order, r->n, sizeof *r->order, compare_places, r);
	for (size_t i = 0; i < r->n; i++) {
		struct host_and_url key = key_of(r->records.p + r->order[i]);
		if (i && key.host == last.host && key.url == last.url)
			continue;
		of_host = i && key.host == last.host ? of_host + 1 : 1;
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

static int samples_add(struct samples *r, const struct pd_site_page *p, const char *bytes, struct pd_err *e)
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
	struct host_and_url last = { 0, 0 };
	size_t n = 0;
	int status = PD_OK;
	pd_buf_clear(out);
	if (!pd_runs_see(r->runs, &record))
		return 0;
	for (uint64_t host = record_host(record.p); !status && pd_runs_see(r->runs, &record) && record_host(record.p) == host;) {
		struct host_and_url key = key_of(record.p);
		if (n < PD_SITE_SAMPLE && (!n || key.url != last.url)) {
			pd_buf_add(out, record.p, record.n);
			last = key;
			n++;
		}
		status = pd_runs_step(r->runs, e);
	}
	return status ? status : 1;
}

/*
 * The learner: samples, and for each host what they repeat.
 */

struct pd_site_learner {
	struct pd_site_learn_options o;
	struct samples *samples;
	struct pd_site_judge *judge;
	struct pd_buf sample;
	size_t next_known;		/* host of o.known that was not written yet */
	struct pd_site_learn_counts counts;
};

struct pd_site_learner *pd_site_learner_new(const struct pd_site_learn_options *o)
{
	struct pd_site_learner *l = pd_zalloc(sizeof *l);
	l->o = *o;
	l->samples = samples_new(o->tmp_dir, o->memory ? o->memory : MEMORY);
	l->judge = pd_site_judge_new();
	return l;
}

void pd_site_learner_free(struct pd_site_learner *l)
{
	if (!l)
		return;
	samples_free(l->samples);
	pd_site_judge_free(l->judge);
	pd_buf_release(&l->sample);
	free(l);
}

const struct pd_site_learn_counts *pd_site_learner_counts(const struct pd_site_learner *l)
{
	return &l->counts;
}

int pd_site_learner_add(struct pd_site_learner *l, struct pd_span records, struct pd_err *e)
{
	while (records.n) {
		struct pd_site_page p;
		if (!pd_site_page_see(records, &p))
			return pd_fail(e, PD_ERR_FORMAT, "a record of a page cannot be");
		if (!l->o.known || !pd_boilerplate_knows(l->o.known, p.host)) {
			int status = samples_add(l->samples, &p, records.p, e);
			if (status)
				return status;
			l->counts.pages++;
		}
		records.p += p.size;
		records.n -= p.size;
	}
	return PD_OK;
}

int pd_site_learner_merge(struct pd_site_learner *l, struct pd_boilerplate *b, struct pd_err *e)
{
	int status = PD_OK;
	if (pd_boilerplate_hidden_kept(b) != l->o.hidden_kept)
		return pd_fail(e, PD_ERR_PARAMS, "a table was learned with --hidden=%s: say so, and merge it with such tables alone",
			       pd_boilerplate_hidden_kept(b) ? "keep" : "drop");
	for (size_t i = 0; !status && i < pd_boilerplate_hosts(b); i++) {
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

/* The hosts of the known table that come before `key`. */
static int write_known(struct pd_site_learner *l, struct table_writer *w, uint64_t key, bool all, struct pd_err *e)
{
	struct pd_buf records = { 0 };
	int status = PD_OK;
	while (!status && l->o.known && l->next_known < pd_boilerplate_hosts(l->o.known)) {
		struct pd_boilerplate_host h = pd_boilerplate_host(l->o.known, l->next_known);
		if (!all && h.key >= key)
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

/* From the records in l->sample. */
static struct pd_boilerplate_host decide(struct pd_site_learner *l)
{
	struct pd_site_page pages[PD_SITE_SAMPLE];
	struct pd_boilerplate_host h = { 0 };
	struct pd_span rest = pd_buf_span(&l->sample);
	for (; rest.n; h.pages++) {
		struct pd_site_page *p = &pages[h.pages];
		pd_site_page_see(rest, p);
		rest.p += p->size;
		rest.n -= p->size;
	}
	h.key = pages[0].host;
	h.name = pd_span(pages[0].name, pages[0].n_name);
	h.site = pd_site_decide(l->judge, pages, h.pages);
	return h;
}

static int write_all(struct pd_site_learner *l, struct table_writer *w, struct pd_err *e)
{
	int status = samples_close(l->samples, e);
	if (status)
		return status;
	while ((status = samples_next(l->samples, &l->sample, e)) > 0) {
		struct pd_boilerplate_host h = decide(l);
		status = write_known(l, w, h.key, false, e);
		if (status)
			return status;
		write_host(l, w, &h, pd_buf_span(&l->sample));
	}
	return status ? status : write_known(l, w, 0, true, e);
}

int pd_site_learner_end(struct pd_site_learner *l, FILE *f, struct pd_err *e)
{
	struct table_writer *w;
	int status = writer_new(&w, l->o.tmp_dir, l->o.hidden_kept, l->o.samples, e);
	if (status)
		return status;
	status = write_all(l, w, e);
	if (!status)
		status = writer_end(w, f, e);
	writer_free(w);
	return status;
}
