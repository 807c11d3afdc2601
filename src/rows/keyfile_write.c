/* SPDX-License-Identifier: MIT
 *
 * Rows in memory -> a key file.  Its sections are made first, because the header, which comes first, says where they lie.
 */
#include <stdlib.h>

#include "base/codec.h"
#include "rows/keyfile.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "key files are written as they lie in memory: little-endian"
#endif

struct writing {
	const struct pd_rows *rows;
	struct pd_buf section[PD_KEYFILE_SECTIONS];
};

static void add_param(struct pd_buf *out, const char *name, struct pd_span value)
{
	if (value.n)
		pd_buf_printf(out, "%s %.*s\n", name, (int)value.n, value.p);
}

static void make_params(struct writing *w)
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
	pd_buf_release(&sketch);
}

static void make_sketches(struct writing *w)
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

static void end_block(struct writing *w, struct pd_zstd_packer *packer, struct pd_buf *text)
{
	uint64_t at = w->section[PD_KEYFILE_ROWS].n;
	pd_buf_add(&w->section[PD_KEYFILE_BLOCK_AT], &at, sizeof at);
	if (text->n)
		pd_zstd_pack(packer, pd_buf_span(text), &w->section[PD_KEYFILE_ROWS]);
	pd_buf_clear(text);
}

static void make_rows(struct writing *w)
{
	struct pd_zstd_packer *packer = pd_zstd_packer_new();
	struct pd_buf text = { 0 };
	uint64_t at = 0;
	for (size_t i = 0; i < w->rows->n; i++) {
		struct pd_span line = pd_rows_line(w->rows, (uint32_t)i);
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

/* A column that lies in memory as it goes into the file. */
static void make_set(struct writing *w, const struct pd_rows_set *set, enum pd_keyfile_section rows, enum pd_keyfile_section keys)
{
	for (uint32_t i = 0; i < set->n; i++)
		pd_buf_add(&w->section[rows], &(uint32_t){ pd_rows_set_row(set, i) }, sizeof(uint32_t));
	pd_buf_add(&w->section[keys], set->keys, set->n * (size_t)set->words * sizeof *set->keys);
}

static struct pd_keyfile_header make_header(const struct writing *w)
{
	struct pd_keyfile_header h = { .version = PD_KEYFILE_VERSION, .header_bytes = sizeof h, .file_bytes = sizeof h };
	memcpy(h.magic, PD_KEYFILE_MAGIC, sizeof h.magic);
	h.rows = w->rows->n;
	h.prints = w->rows->prints.n;
	h.digests = w->rows->digests.n;
	h.bits = (uint32_t)w->rows->bits;
	h.sketch_words = w->rows->sketched ? (uint32_t)pd_sketch_words(&w->rows->sketch) : 0;
	for (int i = 0; i < PD_KEYFILE_SECTIONS; i++) {
		const struct pd_buf *s = &w->section[i];
		h.section[i] = (struct pd_keyfile_place){ h.file_bytes, s->n, pd_hash64(s->p, s->n) };
		h.file_bytes += (s->n + 7) / 8 * 8;
	}
	h.checksum = pd_hash64(&h, offsetof(struct pd_keyfile_header, checksum));
	return h;
}

static bool write_all(const struct writing *w, const struct pd_keyfile_header *h, FILE *to)
{
	static const char zeros[8];
	bool good = fwrite(h, sizeof *h, 1, to) == 1;
	for (int i = 0; i < PD_KEYFILE_SECTIONS; i++) {
		size_t n = w->section[i].n, pad = (8 - n % 8) % 8;
		good = good && (!n || fwrite(w->section[i].p, 1, n, to) == n) && fwrite(zeros, 1, pad, to) == pad;
	}
	return good;
}

int pd_keyfile_write(const struct pd_rows *rows, FILE *to, const char *name, struct pd_err *e)
{
	struct writing w = { .rows = rows };
	make_params(&w);
	make_set(&w, &rows->prints, PD_KEYFILE_PRINT_ROWS, PD_KEYFILE_PRINTS);
	make_set(&w, &rows->digests, PD_KEYFILE_DIGEST_ROWS, PD_KEYFILE_DIGESTS);
	make_sketches(&w);
	make_rows(&w);
	struct pd_keyfile_header h = make_header(&w);
	int status = write_all(&w, &h, to) ? PD_OK : pd_fail_errno(e, "cannot write %s", name);
	for (int i = 0; i < PD_KEYFILE_SECTIONS; i++)
		pd_buf_release(&w.section[i]);
	return status;
}
