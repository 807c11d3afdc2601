/* SPDX-License-Identifier: MIT
 *
 * Models, workers, dumps, and learners: a body or a record becomes a page.
 */
#include "api/api.h"

#include <limits.h>
#include <stdlib.h>

#include "row/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "index/bits.h"
#include "term/terms.h"
#include "run/walk.h"
#include "run/rows.h"

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* --- the model --- */

/* The preset sets the initial values of the other settings, at any position. */
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

static int fill_model(void *handle, void *ctx, struct pd_err *e)
{
	struct pagededup_model *m = handle;
	pagededup_model_options o;
	int status = pd_api_take(&o, sizeof o, ctx, e);
	if (!status)
		status = set_all(&m->options, pd_span_z(or_empty(o.settings)), e);
	if (status)
		return status;
	m->refs = 1;
	m->options.dict = o.dictionary;
	m->options.userwords = o.user_words;
	m->options.boilerplate = o.boilerplate;
	m->options.key = o.key;
	if (o.stop_words)
		m->options.stopwords = o.stop_words;
	if (o.methods)
		status = pd_methods_read(&m->options.methods, pd_span_z(o.methods), PD_METHOD_SIGNS,
					 pd_span_is(pd_param(pd_span_z(or_empty(o.settings)), "preset"), "paper"), e);
	if (!status)
		status = pd_tables_open(&m->tables, &m->options, e);
	if (!status)
		pd_page_fp_header(&m->tables, false, &m->header);
	/* The tables now contain the data for workers; these pointers were the caller's. */
	m->options.dict = m->options.userwords = m->options.boilerplate = m->options.stopwords = m->options.key = NULL;
	return status;
}

static void release_model(void *handle)
{
	struct pagededup_model *m = handle;
	pd_tables_release(&m->tables);
	pd_buf_release(&m->header);
}

int pagededup_model_open(pagededup_model **out, const pagededup_model_options *options, pagededup_error *error)
{
	return pd_api_new((void **)out, PD_API_MODEL, sizeof **out, release_model, fill_model, (void *)options, error);
}

const char *pagededup_model_params(const pagededup_model *m)
{
	return pd_api_is(m, PD_API_MODEL) ? m->tables.params : "";
}

const char *pagededup_model_header(const pagededup_model *m)
{
	return pd_api_is(m, PD_API_MODEL) ? pd_buf_z(&m->header) : "";
}

int pagededup_model_bits(const pagededup_model *m)
{
	return pd_api_is(m, PD_API_MODEL) ? m->options.sign.bits : 0;
}

/* --- workers --- */

static int fill_worker(void *handle, void *ctx, struct pd_err *e)
{
	struct pagededup_worker *w = handle;
	w->handle.model = ctx;
	return pd_pipeline_init(&w->pipeline, &w->handle.model->options, &w->handle.model->tables, e);
}

static void release_worker(void *handle)
{
	struct pagededup_worker *w = handle;
	pd_json_free(w->json);
	pd_pipeline_release(&w->pipeline);
	pd_record_release(&w->record);
	struct pd_buf *bufs[] = { &w->row, &w->languages, &w->flags, &w->id, &w->url, &w->fetch_time, &w->title };
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		pd_buf_release(bufs[i]);
}

int pagededup_worker_new(pagededup_worker **out, pagededup_model *model, pagededup_error *error)
{
	return pd_api_new_of(model, (void **)out, PD_API_WORKER, sizeof **out, release_worker, fill_worker, model, error);
}

void pagededup_worker_free(pagededup_worker *w)
{
	pd_api_free(w, PD_API_WORKER);
}

int pd_api_check_input(const pagededup_input *in, struct pd_err *e)
{
	if (!in->body && in->bytes)
		return pd_fail(e, PD_ERR_USAGE, "the body of a page of %zu bytes is NULL", in->bytes);
	return in->bytes > PTRDIFF_MAX ? pd_fail(e, PD_ERR_USAGE, "a page has %zu bytes, more than memory can hold", in->bytes)
				       : PD_OK;
}

