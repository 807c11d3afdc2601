/* SPDX-License-Identifier: MIT */
#include "topic/boilerplate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "topic/boilerplate_layout.h"
#include "topic/site_decide.h"

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

struct pd_boilerplate_writer {
	FILE *parts[PARTS];
	uint64_t bytes[PARTS];
	struct pd_boilerplate_header h;
	struct pd_hasher *hasher;	/* of the samples, then of what lies before them */
	bool samples;
};

int pd_boilerplate_writer_new(struct pd_boilerplate_writer **out, const char *tmp_dir, bool hidden_kept, bool samples,
			      struct pd_err *e)
{
	struct pd_boilerplate_writer *w = pd_zalloc(sizeof *w);
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
		pd_boilerplate_writer_free(w);
		*out = NULL;
		return PD_ERR_SYSTEM;
	}
	return PD_OK;
}

void pd_boilerplate_writer_free(struct pd_boilerplate_writer *w)
{
	if (!w)
		return;
	for (int i = 0; i < PARTS; i++)
		if (w->parts[i])
			fclose(w->parts[i]);
	pd_hasher_free(w->hasher);
	free(w);
}

static void put(struct pd_boilerplate_writer *w, enum part part, const void *p, size_t n)
{
	if (n)
		fwrite(p, 1, n, w->parts[part]);
	w->bytes[part] += n;
}

void pd_boilerplate_writer_add(struct pd_boilerplate_writer *w, const struct pd_boilerplate_host *h, struct pd_span records)
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
static bool run_through(struct pd_boilerplate_writer *w, enum part part, FILE *to)
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

static bool close_header(struct pd_boilerplate_writer *w)
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

int pd_boilerplate_writer_end(struct pd_boilerplate_writer *w, FILE *f, struct pd_err *e)
{
	if (!close_header(w))
		return pd_fail_errno(e, "cannot write a temporary file");
	bool good = fwrite(&w->h, sizeof w->h, 1, f) == 1;
	for (enum part i = HOSTS; i < PARTS; i++)
		good = good && run_through(w, i, f);
	return good && fflush(f) == 0 ? PD_OK : pd_fail_errno(e, "cannot write the table of boilerplate");
}
