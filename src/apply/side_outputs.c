/* SPDX-License-Identifier: MIT
 *
 * Side outputs: first the key of a URL and the index that contains it, then the tables.
 */
#include "apply/side_outputs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/tsv.h"
#include "read/dump.h"
#include "read/page.h"

/* ==== the key of a URL ==== */

enum { UNESCAPES = 16 };

/* Decode %XX once; false: nothing was escaped. */
static bool unescape_once(struct pd_buf *b)
{
	size_t n = 0;
	bool any = false;
	for (size_t i = 0; i < b->n; i++) {
		int byte = b->p[i] == '%' && i + 2 < b->n ? pd_hex_byte(b->p[i + 1], b->p[i + 2]) : -1;
		any |= byte >= 0;
		b->p[n++] = byte >= 0 ? (char)byte : b->p[i];
		i += byte >= 0 ? 2 : 0;
	}
	b->n = n;
	return any;
}

static void unescape_fully(struct pd_buf *b)
{
	for (int i = 0; i < UNESCAPES && unescape_once(b); i++)
		;
}

/* Append in lower case, with escapes only where necessary. */
static void add_surt_escaped(struct pd_buf *out, struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c <= ' ' || c >= 0x7f || c == '#' || c == '%')
			pd_buf_printf(out, "%%%02x", c);
		else
			pd_buf_add_c(out, pd_ascii_lower((char)c));
	}
}

/* --- host --- */

/* "www." and "www2." do not distinguish hosts. */
static struct pd_span surt_without_www(struct pd_span host)
{
	size_t i = 3;
	if (host.n < 4 || memcmp(host.p, "www", 3) != 0)
		return host;
	while (i < host.n && pd_ascii_digit(host.p[i]))
		i++;
	return i + 1 < host.n && host.p[i] == '.' ? pd_span(host.p + i + 1, host.n - i - 1) : host;
}

/* Labels in reverse order; empty ones are skipped. */
static void add_reversed(struct pd_span host, struct pd_buf *out)
{
	bool first = true;
	for (size_t end = host.n; end > 0;) {
		size_t begin = end;
		while (begin > 0 && host.p[begin - 1] != '.')
			begin--;
		if (begin < end) {
			if (!first)
				pd_buf_add_c(out, ',');
			pd_buf_add(out, host.p + begin, end - begin);
			first = false;
		}
		end = begin ? begin - 1 : 0;
	}
}

static void add_surt_host(struct pd_apply_surt *s, struct pd_span host, struct pd_buf *out)
{
	pd_buf_set(&s->part, host);
	unescape_fully(&s->part);
	pd_buf_clear(&s->host);
	add_surt_escaped(&s->host, pd_buf_span(&s->part));
	struct pd_span h = pd_buf_span(&s->host);
	if (h.n > 1 && h.p[0] == '[' && h.p[h.n - 1] == ']') {
		pd_buf_add(out, h.p + 1, h.n - 2);
		return;
	}
	add_reversed(surt_without_www(h), out);
}

/* user@host:port -> the host, and the port if it is not the default. */
static struct pd_span split_authority(struct pd_span a, struct pd_span *port)
{
	const char *at = a.n ? memrchr(a.p, '@', a.n) : NULL;
	if (at)
		a = pd_span(at + 1, (size_t)(a.p + a.n - at) - 1);
	size_t i = a.n;
	while (i > 0 && pd_ascii_digit(a.p[i - 1]))
		i--;
	*port = pd_span("", 0);
	if (i == 0 || a.p[i - 1] != ':')
		return a;
	*port = pd_span(a.p + i, a.n - i);
	return pd_span(a.p, i - 1);
}

/* --- path --- */

/* Append a segment of the path to the earlier ones. */
static void add_segment(struct pd_buf *path, struct pd_span segment)
{
	const char *last = path->n ? memrchr(path->p, '/', path->n) : NULL;
	bool up = pd_span_is(segment, "..");
	if (!segment.n || pd_span_is(segment, "."))
		return;
	if (up && last && !pd_span_is(pd_span(last + 1, (size_t)(path->p + path->n - last) - 1), "..")) {
		path->n = (size_t)(last - path->p);
		return;
	}
	pd_buf_add_c(path, '/');
	pd_buf_add_span(path, segment);
}

