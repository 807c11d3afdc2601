/* SPDX-License-Identifier: MIT */
#include "base/old_formats.h"

#include "base/hash.h"

/* Read a number at an offset that is inside the file. */
static uint32_t get32(const struct pd_container *c, uint64_t at)
{
	uint32_t v;
	memcpy(&v, c->bytes.p + at, sizeof v);
	return v;
}

static uint64_t get64(const struct pd_container *c, uint64_t at)
{
	uint64_t v;
	memcpy(&v, c->bytes.p + at, sizeof v);
	return v;
}

/* Return whether these bytes are inside the file, and make them a section. */
static bool set_section(struct pd_container *c, int section, uint64_t at, uint64_t n)
{
	if (at > c->bytes.n || n > c->bytes.n - at)
		return false;
	c->section[section] = pd_span(c->bytes.p + at, n);
	return true;
}

/* Check the version; return 1 if it is another or the header is not there. */
static int check_version(struct pd_container *c, uint64_t at, uint32_t oldest, uint32_t newest, size_t header)
{
	c->version = c->bytes.n < header ? 0 : get32(c, at);
	return c->version < oldest || c->version > newest;
}

/*	0 magic, 8 version, 12 zero, 16 length of the file, 24 XXH3-128 of all from 40 on, high half first, 40 id, 48 index, 96 offset and
 *	length of each of eight parts */
int pd_old_dict(struct pd_container *c, struct pd_err *e)
{
	enum { CHECKED = 40, PARTS_AT = 96, PARTS = 8, HEADER = PARTS_AT + 16 * PARTS };
	uint64_t sum[2];
	int status = check_version(c, 8, 3, 3, HEADER);
	if (status)
		return status;
	pd_hash128(c->bytes.p + CHECKED, c->bytes.n - CHECKED, 0, sum);
	if (get32(c, 12) || get64(c, 48) || get64(c, 56) || sum[0] != get64(c, 24) || sum[1] != get64(c, 32) ||
	    get64(c, 16) != c->bytes.n)
		return pd_container_damaged(c, 0, "its checksum does not match", e);
	for (int i = 0; i < PARTS; i++) {
		uint64_t at = get64(c, PARTS_AT + 16 * i);
		if (at % 64 || !set_section(c, i, at, get64(c, PARTS_AT + 16 * i + 8)))
			return pd_container_damaged(c, PARTS_AT, "a part is at a wrong offset", e);
	}
	set_section(c, PARTS, CHECKED, PARTS_AT - CHECKED);
	return PD_OK;
}

/*	0 magic, 8 version, 12 mode, 13 hash, 14 features, 15 zero, 16 count, 24 bits, 32 bytes of the shape, 36 zero,
 *	40 checksum of the first 40 bytes, with the checksum of the shape as seed; the shape; the values or filters; a
 *	checksum of each, with the previous checksum as seed */
int pd_old_seen(struct pd_container *c, struct pd_err *e)
{
	enum { HEADER = 48, SUM = 8, SHAPE_MAX = 4096 };
	const char *p = c->bytes.p;
	int status = check_version(c, 8, 1, 1, HEADER + SUM);
	if (status)
		return status;
	uint64_t shape = get32(c, 32), bits = get64(c, 24), left = c->bytes.n - HEADER - SUM, sum = 0;
	if (shape > SHAPE_MAX || shape > left || get64(c, 40) != pd_hash64_seed(p, 40, pd_hash64(p + HEADER, shape)))
		return pd_container_damaged(c, 0, "the checksum of its header does not match", e);
	left -= shape;
	set_section(c, 0, 12, 20);
	set_section(c, 1, HEADER, shape);
	set_section(c, 2, HEADER + shape, left);
	uint64_t each = p[12] ? (bits / 64 + (bits % 64 != 0)) * 8 : left;
	for (int i = p[12] ? __builtin_popcount((unsigned char)p[14]) : 1; i > 0 && each <= left; i--, left -= each)
		sum = pd_hash64_seed(p + c->bytes.n - SUM - left, each, sum);
	return !left && sum == get64(c, c->bytes.n - SUM) ? PD_OK
							  : pd_container_damaged(c, HEADER, "its checksum does not match", e);
}

/*	0 magic, 8 version, 12 length of the header, 16 length of the file, 24 parameters; offset, length and checksum of each section; a
 *	checksum of all before; the sections, filled up with zeroes to multiples of 8 */
