/* SPDX-License-Identifier: MIT
 * Any bytes as a table of parameters, and as one of hosts and their owners: refused with a reason, or read, asked, and the same
 * when read again. */
#include "fuzz.h"
#include "url/canonical.c" /* for its functions that are not exported */
#include "url/owner.h"

static void make(const struct pd_params *p, struct pd_buf *out)
{
	struct pd_canonical c = { .form = PD_FORM_CANONICAL, .params = p };
	struct pd_url u = { 0 };
	HOLDS(pd_url_parse(pd_span_z("http://h.example/?s=1&id=2&&=3"), NULL, &u));
	pd_canonical_make(&c, &u, out);
	pd_url_release(&u);
	pd_canonical_release(&c);
}

static void try_params(const char *path)
{
	struct pd_params once = { 0 }, twice = { 0 };
	struct pd_buf a = { 0 }, b = { 0 };
	struct pd_err e = { 0 };
	int status = params_read(&once, path, &e);
	HOLDS(status == PD_OK || e.text[0]);
	HOLDS(params_read(&twice, path, &e) == status && once.hash == twice.hash);
	make(&once, &a);
	make(&twice, &b);
	HOLDS(pd_span_eq(pd_buf_span(&a), pd_buf_span(&b)));
	pd_buf_release(&a);
	pd_buf_release(&b);
	pd_params_release(&once);
	pd_params_release(&twice);
}

static void try_owners(const char *path)
{
	static const char *const urls[] = { "http://a.example/", "http://www.b.co.uk./x", "-", "no url" };
	struct pd_owners *once, *twice;
	struct pd_err e = { 0 };
	int status = pd_owners_open(&once, path, &e);
	HOLDS(status == PD_OK ? once != NULL : !once && e.text[0]);
	HOLDS(pd_owners_open(&twice, path, &e) == status);
	for (size_t i = 0; !status && i < sizeof urls / sizeof *urls; i++)
		HOLDS(pd_owners_hash(once, pd_span_z(urls[i])) == pd_owners_hash(twice, pd_span_z(urls[i])));
	HOLDS(status || pd_owners_checksum(once) == pd_owners_checksum(twice));
	pd_owners_free(once);
	pd_owners_free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file(data, n);
	try_params(path);
	try_owners(path);
	return 0;
}
