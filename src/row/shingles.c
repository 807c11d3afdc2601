/* SPDX-License-Identifier: MIT */
#include "row/shingles.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sort.h"
#include "row/fields.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "shingles are written as they lie in memory: little-endian"
#endif

#define MAGIC "\x89PDS\r\n\x1a\n"

/* A block is written when it has this size; its last page may be long. */
enum { BLOCK_PAGES = 512, BLOCK_SHINGLES = 1 << 20 };
enum { MAGIC_BYTES = 8, BLOCK_HEAD = 16, MUST_MAX = 1 << 16, PAGE_MAX = 1 << 28 };

const struct pd_secret pd_no_secret = { { 0 } };

/* --- writing --- */

static int write_bytes(struct pd_shingles_writer *w, const void *p, size_t n, struct pd_err *e)
{
	return fwrite(p, 1, n, w->out.f) == n ? PD_OK
					      : pd_fail_errno(e, "cannot write %s", w->out.path ? w->out.path : "standard output");
}

int pd_shingles_create(struct pd_shingles_writer *w, const char *path, struct pd_span must, struct pd_err *e)
{
	uint32_t head[2] = { PD_SHINGLES_VERSION, (uint32_t)must.n };
	*w = (struct pd_shingles_writer){ .out.slot = -1 };
	int status = pd_outfile_open(&w->out, path, e);
	if (!status)
		status = write_bytes(w, MAGIC, MAGIC_BYTES, e);
	if (!status)
		status = write_bytes(w, head, sizeof head, e);
	return status ? status : write_bytes(w, must.p, must.n, e);
}

static uint64_t checksum(struct pd_span ids, struct pd_span texts, struct pd_span counts)
{
	return pd_hash64_seed(counts.p, counts.n, pd_hash64_seed(texts.p, texts.n, pd_hash64(ids.p, ids.n)));
}

static int write_block(struct pd_shingles_writer *w, struct pd_err *e)
{
	uint32_t numbers[2] = { (uint32_t)(w->counts.n / 4), (uint32_t)(w->shingles.n / 8) };
	uint64_t sum = checksum(pd_buf_span(&w->ids), pd_buf_span(&w->texts), pd_buf_span(&w->counts));
	const struct pd_buf *parts[] = { &w->ids, &w->texts, &w->counts, &w->shingles };
	int status = write_bytes(w, numbers, sizeof numbers, e);
	if (!status)
		status = write_bytes(w, &sum, sizeof sum, e);
	for (size_t i = 0; !status && i < sizeof parts / sizeof *parts; i++)
		if (parts[i]->n)
			status = write_bytes(w, parts[i]->p, parts[i]->n, e);
	pd_buf_clear(&w->ids);
	pd_buf_clear(&w->texts);
	pd_buf_clear(&w->counts);
	pd_buf_clear(&w->shingles);
	return status;
}

int pd_shingles_add(struct pd_shingles_writer *w, uint64_t id, uint64_t text, struct pd_span shingles, struct pd_err *e)
{
	uint32_t n = (uint32_t)(shingles.n / 8);
	pd_buf_add(&w->ids, &id, sizeof id);
	pd_buf_add(&w->texts, &text, sizeof text);
	pd_buf_add(&w->counts, &n, sizeof n);
	pd_buf_add_span(&w->shingles, shingles);
	bool full = w->counts.n / 4 == BLOCK_PAGES || w->shingles.n / 8 >= BLOCK_SHINGLES;
	return full ? write_block(w, e) : PD_OK;
}

static void writer_release(struct pd_shingles_writer *w)
{
	pd_buf_release(&w->ids);
	pd_buf_release(&w->texts);
	pd_buf_release(&w->counts);
	pd_buf_release(&w->shingles);
}

int pd_shingles_close(struct pd_shingles_writer *w, int status, struct pd_err *e)
{
	if (!status && w->counts.n)
		status = write_block(w, e);
	if (!status)
		status = write_block(w, e);
	if (!status)
		status = pd_outfile_commit(&w->out, e);
	else if (w->out.f)
		pd_outfile_abandon(&w->out);
	writer_release(w);
	return status;
}

/* --- reading --- */

/* A page that is to be found. */
struct shingle_place {
	uint64_t id;
	uint64_t text;
	uint64_t at; /* of its shingles, in bytes; 0: not found */
	uint32_t n;
	uint32_t file;
};

struct pd_shingles {
	struct shingle_place *places; /* by id */
	size_t n;
	char *const *paths;
	FILE **files;
	int n_files;
	size_t run; /* consecutive shingles that are one item of a set */
	struct pd_buf must, ids, texts, counts;
};

static int damaged(const struct pd_shingles *s, int file, struct pd_err *e)
{
	if (ferror(s->files[file]))
		return pd_fail_errno(e, "cannot read %s", s->paths[file]);
	return pd_fail(e, PD_ERR_FORMAT, "%s is damaged or truncated; write it again with 'pagededup fp --shingles'",
		       s->paths[file]);
}