static int read_columns(struct pd_container *c, uint32_t newest, uint64_t sections_at, int sections, struct pd_err *e)
{
	enum { PARAMS = 24, ENTRY = 24 };
	uint64_t sum = sections_at + (uint64_t)sections * ENTRY, end = sum + 8;
	int status = check_version(c, 8, 1, newest, end);
	if (status)
		return status;
	c->check = get64(c, sum);
	if (get32(c, 12) != end || c->check != pd_hash64(c->bytes.p, sum))
		return pd_container_damaged(c, 0, "the checksum of its header does not match", e);
	if (get64(c, 16) != c->bytes.n)
		return pd_container_damaged(c, c->bytes.n, "its length does not match its header", e);
	for (int i = 0; i < sections; i++, sections_at += ENTRY) {
		uint64_t at = get64(c, sections_at), n = get64(c, sections_at + 8);
		if (at != end || !set_section(c, i, at, n))
			return pd_container_damaged(c, end, "a section is at a wrong offset", e);
		if (pd_hash64(c->bytes.p + at, n) != get64(c, sections_at + 16))
			return pd_container_damaged(c, at, "the checksum of a section does not match", e);
		for (end += n; end % 8; end++)
			if (end >= c->bytes.n || c->bytes.p[end])
				return pd_container_damaged(c, end, "bytes between sections", e);
	}
	set_section(c, sections, PARAMS, sections_at - (uint64_t)sections * ENTRY - PARAMS);
	return end == c->bytes.n ? PD_OK : pd_container_damaged(c, end, "bytes after the last section", e);
}

int pd_old_keyfile(struct pd_container *c, struct pd_err *e)
{
	return read_columns(c, 3, 56, 10, e);
}

int pd_old_batch_tables(struct pd_container *c, struct pd_err *e)
{
	return read_columns(c, 1, 488, 13, e);
}

/*	0 magic, 8 version, 12 length of the parameters, 16 parameters; the blocks, which have checksums of their own */
int pd_old_shingles(struct pd_container *c, struct pd_err *e)
{
	enum { HEADER = 16, PARAMS_MAX = 1 << 16 };
	int status = check_version(c, 8, 2, 2, HEADER);
	if (c->version == 1)
		return pd_fail(e, PD_ERR_VERSION, "%s has version 1, which cannot be read; write it again with %s", c->name,
			       c->kind->made_by);
	if (status)
		return status;
	uint64_t n = get32(c, 12);
	if (n > PARAMS_MAX || !set_section(c, 0, HEADER, n))
		return pd_container_damaged(c, 12, "its parameters are too long", e);
	set_section(c, 1, HEADER + n, c->bytes.n - HEADER - n);
	return PD_OK;
}

/*	0 magic, 8 XXH3-128 of all from 24 up to the samples, high half first, 24 version, 28 zero, 32 length of the file, 40 offset of
 *	the samples, 48 XXH3-128 of the samples, 64 hosts, 72 keys, 80 bytes of names, 88 parameters, 104 zeroes; hosts, keys, names,
 *	samples */
int pd_old_boilerplate(struct pd_container *c, struct pd_err *e)
{
	enum { HEADER = 128, CHECKED = 24, PARAMS_AT = 88, PARAMS = 16, HOST = 48 };
	uint64_t sum[2], of_samples[2];
	int status = check_version(c, 24, 1, 1, HEADER);
	if (status)
		return status;
	uint64_t samples = get64(c, 40), hosts = get64(c, 64), keys = get64(c, 72), names = get64(c, 80);
	if (get64(c, 32) != c->bytes.n || samples < HEADER || samples > c->bytes.n)
		return pd_container_damaged(c, 32, "its length is not the length that its header gives", e);
	pd_hash128(c->bytes.p + CHECKED, samples - CHECKED, 0, sum);
	pd_hash128(c->bytes.p + samples, c->bytes.n - samples, 0, of_samples);
	if (sum[0] != get64(c, 8) || sum[1] != get64(c, 16) || of_samples[0] != get64(c, 48) || of_samples[1] != get64(c, 56))
		return pd_container_damaged(c, 0, "its checksum does not match", e);
	uint64_t room = samples - HEADER;
	if (get32(c, 28) || get64(c, 104) || get64(c, 112) || get64(c, 120) || hosts > room / HOST ||
	    keys > (room - hosts * HOST) / 8 || names != room - hosts * HOST - keys * 8)
		return pd_container_damaged(c, 64, "its parts are inconsistent", e);
	c->check = sum[0];
	set_section(c, 0, PARAMS_AT, PARAMS);
	set_section(c, 1, HEADER, hosts * HOST);
	set_section(c, 2, HEADER + hosts * HOST, keys * 8);
	set_section(c, 3, samples - names, names);
	set_section(c, 4, samples, c->bytes.n - samples);
	return PD_OK;
}

