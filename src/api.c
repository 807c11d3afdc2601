/* SPDX-License-Identifier: MIT
 *
 * The public API (include/pagededup.h) over the spine: a body becomes a record, the record walks the pipeline.
 *
 * Memory that cannot be had leaves both from wherever they are (base/alloc.h), and what they were at is in no state that could
 * be gone on with or taken apart: the context is broken, and its memory is not given back.
 */
#include "pagededup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fields.h"
#include "pipeline.h"

struct pagededup_context {
	bool broken;		/* memory ran out in the midst of something */
	struct pd_options options;
	struct pd_tables tables;
	struct pd_pipeline pipeline;
	struct pd_record record;
};

/* The preset decides what the other settings begin with, wherever it stands. */
static int set_preset(struct pd_options *o, struct pd_span settings, struct pd_err *e)
{
	struct pd_span preset = pd_param(settings, "preset");
	pd_options_init(o, PD_PRESET_DEFAULT);
	for (int i = 0; preset.p && pd_preset_names[i]; i++) {
		if (pd_span_is(preset, pd_preset_names[i])) {
			pd_options_init(o, (enum pd_preset)i);
			return PD_OK;
		}
	}
	return preset.p ? pd_fail(e, PD_ERR_USAGE, "unknown preset '%.*s'", (int)preset.n, preset.p) : PD_OK;
}

static int set_all(struct pd_options *o, struct pd_span settings, struct pd_err *e)
{
	struct pd_span item, key;
	int status = set_preset(o, settings, e);
	while (!status && pd_span_split(&settings, ' ', &item)) {
		pd_span_split(&item, '=', &key);
		if (key.n && !pd_span_is(key, "preset"))
			status = pd_option_set(o, key, item, e);
	}
	return status;
}

static int open_context(struct pagededup_context *c, const char *settings, struct pd_err *e)
{
	int status = set_all(&c->options, pd_span_z(settings ? settings : ""), e);
	if (!status)
		status = pd_tables_open(&c->tables, &c->options, e);
	if (!status)
		status = pd_pipeline_init(&c->pipeline, &c->options, &c->tables, e);
	return status;
}

static int open_or_jump(struct pagededup_context *c, const char *settings, struct pd_err *e)
{
	jmp_buf to;
	if (setjmp(to)) {
		c->broken = true;
		return pd_fail(e, PD_ERR_MEMORY, "out of memory");
	}
	pd_out_of_memory_jumps(&to);
	int status = open_context(c, settings, e);
	pd_out_of_memory_jumps(NULL);
	return status;
}

int pagededup_open(pagededup_context **out, const char *settings, char *error, size_t error_size)
{
	struct pd_err e = { 0 };
	struct pagededup_context *c = calloc(1, sizeof *c);
	int status = c ? open_or_jump(c, settings, &e) : pd_fail(&e, PD_ERR_MEMORY, "out of memory");
	if (status) {
		if (error_size)
			snprintf(error, error_size, "%s", e.text);
		pagededup_close(c);
		c = NULL;
	}
	*out = c;
	return status;
}

void pagededup_close(pagededup_context *c)
{
	if (c && !c->broken) {
		pd_pipeline_release(&c->pipeline);
		pd_tables_release(&c->tables);
		pd_record_release(&c->record);
	}
	free(c);
}

static int sign(pagededup_context *c, const void *body, size_t bytes, const char *content_type, pagededup_page *out)
{
	struct pd_pipeline *p = &c->pipeline;
	pd_record_clear(&c->record);
	c->record.kind = PD_RECORD_PAYLOAD;
	pd_buf_add_z(&c->record.content_type, content_type ? content_type : "");
	pd_buf_add(&c->record.block, body, bytes);
	c->record.length = bytes;
	if (pd_pipeline_run(p, &c->record, NULL))
		return PD_ERR_INPUT;
	out->bits = p->signature.present ? p->signature.bits : 0;
	memcpy(out->fingerprint, p->signature.key.w, sizeof out->fingerprint);
	out->text_digest = pd_buf_z(&p->text_digest);
	out->text = pd_buf_z(&p->topic.text);
	out->text_bytes = p->topic.text.n;
	out->terms = p->signature.terms;
	out->charset = p->text.charset->name;
	return PD_OK;
}

int pagededup_sign(pagededup_context *c, const void *body, size_t bytes, const char *content_type, pagededup_page *out)
{
	jmp_buf to;
	*out = (pagededup_page){ 0 };
	if (c->broken || setjmp(to)) {
		c->broken = true;
		return PD_ERR_MEMORY;
	}
	pd_out_of_memory_jumps(&to);
	int status = sign(c, body, bytes, content_type, out);
	pd_out_of_memory_jumps(NULL);
	return status;
}

int pagededup_distance(const uint64_t *a, const uint64_t *b, int bits)
{
	int d = 0;
	for (int i = 0; i < bits / 64; i++)
		d += __builtin_popcountll(a[i] ^ b[i]);
	return d;
}

const char *pagededup_params(const pagededup_context *c)
{
	return c->tables.params;
}

const char *pagededup_version(void)
{
	return PD_VERSION;
}

const char *pagededup_strerror(int status)
{
	return pd_strerror(status);
}