static bool read_bytes(FILE *f, void *to, size_t n)
{
	return fread(to, 1, n, f) == n;
}

static int read_head(struct pd_shingles *s, int file, struct pd_err *e)
{
	char magic[MAGIC_BYTES];
	uint32_t head[2];
	FILE *f = s->files[file];
	if (!read_bytes(f, magic, sizeof magic) || memcmp(magic, MAGIC, MAGIC_BYTES) != 0)
		return pd_fail(e, PD_ERR_FORMAT, "%s is not a file of shingles; write one with 'pagededup fp --shingles=FILE'",
			       s->paths[file]);
	if (!read_bytes(f, head, sizeof head))
		return damaged(s, file, e);
	if (head[0] != PD_SHINGLES_VERSION)
		return pd_fail(e, PD_ERR_VERSION,
			       "%s has version %u of the format, and this program reads version %d; write it again with 'pagededup "
			       "fp --shingles'",
			       s->paths[file], head[0], PD_SHINGLES_VERSION);
	if (head[1] > MUST_MAX)
		return damaged(s, file, e);
	struct pd_buf must = { 0 };
	char *to = pd_buf_reserve(&must, head[1] + 1);
	int status = read_bytes(f, to, head[1]) ? PD_OK : damaged(s, file, e);
	must.n = head[1];
	if (!status && !file)
		pd_buf_set(&s->must, pd_buf_span(&must));
	else if (!status && !pd_span_eq(pd_buf_span(&must), pd_buf_span(&s->must)))
		status = pd_fail(e, PD_ERR_PARAMS, "%s was made with other parameters than %s", s->paths[file], s->paths[0]);
	pd_buf_release(&must);
	return status;
}

static struct shingle_place *find_place(const struct pd_shingles *s, uint64_t id)
{
	size_t at = PD_LOWER_BOUND(i, 0, s->n, s->places[i].id < id);
	return at < s->n && s->places[at].id == id ? &s->places[at] : NULL;
}

/* Read a block's lists and note the offsets of the requested pages. *at: after its head, then after the block. */
static int read_shingle_block(struct pd_shingles *s, int file, uint64_t size, uint32_t pages, uint32_t shingles, uint64_t sum,
			      uint64_t *at, struct pd_err *e)
{
	FILE *f = s->files[file];
	size_t id_bytes = (size_t)pages * 8, count_bytes = (size_t)pages * 4;
	uint64_t total = 0;
	if (pages > BLOCK_PAGES || shingles > BLOCK_SHINGLES + PAGE_MAX)
		return damaged(s, file, e);
	pd_buf_clear(&s->ids);
	pd_buf_clear(&s->texts);
	pd_buf_clear(&s->counts);
	char *ids = pd_buf_reserve(&s->ids, id_bytes), *texts = pd_buf_reserve(&s->texts, id_bytes);
	char *counts = pd_buf_reserve(&s->counts, count_bytes);
	if (!read_bytes(f, ids, id_bytes) || !read_bytes(f, texts, id_bytes) || !read_bytes(f, counts, count_bytes) ||
	    checksum(pd_span(ids, id_bytes), pd_span(texts, id_bytes), pd_span(counts, count_bytes)) != sum)
		return damaged(s, file, e);
	*at += 2 * id_bytes + count_bytes;
	for (uint32_t i = 0; i < pages; i++) {
		uint64_t id, text;
		uint32_t n;
		memcpy(&id, ids + (size_t)i * 8, sizeof id);
		memcpy(&text, texts + (size_t)i * 8, sizeof text);
		memcpy(&n, counts + (size_t)i * 4, sizeof n);
		struct shingle_place *place = find_place(s, id);
		if (place && !place->at)
			*place = (struct shingle_place){ id, text, *at + 8 * total, n, (uint32_t)file };
		total += n;
	}
	if (total != shingles)
		return damaged(s, file, e);
	*at += 8 * total;
	if (*at > size)
		return damaged(s, file, e);
	return fseeko(f, (off_t)*at, SEEK_SET) < 0 ? pd_fail_errno(e, "cannot read %s", s->paths[file]) : PD_OK;
}

static int scan_file(struct pd_shingles *s, int file, struct pd_err *e)
{
	struct stat st;
	struct {
		uint32_t pages, shingles;
		uint64_t sum;
	} head;
	int status =
		fstat(fileno(s->files[file]), &st) < 0 ? pd_fail_errno(e, "cannot read %s", s->paths[file]) : read_head(s, file, e);
	uint64_t at = MAGIC_BYTES + 8 + s->must.n;
	while (!status) {
		if (!read_bytes(s->files[file], &head, sizeof head))
			return damaged(s, file, e);
		at += BLOCK_HEAD;
		if (!head.pages)
			return PD_OK;
		status = read_shingle_block(s, file, (uint64_t)st.st_size, head.pages, head.shingles, head.sum, &at, e);
	}
	return status;
}

