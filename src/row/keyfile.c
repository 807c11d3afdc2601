/* SPDX-License-Identifier: MIT
 *
 * A key file -> its columns in the mapped file, and its blocks of rows.  Nothing in it is used before its checksum
 * is verified, and no number before its bounds are checked: a checksum only protects against accidents.
 */
#include "row/keyfile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/threads.h"
#include "sign/sketch.h"

static int fail_keyfile(struct pd_err *e, const char *name, uint64_t at, const char *what)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s: damaged key file: %s, at byte %" PRIu64, name, what, at);
}

static int check_key_header(const struct pd_keyfile *k, const char *name, struct pd_err *e)
{
	const struct pd_keyfile_header *h = &k->h;
	if (memcmp(h->magic, PD_KEYFILE_MAGIC, sizeof h->magic))
		return pd_fail(e, PD_ERR_FORMAT, "%s: not a key file: 'pagededup match --save' writes them", name);
	if ((h->version < 1 || h->version > PD_KEYFILE_VERSION) && h->version < 256)
		return pd_fail(e, PD_ERR_VERSION, "%s: version %u of key files; this program knows version %d", name, h->version,
			       PD_KEYFILE_VERSION);
	if (h->header_bytes != sizeof *h || h->checksum != pd_hash64(h, offsetof(struct pd_keyfile_header, checksum)))
		return fail_keyfile(e, name, 0, "the checksum of the header does not match");
	if (h->file_bytes != k->map_bytes)
		return pd_fail(e, PD_ERR_FORMAT, "%s: damaged key file: %zu bytes, not %" PRIu64, name, k->map_bytes,
			       h->file_bytes);
	if (h->rows >= UINT32_MAX / 2 || h->fingerprints > h->rows || h->digests > h->rows - h->fingerprints ||
	    (h->bits && h->bits != 64 && h->bits != 128 && h->bits != 256) || (!h->bits && h->fingerprints) ||
	    h->sketch_words > PD_SKETCH_WORDS)
		return fail_keyfile(e, name, 24, "impossible counts");
	return PD_OK;
}

/* Sections follow each other without gaps, padded to 8 bytes with zeros. */
static int check_section(const struct pd_keyfile *k, int i, uint64_t *at, const char *name, struct pd_err *e)
{
	const struct pd_keyfile_place *s = &k->h.section[i];
	if (s->offset != *at || s->length > k->map_bytes - *at)
		return fail_keyfile(e, name, *at, "a section is not where it should be");
	for (*at += s->length; *at % 8; ++*at)
		if (*at >= k->map_bytes || k->map[*at])
			return fail_keyfile(e, name, *at, "bytes between sections");
	return PD_OK;
}

/* Mapped pages count as memory of this process after they were read: release those that are not needed for a while. */
static void give_back(const struct pd_keyfile *k, enum pd_keyfile_section i)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = k->h.section[i].offset, to = from + k->h.section[i].length;
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (k->is_file && from < to)
		madvise((void *)(k->map + from), to - from, MADV_DONTNEED);
}

struct sum_check {
	const struct pd_keyfile *k;
	bool wrong[PD_KEYFILE_SECTIONS];
};

static void check_sum(void *ctx, size_t i, int thread)
{
	struct sum_check *c = ctx;
	const struct pd_keyfile_place *s = &c->k->h.section[i];
	(void)thread;
	c->wrong[i] = pd_hash64(c->k->map + s->offset, s->length) != s->checksum;
	give_back(c->k, (enum pd_keyfile_section)i);
}

/* They are inside the file. */
static int check_sums(const struct pd_keyfile *k, int threads, const char *name, struct pd_err *e)
{
	struct sum_check c = { .k = k };
	pd_parallel(threads, PD_KEYFILE_SECTIONS, check_sum, &c);
	for (int i = 0; i < PD_KEYFILE_SECTIONS; i++)
		if (c.wrong[i])
			return fail_keyfile(e, name, k->h.section[i].offset, "the checksum of a section does not match");
	return PD_OK;
}

