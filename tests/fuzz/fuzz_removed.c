/* SPDX-License-Identifier: MIT
 *
 * The bytes are the index of removed records.  Whatever it says, a dump is restored only if the bytes that it copies have
 * their digest, and nothing outside of the two files is read.
 */
#include <unistd.h>

#include "apply/removed.h"
#include "base/file.h"
#include "fuzz.h"

/* "abcdefgh" and "ABCD", and a gzip member of "xyz" after each. */
#define MEMBER "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xa8\xac\x02\x00\x67\xba\x8e\xeb\x03\x00\x00\x00"
#define CLEAN "abcdefgh" MEMBER
#define REMOVED "ABCD" MEMBER

static void save(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "we");
	HOLDS(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char clean[48], removed[64], index[80];
	struct pd_apply_rejoined out;
	struct pd_err e = { 0 };
	char *text = NULL;
	size_t size = 0;
	pd_inputs_forget();
	snprintf(clean, sizeof clean, "/tmp/fuzz-joined.%ld", (long)getpid());
	snprintf(removed, sizeof removed, "%s.removed", clean);
	snprintf(index, sizeof index, "%s" PD_APPLY_REMOVED_INDEX, removed);
	save(clean, CLEAN, sizeof CLEAN - 1);
	save(removed, REMOVED, sizeof REMOVED - 1);
	save(index, data, n);
	FILE *to = open_memstream(&text, &size);
	HOLDS(to);
	int status = pd_apply_rejoin(clean, clean, removed, to, &out, &e);
	fclose(to);
	HOLDS(status == PD_OK ? size == out.written : status < 0 && e.text[0]);
	free(text);
	unlink(clean);
	unlink(removed);
	unlink(index);
	return 0;
}