enum { STORE_VERSION = 6 };

/* Files of a store: 0 magic, 8 version, 12 zero or 16384, 16 number, 24 a count; items of 8 bytes; a checksum of all before. */
static int read_list(struct pd_container *c, uint32_t block, int count, int items, struct pd_err *e)
{
	enum { COUNT = 24, HEADER = 32, SUM = 8 };
	int status = check_version(c, 8, 1, STORE_VERSION, HEADER + SUM);
	if (status)
		return status;
	if (get64(c, c->bytes.n - SUM) != pd_hash64_seed(c->bytes.p, c->bytes.n - SUM, c->number) || get32(c, 12) != block ||
	    get64(c, 16) != c->number)
		return pd_container_damaged(c, 0, "its checksum does not match", e);
	if (count >= 0)
		set_section(c, count, COUNT, HEADER - COUNT);
	else if (get64(c, COUNT) != (c->bytes.n - HEADER - SUM) / 8)
		return pd_container_damaged(c, COUNT, "its length does not match its header", e);
	set_section(c, items, HEADER, c->bytes.n - HEADER - SUM);
	return PD_OK;
}

int pd_old_tombstones(struct pd_container *c, struct pd_err *e)
{
	return read_list(c, 0, -1, 0, e);
}

int pd_old_sums(struct pd_container *c, struct pd_err *e)
{
	return read_list(c, PD_CONTAINER_BLOCK, 0, 1, e);
}

/*	sections; checksums of blocks; a footer: 0 magic, 8 version, 12 16384, 16 number, 24 parameters, 112 offset and length of each of
 *	sixteen sections, 368 bytes before the checksums, 376 checksum of the checksums, 384 of the footer before */
int pd_old_segment(struct pd_container *c, struct pd_err *e)
{
	enum { FOOTER = 392, PARAMS = 24, SECTIONS_AT = 112, SECTIONS = 16, CONTENT = 368, CHECKS = 376, CHECK = 384 };
	if (c->bytes.n < FOOTER || memcmp(c->bytes.p + c->bytes.n - FOOTER, c->kind->magic, 8) != 0)
		return 1;
	uint64_t at = c->bytes.n - FOOTER, content = get64(c, at + CONTENT), end = 0;
	c->version = get32(c, at + 8);
	c->check = get64(c, at + CHECK);
	if (c->check != pd_hash64_seed(c->bytes.p + at, CHECK, c->number))
		return pd_container_damaged(c, at, "the checksum of the footer does not match", e);
	if (c->version < 1 || c->version > STORE_VERSION || get32(c, at + 12) != PD_CONTAINER_BLOCK ||
	    get64(c, at + 16) != c->number || content > at || at - content != pd_block_sums_count(content) * 8)
		return pd_container_damaged(c, at, "the footer contradicts itself", e);
	if (get64(c, at + CHECKS) != pd_hash64_seed(c->bytes.p + content, at - content, c->number))
		return pd_container_damaged(c, content, "the checksum of the checksums does not match", e);
	for (int i = 0; i < SECTIONS; i++) {
		uint64_t from = get64(c, at + SECTIONS_AT + 16 * (uint64_t)i),
			 n = get64(c, at + SECTIONS_AT + 16 * (uint64_t)i + 8);
		if (from % PD_CONTAINER_ALIGN || from < end || from > content || n > content - from || !set_section(c, i, from, n))
			return pd_container_damaged(c, at, "the footer contradicts itself", e);
		end = from + n;
	}
	set_section(c, SECTIONS, at + PARAMS, SECTIONS_AT - PARAMS);
	c->sums = (struct pd_block_sums){ .p = (const uint8_t *)c->bytes.p,
					  .n = content,
					  .sums = (const uint8_t *)c->bytes.p + content,
					  .number = c->number,
					  .seen = pd_zalloc(pd_block_sums_count(content) + 1) };
	return PD_OK;
}
