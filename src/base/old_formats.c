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

/* Check the version, and that the header has its length. */
static int check_version(struct pd_container *c, uint64_t at, uint32_t oldest, uint32_t newest, size_t header, struct pd_err *e)
{
	if (c->bytes.n < header)
		return pd_container_damaged(c, c->bytes.n, "it ends within its header", e);
	c->version = get32(c, at);
	if (c->version > newest)
		return pd_container_check_head(c, e);
	return c->version >= oldest ? PD_OK : pd_container_damaged(c, at, "a version that this program does not know", e);
}

/*	0 magic, 8 version, 12 zero, 16 length of the file, 24 XXH3-128 of all from 40 on, high half first, 40 id, 48 index, 96 offset and
 *	length of each of eight parts */
int pd_old_dict(struct pd_container *c, struct pd_err *e)
{
	enum { CHECKED = 40, PARTS_AT = 96, PARTS = 8, HEADER = PARTS_AT + 16 * PARTS };
	uint64_t sum[2];
	int status = check_version(c, 8, 3, 3, HEADER, e);
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

/*	0 magic, 8 version, 12 mode, 13 hash, 14 features, 15 zero, 16 count, 24 bits, 32 bytes of the shape, 36 zero, 40 checksum of
 *	the 40 before with that of the shape as seed; the shape; the values or filters; a checksum of each with that of the one
 *	before as seed */
int pd_old_seen(struct pd_container *c, struct pd_err *e)
{
	enum { HEADER = 48, SUM = 8, SHAPE_MAX = 4096 };
	const char *p = c->bytes.p;
	int status = check_version(c, 8, 1, 1, HEADER + SUM, e);
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

/*	0 magic, 8 version, 12 length of the header, 16 length of the file, 24 counts, 56 offset, length and checksum of each of ten
 *	sections, 296 checksum of the 296 before; the sections, filled up with zeroes to multiples of 8 */
int pd_old_keyfile(struct pd_container *c, struct pd_err *e)
{
	enum { COUNTS = 24, SECTIONS_AT = 56, SECTIONS = 10, SUM = 296, HEADER = 304 };
	uint64_t end = HEADER;
	int status = check_version(c, 8, 1, 3, HEADER, e);
	if (status)
		return status;
	c->check = get64(c, SUM);
	if (get32(c, 12) != HEADER || c->check != pd_hash64(c->bytes.p, SUM))
		return pd_container_damaged(c, 0, "the checksum of its header does not match", e);
	if (get64(c, 16) != c->bytes.n)
		return pd_container_damaged(c, c->bytes.n, "it has another length than its header", e);
	for (int i = 0; i < SECTIONS; i++) {
		uint64_t at = get64(c, SECTIONS_AT + 24 * i), n = get64(c, SECTIONS_AT + 24 * i + 8);
		if (at != end || !set_section(c, i, at, n))
			return pd_container_damaged(c, end, "a section is at a wrong offset", e);
		if (pd_hash64(c->bytes.p + at, n) != get64(c, SECTIONS_AT + 24 * i + 16))
			return pd_container_damaged(c, at, "the checksum of a section does not match", e);
		for (end += n; end % 8; end++)
			if (end >= c->bytes.n || c->bytes.p[end])
				return pd_container_damaged(c, end, "bytes between sections", e);
	}
	set_section(c, SECTIONS, COUNTS, SECTIONS_AT - COUNTS);
	return end == c->bytes.n ? PD_OK : pd_container_damaged(c, end, "bytes after the last section", e);
}
