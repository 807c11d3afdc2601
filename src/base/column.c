/* SPDX-License-Identifier: MIT */
#include "base/column.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/escape.h"

/* --- contents of a column --- */

static const struct {
	const char *name;
	struct pd_column_kind kind;
} kinds[] = {
	{ "fingerprint", { PD_COLUMN_BYTES, PD_PRINT_HEX } },	   { "sketch", { PD_COLUMN_BYTES, PD_PRINT_HEX } },
	{ "terms", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } },	   { "text_bytes", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } },
	{ "confidence", { PD_COLUMN_REAL, PD_PRINT_REAL_2 } },	   { "quality", { PD_COLUMN_REAL, PD_PRINT_REAL } },
	{ "distance", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } },	   { "similarity", { PD_COLUMN_REAL, PD_PRINT_REAL_3 } },
	{ "text_bytes_a", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } }, { "quality_a", { PD_COLUMN_REAL, PD_PRINT_REAL } },
	{ "text_bytes_b", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } }, { "quality_b", { PD_COLUMN_REAL, PD_PRINT_REAL } },
	{ "shared", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } },	   { "share_a", { PD_COLUMN_REAL, PD_PRINT_REAL_3 } },
	{ "share_b", { PD_COLUMN_REAL, PD_PRINT_REAL_3 } },	   { "linked", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } },
	{ "cluster_id", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } },   { "is_duplicate", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } },
	{ "cluster_size", { PD_COLUMN_NUMBER, PD_PRINT_NUMBER } }, { "weight", { PD_COLUMN_REAL, PD_PRINT_REAL } },
	{ "loss", { PD_COLUMN_REAL, PD_PRINT_REAL_3 } },
};

struct pd_column_kind pd_column_kind(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].kind;
	return (struct pd_column_kind){ PD_COLUMN_TEXT, PD_PRINT_TEXT };
}

/* --- values --- */

void pd_column_init(struct pd_column *c, const char *name, enum pd_column_type type, int width, enum pd_column_print print)
{
	*c = (struct pd_column){ .type = type, .width = width, .print = print };
	pd_buf_add_z(&c->name, name);
	if (type == PD_COLUMN_TEXT)
		pd_buf_add(&c->offsets, &(int64_t){ 0 }, sizeof(int64_t));
}

void pd_column_clear(struct pd_column *c)
{
	pd_buf_clear(&c->data);
	pd_buf_clear(&c->valid);
	c->n = c->nulls = 0;
	if (c->type == PD_COLUMN_TEXT)
		c->offsets.n = sizeof(int64_t);
}

void pd_column_release(struct pd_column *c)
{
	pd_buf_release(&c->name);
	pd_buf_release(&c->data);
	pd_buf_release(&c->offsets);
	pd_buf_release(&c->valid);
}

static void end_value(struct pd_column *c, bool valid)
{
	if (c->n % 8 == 0)
		pd_buf_add_c(&c->valid, 0);
	if (valid)
		c->valid.p[c->n / 8] |= (char)(1 << c->n % 8);
	c->nulls += !valid;
	c->n++;
	if (c->type == PD_COLUMN_TEXT)
		pd_buf_add(&c->offsets, &(int64_t){ (int64_t)c->data.n }, sizeof(int64_t));
}

void pd_column_put_null(struct pd_column *c)
{
	size_t n = c->type == PD_COLUMN_TEXT ? 0 : c->type == PD_COLUMN_BYTES ? (size_t)c->width : 8;
	memset(pd_buf_reserve(&c->data, n), 0, n);
	c->data.n += n;
	end_value(c, false);
}

void pd_column_put_number(struct pd_column *c, uint64_t v)
{
	pd_buf_add(&c->data, &v, sizeof v);
	end_value(c, true);
}

void pd_column_put_real(struct pd_column *c, double v)
{
	pd_buf_add(&c->data, &v, sizeof v);
	end_value(c, true);
}

void pd_column_put_text(struct pd_column *c, struct pd_span text)
{
	pd_buf_add_span(&c->data, text);
	end_value(c, true);
}

