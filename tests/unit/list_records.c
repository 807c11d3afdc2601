/* SPDX-License-Identifier: MIT
 *
 * Prints a line for each record of the dumps, for tests that hold them against another reader (tests/long/readers.sh):
 *
 *	place	kind	url	length	SHA-1 of the block	SHA-1 of the HTTP body	SHA-1 of it without codings
 *
 * SHA-1 in base32; "-" if there is no body.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "read/page.c" /* for its functions that are not exported */
#include "read/reader.h"

enum { ALL = 1 << 28 };

static void on_damage(void *ctx, const struct pd_read_damage *d)
{
	printf("! %s%" PRIu64 " %s\n", d->stream ? "+" : "", d->offset, d->reason);
}

static void print_digest(struct pd_span s)
{
	struct pd_buf out = { 0 };
	pd_sha1_base32(s, &out);
	printf("\t%s", out.p);
	pd_buf_release(&out);
}

static void print_response(struct pd_read_coder *coder, struct pd_span block)
{
	struct pd_read_http h;
	unsigned flags = 0;
	if (!pd_read_http_parse(block, &h)) {
		printf("\t-\t-");
		return;
	}
	struct pd_span body = h.body;
	print_digest(body);
	if (read_coder_transfer(coder, h.transfer, &body, &flags) == 0 && read_coder_content(coder, h.content, &body, &flags) == 0)
		print_digest(body);
	else
		printf("\t-");
}

static void print_record(struct pd_read_coder *coder, const struct pd_record *r, size_t file)
{
	static const char *const kinds[] = { "response", "payload", "text", "other" };
	printf("%s\t%s\t%s\t%" PRIu64, r->id.p + file + 1, kinds[r->kind], pd_buf_z(&r->url), r->length);
	if (r->kind == PD_RECORD_OTHER)
		printf("\t-");
	else
		print_digest(pd_buf_span(&r->block));
	if (r->kind == PD_RECORD_RESPONSE)
		print_response(coder, pd_buf_span(&r->block));
	else
		printf("\t-\t-");
	printf("\n");
}

int main(int argc, char **argv)
{
	struct pd_record r = { 0 };
	struct pd_reader *reader;
	struct pd_err e;
	struct pd_read_coder *coder = read_coder_new(ALL);
	int status = argc == 2 ? 0 : 2;
	struct pd_reader_options o = { .inputs = argv + 1, .n_inputs = 1, .max_block = ALL, .damage = on_damage };
	if (!status && pd_reader_open(&reader, &o, &e) == 0) {
		while ((status = pd_reader_next(reader, &r, &e)) == 1)
			print_record(coder, &r, strlen(argv[1]));
		pd_reader_free(reader);
	}
	read_coder_free(coder);
	pd_record_release(&r);
	return status ? 2 : 0;
}