void pd_api_input(struct pd_record *to, const pagededup_input *in)
{
	pd_record_clear(to);
	to->kind = in->is_text ? PD_RECORD_TEXT : PD_RECORD_PAYLOAD;
	pd_buf_add_z(&to->id, or_empty(in->id));
	pd_buf_add_z(&to->url, or_empty(in->url));
	pd_buf_add_z(&to->fetch_time, or_empty(in->fetch_time));
	pd_buf_add_z(&to->content_type, or_empty(in->content_type));
	pd_buf_add(&to->block, in->body, in->bytes);
	to->length = in->bytes;
}

enum pd_skip pd_api_sign(struct pagededup_worker *w, const struct pd_record *record)
{
	const char *reason = NULL;
	enum pd_skip skip = pd_pipeline_run(&w->pipeline, record, &reason);
	w->has_page = skip == PD_SKIP_NONE;
	w->skipped = reason && *reason ? reason : pd_skip_name(skip);
	return skip;
}

static const char *copy_span(struct pd_buf *to, struct pd_span s)
{
	pd_buf_set(to, s);
	return pd_buf_z(to);
}

/* --- signing --- */

struct api_sign {
	pagededup_worker *w;
	const pagededup_input *input; /* or */
	const struct pd_record *record;
	pagededup_page *out;
};

static int sign(void *ctx, struct pd_err *e)
{
	struct api_sign *s = ctx;
	struct pagededup_worker *w = s->w;
	const struct pd_record *record = s->record;
	static const pagededup_page none = { .id = "",
					     .url = "",
					     .fetch_time = "",
					     .text = "",
					     .title = "",
					     .text_digest = "",
					     .content_digest = "",
					     .charset = "",
					     .languages = "",
					     .flags = "" };
	w->has_page = false;
	if (s->input) {
		pagededup_input input;
		int status = pd_api_take(&input, sizeof input, s->input, e);
		if (!status)
			status = pd_api_check_input(&input, e);
		if (status)
			return status;
		pd_api_input(&w->record, &input);
		record = &w->record;
	}
	if (pd_api_sign(w, record)) {
		if (s->out)
			pd_api_give(s->out, &none, sizeof none);
		return pd_fail(e, PAGEDEDUP_NO_PAGE, "not a page: %s", w->skipped);
	}
	if (s->out) {
		struct pd_pipeline *p = &w->pipeline;
		pd_language(p->blocks.meta.lang, pd_buf_span(&p->topic.text), &w->languages);
		pd_page_flags(p, &w->flags);
		pagededup_page page = { .bits = p->signature.present ? p->signature.bits : 0,
					.sketch_words = p->sketch.present ? pd_sketch_words(&p->sketcher.o) : 0,
					.terms = p->signature.terms,
					.confidence = p->topic.confidence,
					.id = copy_span(&w->id, p->page.id),
					.url = copy_span(&w->url, p->page.url),
					.fetch_time = copy_span(&w->fetch_time, p->page.fetch_time),
					.text = pd_buf_z(&p->topic.text),
					.text_bytes = p->topic.text.n,
					.title = copy_span(&w->title, p->blocks.meta.title),
					.text_digest = pd_buf_z(&p->text_digest),
					.content_digest = pd_buf_z(&p->content_digest),
					.charset = p->text.charset->name,
					.languages = pd_buf_z(&w->languages),
					.flags = pd_buf_z(&w->flags) };
		if (page.bits)
			memcpy(page.fingerprint, p->signature.key.w, sizeof page.fingerprint);
		if (page.sketch_words)
			memcpy(page.sketch, p->sketch.w, sizeof page.sketch);
		pd_api_give(s->out, &page, sizeof page);
	}
	return PD_OK;
}

int pagededup_sign(pagededup_worker *w, const pagededup_input *input, pagededup_page *page, pagededup_error *error)
{
	if (!input)
		return pd_api_fail(error, PD_ERR_USAGE, "no input: it is NULL");
	int status = pd_api_check_result(page, error);
	return status ? status
		      : pd_api_call_alone(w, PD_API_WORKER, NULL, sign, &(struct api_sign){ .w = w, .input = input, .out = page },
					  error);
}

