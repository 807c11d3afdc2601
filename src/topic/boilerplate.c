/* SPDX-License-Identifier: MIT
 *
 * Reading and writing the table of the lines that sites repeat (boilerplate.h).
 */
#include "topic/boilerplate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/sort.h"

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

/* Return whether the sections are contiguous, up to the samples. */
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

static struct pd_site_host entry_host(const struct pd_boilerplate *b, const struct pd_boilerplate_entry *x)
{
	return (struct pd_site_host){ x->key, pd_span(b->names + x->name_at, x->name) };
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
	return pd_site_keys_ascend(keys, x->lines, true) && pd_site_keys_ascend(keys + x->lines, x->paths, true);
}

/* Read everything except the samples, and check it. */
static int read_head(struct pd_boilerplate *b, struct pd_err *e)
{
	struct pd_boilerplate_header *h = &b->h;
	uint64_t sum[2];
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
	if (!sizes_fit(h))
		return table_damaged(b, "its parts are inconsistent", e);

	b->head = pd_alloc(h->samples_at);
	if (fseeko(b->f, 0, SEEK_SET) < 0 || fread(b->head, 1, h->samples_at, b->f) != h->samples_at)
		return pd_fail_errno(e, "cannot read %s", b->name);
	pd_hash128(b->head + PD_BOILERPLATE_UNCHECKED, h->samples_at - PD_BOILERPLATE_UNCHECKED, 0, sum);
	if (memcmp(sum, h->checksum, sizeof sum) != 0)
		return table_damaged(b, "its checksum does not match", e);
	b->info = (struct pd_boilerplate_info){ .hosts = h->hosts,
						.hidden_kept = h->hidden,
						.has_samples = h->samples_at < h->length || !h->hosts };
	snprintf(b->info.checksum, sizeof b->info.checksum, "%016" PRIx64, sum[0]);
	b->hosts = (const void *)(b->head + sizeof *h);
	b->keys = (const void *)(b->hosts + h->hosts);
	b->names = (const void *)(b->keys + h->keys);

	for (uint64_t i = 0; i < h->hosts; i++) {
		if (!entry_fits(b, &b->hosts[i]))
			return table_damaged(b, "the entry of a host is invalid", e);
		if (i && pd_site_host_cmp(entry_host(b, &b->hosts[i - 1]), entry_host(b, &b->hosts[i])) >= 0)
			return table_damaged(b, "its hosts are not in order", e);
	}
	return PD_OK;
}