void pd_column_put_bytes(struct pd_column *c, const char *bytes)
{
	pd_buf_add(&c->data, bytes, (size_t)c->width);
	end_value(c, true);
}

/* Two digits a byte. */
static bool put_hex(struct pd_column *c, struct pd_span hex)
{
	uint64_t v;
	if (c->type == PD_COLUMN_NUMBER) {
		if (!pd_hex_u64(hex, &v))
			return false;
		pd_column_put_number(c, v);
		return true;
	}
	if (hex.n != 2 * (size_t)c->width)
		return false;
	char *to = pd_buf_reserve(&c->data, hex.n / 2);
	for (size_t i = 0; i < hex.n / 2; i++) {
		int byte = pd_hex_byte(hex.p[2 * i], hex.p[2 * i + 1]);
		if (byte < 0)
			return false;
		to[i] = (char)byte;
	}
	c->data.n += hex.n / 2;
	end_value(c, true);
	return true;
}

static bool put_real_text(struct pd_column *c, struct pd_span text)
{
	double v;
	if (!pd_span_real(text, &v))
		return false;
	pd_column_put_real(c, v);
	return true;
}

int pd_column_put_field(struct pd_column *c, struct pd_span field, struct pd_buf *scratch)
{
	uint64_t number;
	if (!field.n || pd_span_is(field, "-")) {
		pd_column_put_null(c);
		return PD_OK;
	}
	switch (c->print) {
	case PD_PRINT_TEXT:
		if (pd_tsv_value(field, scratch))
			return PD_ERR_FORMAT;
		pd_column_put_text(c, pd_buf_span(scratch));
		return PD_OK;
	case PD_PRINT_HEX: return put_hex(c, field) ? PD_OK : PD_ERR_FORMAT;
	case PD_PRINT_NUMBER:
		if (!pd_span_u64(field, &number))
			return PD_ERR_FORMAT;
		pd_column_put_number(c, number);
		return PD_OK;
	default: return put_real_text(c, field) ? PD_OK : PD_ERR_FORMAT;
	}
}

bool pd_column_has(const struct pd_column *c, uint64_t row)
{
	return (unsigned char)c->valid.p[row / 8] >> (row % 8) & 1;
}

static const char *at(const struct pd_column *c, uint64_t row)
{
	return c->data.p + row * (c->type == PD_COLUMN_BYTES ? (size_t)c->width : 8);
}

static struct pd_span text_at(const struct pd_column *c, uint64_t row)
{
	int64_t offset[2];
	memcpy(offset, c->offsets.p + row * sizeof(int64_t), sizeof offset);
	return pd_span(c->data.p + offset[0], (size_t)(offset[1] - offset[0]));
}

static void print_bytes(const char *bytes, size_t n, struct pd_buf *out)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i++) {
		pd_buf_add_c(out, digits[(unsigned char)bytes[i] >> 4]);
		pd_buf_add_c(out, digits[bytes[i] & 15]);
	}
}

void pd_column_print_number(enum pd_column_print print, const void *value, struct pd_buf *out)
{
	uint64_t number;
	double real;
	memcpy(&number, value, sizeof number);
	memcpy(&real, value, sizeof real);
	switch (print) {
	case PD_PRINT_HEX: pd_hex_add(out, number); break;
	case PD_PRINT_NUMBER: pd_buf_printf(out, "%" PRIu64, number); break;
	case PD_PRINT_REAL_2: pd_buf_printf(out, "%.2f", real); break;
	case PD_PRINT_REAL_3: pd_buf_printf(out, "%.3f", real); break;
	default: pd_buf_printf(out, "%g", real);
	}
}

void pd_column_print(const struct pd_column *c, uint64_t row, struct pd_buf *out)
{
	if (!pd_column_has(c, row)) {
		pd_buf_add_c(out, '-');
		return;
	}
	if (c->type == PD_COLUMN_TEXT) {
		pd_tsv_add(out, text_at(c, row));
		return;
	}
	if (c->type == PD_COLUMN_BYTES) {
		print_bytes(at(c, row), (size_t)c->width, out);
		return;
	}
	pd_column_print_number(c->print, at(c, row), out);
}