int pagededup_sign_record(pagededup_worker *w, const pagededup_reader *r, pagededup_page *page, pagededup_error *error)
{
	const struct pd_api_use uses[] = { PD_API_ALONE(WORKER, w), PD_API_SHARED(READER, r) };
	int status = pd_api_check_result(page, error);
	if (!status)
		status = pd_api_enter(uses, 2, error);
	if (status)
		return status;
	if (!r->has_record)
		status = pd_api_fail(error, PD_ERR_USAGE, "the reader has no record; call pagededup_reader_next first");
	else
		status = pd_api_call(NULL, sign, &(struct api_sign){ .w = w, .record = &r->record, .out = page }, error);
	return pd_api_leave(uses, 2, status);
}

static int write_row(void *ctx, struct pd_err *e)
{
	struct pagededup_worker *w = ctx;
	pd_buf_clear(&w->row);
	pd_page_fp_row(&w->pipeline, NULL, &w->row);
	return PD_OK;
}

static int write_record(void *ctx, struct pd_err *e)
{
	struct pagededup_worker *w = ctx;
	if (!w->json)
		w->json = pd_json_new();
	pd_buf_clear(&w->row);
	pd_page_text_row(&w->pipeline, w->json, &w->row);
	return PD_OK;
}

static int write_visible(void *ctx, struct pd_err *e)
{
	struct pagededup_worker *w = ctx;
	pd_buf_clear(&w->row);
	pd_blocks_visible(&w->pipeline.blocks, PD_VISIBLE_TITLE, &w->row);
	return PD_OK;
}

static int write_page(pagededup_worker *w, pd_api_step *write, const char **text, size_t *bytes)
{
	const struct pd_api_use use = PD_API_ALONE(WORKER, w);
	if (!text || !bytes)
		return PD_ERR_USAGE;
	*text = "";
	*bytes = 0;
	int status = pd_api_enter(&use, 1, NULL);
	if (status)
		return status;
	status = w->has_page ? pd_api_call(NULL, write, w, NULL) : PD_ERR_USAGE;
	if (!status) {
		*text = pd_buf_z(&w->row);
		*bytes = w->row.n;
	}
	return pd_api_leave(&use, 1, status);
}

int pagededup_worker_row(pagededup_worker *w, const char **text, size_t *bytes)
{
	return write_page(w, write_row, text, bytes);
}

int pagededup_worker_record(pagededup_worker *w, const char **json, size_t *bytes)
{
	return write_page(w, write_record, json, bytes);
}

int pagededup_worker_visible_text(pagededup_worker *w, const char **text, size_t *bytes)
{
	return write_page(w, write_visible, text, bytes);
}

/* --- two pages --- */

static bool is_width(int bits)
{
	return bits == 64 || bits == 128 || bits == 256;
}

int pagededup_distance(const uint64_t *a, const uint64_t *b, int bits)
{
	return a && b && is_width(bits) ? pd_bits_distance(a, b, bits / 64) : -1;
}

double pagededup_similarity(const pagededup_model *m, const pagededup_page *a, const pagededup_page *b)
{
	if (!pd_api_is(m, PD_API_MODEL) || !a || !b)
		return -1;
	struct pd_sketch x = { .present = a->sketch_words > 0 }, y = { .present = b->sketch_words > 0 };
	memcpy(x.w, a->sketch, sizeof x.w);
	memcpy(y.w, b->sketch, sizeof y.w);
	return pd_sketch_similarity(&m->options.sketch, &x, &y);
}