/* ASP.NET puts its session into a segment: (S(24 characters)). */
static bool session_segment(struct pd_span s)
{
	return s.n == 29 && s.p[0] == '(' && s.p[2] == '(' && s.p[27] == ')' && s.p[28] == ')';
}

static void add_surt_path(struct pd_apply_surt *s, struct pd_span path, struct pd_buf *out)
{
	struct pd_span rest, segment;
	pd_buf_set(&s->part, path);
	unescape_fully(&s->part);
	pd_buf_clear(&s->path);
	rest = pd_buf_span(&s->part);
	while (rest.p && pd_span_split(&rest, '/', &segment))
		if (!session_segment(segment))
			add_segment(&s->path, segment);
	if (!s->path.n)
		pd_buf_add_c(&s->path, '/');
	add_surt_escaped(out, pd_buf_span(&s->path));
}

/* --- query --- */

static bool letters(struct pd_span s, size_t from, size_t n)
{
	if (s.n != from + n)
		return false;
	for (size_t i = from; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || pd_ascii_digit(s.p[i])))
			return false;
	return true;
}

static bool starts(struct pd_span s, const char *z)
{
	return s.n >= strlen(z) && memcmp(s.p, z, strlen(z)) == 0;
}

static bool session(struct pd_span p)
{
	return (starts(p, "jsessionid=") && letters(p, 11, 32)) || (starts(p, "phpsessid=") && letters(p, 10, 32)) ||
	       (starts(p, "sid=") && letters(p, 4, 32)) ||
	       (starts(p, "aspsessionid") && p.n == 45 && p.p[20] == '=' && letters(p, 21, 24));
}

static struct pd_span key_of_parameter(struct pd_span p)
{
	const char *equals = p.n ? memchr(p.p, '=', p.n) : NULL;
	return equals ? pd_span(p.p, (size_t)(equals - p.p)) : p;
}

static int by_key(const void *x, const void *y)
{
	const struct pd_span *a = x, *b = y;
	int d = pd_span_cmp(key_of_parameter(*a), key_of_parameter(*b));
	return d ? d : pd_span_cmp(*a, *b);
}

/* A session id at the end leaves an empty parameter, as in the Wayback machine. */
static size_t split_query(struct pd_apply_surt *s, struct pd_span rest)
{
	struct pd_span part;
	size_t n = 0;
	while (rest.p && pd_span_split(&rest, '&', &part)) {
		bool last = !rest.p;
		if (session(part)) {
			if (!last || n == 0)
				continue;
			part.n = 0;
		}
		s->parts = pd_grow(s->parts, n, &s->cap_parts, sizeof *s->parts);
		s->parts[n++] = part;
	}
	return n;
}

static void add_surt_query(struct pd_apply_surt *s, struct pd_span query, struct pd_buf *out)
{
	pd_buf_set(&s->part, query);
	unescape_fully(&s->part);
	pd_buf_clear(&s->query);
	add_surt_escaped(&s->query, pd_buf_span(&s->part));
	size_t n = split_query(s, pd_buf_span(&s->query));
	bool any = n > 1 || (n == 1 && s->parts[0].n);
	if (n)
		qsort(s->parts, n, sizeof *s->parts, by_key);
	for (size_t i = 0; any && i < n; i++) {
		pd_buf_add_c(out, i ? '&' : '?');
		pd_buf_add_span(out, s->parts[i]);
	}
}

/* --- all --- */

/* scheme://: its length, 0 if there is none or it names no host. */
static size_t scheme(struct pd_span url)
{
	ptrdiff_t at = pd_span_find(url, pd_span_z("://"));
	if (at <= 0 || pd_span_istarts(url, "filedesc:") || pd_span_istarts(url, "warcinfo:") || pd_span_istarts(url, "urn:"))
		return 0;
	for (ptrdiff_t i = 0; i < at; i++) {
		char c = pd_ascii_lower(url.p[i]);
		if (!((c >= 'a' && c <= 'z') || pd_ascii_digit(c) || c == '+' || c == '-' || c == '.'))
			return 0;
	}
	return (size_t)at + 3;
}

