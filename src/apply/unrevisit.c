/* SPDX-License-Identifier: MIT */
#include "apply/unrevisit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "apply/revisit.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "read/http.h"

enum { RECORD_MAX = 1 << 30 };

struct response {
	const char *path;
	uint64_t offset, digest; /* of the payload, hashed; 0: unknown */
};

struct pd_apply_unrevisit {
	void (*missing)(void *ctx, const char *id, const char *why);
	void *ctx;
	struct pd_arena arena;
	struct response *responses;
	size_t n_responses, cap_responses;
	struct pd_map by_id, by_capture, by_digest; /* hash -> number + 1 */
	struct pd_read_source source, whole;	    /* headers; whole records */
	struct pd_read_sink sink;
	struct pd_record record, original;
	/* of the input scanned last */
	const char *path;
	struct pd_apply_cut *cuts; /* text_at: the number of the response */
	size_t n_cuts, cap_cuts;
};

struct pd_apply_unrevisit *pd_apply_unrevisit_new(void (*missing)(void *ctx, const char *id, const char *why), void *ctx)
{
	struct pd_apply_unrevisit *u = pd_zalloc(sizeof *u);
	struct pd_reader_options headers = { .max_block = 1 }, whole = { .max_block = RECORD_MAX };
	u->missing = missing;
	u->ctx = ctx;
	pd_read_source_init(&u->source, &headers, &u->sink);
	pd_read_source_init(&u->whole, &whole, &u->sink);
	u->source.keep_headers = u->whole.keep_headers = u->whole.keep_blocks = true;
	return u;
}

void pd_apply_unrevisit_free(struct pd_apply_unrevisit *u)
{
	if (!u)
		return;
	pd_read_source_release(&u->source);
	pd_read_source_release(&u->whole);
	pd_record_release(&u->record);
	pd_record_release(&u->original);
	pd_map_release(&u->by_id);
	pd_map_release(&u->by_capture);
	pd_map_release(&u->by_digest);
	pd_arena_release(&u->arena);
	free(u->responses);
	free(u->cuts);
	free(u);
}

static void put_first(struct pd_map *map, uint64_t hash, size_t number)
{
	uint32_t *at = hash ? pd_map_put(map, hash) : NULL;
	if (at && !*at)
		*at = (uint32_t)number;
}

int pd_apply_unrevisit_read(struct pd_apply_unrevisit *u, const char *path, struct pd_err *e)
{
	int more = 0;
	const char *copy = pd_arena_copy(&u->arena, pd_span_z(path)).p;
	if (pd_read_source_open(&u->source, copy, copy) < 0)
		return pd_fail_errno(e, "%s: cannot open", path);
	bool dump = u->source.kind == PD_SOURCE_DUMP || u->source.in.error;
	while (dump && (more = pd_read_source_next(&u->source, &u->record)) == 1) {
		const struct pd_record *r = &u->record;
		struct pd_read_extent x;
		pd_read_source_extent(&u->source, &x);
		if (r->kind != PD_RECORD_RESPONSE || x.stream || r->length > RECORD_MAX)
			continue;
		struct pd_apply_fields f = pd_apply_read_fields(r);
		u->responses = pd_grow(u->responses, u->n_responses, &u->cap_responses, sizeof *u->responses);
		u->responses[u->n_responses++] = (struct response){ copy, x.begin, pd_apply_hash_id(f.digest) };
		put_first(&u->by_id, pd_apply_hash_id(f.id), u->n_responses);
		put_first(&u->by_capture, pd_apply_hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time)), u->n_responses);
		put_first(&u->by_digest, pd_apply_hash_id(f.digest), u->n_responses);
	}
	if (more < 0)
		pd_fail_errno(e, "%s: cannot read", path);
	pd_read_source_close(&u->source);
	return more < 0 ? PD_ERR_SYSTEM : PD_OK;
}

/* The number + 1 of the response that a revisit refers to; 0: none, and the reason. */
static uint32_t find_response(const struct pd_apply_unrevisit *u, const struct pd_apply_fields *f, const char **why)
{
	uint64_t digest = pd_apply_hash_id(f->digest);
	const struct pd_map *maps[] = { &u->by_id, &u->by_capture, &u->by_digest };
	uint64_t hashes[] = { pd_apply_hash_id(f->refers_to), pd_apply_hash_capture(f->refers_to_uri, f->refers_to_date), digest };
	bool other = false;
	for (int i = 0; i < 3; i++) {
		const uint32_t *number = hashes[i] ? pd_map_find(maps[i], hashes[i]) : NULL;
		if (!number)
			continue;
		uint64_t its = u->responses[*number - 1].digest;
		if (!its || !digest || its == digest)
			return *number;
		other = true;
	}
	*why = other ? "the record that it refers to has another payload digest"
	       : hashes[0] || hashes[1] || digest
		       ? "the record that it refers to is not in these dumps, or shares a compressed member"
		       : "it does not say to which record it refers";
	return 0;
}

