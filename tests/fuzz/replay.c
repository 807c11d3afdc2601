/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target over files, without libFuzzer.  usage: replay_NAME FILE…
 * Says which file it is at, so that a crash names its input, and how many it ran.
 */
#include "fuzz.h"

static bool run(const char *path)
{
	struct pd_buf bytes = { 0 };
	char piece[4096];
	size_t n;
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		return false;
	}
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		pd_buf_add(&bytes, piece, n);
	fclose(f);
	/* Exactly as long as the input: a sanitizer sees a read past its end. */
	uint8_t *data = pd_alloc(bytes.n);
	memcpy(data, pd_buf_z(&bytes), bytes.n);
	LLVMFuzzerTestOneInput(data, bytes.n);
	free(data);
	pd_buf_release(&bytes);
	return true;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++) {
		fprintf(stderr, "%s\n", argv[i]);
		failed += !run(argv[i]);
	}
	printf("%d\n", argc - 1 - failed);
	return failed != 0;
}