static void add_other(struct pd_span url, struct pd_buf *out)
{
	if (url.n > 1 && url.p[url.n - 1] == '/')
		url.n--;
	for (size_t i = 0; i < url.n; i++) {
		if ((unsigned char)url.p[i] <= ' ')
			pd_buf_printf(out, "%%%02x", url.p[i]);
		else
			pd_buf_add_c(out, pd_ascii_lower(url.p[i]));
	}
}

static size_t length_until(struct pd_span s, const char *stops)
{
	size_t i = 0;
	while (i < s.n && !strchr(stops, s.p[i]))
		i++;
	return i;
}

static void add_surt_key(struct pd_apply_surt *s, struct pd_span url, struct pd_buf *out)
{
	struct pd_span port;
	url = pd_span_trim(url);
	size_t head = scheme(url);
	if (!head) {
		add_other(url, out);
		return;
	}
	bool https = pd_span_istarts(url, "https:");
	struct pd_span rest = pd_span(url.p + head, url.n - head);
	rest.n = length_until(rest, "#");
	size_t n = length_until(rest, "/?");
	add_surt_host(s, split_authority(pd_span(rest.p, n), &port), out);
	if (port.n && !pd_span_is(port, https ? "443" : "80"))
		pd_buf_printf(out, ":%.*s", (int)port.n, port.p);
	pd_buf_add_c(out, ')');
	rest = pd_span(rest.p + n, rest.n - n);
	n = length_until(rest, "?");
	add_surt_path(s, pd_span(rest.p, n), out);
	if (n < rest.n)
		add_surt_query(s, pd_span(rest.p + n + 1, rest.n - n - 1), out);
}

/* A key is one word of a line, for any host and scheme. */
static void apply_surt(struct pd_apply_surt *s, struct pd_span url, struct pd_buf *out)
{
	const struct pd_buf *key = &s->key;
	pd_buf_clear(&s->key);
	add_surt_key(s, url, &s->key);
	for (size_t i = 0; i < key->n; i++) {
		if ((uint8_t)key->p[i] <= ' ' || key->p[i] == 0x7F)
			pd_buf_printf(out, "%%%02x", (uint8_t)key->p[i]);
		else
			pd_buf_add_c(out, key->p[i]);
	}
}

static void apply_surt_release(struct pd_apply_surt *s)
{
	pd_buf_release(&s->host);
	pd_buf_release(&s->path);
	pd_buf_release(&s->query);
	pd_buf_release(&s->part);
	pd_buf_release(&s->key);
	free(s->parts);
}

/* --- records --- */

/* A whole block is needed only if the record has no digest. */
enum { BLOCK = 1 << 26, STAMP = 14 };

int pd_apply_cdxj_open(struct pd_apply_cdxj *x, const char *path, struct pd_err *e)
{
	struct pd_reader_options o = { .max_block = BLOCK };
	*x = (struct pd_apply_cdxj){ .json = pd_json_new() };
	pd_read_source_init(&x->source, &o, &x->sink);
	x->source.keep_headers = x->source.keep_blocks = true;
	return pd_outfile_open(&x->out, path, e);
}

int pd_apply_cdxj_close(struct pd_apply_cdxj *x, int status, struct pd_err *e)
{
	pd_read_source_release(&x->source);
	pd_record_release(&x->record);
	apply_surt_release(&x->surt);
	pd_json_free(x->json);
	pd_buf_release(&x->line);
	pd_buf_release(&x->value);
	if (status >= 0)
		return pd_outfile_commit(&x->out, e);
	if (x->out.f)
		pd_outfile_abandon(&x->out);
	return status;
}

/* The kind of a record in an index. */
struct cdxj_entry {
	struct pd_span type, content_type, digest;
	struct pd_read_http http;
	bool has_http;
	struct pd_span payload;
};

static void read_entry(const struct pd_apply_cdxj *x, struct cdxj_entry *out)
{
	const struct pd_record *r = &x->record;
	struct pd_read_warc_header h;
	pd_read_warc_parse(pd_buf_span(&r->header), &h);
	*out = (struct cdxj_entry){ .type = pd_span_trim(h.type),
				    .content_type = pd_buf_span(&r->content_type),
				    .digest = pd_span_trim(h.digest),
				    .payload = pd_buf_span(&r->block) };
	if (!out->type.n && r->kind != PD_RECORD_OTHER) /* ARC does not have it */
		out->type = pd_span_z("response");
	if (!pd_span_ieq(out->type, "response") && !pd_span_ieq(out->type, "revisit"))
		return;
	out->has_http = pd_read_http_parse(pd_buf_span(&r->block), &out->http);
	if (out->has_http)
		out->payload = out->http.body;
}