/* Return the number of consecutive shingles that cover at least PD_SHINGLE_SET_TERMS terms. */
static size_t run_of(struct pd_span must)
{
	uint64_t terms = PD_SHINGLE_SET_TERMS;
	pd_span_u64(pd_param(must, "sketch_shingle"), &terms);
	return terms && terms < PD_SHINGLE_SET_TERMS ? PD_SHINGLE_SET_TERMS - (size_t)terms + 1 : 1;
}

int pd_shingles_open(struct pd_shingles **out, char *const *paths, int n_paths, uint64_t *ids, size_t n_ids, struct pd_err *e)
{
	struct pd_shingles *s = *out = pd_zalloc(sizeof *s);
	int status = PD_OK;
	if (n_ids)
		qsort(ids, n_ids, sizeof *ids, pd_compare_u64);
	s->places = pd_zalloc((n_ids + 1) * sizeof *s->places);
	for (size_t i = 0; i < n_ids; i++)
		if (!i || ids[i] != ids[i - 1])
			s->places[s->n++].id = ids[i];
	s->paths = paths;
	s->files = pd_zalloc((size_t)(n_paths + 1) * sizeof *s->files);
	for (int i = 0; i < n_paths && !status; i++) {
		s->files[i] = pd_input_fopen(paths[i], e);
		if (!s->files[i])
			return e->status;
		s->n_files++;
		status = scan_file(s, i, e);
	}
	s->run = run_of(pd_buf_span(&s->must));
	return status;
}

void pd_shingles_free(struct pd_shingles *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->n_files; i++)
		fclose(s->files[i]);
	free(s->files);
	free(s->places);
	pd_buf_release(&s->must);
	pd_buf_release(&s->ids);
	pd_buf_release(&s->texts);
	pd_buf_release(&s->counts);
	free(s);
}

/* --- sets --- */

size_t pd_shingles_count(const struct pd_shingles *s, uint64_t id)
{
	const struct shingle_place *place = find_place(s, id);
	return place && place->at ? place->n : 0;
}

uint64_t pd_shingles_text(const struct pd_shingles *s, uint64_t id)
{
	const struct shingle_place *place = find_place(s, id);
	return place && place->at ? place->text : 0;
}

/* Sort by the highest 33 bits, in three passes.  The few values that share them are then sorted by all bits. */
static void sort_values(uint64_t *v, uint64_t *other, size_t n)
{
	enum { LOWEST = 31, FEW = 64 };
	if (n <= FEW) {
		qsort(v, n, sizeof *v, pd_compare_u64);
		return;
	}
	uint64_t *from = pd_sort_words(v, other, n, LOWEST);
	for (size_t i = 0, end; i < n; i = end) {
		bool differ = false;
		for (end = i + 1; end < n && from[end] >> LOWEST == from[i] >> LOWEST; end++)
			differ |= from[end] != from[i];
		if (differ)
			qsort(from + i, end - i, sizeof *from, pd_compare_u64);
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}

/* Replace the shingles of a text by its runs, in place; a shorter text is one run.  Return the number of runs.  A run
 * has a polynomial of its shingles, which are random numbers to the author of a page. */
static size_t join_runs(uint64_t *v, size_t n, size_t run)
{
	size_t terms = n < run ? n : run, runs = n < run ? n > 0 : n - run + 1;
	for (size_t i = 0; i < runs; i++)
		for (size_t k = 1; k < terms; k++)
			v[i] = v[i] * UINT64_C(0x9E3779B97F4A7C15) + v[i + k];
	return runs;
}

int pd_shingles_get(struct pd_shingles *s, uint64_t id, struct pd_shingle_set *out, struct pd_err *e)
{
	const struct shingle_place *place = find_place(s, id);
	out->n = 0;
	if (!place || !place->at)
		return 0;
	if (place->n > out->cap) {
		free(out->v);
		out->v = pd_alloc(2 * (size_t)place->n * sizeof *out->v); /* the second half to sort in */
		out->cap = place->n;
	}
	size_t bytes = (size_t)place->n * sizeof *out->v, n = 0;
	ssize_t got = pd_pread(fileno(s->files[place->file]), out->v, bytes, place->at);
	if (got < 0)
		return pd_fail_errno(e, "cannot read %s", s->paths[place->file]);
	if ((size_t)got < bytes)
		return damaged(s, (int)place->file, e);
	size_t runs = join_runs(out->v, place->n, s->run);
	sort_values(out->v, out->v + place->n, runs);
	for (size_t i = 0; i < runs; i++)
		if (!i || out->v[i] != out->v[i - 1])
			out->v[n++] = out->v[i];
	out->n = n;
	return 1;
}

size_t pd_shingle_set_common(const struct pd_shingle_set *a, const struct pd_shingle_set *b)
{
	size_t i = 0, j = 0, n = 0;
	while (i < a->n && j < b->n) {
		n += a->v[i] == b->v[j];
		bool next_a = a->v[i] <= b->v[j], next_b = a->v[i] >= b->v[j];
		i += next_a;
		j += next_b;
	}
	return n;
}