/* distance + 1 blocks of bits, as equal as can be: two fingerprints cannot differ in all of them. */
int pagededup_block_keys(const uint64_t *fingerprint, int bits, int distance, uint64_t *keys)
{
	if (!fingerprint || !is_width(bits) || distance < 0 || distance > bits / 4)
		return -1;
	for (int block = 0; keys && block <= distance; block++) {
		int from = bits * block / (distance + 1), to = bits * (block + 1) / (distance + 1);
		uint64_t block_bits[5] = { (uint64_t)block };
		for (int i = from; i < to; i++)
			block_bits[1 + (i - from) / 64] |= (fingerprint[i / 64] >> (i % 64) & 1) << ((i - from) % 64);
		keys[block] = pd_hash64(block_bits, sizeof block_bits);
	}
	return distance + 1;
}

/* --- dumps --- */

static void on_damage(void *ctx, const struct pd_read_damage *d)
{
	struct pagededup_reader *r = ctx;
	/* A call that has to end reads no further: what it could not read may not be damaged. */
	if (!r->o.damage || pd_call_status())
		return;
	pd_buf_clear(&r->where);
	pd_read_damage_where(d, &r->where);
	r->o.damage(r->o.context, pd_buf_z(&r->where), d->reason);
}

struct api_reader {
	pagededup_model *model;
	const pagededup_reader_options *o;
};

static int fill_reader(void *handle, void *ctx, struct pd_err *e)
{
	struct pagededup_reader *r = handle;
	struct api_reader *a = ctx;
	int status = pd_api_take(&r->o, sizeof r->o, a->o, e);
	if (status)
		return status;
	r->handle.model = a->model;
	if (!r->o.n_paths || !r->o.paths)
		return pd_fail(e, PD_ERR_USAGE, "nothing to read; give a path");
	if (r->o.n_paths > INT_MAX)
		return pd_fail(e, PD_ERR_USAGE, "%zu paths are more than can be read", r->o.n_paths);
	r->paths = pd_zalloc(r->o.n_paths * sizeof *r->paths);
	for (size_t i = 0; i < r->o.n_paths; i++) {
		if (!r->o.paths[i])
			return pd_fail(e, PD_ERR_USAGE, "path %zu of %zu is NULL", i + 1, r->o.n_paths);
		if (!strcmp(r->o.paths[i], "-"))
			return pd_fail(e, PD_ERR_USAGE, "the library does not read standard input; name a file");
		r->paths[i] = pd_strdup(r->o.paths[i]);
	}
	return pd_reader_open(&r->reader,
			      &(struct pd_reader_options){ .inputs = r->paths,
							   .n_inputs = (int)r->o.n_paths,
							   .max_block = r->handle.model->options.max_page + PD_BLOCK_ROOM,
							   .all_text = r->o.all_text,
							   .damage = on_damage,
							   .damage_ctx = r },
			      e);
}

static void release_reader(void *handle)
{
	struct pagededup_reader *r = handle;
	pd_reader_free(r->reader);
	pd_record_release(&r->record);
	pd_buf_release(&r->where);
	for (size_t i = 0; r->paths && i < r->o.n_paths; i++)
		free(r->paths[i]);
	free(r->paths);
}

int pagededup_reader_open(pagededup_reader **out, pagededup_model *model, const pagededup_reader_options *options,
			  pagededup_error *error)
{
	return pd_api_new_of(model, (void **)out, PD_API_READER, sizeof **out, release_reader, fill_reader,
			     &(struct api_reader){ model, options }, error);
}

void pagededup_reader_free(pagededup_reader *r)
{
	pd_api_free(r, PD_API_READER);
}

static int read_next(void *ctx, struct pd_err *e)
{
	struct pagededup_reader *r = ctx;
	int status = r->ended ? 0 : pd_reader_next(r->reader, &r->record, e);
	r->has_record = status > 0;
	r->ended |= status <= 0;
	return status;
}