static bool has_length(const struct pd_keyfile *k, enum pd_keyfile_section i, uint64_t length)
{
	return k->h.section[i].length == length;
}

static uint64_t n_blocks(const struct pd_keyfile *k)
{
	return (k->h.rows + PD_KEYFILE_BLOCK - 1) / PD_KEYFILE_BLOCK;
}

static const void *section_at(const struct pd_keyfile *k, enum pd_keyfile_section i)
{
	return k->map + k->h.section[i].offset;
}

static bool set_columns(struct pd_keyfile *k)
{
	const struct pd_keyfile_header *h = &k->h;
	k->params = pd_span(section_at(k, PD_KEYFILE_PARAMS), h->section[PD_KEYFILE_PARAMS].length);
	k->print_row = section_at(k, PD_KEYFILE_PRINT_ROWS);
	k->fingerprints = section_at(k, PD_KEYFILE_PRINTS);
	k->digest_row = section_at(k, PD_KEYFILE_DIGEST_ROWS);
	k->digests = section_at(k, PD_KEYFILE_DIGESTS);
	k->sketched = section_at(k, PD_KEYFILE_SKETCHED);
	k->sketches = section_at(k, PD_KEYFILE_SKETCHES);
	k->row_at = section_at(k, PD_KEYFILE_ROW_AT);
	k->block_at = section_at(k, PD_KEYFILE_BLOCK_AT);
	return has_length(k, PD_KEYFILE_PRINT_ROWS, h->fingerprints * 4) &&
	       has_length(k, PD_KEYFILE_PRINTS, h->fingerprints * h->bits / 8) &&
	       has_length(k, PD_KEYFILE_DIGEST_ROWS, h->digests * 4) && has_length(k, PD_KEYFILE_DIGESTS, h->digests * 16) &&
	       has_length(k, PD_KEYFILE_SKETCHED, h->rows) && has_length(k, PD_KEYFILE_ROW_AT, (h->rows + 1) * 8) &&
	       has_length(k, PD_KEYFILE_BLOCK_AT, (n_blocks(k) + 1) * 8);
}

static bool ascending32(const uint32_t *v, uint64_t n, uint64_t end)
{
	for (uint64_t i = 0; i < n; i++)
		if (v[i] >= end || (i && v[i] <= v[i - 1]))
			return false;
	return true;
}

static bool ascending64(const uint64_t *v, uint64_t n, uint64_t end)
{
	for (uint64_t i = 0; i < n; i++)
		if (v[i] > end || (i && v[i] <= v[i - 1]))
			return false;
	return true;
}

static int check_columns(struct pd_keyfile *k, const char *name, struct pd_err *e)
{
	const struct pd_keyfile_header *h = &k->h;
	uint64_t sketched = 0;
	if (!set_columns(k))
		return fail_keyfile(e, name, 0, "columns that are too short or too long");
	for (uint64_t i = 0; i < h->rows; i++)
		sketched += k->sketched[i] == 1;
	if (!has_length(k, PD_KEYFILE_SKETCHES, sketched * h->sketch_words * 8) || (sketched && !h->sketch_words))
		return fail_keyfile(e, name, h->section[PD_KEYFILE_SKETCHES].offset, "sketches that do not fit their rows");
	if (!ascending32(k->print_row, h->fingerprints, h->rows) || !ascending32(k->digest_row, h->digests, h->rows))
		return fail_keyfile(e, name, h->section[PD_KEYFILE_PRINT_ROWS].offset, "rows that are not there or not in order");
	if (!ascending64(k->row_at, h->rows + 1, UINT64_MAX / 2) || k->row_at[0] ||
	    !ascending64(k->block_at, n_blocks(k) + 1, h->section[PD_KEYFILE_ROWS].length) || k->block_at[0] ||
	    k->block_at[n_blocks(k)] != h->section[PD_KEYFILE_ROWS].length)
		return fail_keyfile(e, name, h->section[PD_KEYFILE_ROW_AT].offset, "offsets that are not in order");
	give_back(k, PD_KEYFILE_PRINT_ROWS);
	give_back(k, PD_KEYFILE_ROW_AT);
	return PD_OK;
}

