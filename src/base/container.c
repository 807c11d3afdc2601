/* SPDX-License-Identifier: MIT */
#include "base/container.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/threads.h"

struct container_footer {
	uint64_t content; /* bytes before the directory */
	uint32_t sections, zero;
	uint64_t tail; /* checksum of directory and checksums */
	uint64_t check;
};

struct container_section {
	uint64_t at, n;
};

_Static_assert(sizeof(struct container_footer) == 32 && sizeof(struct container_section) == 16, "as in docs/format-container.md");

#define PIECE (UINT64_C(64) * PD_CONTAINER_BLOCK) /* that a thread checks */

/* --- checksums of blocks --- */

static uint64_t block_sum(const void *p, size_t n, uint64_t number, uint64_t block)
{
	return pd_hash64_seed(p, n, number << 32 ^ block);
}

void pd_block_sums_make(const void *p, uint64_t n, uint64_t number, struct pd_buf *out)
{
	for (uint64_t at = 0; at < n; at += PD_CONTAINER_BLOCK) {
		uint64_t left = n - at, sum = block_sum((const char *)p + at, left < PD_CONTAINER_BLOCK ? left : PD_CONTAINER_BLOCK,
							number, at / PD_CONTAINER_BLOCK);
		pd_buf_add(out, &sum, sizeof sum);
	}
}

bool pd_block_sums_look(struct pd_block_sums *s, uint64_t from, uint64_t to, uint64_t *bad)
{
	uint64_t end = s->sums ? pd_block_sums_count(to < s->n ? to : s->n) : 0;
	for (uint64_t b = from / PD_CONTAINER_BLOCK; b < end; b++) {
		uint64_t at = b * PD_CONTAINER_BLOCK, left = s->n - at, sum;
		if (s->seen[b])
			continue;
		memcpy(&sum, s->sums + b * 8, sizeof sum);
		if (block_sum(s->p + at, left < PD_CONTAINER_BLOCK ? left : PD_CONTAINER_BLOCK, s->number, b) != sum) {
			*bad = at;
			return false;
		}
		s->seen[b] = 1;
	}
	return true;
}

/* --- opening --- */

int pd_container_damaged(const struct pd_container *c, uint64_t at, const char *what, struct pd_err *e)
{
	return pd_fail(e, c->kind->status ? c->kind->status : PD_ERR_FORMAT, "%s: damaged at offset %" PRIu64 ": %s", c->name, at,
		       what);
}

int pd_container_section_damaged(const struct pd_container *c, int section, const char *what, struct pd_err *e)
{
	return pd_container_damaged(c, (uint64_t)(c->section[section].p - c->bytes.p), what, e);
}

int pd_container_check_head(struct pd_container *c, struct pd_err *e)
{
	const struct pd_container_kind *k = c->kind;
	const char *p = c->bytes.p;
	uint64_t sum;
	bool other = c->bytes.n < 8 || memcmp(p, k->magic, 8) != 0;
	if (other && k->made_by)
		return pd_fail(e, k->status ? k->status : PD_ERR_FORMAT, "%s is not %s; %s writes one", c->name, k->what,
			       k->made_by);
	if (other)
		return pd_container_damaged(c, 0, "it has not the first bytes of its kind", e);
	if (c->bytes.n < PD_CONTAINER_HEAD)
		return pd_container_damaged(c, c->bytes.n, "it ends within its head", e);
	memcpy(&c->version, p + 8, sizeof c->version);
	memcpy(&sum, p + 24, sizeof sum);
	bool damaged = sum != pd_hash64(p, 24);
	if (c->version > k->version && (!damaged || c->version < 256)) /* later versions may have another head */
		return pd_fail(e, k->status ? k->status : PD_ERR_VERSION,
			       "%s: %s of version %" PRIu32 "; this program knows version %" PRIu32, c->name, k->what, c->version,
			       k->version);
	if (damaged)
		return pd_container_damaged(c, 0, "the checksum of its head does not match", e);
	memcpy(&sum, p + 16, sizeof sum);
	return sum == c->number ? PD_OK : pd_container_damaged(c, 16, "it has the number of another file", e);
}

