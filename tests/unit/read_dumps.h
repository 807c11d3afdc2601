/* SPDX-License-Identifier: MIT
 *
 * Dumps for the tests of src/read, made in memory: WARC records, gzip members, files in a folder that is removed again.
 */
#ifndef PD_TEST_READ_DUMPS_H
#define PD_TEST_READ_DUMPS_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"

/* A record of `type`; `fields` are further header lines, each with its line end. */
static inline void dump_record(struct pd_buf *out, const char *type, int number, const char *fields, const char *block, size_t n)
{
	pd_buf_printf(out,
		      "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: http://h/%d\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n%s"
		      "Content-Length: %zu\r\n\r\n",
		      type, number, fields, n);
	pd_buf_add(out, block, n);
	pd_buf_add_z(out, "\r\n\r\n");
}

/* A response with a page; its text depends on `number`. */
static inline void dump_page(struct pd_buf *out, int number)
{
	struct pd_buf b = { 0 };
	pd_buf_printf(&b, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><title>%d</title>", number);
	for (int i = 0; i < 20; i++)
		pd_buf_printf(&b, "<p>word%d and word%d</p>\n", i * number, i * i + number);
	dump_record(out, "response", number, "Content-Type: application/http; msgtype=response\r\n", b.p, b.n);
	pd_buf_release(&b);
}

/* A page of bytes that do not compress, so that its member is as large. */
static inline void dump_noise(struct pd_buf *out, int number, size_t n)
{
	struct pd_buf b = { 0 };
	uint64_t x = 88172645463325252ull + (uint64_t)number;
	while (b.n < n) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		pd_buf_add(&b, &x, n - b.n < 8 ? n - b.n : 8);
	}
	dump_record(out, "resource", number, "Content-Type: text/plain\r\n", b.p, b.n);
	pd_buf_release(&b);
}

static inline void dump_gzip(struct pd_buf *out, struct pd_span in)
{
	z_stream z = { 0 };
	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t room = deflateBound(&z, in.n) + 64;
	z.next_in = (Bytef *)in.p;
	z.avail_in = (uInt)in.n;
	z.next_out = (Bytef *)pd_buf_reserve(out, room);
	z.avail_out = (uInt)room;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->n += room - z.avail_out;
	deflateEnd(&z);
}

static inline const char *dump_folder(void)
{
	static char folder[64];
	if (!*folder) {
		snprintf(folder, sizeof folder, "/tmp/pd-read-XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(folder));
	}
	return folder;
}

static inline void dump_folder_make(void)
{
	dump_folder();
}

static inline void dump_folder_remove(void)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", dump_folder());
	ck_assert_int_eq(system(command), 0);
}

/* Writes FOLDER/name; the path is the caller's to free. */
static inline char *dump_file(const char *name, struct pd_span bytes)
{
	struct pd_buf path = { 0 };
	pd_buf_printf(&path, "%s/%s", dump_folder(), name);
	FILE *f = fopen(path.p, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes.p ? bytes.p : "", 1, bytes.n, f), bytes.n);
	ck_assert_int_eq(fclose(f), 0);
	return path.p;
}

#endif