static int check_keyfile(struct pd_keyfile *k, const char *name, int threads, struct pd_err *e)
{
	if (k->map_bytes < sizeof k->h)
		return pd_fail(e, PD_ERR_FORMAT, "%s: damaged key file: it ends within its header", name);
	memcpy(&k->h, k->map, sizeof k->h);
	int status = check_key_header(k, name, e);
	uint64_t end = sizeof k->h;
	for (int i = 0; !status && i < PD_KEYFILE_SECTIONS; i++)
		status = check_section(k, i, &end, name, e);
	if (!status && end != k->map_bytes)
		status = fail_keyfile(e, name, end, "bytes after the last section");
	if (!status)
		status = check_sums(k, threads, name, e);
	return status ? status : check_columns(k, name, e);
}

int pd_keyfile_check(struct pd_keyfile *k, struct pd_span bytes, const char *name, struct pd_err *e)
{
	*k = (struct pd_keyfile){ .map = bytes.p, .map_bytes = bytes.n };
	return check_keyfile(k, name, 1, e);
}

bool pd_keyfile_is(const char *path)
{
	char magic[8] = { 0 };
	struct stat st;
	if (!strcmp(path, "-")) { /* rows never begin with this byte, and one can be put back */
		int c = getc(stdin);
		ungetc(c, stdin);
		return c == (unsigned char)PD_KEYFILE_MAGIC[0];
	}
	FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "r") : NULL;
	bool is = f && fread(magic, 1, sizeof magic, f) == sizeof magic && !memcmp(magic, PD_KEYFILE_MAGIC, sizeof magic);
	if (f)
		fclose(f);
	return is;
}

/* Standard input as a file; the descriptor is the caller's. */
static int copy_stdin(const char *tmp_dir, struct pd_err *e)
{
	struct stat st;
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && ftello(stdin) == 0)
		return dup(STDIN_FILENO);
	FILE *f = pd_tempfile_of(pd_take_stream, stdin, "standard input", tmp_dir, e);
	if (!f)
		return -1;
	int fd = dup(fileno(f));
	if (fd < 0)
		pd_fail_errno(e, "cannot copy standard input to a temporary file");
	fclose(f);
	return fd;
}

void pd_keyfile_close(struct pd_keyfile *k)
{
	if (k->map)
		munmap((void *)k->map, k->map_bytes);
	*k = (struct pd_keyfile){ 0 };
}

int pd_keyfile_open(struct pd_keyfile *k, const char *path, const char *tmp_dir, int threads, struct pd_err *e)
{
	struct stat st;
	void *map = MAP_FAILED;
	bool standard = !strcmp(path, "-");
	int fd = standard ? copy_stdin(tmp_dir, e) : open(path, O_RDONLY | O_CLOEXEC);
	*k = (struct pd_keyfile){ 0 };
	if (fd < 0)
		return standard ? PD_ERR_SYSTEM : pd_fail_errno(e, "cannot read %s", path);
	if (pd_input_note_fd(fd, path, e)) {
		close(fd);
		return e->status;
	}
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		pd_fail_errno(e, "cannot read %s", path);
	close(fd);
	if (map == MAP_FAILED)
		return PD_ERR_SYSTEM;
	*k = (struct pd_keyfile){ .map = map, .map_bytes = (size_t)st.st_size, .is_file = true };
	int status = check_keyfile(k, standard ? "standard input" : path, threads, e);
	if (status)
		pd_keyfile_close(k);
	return status;
}