static int read_tail(struct pd_container *c, struct pd_err *e)
{
	struct container_footer f;
	struct container_section entry[PD_CONTAINER_SECTIONS];
	const char *p = c->bytes.p;
	size_t at = c->bytes.n - sizeof f;
	if (c->bytes.n < PD_CONTAINER_HEAD + sizeof f)
		return pd_container_damaged(c, c->bytes.n, "it is truncated", e);
	memcpy(&f, p + at, sizeof f);
	if (f.check != pd_hash64_seed(&f, offsetof(struct container_footer, check), c->number))
		return pd_container_damaged(c, at, "it is truncated, or the checksum of its footer does not match", e);
	uint64_t blocks = pd_block_sums_count(f.content), tail = f.sections * UINT64_C(16) + blocks * 8;
	if (f.sections != (uint32_t)c->kind->sections || f.zero || f.content % 8 || f.content < PD_CONTAINER_HEAD ||
	    f.content > at || at - f.content != tail)
		return pd_container_damaged(c, at, "its footer contradicts itself", e);
	if (f.tail != pd_hash64_seed(p + f.content, tail, c->number))
		return pd_container_damaged(c, f.content, "the checksum of its checksums does not match", e);
	memcpy(entry, p + f.content, f.sections * sizeof *entry);
	uint64_t end = PD_CONTAINER_HEAD;
	for (uint32_t i = 0; i < f.sections; i++) {
		if (entry[i].at % PD_CONTAINER_ALIGN || entry[i].at < end || entry[i].at > f.content ||
		    entry[i].n > f.content - entry[i].at)
			return pd_container_damaged(c, f.content + i * sizeof *entry, "a section is at a wrong offset", e);
		c->section[i] = pd_span(p + entry[i].at, entry[i].n);
		end = entry[i].at + entry[i].n;
	}
	c->check = f.check;
	c->sums = (struct pd_block_sums){ .p = (const uint8_t *)p,
					  .n = f.content,
					  .sums = (const uint8_t *)p + f.content + f.sections * sizeof *entry,
					  .number = c->number,
					  .seen = pd_zalloc(blocks) };
	return PD_OK;
}

/* Return whether the bytes have the head of a container, perhaps a damaged one: only older versions have another. */
static bool is_old(const struct pd_container *c)
{
	const char *p = c->bytes.p;
	uint64_t sum;
	if (!c->kind->old || c->bytes.n < PD_CONTAINER_HEAD || memcmp(p, c->kind->magic, 8) != 0)
		return false;
	memcpy(&sum, p + 24, sizeof sum);
	return sum != pd_hash64(p, 24);
}

static int open_bytes(struct pd_container *c, struct pd_err *e)
{
	int status = is_old(c) ? c->kind->old(c, e) : 1;
	if (status <= 0)
		return status;
	status = pd_container_check_head(c, e);
	return status ? status : read_tail(c, e);
}

int pd_container_open(struct pd_container *c, const struct pd_container_kind *kind, struct pd_span bytes, uint64_t number,
		      const char *name, struct pd_err *e)
{
	*c = (struct pd_container){ .kind = kind, .bytes = bytes, .number = number, .name = pd_strdup(name) };
	int status = open_bytes(c, e);
	if (status)
		pd_container_release(c);
	return status;
}

int pd_container_map(struct pd_container *c, const struct pd_container_kind *kind, int fd, const char *name, struct pd_err *e)
{
	struct stat st;
	void *map = NULL;
	*c = (struct pd_container){ .kind = kind, .name = pd_strdup(name) };
	int status = fstat(fd, &st) ? pd_fail_errno(e, "cannot read %s", name) : PD_OK;
	if (!status && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		map = NULL;
		status = pd_fail_errno(e, "cannot read %s", name);
	}
	if (map) {
		c->bytes = pd_span(map, (size_t)st.st_size);
		c->is_mapped = true;
	}
	if (!status)
		status = open_bytes(c, e);
	if (status)
		pd_container_release(c);
	return status;
}

void pd_container_release(struct pd_container *c)
{
	if (c->is_mapped)
		munmap((void *)(uintptr_t)c->bytes.p, c->bytes.n);
	free(c->sums.seen);
	free(c->name);
	*c = (struct pd_container){ 0 };
}

/* --- checking --- */

int pd_container_check(struct pd_container *c, struct pd_span part, struct pd_err *e)
{
	uint64_t from = (uint64_t)(part.p - c->bytes.p), bad = 0;
	return !part.n || pd_block_sums_look(&c->sums, from, from + part.n, &bad)
		       ? PD_OK
		       : pd_container_damaged(c, bad, "the checksum of this block does not match", e);
}

static void check_blocks(void *ctx, size_t i, int thread)
{
	struct pd_container *c = ctx;
	uint64_t bad, from = i * PIECE, n = PIECE;
	(void)thread;
	if (n > c->sums.n - from)
		n = c->sums.n - from;
	pd_block_sums_look(&c->sums, from, from + n, &bad);
	pd_container_give_back(c, pd_span(c->bytes.p + from, n));
}