static bool is_indexed(const struct pd_record *r, const struct cdxj_entry *c)
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

static void add_field(struct pd_apply_cdxj *x, const char *key, struct pd_span value)
{
	if (value.n)
		pd_json_str(x->json, key, value);
}

static void add_number_field(struct pd_apply_cdxj *x, const char *key, uint64_t n)
{
	pd_buf_clear(&x->value);
	pd_buf_printf(&x->value, "%" PRIu64, n);
	add_field(x, key, pd_buf_span(&x->value));
}

/* Spaces would part the fields for careless readers. */
static void add_url_field(struct pd_apply_cdxj *x)
{
	pd_buf_clear(&x->value);
	for (size_t i = 0; i < x->record.url.n; i++) {
		if (x->record.url.p[i] == ' ')
			pd_buf_add_z(&x->value, "%20");
		else
			pd_buf_add_c(&x->value, x->record.url.p[i]);
	}
	add_field(x, "url", pd_buf_span(&x->value));
}

/* For an uncompressed file: without the line ends that pad the record. */
static uint64_t length_of(const struct pd_apply_cdxj *x, const struct pd_read_extent *at)
{
	uint64_t bare = x->record.header.n + x->record.length;
	return !x->source.member.codec && bare < at->end - at->begin ? bare : at->end - at->begin;
}

static void add_mime_field(struct pd_apply_cdxj *x, const struct cdxj_entry *c)
{
	struct pd_span type = pd_span_ieq(c->type, "response") ? c->http.content_type : c->content_type;
	size_t n = 0;
	type = pd_span_trim(type);
	while (n < type.n && type.p[n] != ';' && !pd_ascii_space(type.p[n]))
		n++;
	add_field(x, "mime", pd_span_ieq(c->type, "revisit") ? pd_span_z("warc/revisit") : pd_span(type.p, n));
}

static void add_digest_field(struct pd_apply_cdxj *x, const struct cdxj_entry *c)
{
	if (c->digest.n || x->record.cut) {
		add_field(x, "digest", c->digest);
		return;
	}
	pd_buf_clear(&x->value);
	pd_buf_add_z(&x->value, "sha1:");
	pd_sha1_base32(c->payload, &x->value);
	add_field(x, "digest", pd_buf_span(&x->value));
}

static int write_entry(struct pd_apply_cdxj *x, const struct cdxj_entry *c, const struct pd_read_extent *at, const char *name,
		       struct pd_err *e)
{
	pd_buf_clear(&x->line);
	apply_surt(&x->surt, pd_buf_span(&x->record.url), &x->line);
	pd_buf_add_c(&x->line, ' ');
	add_stamp(pd_buf_span(&x->record.fetch_time), &x->line);
	pd_buf_add_c(&x->line, ' ');
	add_url_field(x);
	add_mime_field(x, c);
	if (c->has_http)
		add_number_field(x, "status", (uint64_t)c->http.status);
	add_digest_field(x, c);
	add_number_field(x, "length", length_of(x, at));
	add_number_field(x, "offset", at->begin);
	add_field(x, "filename", pd_span_z(name));
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
	struct pd_read_extent at;
	read_entry(x, &entry);
	if (!is_indexed(&x->record, &entry))
		return PD_OK;
	pd_read_source_extent(&x->source, &at);
	x->without += at.stream;
	return at.stream ? PD_OK : write_entry(x, &entry, &at, name, e);
}

int pd_apply_cdxj_add(struct pd_apply_cdxj *x, const char *dump, struct pd_err *e)
{
	const char *slash = strrchr(dump, '/');
	int r = 1, status = PD_OK;
	if (pd_read_source_open(&x->source, dump, dump) < 0)
		return pd_fail_errno(e, "%s: cannot open", dump);
	/* A dump that cannot be read does not look like one. */
	bool dump_or_bad = x->source.kind == PD_SOURCE_DUMP || x->source.in.error;
	while (dump_or_bad && !status && (r = pd_read_source_next(&x->source, &x->record)) == 1)
		status = add_record(x, slash ? slash + 1 : dump, e);
	if (r < 0)
		status = pd_fail_errno(e, "%s: cannot read", dump);
	pd_read_source_close(&x->source);
	return status;
}

