/* SPDX-License-Identifier: MIT */
#include "store/log.h"

#include <inttypes.h>

#include "store/layout.h"

enum { LENGTH = 8, CHECK = 8, ADD_HEAD = 16, REMOVE_HEAD = 8 };

/*	ADD	1 kind, 1 has, 2 zero, 4 n_removed, 8 number, removed, key words if has a print, 8 words if has a sketch, text
 *	REMOVE	1 kind, 3 zero, 4 n_removed, removed */

static uint64_t seed(uint64_t file, uint64_t at)
{
	return file << 40 ^ at;
}

static uint32_t length_check(uint64_t file, uint64_t at, uint32_t length)
{
	return (uint32_t)pd_hash64_seed(&length, 4, ~seed(file, at));
}

void pd_store_log_head(uint64_t file, struct pd_buf *out)
{
	size_t at = out->n;
	pd_buf_add(out, PD_STORE_LOG_MAGIC, 8);
	pd_store_put32(out, PD_STORE_VERSION);
	pd_store_put32(out, 0);
	pd_store_put64(out, file);
	pd_store_put64(out, pd_hash64(out->p + at, 24));
}

/* The length is not known before the body: what stands from `from` on becomes a record. */
static void seal(uint64_t file, uint64_t at, size_t from, struct pd_buf *out)
{
	uint32_t length = (uint32_t)(out->n - from - LENGTH), check = length_check(file, at, length);
	memcpy(out->p + from, &length, 4);
	memcpy(out->p + from + 4, &check, 4);
	pd_store_put64(out, pd_hash64_seed(out->p + from + LENGTH, length, seed(file, at)));
}

static size_t begin_record(enum pd_store_log_kind kind, uint8_t has, size_t n_removed, struct pd_buf *out)
{
	size_t from = out->n;
	pd_store_put64(out, 0);
	pd_buf_add_c(out, (char)kind);
	pd_buf_add_c(out, (char)has);
	pd_buf_add(out, "\0\0", 2);
	pd_store_put32(out, (uint32_t)n_removed);
	return from;
}

void pd_store_log_add(uint64_t file, uint64_t at, uint64_t number, const struct pd_store_page *page, int bits,
		      const uint64_t *removed, size_t n_removed, struct pd_buf *out)
{
	size_t from = begin_record(PD_STORE_LOG_ADD, page->has, n_removed, out);
	pd_store_put64(out, number);
	pd_buf_add(out, removed, n_removed * 8);
	if (page->has & PD_STORE_HAS_PRINT)
		pd_buf_add(out, page->key.w, (size_t)bits / 8);
	if (page->has & PD_STORE_HAS_SKETCH)
		pd_buf_add(out, page->sketch, sizeof page->sketch);
	pd_buf_add_span(out, page->text);
	seal(file, at, from, out);
}

void pd_store_log_remove(uint64_t file, uint64_t at, const uint64_t *removed, size_t n_removed, struct pd_buf *out)
{
	size_t from = begin_record(PD_STORE_LOG_REMOVE, 0, n_removed, out);
	pd_buf_add(out, removed, n_removed * 8);
	seal(file, at, from, out);
}

static int fail_damaged(const struct pd_store_log_reader *r, uint64_t at, const char *what, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %" PRIu64 ": %s", r->name, at, what);
}

static int read_head(struct pd_store_log_reader *r, struct pd_err *e)
{
	const char *p = r->bytes.p;
	if (r->bytes.n < PD_STORE_LOG_HEAD || memcmp(p, PD_STORE_LOG_MAGIC, 8))
		return fail_damaged(r, 0, "not the beginning of a log", e);
	if (pd_store_get32(p + 8) > PD_STORE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%s: a log of version %" PRIu32 "; this program knows version %d",
			       r->name, pd_store_get32(p + 8), PD_STORE_VERSION);
	if (pd_store_get64(p + 24) != pd_hash64(p, 24) || pd_store_get64(p + 16) != r->file)
		return fail_damaged(r, 0, "the checksum of its head is another", e);
	r->at = PD_STORE_LOG_HEAD;
	return PD_OK;
}

static bool all_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* The parts of a body whose checksum was right; false: they do not fit into it. */
static bool take_add(const struct pd_store_log_reader *r, struct pd_span body, struct pd_store_log_record *out)
{
	size_t key = out->page.has & PD_STORE_HAS_PRINT ? (size_t)r->bits / 8 : 0;
	size_t sketch = out->page.has & PD_STORE_HAS_SKETCH ? sizeof out->page.sketch : 0;
	uint64_t removed = out->n_removed * UINT64_C(8);
	if (body.n < ADD_HEAD || body.n - ADD_HEAD < removed + key + sketch)
		return false;
	out->number = pd_store_get64(body.p + 8);
	const char *p = body.p + ADD_HEAD + removed;
	memcpy(out->page.key.w, p, key);
	memcpy(out->page.sketch, p + key, sketch);
	p += key + sketch;
	out->page.text = pd_span(p, body.n - (size_t)(p - body.p));
	pd_store_page_hash(&out->page);
	return !memchr(p, '\n', out->page.text.n);
}

static bool take_body(const struct pd_store_log_reader *r, struct pd_span body, struct pd_store_log_record *out)
{
	*out = (struct pd_store_log_record){ 0 };
	if (body.n < REMOVE_HEAD)
		return false;
	out->kind = (enum pd_store_log_kind)body.p[0];
	out->page.has = (uint8_t)body.p[1];
	out->n_removed = pd_store_get32(body.p + 4);
	out->removed = (const uint8_t *)body.p + (out->kind == PD_STORE_LOG_ADD ? ADD_HEAD : REMOVE_HEAD);
	if (out->kind == PD_STORE_LOG_ADD)
		return take_add(r, body, out);
	return out->kind == PD_STORE_LOG_REMOVE && body.n - REMOVE_HEAD == out->n_removed * UINT64_C(8);
}

int pd_store_log_next(struct pd_store_log_reader *r, struct pd_store_log_record *out, struct pd_err *e)
{
	int status = r->at ? PD_OK : read_head(r, e);
	if (status)
		return status;
	const char *p = r->bytes.p + r->at;
	uint64_t left = r->bytes.n - r->at;
	uint32_t length;
	r->torn = left > 0;
	if (left < LENGTH || all_zero(p, left))
		return 0;
	length = pd_store_get32(p);
	if (pd_store_get32(p + 4) != length_check(r->file, r->at, length))
		return fail_damaged(r, r->at, "the checksum of a length is another", e);
	if (left - LENGTH < length + UINT64_C(8))
		return 0;
	struct pd_span body = pd_span(p + LENGTH, length);
	if (pd_store_get64(body.p + length) != pd_hash64_seed(body.p, length, seed(r->file, r->at)))
		return fail_damaged(r, r->at, "the checksum of a record is another", e);
	if (!take_body(r, body, out))
		return fail_damaged(r, r->at, "a record contradicts itself", e);
	r->at += LENGTH + length + CHECK;
	r->torn = false;
	return 1;
}
