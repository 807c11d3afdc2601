/* SPDX-License-Identifier: MIT
 *
 * Read the bytes as a zip archive, and as a file in one: reading the file gives the same as reading its bytes
 * outside.
 */
#include "fuzz.h"
#include "read/reader.h"

#include <zlib.h>

struct outcome {
	uint64_t records, damaged, sum;
};

static void damage(void *ctx, const struct pd_read_damage *d)
{
	HOLDS(d->file && d->reason && d->reason[0]);
	++*(uint64_t *)ctx;
}

/* Ids are summed from `skip` on: the characters before are the name of the input. */
static struct outcome read_all(const char *path, size_t skip)
{
	char *inputs[] = { (char *)path };
	struct outcome out = { 0 };
	struct pd_reader_options o = {
		.inputs = inputs, .n_inputs = 1, .max_block = 4096, .damage = damage, .damage_ctx = &out.damaged
	};
	struct pd_err e = { 0 };
	struct pd_record r = { 0 };
	struct pd_reader *reader;
	int status;
	HOLDS(pd_reader_open(&reader, &o, &e) == PD_OK);
	while ((status = pd_reader_next(reader, &r, &e)) == 1) {
		HOLDS(r.block.n <= o.max_block && r.id.n >= skip);
		uint64_t parts[] = { out.sum,
				     fuzz_sum(pd_span(r.id.p + skip, r.id.n - skip)),
				     fuzz_sum(pd_buf_span(&r.fetch_time)),
				     fuzz_sum(pd_buf_span(&r.digest)),
				     fuzz_sum(pd_buf_span(&r.block)),
				     r.kind,
				     r.length,
				     r.cut };
		out.sum = pd_hash64(parts, sizeof parts);
		out.records++;
	}
	HOLDS(status == 0);
	pd_reader_free(reader);
	pd_record_release(&r);
	return out;
}

static void number(struct pd_buf *out, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		pd_buf_add_c(out, i < 8 ? (char)(v >> 8 * i) : 0);
}

/* One stored file "f", with its checksum, and the archive's directory. */
static void archive(struct pd_buf *out, const uint8_t *data, size_t n)
{
	uint32_t crc = (uint32_t)crc32(0, data, (unsigned)n);
	for (int directory = 0; directory < 2; directory++) {
		pd_buf_add(out, directory ? "PK\1\2\24\0\24\0" : "PK\3\4\24\0", directory ? 8 : 6);
		number(out, 0, 8);
		number(out, crc, 4);
		number(out, n, 4);
		number(out, n, 4);
		number(out, 1, 4);
		if (directory)
			number(out, 0, 14);
		pd_buf_add_c(out, 'f');
		if (!directory && n)
			pd_buf_add(out, data, n);
	}
	pd_buf_add(out, "PK\5\6\0\0\0\0\1\0\1\0", 12);
	number(out, 47, 4);
	number(out, 31 + n, 4);
	number(out, 0, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pd_buf zip = { 0 };
	char *plain = pd_strdup(fuzz_file(data, n));
	struct outcome outside = read_all(plain, strlen(plain));
	free(plain);
	/* Archives inside archives are not opened, empty files are not pages, and JSON in an archive must contain a
	 * page. */
	bool other = n < 4 || memcmp(data, "PK", 2) == 0 || memmem(data, n, "json-pages", 10);
	archive(&zip, data, n);
	const char *packed = fuzz_file((const uint8_t *)zip.p, zip.n);
	struct outcome inside = read_all(packed, strlen(packed) + 2);
	HOLDS(other || outside.damaged || inside.damaged || (outside.records == inside.records && outside.sum == inside.sum));
	pd_buf_release(&zip);
	return 0;
}
