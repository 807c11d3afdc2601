/* SPDX-License-Identifier: MIT
 *
 * mkdict WORDS IDF|- OUT: compile the dictionary of the program, at build time.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "term/dict.h"

static int write_out(const char *path, struct pd_span bytes, struct pd_err *e)
{
	struct pd_outfile out;
	int status = pd_outfile_open(&out, path, e);
	if (status)
		return status;
	if (fwrite(bytes.p, 1, bytes.n, out.f) != bytes.n) {
		pd_outfile_abandon(&out);
		return pd_fail_errno(e, "%s", path);
	}
	return pd_outfile_commit(&out, e);
}

int main(int argc, char **argv)
{
	struct pd_err e = { 0 };
	struct pd_buf bytes = { 0 };
	if (argc != 4) {
		fputs("usage: mkdict WORDS IDF|- OUT\n", stderr);
		return 2;
	}
	int status = pd_dict_compile(argv[1], strcmp(argv[2], "-") ? argv[2] : NULL, &bytes, &e);
	if (status == 0)
		status = write_out(argv[3], pd_buf_span(&bytes), &e);
	if (status)
		fprintf(stderr, "mkdict: %s\n", e.text);
	pd_buf_release(&bytes);
	return status ? 2 : 0;
}
