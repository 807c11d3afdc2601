/* SPDX-License-Identifier: MIT
 *
 * A key file -> rows, as if they had been read from fp rows.
 */
#include "base/codec.h"
#include "rows/keyfile.h"
#include "rows/intake.h"

/* Where in the columns the next row stands. */
struct cursor {
	const struct pd_keyfile *k;
	const char *path;
	uint64_t print, digest, sketch;
};

/* "name value" lines. */
static int take_params(struct pd_row_intake *in, const struct cursor *c, struct pd_err *e)
{
	struct pd_span rest = c->k->params, line, name;
	int status = PD_OK;
	pd_buf_clear(&in->value);
	while (!status && rest.n && pd_span_split(&rest, '\n', &line)) {
		if (!pd_span_split(&line, ' ', &name))
			continue;
		if (pd_span_is(name, "must"))
			status = pd_intake_must(in, line, c->path, e);
		else if (pd_span_is(name, "params"))
			status = pd_intake_params(in, line, c->path, 1, e);
		else if (pd_span_is(name, "sketch"))
			pd_buf_printf(&in->value, "sketch=%.*s", (int)line.n, line.p);
		else if (pd_span_is(name, "total"))
			pd_buf_printf(&in->in.totals, "%.*s\n", (int)line.n, line.p);
	}
	pd_sketch_intake_header(&in->sketches, pd_buf_span(&in->value));
	return status;
}

static int take_sketch(struct pd_row_intake *in, struct cursor *c, uint64_t row, struct pd_err *e)
{
	const uint64_t *words = NULL;
	if (c->k->sketched[row] == 1)
		words = c->k->sketches + c->sketch++ * c->k->h.sketch_words;
	pd_buf_clear(&in->sketch);
	if (pd_sketch_intake_words(&in->sketches, words, c->k->h.sketch_words, &in->sketch))
		return PD_OK;
	return pd_fail(e, PD_ERR_INPUT, "%s: damaged key file: its sketches are not of the kind that it names", c->path);
}

static int take_row(struct pd_row_intake *in, struct cursor *c, uint64_t row, struct pd_span line, struct pd_err *e)
{
	const struct pd_keyfile *k = c->k;
	struct pd_span f[2] = { 0 };
	int status = take_sketch(in, c, row, e);
	if (status)
		return status;
	if (c->print < k->h.prints && k->print_row[c->print] == row)
		pd_intake_print(in, k->prints + c->print++ * (k->h.bits / 64));
	else if (c->digest < k->h.digests && k->digest_row[c->digest] == row)
		pd_intake_digest(in, k->digests + 2 * c->digest++);
	if (in->o->hosts)
		pd_tsv_fields(line, f, 2);
	return pd_intake_line(in, line, f[1], e);
}

static int take_rows(struct pd_row_intake *in, struct cursor *c, struct pd_err *e)
{
	struct pd_unpacker *u = pd_unpacker_new();
	struct pd_buf text = { 0 };
	const uint64_t *at = c->k->row_at;
	int status = PD_OK;
	for (uint64_t row = 0; !status && row < c->k->h.rows; row++) {
		uint64_t first = row / PD_KEYFILE_BLOCK * PD_KEYFILE_BLOCK;
		if (row == first)
			status = pd_keyfile_block(c->k, u, row / PD_KEYFILE_BLOCK, c->path, &text, e);
		if (!status)
			status = take_row(in, c, row, pd_span(text.p + at[row] - at[first], at[row + 1] - at[row]), e);
	}
	pd_buf_release(&text);
	pd_unpacker_free(u);
	return status;
}

int pd_intake_keyfile(struct pd_row_intake *in, const char *path, struct pd_err *e)
{
	struct pd_keyfile k;
	struct cursor c = { .k = &k, .path = strcmp(path, "-") ? path : "standard input" };
	int status = pd_keyfile_open(&k, path, in->o->tmp_dir, e);
	if (status)
		return status == PD_ERR_FORMAT ? PD_ERR_INPUT : status;
	if (k.h.bits)
		status = pd_intake_bits(in, (int)k.h.bits, path, 1, e);
	if (!status)
		status = take_params(in, &c, e);
	if (!status)
		status = take_rows(in, &c, e);
	in->file = path;
	pd_keyfile_close(&k);
	return status == PD_ERR_FORMAT ? PD_ERR_INPUT : status;
}