int pd_apply_unrevisit_scan(struct pd_apply_unrevisit *u, const char *path, const char *name, const struct pd_apply_cut **cuts,
			    size_t *n, uint64_t *missed, struct pd_err *e)
{
	int more = 0;
	u->path = path;
	u->n_cuts = 0;
	*missed = 0;
	if (pd_read_source_open(&u->source, path, name) < 0)
		return pd_fail_errno(e, "%s: cannot open", name);
	bool dump = u->source.kind == PD_SOURCE_DUMP || u->source.in.error;
	while (dump && (more = pd_read_source_next(&u->source, &u->record)) == 1) {
		const char *why = NULL;
		struct pd_read_extent x;
		struct pd_apply_fields f = pd_apply_read_fields(&u->record);
		if (u->record.kind != PD_RECORD_OTHER || !pd_span_ieq(pd_span_trim(f.type), "revisit"))
			continue;
		pd_read_source_extent(&u->source, &x);
		if (x.stream)
			why = "it shares a compressed member with other records";
		else if (pd_span_is(pd_span_trim(f.profile), PD_APPLY_NEAR_PROFILE))
			why = "the page that it refers to is only similar; restore it with --removed or from the original dump";
		uint32_t number = why ? 0 : find_response(u, &f, &why);
		if (why && u->missing)
			u->missing(u->ctx, pd_buf_z(&u->record.id), why);
		*missed += why != NULL;
		if (why)
			continue;
		u->cuts = pd_grow(u->cuts, u->n_cuts, &u->cap_cuts, sizeof *u->cuts);
		u->cuts[u->n_cuts++] =
			(struct pd_apply_cut){ .x = x, .codec = u->source.member.codec, .text_at = number - 1, .text_n = 1 };
	}
	if (more < 0)
		pd_fail_errno(e, "%s: cannot read", name);
	pd_read_source_close(&u->source);
	*cuts = u->cuts;
	*n = u->n_cuts;
	return more < 0 ? PD_ERR_SYSTEM : PD_OK;
}

/* Read the record that begins at the offset. */
static int read_at(struct pd_apply_unrevisit *u, const char *path, uint64_t offset, struct pd_record *out, struct pd_err *e)
{
	int r = pd_read_source_open_at(&u->whole, path, path, offset);
	if (!r)
		r = pd_read_source_next(&u->whole, out);
	pd_read_source_close(&u->whole);
	if (r == PD_ERR_SYSTEM)
		return pd_fail_errno(e, "%s: cannot read", path);
	return r == 1 ? PD_OK : pd_fail(e, PD_ERR_INPUT, "%s changed while it was read", path);
}

static bool is_dropped(struct pd_span name)
{
	static const char *const names[] = { "WARC-Profile",
					     "WARC-Refers-To",
					     "WARC-Refers-To-Target-URI",
					     "WARC-Refers-To-Date",
					     "WARC-Truncated",
					     "Content-Length",
					     "Content-Type",
					     "WARC-Block-Digest",
					     "WARC-Refers-To-Filename",
					     "WARC-Refers-To-File-Offset" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (pd_span_ieq(name, names[i]))
			return true;
	return false;
}

int pd_apply_unrevisit_make(void *ctx, const struct pd_apply_cut *cut, struct pd_buf *out, struct pd_err *e)
{
	struct pd_apply_unrevisit *u = ctx;
	const struct response *from = &u->responses[cut->text_at];
	struct pd_read_http own, http;
	int status = read_at(u, u->path, cut->x.begin, &u->record, e);
	if (!status)
		status = read_at(u, from->path, from->offset, &u->original, e);
	if (status)
		return status;
	struct pd_span block = pd_buf_span(&u->original.block), mine = pd_buf_span(&u->record.block);
	if (!pd_read_http_parse(block, &http) || u->original.cut)
		return pd_fail(e, PD_ERR_INPUT, "%s:%" PRIu64 ": this response has no HTTP header; remove the revisits of it",
			       from->path, from->offset);
	size_t payload = (size_t)(http.body.p - block.p);
	bool has_own = pd_read_http_parse(mine, &own) && own.status != 304 && !own.endless;
	struct pd_span head = has_own ? pd_span(mine.p, (size_t)(own.body.p - mine.p)) : pd_span(block.p, payload);

	struct pd_span header = pd_buf_span(&u->record.header), name, value;
	const char *line = memchr(header.p, '\n', header.n);
	pd_buf_add(out, header.p, line ? (size_t)(line - header.p) + 1 : 0);
	while (pd_read_warc_field(&header, &name, &value)) {
		if (is_dropped(name))
			continue;
		value = pd_span_ieq(name, "WARC-Type") ? pd_span_z("response") : pd_span_trim(value);
		pd_buf_add_span(out, name);
		pd_buf_add_z(out, ": ");
		pd_buf_add_span(out, value);
		pd_buf_add_z(out, "\r\n");
	}
	struct pd_sha1 *digest = pd_sha1_new();
	pd_sha1_add(digest, head);
	pd_sha1_add(digest, pd_span(block.p + payload, block.n - payload));
	pd_buf_add_z(out, "WARC-Block-Digest: sha1:");
	pd_sha1_end(digest, out);
	pd_buf_printf(out, "\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %zu\r\n\r\n",
		      head.n + block.n - payload);
	pd_buf_add_span(out, head);
	pd_buf_add(out, block.p + payload, block.n - payload);
	pd_buf_add_z(out, "\r\n\r\n");
	return PD_OK;
}