/* ==== tables of removed pages ==== */

static void add_attributes(struct pd_apply_attributes *a, const struct pd_record *r, struct pd_span dup_of)
{
	struct pd_buf plain = { 0 };
	bool ok = pd_tsv_value(dup_of, &plain) == PD_OK;
	pd_json_str(a->json, "id", pd_buf_span(&r->id));
	if (r->user_id.n)
		pd_json_str(a->json, "user_id", pd_buf_span(&r->user_id));
	pd_json_str_or_null(a->json, "url", pd_buf_span(&r->url));
	pd_json_str_or_null(a->json, "duplicate_of", ok ? pd_buf_span(&plain) : dup_of);
	pd_json_write(a->json, &a->rows);
	pd_buf_add_c(&a->rows, '\n');
	pd_buf_release(&plain);
}

static int write_attributes(struct pd_apply_attributes *a, struct pd_outfile *to, struct pd_err *e)
{
	if (fwrite(a->rows.p, 1, a->rows.n, to->f) != a->rows.n)
		return pd_fail_errno(e, "cannot write %s", to->path);
	return PD_OK;
}

static int open_attributes(struct pd_apply_attributes *a, struct pd_outfile *to, struct pd_err *e)
{
	int status = pd_apply_make_folders(a->path.p, NULL, e);
	return status ? status : pd_outfile_open(to, a->path.p, e);
}

static int put_page(struct pd_apply_attributes *a, const char *folder, struct pd_err *e)
{
	int status = PD_OK;
	pd_buf_clear(&a->path);
	pd_buf_printf(&a->path, "%s/pages.jsonl", folder);
	if (!a->pages_open)
		status = open_attributes(a, &a->pages, e);
	a->pages_open |= !status;
	return status ? status : write_attributes(a, &a->pages, e);
}

static int put_input(struct pd_apply_attributes *a, const char *folder, const char *place, struct pd_err *e)
{
	struct pd_outfile to;
	pd_buf_clear(&a->path);
	pd_buf_printf(&a->path, "%s/%s.jsonl", folder, place);
	int status = open_attributes(a, &to, e);
	if (status)
		return status;
	status = write_attributes(a, &to, e);
	if (!status)
		return pd_outfile_commit(&to, e);
	pd_outfile_abandon(&to);
	return status;
}

/* ==== all ==== */

int pd_apply_side_outputs_open(struct pd_apply_side_outputs *b, struct pd_err *e)
{
	if (b->attributes)
		b->tables.json = pd_json_new();
	return b->cdxj ? pd_apply_cdxj_open(&b->index, b->cdxj, e) : PD_OK;
}

void pd_apply_side_outputs_page(struct pd_apply_side_outputs *b, const struct pd_record *r, struct pd_span dup_of)
{
	if (b->attributes)
		add_attributes(&b->tables, r, dup_of);
}

int pd_apply_side_outputs_input(struct pd_apply_side_outputs *b, const struct pd_apply_result *done, struct pd_err *e)
{
	struct pd_apply_attributes *a = &b->tables;
	int status = PD_OK;
	if (a->rows.n)
		status = done->page ? put_page(a, b->attributes, e) : put_input(a, b->attributes, done->place, e);
	pd_buf_clear(&a->rows);
	return !status && b->cdxj && done->output ? pd_apply_cdxj_add(&b->index, done->output, e) : status;
}

int pd_apply_side_outputs_close(struct pd_apply_side_outputs *b, int status, struct pd_err *e)
{
	struct pd_apply_attributes *a = &b->tables;
	if (a->pages_open && status >= 0)
		status = pd_outfile_commit(&a->pages, e);
	else if (a->pages_open)
		pd_outfile_abandon(&a->pages);
	if (b->index.json)
		status = pd_apply_cdxj_close(&b->index, status, e);
	pd_json_free(a->json);
	pd_buf_release(&a->rows);
	pd_buf_release(&a->path);
	return status;
}
