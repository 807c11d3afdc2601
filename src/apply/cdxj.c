/* SPDX-License-Identifier: MIT */
#include "apply/cdxj.h"

#include <inttypes.h>

#include "base/hash.h"
#include "read/http.h"
#include "read/warc.h"

/* A block is wanted as a whole only where nobody wrote its digest. */
enum { BLOCK = 1 << 26, STAMP = 14 };

int pd_apply_cdxj_open(struct pd_apply_cdxj *x, const char *path, struct pd_err *e)
{
	struct pd_reader_options o = { .max_block = BLOCK };
	*x = (struct pd_apply_cdxj){ .json = pd_json_new() };
	pd_source_init(&x->source, &o, &x->sink);
	x->source.keep_headers = x->source.keep_blocks = true;
	return pd_outfile_open(&x->out, path, e);
}

int pd_apply_cdxj_close(struct pd_apply_cdxj *x, int status, struct pd_err *e)
{
	pd_source_release(&x->source);
	pd_record_release(&x->record);
	pd_apply_surt_release(&x->surt);
	pd_json_free(x->json);
	pd_buf_release(&x->line);
	pd_buf_release(&x->value);
	if (status >= 0)
		return pd_outfile_commit(&x->out, e);
	if (x->out.f)
		pd_outfile_abandon(&x->out);
	return status;
}

/* What a record is to an index. */
struct cdxj_entry {
	struct pd_span type, content_type, digest;
	struct pd_http http;
	bool has_http;
	struct pd_span payload;
};

static void look(const struct pd_apply_cdxj *x, struct cdxj_entry *out)
{
	const struct pd_record *r = &x->record;
	struct pd_warc_header h;
	pd_warc_parse(pd_buf_span(&r->header), &h);
	*out = (struct cdxj_entry){ .type = pd_span_trim(h.type), .content_type = pd_buf_span(&r->content_type),
				    .digest = pd_span_trim(h.digest), .payload = pd_buf_span(&r->block) };
	if (!out->type.n && r->kind != PD_RECORD_OTHER)	/* ARC says nothing */
		out->type = pd_span_z("response");
	if (!pd_span_ieq(out->type, "response") && !pd_span_ieq(out->type, "revisit"))
		return;
	out->has_http = pd_http_parse(pd_buf_span(&r->block), &out->http);
	if (out->has_http)
		out->payload = out->http.body;
}

static bool indexed(const struct pd_record *r, const struct cdxj_entry *c)
{
	if (!r->url.n)
		return false;
	if (pd_span_ieq(c->type, "response") || pd_span_ieq(c->type, "revisit"))
		return true;
	return (pd_span_ieq(c->type, "resource") || pd_span_ieq(c->type, "metadata")) &&
	       !pd_span_ieq(c->content_type, "application/warc-fields");
}

/* 2024-01-02T03:04:05Z -> 20240102030405 */
static void add_stamp(struct pd_span time, struct pd_buf *out)
{
	for (size_t i = 0, n = 0; i < time.n && n < STAMP; i++) {
		if (time.p[i] < '0' || time.p[i] > '9')
			continue;
		pd_buf_add_c(out, time.p[i]);
		n++;
	}
}

static void add(struct pd_apply_cdxj *x, const char *key, struct pd_span value)
{
	if (value.n)
		pd_json_str(x->json, key, value);
}

static void add_number(struct pd_apply_cdxj *x, const char *key, uint64_t n)
{
	pd_buf_clear(&x->value);
	pd_buf_printf(&x->value, "%" PRIu64, n);
	add(x, key, pd_buf_span(&x->value));
}

/* Spaces would part the fields for careless readers. */
static void add_url(struct pd_apply_cdxj *x)
{
	pd_buf_clear(&x->value);
	for (size_t i = 0; i < x->record.url.n; i++) {
		if (x->record.url.p[i] == ' ')
			pd_buf_add_z(&x->value, "%20");
		else
			pd_buf_add_c(&x->value, x->record.url.p[i]);
	}
	add(x, "url", pd_buf_span(&x->value));
}

/* Of a file that is not compressed: without the line ends that pad the record. */
static uint64_t length_of(const struct pd_apply_cdxj *x, const struct pd_extent *at)
{
	uint64_t bare = x->record.header.n + x->record.length;
	return !x->source.member.codec && bare < at->end - at->begin ? bare : at->end - at->begin;
}

static void add_mime(struct pd_apply_cdxj *x, const struct cdxj_entry *c)
{
	struct pd_span type = pd_span_ieq(c->type, "response") ? c->http.content_type : c->content_type;
	size_t n = 0;
	type = pd_span_trim(type);
	while (n < type.n && type.p[n] != ';' && !pd_ascii_space(type.p[n]))
		n++;
	add(x, "mime", pd_span_ieq(c->type, "revisit") ? pd_span_z("warc/revisit") : pd_span(type.p, n));
}

static void add_digest(struct pd_apply_cdxj *x, const struct cdxj_entry *c)
{
	if (c->digest.n || x->record.cut) {
		add(x, "digest", c->digest);
		return;
	}
	pd_buf_clear(&x->value);
	pd_buf_add_z(&x->value, "sha1:");
	pd_sha1_base32(c->payload, &x->value);
	add(x, "digest", pd_buf_span(&x->value));
}

static int write_entry(struct pd_apply_cdxj *x, const struct cdxj_entry *c, const struct pd_extent *at, const char *name, struct pd_err *e)
{
	pd_buf_clear(&x->line);
	pd_apply_surt(&x->surt, pd_buf_span(&x->record.url), &x->line);
	pd_buf_add_c(&x->line, ' ');
	add_stamp(pd_buf_span(&x->record.fetch_time), &x->line);
	pd_buf_add_c(&x->line, ' ');
	add_url(x);
	add_mime(x, c);
	if (c->has_http)
		add_number(x, "status", (uint64_t)c->http.status);
	add_digest(x, c);
	add_number(x, "length", length_of(x, at));
	add_number(x, "offset", at->begin);
	add(x, "filename", pd_span_z(name));
	pd_json_write(x->json, &x->line);
	pd_buf_add_c(&x->line, '\n');
	x->lines++;
	if (fwrite(x->line.p, 1, x->line.n, x->out.f) != x->line.n)
		return pd_fail_errno(e, "cannot write the index");
	return PD_OK;
}

static int add_record(struct pd_apply_cdxj *x, const char *name, struct pd_err *e)
{
	struct cdxj_entry entry;
	struct pd_extent at;
	look(x, &entry);
	if (!indexed(&x->record, &entry))
		return PD_OK;
	pd_source_extent(&x->source, &at);
	x->without += at.stream;
	return at.stream ? PD_OK : write_entry(x, &entry, &at, name, e);
}

int pd_apply_cdxj_add(struct pd_apply_cdxj *x, const char *dump, struct pd_err *e)
{
	const char *slash = strrchr(dump, '/');
	int r = 1, status = PD_OK;
	if (pd_source_open(&x->source, dump, dump) < 0)
		return pd_fail_errno(e, "%s: cannot open", dump);
	/* A dump that cannot be read does not look like one. */
	bool dump_or_bad = x->source.kind == PD_SOURCE_DUMP || x->source.in.error;
	while (dump_or_bad && !status && (r = pd_source_next(&x->source, &x->record)) == 1)
		status = add_record(x, slash ? slash + 1 : dump, e);
	if (r < 0)
		status = pd_fail_errno(e, "%s: cannot read", dump);
	pd_source_close(&x->source);
	return status;
}