int pd_keyfile_digest(const char *path, uint64_t *digest, struct pd_err *e)
{
	struct pd_keyfile k = { .map = NULL };
	struct stat st;
	FILE *f = pd_input_fopen(path, e);
	if (!f)
		return PD_ERR_SYSTEM;
	size_t n = fread(&k.h, 1, sizeof k.h, f);
	int status = ferror(f) || fstat(fileno(f), &st) < 0 ? pd_fail_errno(e, "cannot read %s", path) : PD_OK;
	fclose(f);
	if (status)
		return status;
	k.map_bytes = (size_t)st.st_size;
	if (n < sizeof k.h && n >= sizeof k.h.magic && !memcmp(k.h.magic, PD_KEYFILE_MAGIC, sizeof k.h.magic))
		return pd_fail(e, PD_ERR_FORMAT, "%s: damaged key file: it ends within its header", path);
	*digest = k.h.checksum;
	return check_key_header(&k, path, e);
}

static int fail_block(const struct pd_keyfile *k, size_t block, const char *name, const char *what, struct pd_err *e)
{
	return fail_keyfile(e, name, k->h.section[PD_KEYFILE_ROWS].offset + k->block_at[block], what);
}

int pd_keyfile_unpack(const struct pd_keyfile *k, struct pd_unpacker *u, size_t block, const char *name, struct pd_buf *out,
		      struct pd_err *e)
{
	uint64_t first = block * PD_KEYFILE_BLOCK, end = first + PD_KEYFILE_BLOCK;
	const char *rows = section_at(k, PD_KEYFILE_ROWS);
	size_t text = k->row_at[end < k->h.rows ? end : k->h.rows] - k->row_at[first];
	struct pd_span packed = pd_span(rows + k->block_at[block], k->block_at[block + 1] - k->block_at[block]);
	pd_buf_clear(out);
	if (pd_unpack_all(u, PD_CODEC_ZSTD, packed, text, out) || out->n != text)
		return fail_block(k, block, name, "rows that cannot be unpacked", e);
	return PD_OK;
}

int pd_keyfile_row(const struct pd_keyfile *k, const struct pd_buf *block, uint64_t row, const char *name,
		   struct pd_span f[PD_ROW_FIELDS], struct pd_err *e)
{
	uint64_t first = row / PD_KEYFILE_BLOCK * PD_KEYFILE_BLOCK;
	struct pd_span line = pd_span(block->p + k->row_at[row] - k->row_at[first], k->row_at[row + 1] - k->row_at[row]),
		       fields[PD_ROW_FIELDS + 1];
	static const size_t columns[PD_KEYFILE_VERSION + 1] = { 0, PD_ROW_CONTENT_DIGEST, PD_ROW_FIELDS - 1, PD_ROW_FIELDS };
	size_t n = columns[k->h.version];
	if (memchr(line.p, '\n', line.n) != line.p + line.n - 1)
		return fail_block(k, row / PD_KEYFILE_BLOCK, name, "an invalid row", e);
	line.n--;
	if (pd_tsv_fields(line, fields, PD_ROW_FIELDS + 1) != n)
		return fail_block(k, row / PD_KEYFILE_BLOCK, name, "an invalid row", e);
	memset(f, 0, PD_ROW_FIELDS * sizeof *f);
	memcpy(f, fields, (n < PD_ROW_FIELDS ? PD_ROW_CONTENT_DIGEST : n) * sizeof *f);
	if (n == PD_ROW_FIELDS - 1)
		memcpy(f + PD_ROW_TERMS, fields + PD_ROW_CONTENT_DIGEST, (n - PD_ROW_CONTENT_DIGEST) * sizeof *f);
	return PD_OK;
}

int pd_keyfile_block(const struct pd_keyfile *k, struct pd_unpacker *u, size_t block, const char *name, struct pd_buf *out,
		     struct pd_err *e)
{
	uint64_t first = block * PD_KEYFILE_BLOCK, end = first + PD_KEYFILE_BLOCK;
	struct pd_span f[PD_ROW_FIELDS];
	int status = pd_keyfile_unpack(k, u, block, name, out, e);
	for (uint64_t i = first; !status && i < end && i < k->h.rows; i++)
		status = pd_keyfile_row(k, out, i, name, f, e);
	return status;
}
