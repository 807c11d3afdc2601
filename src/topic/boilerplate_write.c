/* SPDX-License-Identifier: MIT
 *
 * The table is put together from four spools, one for each part, because how long a part is shows only at its end.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/tempfile.h"
#include "topic/boilerplate.h"
#include "topic/boilerplate_layout.h"
#include "topic/site_decide.h"

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
