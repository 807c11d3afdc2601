/* SPDX-License-Identifier: MIT
 * Any bytes as a file of URLs seen, as they come, and again with checksums that are right, which is how far a forger gets:
 * refused, or read, asked, and the same when it is written, read and written again. */
#include "../seal.h"
#include "fuzz.h"
#include "url/seen.c" /* for its functions that are not exported */

static struct pd_seen *read_from(FILE *f)
{
	struct pd_err e;
	struct pd_seen *s = seen_read(f, "fuzz", &e);
	HOLDS(s || e.text[0]);
	fclose(f);
	return s;
}

static void write_to(const struct pd_seen *s, FILE **f, struct pd_buf *bytes)
{
	struct pd_err e;
	*f = tmpfile();
	HOLDS(*f && !seen_write(s, *f, "fuzz", &e) && !fflush(*f));
	size_t n = (size_t)ftell(*f);
	HOLDS(!fseek(*f, 0, SEEK_SET) && fread(pd_buf_reserve(bytes, n), 1, n, *f) == n);
	bytes->n = n;
}

static void try_bytes(const char *p, size_t n)
{
	struct pd_buf first = { 0 }, second = { 0 };
	FILE *f = fopen(fuzz_file(p, n), "rb"), *again;
	HOLDS(f != NULL);
	struct pd_seen *s = read_from(f);
	if (!s)
		return;
	write_to(s, &f, &first);
	struct pd_seen *back = read_from(f);
	HOLDS(back != NULL);
	write_to(back, &again, &second);
	fclose(again);
	HOLDS(pd_span_eq(pd_buf_span(&first), pd_buf_span(&second)));
	struct pd_seen_key key;
	seen_key_of(s, pd_span_z("http://a.org/x"), &key);
	seen_ask(s, &key, true);
	HOLDS(seen_ask(s, &key, true));
	pd_buf_release(&first);
	pd_buf_release(&second);
	seen_free(s);
	seen_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *copy = pd_alloc(n + 1);
	memcpy(copy, data, n);
	try_bytes(copy, n);
	try_bytes(copy, seal_container(copy, n, 0));
	free(copy);
	return 0;
}
