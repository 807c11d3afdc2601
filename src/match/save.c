/* SPDX-License-Identifier: MIT
 *
 * Rows -> a key file (match/keyfile.h).
 */
#include "match/rows.h"

#include "base/codec.h"
#include "match/keyfile.h"

static void add_param(struct pd_buf *out, const char *name, struct pd_span value)
{
	if (value.n)
		pd_buf_printf(out, "%s %.*s\n", name, (int)value.n, value.p);
}

static void add_params(const struct pd_rows *rows, struct pd_buf *out)
{
	struct pd_buf sketch = { 0 };
	struct pd_span rest = pd_buf_span(&rows->totals), line;
	add_param(out, "must", pd_buf_span(&rows->must));
	add_param(out, "params", pd_span_z(rows->params));
	if (rows->sketched)
		pd_sketch_print(&rows->sketch, &sketch);
	add_param(out, "sketch", pd_buf_span(&sketch));
	while (rest.n && pd_span_split(&rest, '\n', &line))
		add_param(out, "total", line);
	if (rows->cut)
		add_param(out, "cut", pd_span_z("yes"));
	pd_buf_release(&sketch);
}

/* The lines of the rows, PD_KEYFILE_BLOCK at a time. */
static void add_lines(const struct pd_rows *rows, struct pd_buf *section)
{
	struct pd_zstd_packer *packer = pd_zstd_packer_new();
	struct pd_buf text = { 0 }, *packed = &section[PD_KEYFILE_ROWS];
	uint64_t at = 0;
	for (uint32_t i = 0; i <= rows->n; i++) {
		if (text.n && (i == rows->n || i % PD_KEYFILE_BLOCK == 0)) {
			pd_zstd_pack(packer, pd_buf_span(&text), packed);
			pd_buf_clear(&text);
		}
		if (i == rows->n || i % PD_KEYFILE_BLOCK == 0)
			pd_buf_add(&section[PD_KEYFILE_BLOCK_AT], &(uint64_t){ packed->n }, sizeof(uint64_t));
		pd_buf_add(&section[PD_KEYFILE_ROW_AT], &at, sizeof at);
		if (i == rows->n)
			break;
		struct pd_span line = pd_rows_line(rows, i);
		pd_buf_add_span(&text, line);
		pd_buf_add_c(&text, '\n');
		at += line.n + 1;
	}
	pd_buf_release(&text);
	pd_zstd_packer_free(packer);
}

static void add_set(const struct pd_rows_set *set, struct pd_buf *rows, struct pd_buf *keys)
{
	for (uint32_t i = 0; i < set->n; i++)
		pd_buf_add(rows, &(uint32_t){ pd_rows_set_row(set, i) }, sizeof(uint32_t));
	pd_buf_add(keys, set->keys, set->n * (size_t)set->words * sizeof *set->keys);
}

int pd_rows_save(const struct pd_rows *rows, FILE *to, const char *name, struct pd_err *e)
{
	struct pd_buf section[PD_KEYFILE_SECTIONS] = { { 0 } };
	struct pd_keyfile_counts counts = { .rows = rows->n,
					    .fingerprints = rows->fingerprints.n,
					    .digests = rows->digests.n,
					    .bits = (uint32_t)rows->bits,
					    .sketch_words = rows->sketched ? (uint32_t)pd_sketch_words(&rows->sketch) : 0 };
	add_params(rows, &section[PD_KEYFILE_PARAMS]);
	add_set(&rows->fingerprints, &section[PD_KEYFILE_PRINT_ROWS], &section[PD_KEYFILE_PRINTS]);
	add_set(&rows->digests, &section[PD_KEYFILE_DIGEST_ROWS], &section[PD_KEYFILE_DIGESTS]);
	for (uint32_t i = 0; i < rows->n; i++) {
		struct pd_sketch s;
		bool there = pd_rows_sketch(rows, i, &s);
		pd_buf_add_c(&section[PD_KEYFILE_SKETCHED], there);
		if (there)
			pd_buf_add(&section[PD_KEYFILE_SKETCHES], s.w, counts.sketch_words * sizeof *s.w);
	}
	add_lines(rows, section);
	pd_buf_add(&section[PD_KEYFILE_COUNTS], &counts, sizeof counts);
	struct pd_container_writer out;
	pd_container_begin(&out, &pd_keyfile_kind, 0, pd_container_to_file, &(struct pd_container_file){ to, name }, e);
	for (int i = 0; i < PD_KEYFILE_SECTIONS; i++) {
		pd_container_add_section(&out, section[i].p, section[i].n);
		pd_buf_release(&section[i]);
	}
	return pd_container_end(&out, NULL);
}