int pagededup_reader_next(pagededup_reader *r, pagededup_record *out, pagededup_error *error)
{
	const struct pd_api_use use = PD_API_ALONE(READER, r);
	int status = pd_api_check_result(out, error);
	if (!status)
		status = pd_api_enter(&use, 1, error);
	if (status)
		return status;
	status = pd_api_call(r->o.stop, read_next, r, error);
	if (status <= 0 || !out)
		return pd_api_leave(&use, 1, status);
	pagededup_record record = { .id = pd_buf_z(&r->record.id),
				    .url = pd_buf_z(&r->record.url),
				    .fetch_time = pd_buf_z(&r->record.fetch_time),
				    .content_type = pd_buf_z(&r->record.content_type),
				    .user_id = pd_buf_z(&r->record.user_id),
				    .block = pd_buf_z(&r->record.block),
				    .bytes = r->record.block.n,
				    .is_page = r->record.kind != PD_RECORD_OTHER };
	pd_api_give(out, &record, sizeof record);
	return pd_api_leave(&use, 1, status);
}

/* --- site boilerplate --- */

struct pagededup_learner {
	struct pd_api_handle handle;
	struct pd_site_learner *learner;
	struct pd_buf page;
	bool ended;
};

static int fill_learner(void *handle, void *ctx, struct pd_err *e)
{
	const pagededup_model *m = ctx;
	struct pagededup_learner *l = handle;
	l->learner = pd_site_learner_new(&(struct pd_site_learn_options){ .hidden_kept = !m->options.html.drop_hidden });
	return PD_OK;
}

static void release_learner(void *handle)
{
	pd_site_learner_free(((struct pagededup_learner *)handle)->learner);
}

int pagededup_learner_new(pagededup_learner **out, pagededup_model *model, pagededup_error *error)
{
	return pd_api_new_of(model, (void **)out, PD_API_LEARNER, sizeof **out, release_learner, fill_learner, model, error);
}

void pagededup_learner_free(pagededup_learner *l)
{
	pd_api_free(l, PD_API_LEARNER);
}

static int describe_site(void *ctx, struct pd_err *e)
{
	struct pagededup_worker *w = ctx;
	pd_buf_clear(&w->row);
	w->has_page = false;
	return pd_pipeline_site(&w->pipeline, &w->row)
		       ? PD_OK
		       : pd_fail(e, PAGEDEDUP_NO_PAGE, "the page has no URL, so it belongs to no site; give its URL");
}

struct api_learn {
	pagededup_learner *l;
	const struct pd_buf *page;
	const char *path;
};

static int learn(void *ctx, struct pd_err *e)
{
	struct api_learn *a = ctx;
	return a->l->ended ? pd_fail(e, PD_ERR_USAGE, "the learner has written its table already; make a new learner")
			   : pd_site_learner_add(a->l->learner, pd_buf_span(a->page), e);
}

int pagededup_learner_add(pagededup_learner *l, pagededup_worker *w, pagededup_error *error)
{
	const struct pd_api_use uses[] = { PD_API_ALONE(LEARNER, l), PD_API_ALONE(WORKER, w) };
	int status = pd_api_enter(uses, 2, error);
	if (status)
		return status;
	if (!w->has_page)
		status = pd_api_fail(error, PD_ERR_USAGE, "the worker has no page; sign one first");
	else
		status = pd_api_call(NULL, describe_site, w, error);
	if (!status)
		status = pd_api_call(NULL, learn, &(struct api_learn){ .l = l, .page = &w->row }, error);
	return pd_api_leave(uses, 2, status);
}

static int write_learned(void *ctx, struct pd_err *e)
{
	struct api_learn *a = ctx;
	if (a->l->ended)
		return pd_fail(e, PD_ERR_USAGE, "the learner has written its table already; make a new learner");
	a->l->ended = true;
	struct pd_outfile out;
	int status = pd_outfile_open(&out, a->path, e);
	if (!status)
		status = pd_site_learner_end(a->l->learner, out.f, NULL, e);
	return pd_outfile_close(&out, status, e);
}

int pagededup_learner_end(pagededup_learner *l, const char *path, pagededup_error *error)
{
	if (!path)
		return pd_api_fail(error, PD_ERR_USAGE, "no path to write to: it is NULL");
	return pd_api_call_alone(l, PD_API_LEARNER, NULL, write_learned, &(struct api_learn){ .l = l, .path = path }, error);
}