int pd_boilerplate_read(FILE *f, const char *name, struct pd_boilerplate **out, struct pd_err *e)
{
	struct pd_boilerplate *b = pd_zalloc(sizeof *b);
	b->f = f;
	b->name = pd_strdup(name);
	int status = read_head(b, e);
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

static const struct pd_boilerplate_entry *find_host(const struct pd_boilerplate *b, struct pd_site_host host)
{
	uint64_t at = PD_LOWER_BOUND(i, 0, b->h.hosts, pd_site_host_cmp(entry_host(b, &b->hosts[i]), host) < 0);
	return at < b->h.hosts && pd_site_host_cmp(entry_host(b, &b->hosts[at]), host) == 0 ? &b->hosts[at] : NULL;
}

bool pd_boilerplate_has(const struct pd_boilerplate *b, struct pd_site_host host)
{
	return find_host(b, host) != NULL;
}

static struct pd_site site_of(const struct pd_boilerplate *b, const struct pd_boilerplate_entry *x)
{
	const uint64_t *keys = b->keys + x->keys_at;
	return (struct pd_site){ keys, keys + x->lines, x->lines, x->paths };
}

struct pd_site pd_boilerplate_site(const struct pd_boilerplate *b, struct pd_span host)
{
	const struct pd_boilerplate_entry *x = host.n ? find_host(b, pd_site_host(host)) : NULL;
	return x ? site_of(b, x) : (struct pd_site){ 0 };
}

struct pd_boilerplate_host pd_boilerplate_host(const struct pd_boilerplate *b, size_t i)
{
	const struct pd_boilerplate_entry *x = &b->hosts[i];
	return (struct pd_boilerplate_host){ entry_host(b, x), x->pages, site_of(b, x) };
}

/* Check all samples once, before the first is used. */
static int check_samples(struct pd_boilerplate *b, struct pd_err *e)
{
	struct pd_pieces in = { .f = b->f, .name = b->name, .left = b->h.length - b->h.samples_at };
	struct pd_span piece;
	uint64_t sum[2];
	int status;
	if (b->samples_checked)
		return PD_OK;
	if (fseeko(b->f, (off_t)b->h.samples_at, SEEK_SET) < 0)
		return pd_fail_errno(e, "cannot read %s", b->name);
	struct pd_hasher *hasher = pd_hasher_new();
	while ((status = pd_pieces_next(&in, &piece, e)) == 1)
		pd_hasher_add(hasher, piece.p, piece.n);
	pd_hasher_end(hasher, sum);
	pd_hasher_free(hasher);
	if (status == PD_ERR_SYSTEM)
		return status;
	if (status || memcmp(sum, b->h.samples_checksum, sizeof sum) != 0)
		return table_damaged(b, "the checksum of its samples does not match", e);
	b->samples_checked = true;
	return PD_OK;
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

	/* All records must be of this host, in the order of their URLs. */
	struct pd_span rest = pd_buf_span(out);
	struct pd_site_page p;
	uint64_t last = 0;
	unsigned n = 0;
	for (; rest.n; n++) {
		if (!pd_site_page_read(rest, &p) || pd_site_host_cmp(p.host, entry_host(b, x)) || (n && p.url <= last))
			break;
		last = p.url;
		rest.p += p.size;
		rest.n -= p.size;
	}
	if (!rest.n && n == x->pages)
		return PD_OK;
	return table_damaged(b, "the sample of a host is invalid, or has pages of another host; learn it again from the dumps", e);
}

/*
 * Writing.  The table is assembled from four spools, one for each section, because the length of a section is known only
 * at its end.
 */

enum section { HOSTS, KEYS, NAMES, SAMPLES, SECTIONS };

struct pd_boilerplate_writer {
	FILE *spools[SECTIONS];
	uint64_t bytes[SECTIONS];
	struct pd_boilerplate_header h;
	struct pd_hasher *hasher; /* of the samples, then of the bytes before them */
	bool samples;
};

void pd_boilerplate_writer_free(struct pd_boilerplate_writer *w)
{
	if (!w)
		return;
	for (int i = 0; i < SECTIONS; i++)
		if (w->spools[i])
			fclose(w->spools[i]);
	pd_hasher_free(w->hasher);
	free(w);
}

int pd_boilerplate_writer_new(struct pd_boilerplate_writer **out, const char *tmp_dir, bool hidden_kept, bool samples,
			      struct pd_err *e)
{
	struct pd_boilerplate_writer *w = pd_zalloc(sizeof *w);
	w->samples = samples;
	w->hasher = pd_hasher_new();
	w->h = (struct pd_boilerplate_header){ .version = PD_BOILERPLATE_VERSION,
					       .sample = PD_SITE_SAMPLE,
					       .texts = PD_SITE_TEXTS,
					       .bits = PD_SITE_BITS,
					       .hidden = hidden_kept };
	memcpy(w->h.magic, PD_BOILERPLATE_MAGIC, sizeof w->h.magic);
	*out = w;
	for (int i = 0; i < SECTIONS; i++) {
		w->spools[i] = pd_tempfile_open(tmp_dir, e);
		if (w->spools[i])
			continue;
		pd_boilerplate_writer_free(w);
		*out = NULL;
		return PD_ERR_SYSTEM;
	}
	return PD_OK;
}

static void spool(struct pd_boilerplate_writer *w, enum section section, const void *p, size_t n)
{
	if (n)
		fwrite(p, 1, n, w->spools[section]);
	w->bytes[section] += n;
}

void pd_boilerplate_writer_add(struct pd_boilerplate_writer *w, const struct pd_boilerplate_host *h, struct pd_span records)
{
	const struct pd_site *s = &h->site;
	struct pd_boilerplate_entry entry = {
		.key = h->host.key,
		.keys_at = w->bytes[KEYS] / 8,
		.name_at = w->bytes[NAMES],
		.sample_at = w->bytes[SAMPLES],
		.lines = (uint32_t)s->n_lines,
		.paths = (uint32_t)s->n_paths,
		.sample = w->samples ? (uint32_t)records.n : 0,
		.name = (uint16_t)h->host.name.n,
		.pages = (uint16_t)h->pages,
	};
	spool(w, HOSTS, &entry, sizeof entry);
	spool(w, KEYS, s->lines, s->n_lines * sizeof *s->lines);
	spool(w, KEYS, s->paths, s->n_paths * sizeof *s->paths);
	spool(w, NAMES, h->host.name.p, h->host.name.n);
	if (!w->samples)
		return;
	spool(w, SAMPLES, records.p, records.n);
	pd_hasher_add(w->hasher, records.p, records.n);
}

/* Read a section from its beginning, into the checksum or into `to`. */
static bool read_spool(struct pd_boilerplate_writer *w, enum section section, FILE *to)
{
	struct pd_pieces in = { .f = w->spools[section], .left = w->bytes[section] };
	struct pd_span piece;
	bool good = !ferror(in.f) && fseeko(in.f, 0, SEEK_SET) == 0; /* which flushes buffered data */
	while (good && in.left) {
		good = pd_pieces_next(&in, &piece, NULL) == 1;
		if (good && to)
			good = fwrite(piece.p, 1, piece.n, to) == piece.n;
		else if (good)
			pd_hasher_add(w->hasher, piece.p, piece.n);
	}
	return good;
}

int pd_boilerplate_writer_end(struct pd_boilerplate_writer *w, FILE *f, struct pd_err *e)
{
	struct pd_boilerplate_header *h = &w->h;
	bool good = true;
	pd_hasher_end(w->hasher, h->samples_checksum);
	pd_hasher_clear(w->hasher);
	spool(w, NAMES, "\0\0\0\0\0\0\0", -w->bytes[NAMES] % 8);
	h->hosts = w->bytes[HOSTS] / sizeof(struct pd_boilerplate_entry);
	h->keys = w->bytes[KEYS] / 8;
	h->names = w->bytes[NAMES];
	h->samples_at = sizeof *h + w->bytes[HOSTS] + w->bytes[KEYS] + w->bytes[NAMES];
	h->length = h->samples_at + w->bytes[SAMPLES];
	pd_hasher_add(w->hasher, (const char *)h + PD_BOILERPLATE_UNCHECKED, sizeof *h - PD_BOILERPLATE_UNCHECKED);
	for (enum section i = HOSTS; i < SAMPLES; i++)
		good = good && read_spool(w, i, NULL);
	if (!good)
		return pd_fail_errno(e, "cannot write a temporary file");
	pd_hasher_end(w->hasher, h->checksum);

	good = fwrite(h, sizeof *h, 1, f) == 1;
	for (enum section i = HOSTS; i < SECTIONS; i++)
		good = good && read_spool(w, i, f);
	return good && fflush(f) == 0 ? PD_OK : pd_fail_errno(e, "cannot write the boilerplate table");
}