int pd_container_check_all(struct pd_container *c, int threads, struct pd_err *e)
{
	if (!c->sums.sums)
		return PD_OK;
	pd_parallel(threads, (c->sums.n + PIECE - 1) / PIECE, check_blocks, c);
	return pd_container_check(c, pd_span(c->bytes.p, c->sums.n), e); /* finds the first damaged block again */
}

void pd_container_give_back(const struct pd_container *c, struct pd_span part)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)part.p + page - 1) / page * page,
		  to = ((uintptr_t)part.p + part.n) / page * page;
	if (c->is_mapped && from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

/* --- writing --- */

int pd_container_to_buf(void *to, const void *p, size_t n, struct pd_err *e)
{
	(void)e;
	pd_buf_add(to, p, n);
	return PD_OK;
}

int pd_container_to_file(void *to, const void *p, size_t n, struct pd_err *e)
{
	const struct pd_container_file *f = to;
	return fwrite(p, 1, n, f->f) == n ? PD_OK : pd_fail_errno(e, "cannot write %s", f->name);
}

void pd_container_head(const struct pd_container_kind *kind, uint64_t number, struct pd_buf *out)
{
	char head[PD_CONTAINER_HEAD] = { 0 };
	memcpy(head, kind->magic, 8);
	memcpy(head + 8, &kind->version, sizeof kind->version);
	memcpy(head + 16, &number, sizeof number);
	memcpy(head + 24, &(uint64_t){ pd_hash64(head, 24) }, 8);
	pd_buf_add(out, head, sizeof head);
}

static void end_block(struct pd_container_writer *w)
{
	uint64_t sum = block_sum(w->block.p, w->block.n, w->number, w->sums.n / 8);
	pd_buf_add(&w->sums, &sum, sizeof sum);
	w->status = w->put(w->to, w->block.p, w->block.n, w->e);
	pd_buf_clear(&w->block);
}

void pd_container_add(struct pd_container_writer *w, const void *p, size_t n)
{
	const char *from = p;
	for (size_t take; n && !w->status; n -= take, from += take) {
		take = PD_CONTAINER_BLOCK - w->block.n < n ? PD_CONTAINER_BLOCK - w->block.n : n;
		pd_buf_add(&w->block, from, take);
		w->at += take;
		if (w->block.n == PD_CONTAINER_BLOCK)
			end_block(w);
	}
}

void pd_container_begin(struct pd_container_writer *w, const struct pd_container_kind *kind, uint64_t number, pd_container_put *put,
			void *to, struct pd_err *e)
{
	*w = (struct pd_container_writer){ .put = put, .to = to, .number = number, .e = e };
	pd_container_head(kind, number, &w->block);
	w->at = w->block.n;
}

static void pad(struct pd_container_writer *w, size_t align)
{
	static const char zeroes[PD_CONTAINER_ALIGN];
	pd_container_add(w, zeroes, -w->at % align);
}

void pd_container_align(struct pd_container_writer *w)
{
	pad(w, PD_CONTAINER_ALIGN);
}

/* End the section that was begun, and fill up to a multiple of `align` with zeroes. */
static void end_section(struct pd_container_writer *w, size_t align)
{
	struct container_section last;
	if (w->directory.n) {
		memcpy(&last, w->directory.p + w->directory.n - sizeof last, sizeof last);
		last.n = w->at - last.at;
		memcpy(w->directory.p + w->directory.n - sizeof last, &last, sizeof last);
	}
	pad(w, align);
}

void pd_container_section(struct pd_container_writer *w)
{
	end_section(w, PD_CONTAINER_ALIGN);
	pd_buf_add(&w->directory, &(struct container_section){ .at = w->at }, sizeof(struct container_section));
}

void pd_container_add_section(struct pd_container_writer *w, const void *p, size_t n)
{
	pd_container_section(w);
	pd_container_add(w, p, n);
}

int pd_container_end(struct pd_container_writer *w, uint64_t *check)
{
	end_section(w, 8);
	if (!w->status && w->block.n)
		end_block(w);
	struct container_footer f = { .content = w->at, .sections = (uint32_t)(w->directory.n / sizeof(struct container_section)) };
	pd_buf_add_span(&w->directory, pd_buf_span(&w->sums));
	f.tail = pd_hash64_seed(w->directory.p, w->directory.n, w->number);
	f.check = pd_hash64_seed(&f, offsetof(struct container_footer, check), w->number);
	pd_buf_add(&w->directory, &f, sizeof f);
	if (!w->status)
		w->status = w->put(w->to, w->directory.p, w->directory.n, w->e);
	if (check)
		*check = f.check;
	pd_buf_release(&w->block);
	pd_buf_release(&w->directory);
	pd_buf_release(&w->sums);
	return w->status;
}
