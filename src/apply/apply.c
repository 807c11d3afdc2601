/* SPDX-License-Identifier: MIT
 *
 * In this order: revisit records; names of outputs; writing an output from an input and its cuts; finding the cuts
 * of an input, for removal and for restoring; the run over all inputs.
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/codec.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/parquet.h"
#include "base/tsv.h"
#include "read/dump.h"
#include "read/page.h"
#include "read/source.h"

/* ==== pages of verdicts ==== */

/* Compare a page with its verdict by content digest. A verdict must not remove a page of another dump. */
struct page_check {
	const struct pd_apply_removals *removals;
	bool off;
	struct pd_page_opener *opener;
	struct pd_buf digest;
};

static void page_check_init(struct page_check *c, const struct pd_apply_options *o)
{
	*c = (struct page_check){ .removals = o->removals, .off = o->unchecked };
	c->opener = pd_page_opener_new(&(struct pd_page_options){ .max_page = o->max_page });
}

static void page_check_release(struct page_check *c)
{
	pd_page_opener_free(c->opener);
	pd_buf_release(&c->digest);
}

/* Blocks are read of the pages alone that are compared. */
static bool page_is_compared(void *ctx, struct pd_span id)
{
	const struct page_check *c = ctx;
	return !c->off && pd_apply_removals_find(c->removals, id, pd_span(NULL, 0)).digest;
}

/* NULL: it is the page of the verdict; otherwise why it is kept. */
static const char *compare_page(struct page_check *c, const struct pd_record *r, uint64_t digest)
{
	if (c->off)
		return NULL;
	if (!digest)
		return "the verdict has no content_digest to compare it with";
	if (!pd_page_record_digest(c->opener, r, &c->digest))
		return "it has no content that the verdict could be about";
	return pd_apply_removals_digest(pd_buf_span(&c->digest)) == digest ? NULL
									   : "its content is not that of the page of the verdict";
}

/* Reads blocks for compare_page. */
static void read_compared(struct pd_read_source *s, struct page_check *c, size_t max_block)
{
	s->max_block = c->off ? 1 : max_block;
	s->wants = page_is_compared;
	s->wants_ctx = c;
}

/* ==== revisit records ==== */

/* Revisit records (WARC/1.1, 6.7) that replace removed pages in a WARC file, and the way back.  Input: the verdicts,
 * and all inputs of the run, read once before anything is written.  Output: for a removed page, and for a revisit of
 * such a page, a record that names the page kept and the original bytes:
 *
 *	WARC-Type: revisit
 *	WARC-Record-ID, WARC-Target-URI, WARC-Date	of the original record: references to it stay valid
 *	WARC-Profile: urn:pagededup:revisit:near-duplicate
 *	WARC-Refers-To, -Target-URI, -Date		the page kept
 *	WARC-Payload-Digest				of the page kept, by which replay finds it
 *	Pagededup-Kept					its id in the verdicts
 *	Pagededup-Original-Type, -Payload-Digest	of the original record
 *	Pagededup-Original-File, -Offset, -Length, -Digest	its bytes in the input, compressed as they were
 *
 * Records that share a compressed member have one common range of bytes, that of the members.  Memory: about 200
 * bytes for a kept page, 32 to 64 for a removed one. */

/* The pages kept, and which of them each removed one is a duplicate of. */
struct kept;

/* The fields of such a record about the original bytes. */
struct original {
	struct pd_buf file;
	uint64_t offset, length;
	struct pd_span digest; /* part of the header */
};

#define PROFILE "urn:pagededup:revisit:near-duplicate"

struct kept_page {
	struct pd_span id;
	struct pd_span fields; /* header lines for the revisit; empty until the record was found */
};

struct kept {
	const struct pd_apply_removals *removals;
	struct pd_arena arena;
	struct kept_page *pages;
	size_t n_pages, cap_pages;
	struct pd_map by_id;	 /* hash of an id -> page + 1 */
	struct pd_map removed;	 /* hash of a removed record -> the page kept + 1 */
	struct pd_map remaining; /* hashes of the pages that are not removed: several records may have one id */
	struct page_check *check;
	struct pd_read_source source;
	struct pd_read_sink sink;
	struct pd_record record;
	struct pd_buf text;
};

/* Hashes by which revisits refer to a record: its id; its URL and time. 0: none. */
static uint64_t hash_field(struct pd_span value)
{
	value = pd_span_trim(value);
	return value.n ? pd_map_key(value) | 1 : 0;
}

static uint64_t hash_capture(struct pd_span url, struct pd_span date)
{
	url = pd_span_trim(url);
	return url.n && date.n ? pd_hash64_seed(url.p, url.n, hash_field(date)) | 1 : 0;
}

/* --- the pages kept --- */

/* The id of a page as in the rows -> its number + 1; 0: it is not the kept page of any verdict. */
static uint32_t kept_of(const struct kept *k, struct pd_span dup_of, struct pd_buf *text)
{
	if (pd_tsv_value(dup_of, text) < 0)
		return 0;
	const uint32_t *page = pd_map_find(&k->by_id, pd_map_key(pd_buf_span(text)));
	return page ? *page : 0;
}

/* `removals`: with dup_of. */
static struct kept *kept_new(const struct pd_apply_removals *removals, struct page_check *check, size_t max_block)
{
	struct pd_reader_options o = { .max_block = max_block };
	struct kept *k = pd_zalloc(sizeof *k);
	struct pd_span dup_of;
	k->removals = removals;
	k->check = check;
	pd_read_source_init(&k->source, &o, &k->sink);
	read_compared(&k->source, check, max_block);
	k->source.keep_headers = true;
	for (size_t i = 0; pd_apply_removals_dup_of(removals, i, &dup_of); i++) {
		if (pd_tsv_value(dup_of, &k->text) < 0 || !k->text.n)
			continue;
		uint32_t *page = pd_map_put(&k->by_id, pd_map_key(pd_buf_span(&k->text)));
		if (*page)
			continue;
		k->pages = pd_grow(k->pages, k->n_pages, &k->cap_pages, sizeof *k->pages);
		k->pages[k->n_pages++] = (struct kept_page){ .id = pd_arena_copy(&k->arena, pd_buf_span(&k->text)) };
		*page = (uint32_t)k->n_pages;
	}
	return k;
}

static void kept_free(struct kept *k)
{
	if (!k)
		return;
	pd_arena_release(&k->arena);
	free(k->pages);
	pd_map_release(&k->by_id);
	pd_map_release(&k->removed);
	pd_map_release(&k->remaining);
	pd_read_source_release(&k->source);
	pd_record_release(&k->record);
	pd_buf_release(&k->text);
	free(k);
}

/* Read a header line; a folded one becomes one line. */
static void add_header_line(struct pd_buf *out, const char *name, struct pd_span value)
{
	value = pd_span_trim(value);
	if (!value.n)
		return;
	pd_buf_printf(out, "%s: ", name);
	for (size_t i = 0; i < value.n; i++)
		pd_buf_add_c(out, (unsigned char)value.p[i] < ' ' ? ' ' : value.p[i]);
	pd_buf_add_z(out, "\r\n");
}

/* A field of a record's header, unchanged. */
struct warc_fields {
	struct pd_span type, id, uri, date, digest;
};

/* In ARC the record itself has these values. */
static struct warc_fields read_fields(const struct pd_record *r)
{
	struct warc_fields f = { .uri = pd_buf_span(&r->url), .date = pd_buf_span(&r->fetch_time) };
	struct pd_span header = pd_buf_span(&r->header), name, value;
	if (header.n < 5 || memcmp(header.p, "WARC/", 5) != 0)
		return f;
	while (pd_read_warc_field(&header, &name, &value)) {
		if (pd_span_ieq(name, "WARC-Type"))
			f.type = value;
		else if (pd_span_ieq(name, "WARC-Record-ID"))
			f.id = value;
		else if (pd_span_ieq(name, "WARC-Target-URI"))
			f.uri = value;
		else if (pd_span_ieq(name, "WARC-Date"))
			f.date = value;
		else if (pd_span_ieq(name, "WARC-Payload-Digest"))
			f.digest = value;
	}
	return f;
}

static void note_kept(struct kept *k, struct kept_page *page)
{
	struct warc_fields f = read_fields(&k->record);
	pd_buf_clear(&k->text);
	add_header_line(&k->text, "WARC-Refers-To", f.id);
	add_header_line(&k->text, "WARC-Refers-To-Target-URI", f.uri);
	add_header_line(&k->text, "WARC-Refers-To-Date", f.date);
	add_header_line(&k->text, "WARC-Payload-Digest", f.digest);
	page->fields = pd_arena_copy(&k->arena, pd_buf_span(&k->text));
}

static void note_kept_for(struct kept *k, uint64_t hash, uint32_t kept)
{
	if (hash)
		*pd_map_put(&k->removed, hash) = kept;
}

static void note_page(struct kept *k)
{
	const struct pd_record *r = &k->record;
	const uint32_t *page = pd_map_find(&k->by_id, pd_map_key(pd_buf_span(&r->id)));
	if (page)
		note_kept(k, &k->pages[*page - 1]);
	struct pd_apply_removal removal = pd_apply_removals_find(k->removals, pd_buf_span(&r->id), pd_buf_span(&r->url));
	uint64_t id = hash_field(read_fields(r).id), capture = hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time));
	if (!removal.found || compare_page(k->check, r, removal.digest)) {
		pd_map_add(&k->remaining, id);
		pd_map_add(&k->remaining, capture);
		return;
	}
	uint32_t kept = kept_of(k, removal.dup_of, &k->text);
	note_kept_for(k, id, kept);
	note_kept_for(k, capture, kept);
}

/* An input, which the rows call `name`: every one, before the first revisit is written. */
static int kept_read(struct kept *k, const char *path, const char *name, struct pd_err *e)
{
	int r = 0;
	if (pd_read_source_open(&k->source, path, name) < 0)
		return pd_fail_errno(e, "%s: cannot open", name);
	bool read = k->source.kind == PD_SOURCE_DUMP || k->source.in.error;
	while (read && (r = pd_read_source_next(&k->source, &k->record)) == 1)
		if (k->record.kind != PD_RECORD_OTHER)
			note_page(k);
	if (r < 0)
		pd_fail_errno(e, "%s: cannot read", name);
	pd_read_source_close(&k->source);
	return r < 0 ? PD_ERR_SYSTEM : PD_OK;
}

/* Return whether the record with this hash is a removed page, and no other page has the hash. */
static bool kept_is_removed(const struct kept *k, uint64_t hash)
{
	return hash && pd_map_has(&k->removed, hash) && !pd_map_has(&k->remaining, hash);
}

/* --- the record --- */

static void revisit_begin(const struct kept *k, const struct pd_record *r, struct pd_span dup_of, uint64_t hash, struct pd_buf *out)
{
	struct pd_buf text = { 0 };
	struct warc_fields f = read_fields(r);
	const uint32_t *removed = hash ? pd_map_find(&k->removed, hash) : NULL;
	uint32_t kept = removed ? *removed : kept_of(k, dup_of, &text);
	pd_buf_add_z(out, "WARC/1.1\r\nWARC-Type: revisit\r\n");
	add_header_line(out, "WARC-Record-ID", f.id);
	add_header_line(out, "WARC-Target-URI", f.uri);
	add_header_line(out, "WARC-Date", f.date);
	pd_buf_add_z(out, "WARC-Profile: " PROFILE "\r\n");
	if (kept) {
		pd_buf_add_span(out, k->pages[kept - 1].fields);
		add_header_line(out, "Pagededup-Kept", k->pages[kept - 1].id);
	}
	add_header_line(out, "Pagededup-Original-Type", f.type);
	add_header_line(out, "Pagededup-Original-Payload-Digest", f.digest);
	pd_buf_release(&text);
}

/* … and the rest. */
static void revisit_end(const char *path, uint64_t offset, uint64_t length, struct pd_span digest, struct pd_buf *out)
{
	pd_buf_add_z(out, "Pagededup-Original-File: ");
	pd_tsv_add(out, pd_span_z(path));
	pd_buf_printf(out, "\r\nPagededup-Original-Offset: %" PRIu64 "\r\nPagededup-Original-Length: %" PRIu64 "\r\n", offset,
		      length);
	add_header_line(out, "Pagededup-Original-Digest", digest);
	pd_buf_add_z(out, "Content-Length: 0\r\n\r\n\r\n\r\n");
}

static bool parse_number(struct pd_span s, uint64_t *out)
{
	s = pd_span_trim(s);
	*out = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || *out > (UINT64_MAX >> 4) / 10)
			return false;
		*out = *out * 10 + (uint64_t)(s.p[i] - '0');
	}
	return s.n > 0;
}

/* False: it is another record. *known: it names its original bytes. */
static bool original_parse(struct pd_span header, struct original *out, bool *known)
{
	struct pd_span name, value;
	bool profile = false, file = false, offset = false, length = false;
	out->digest = pd_span(NULL, 0);
	while (pd_read_warc_field(&header, &name, &value)) {
		if (pd_span_ieq(name, "WARC-Profile"))
			profile = pd_span_is(pd_span_trim(value), PROFILE);
		else if (pd_span_ieq(name, "Pagededup-Original-File"))
			file = pd_tsv_value(pd_span_trim(value), &out->file) == PD_OK && out->file.n;
		else if (pd_span_ieq(name, "Pagededup-Original-Offset"))
			offset = parse_number(value, &out->offset);
		else if (pd_span_ieq(name, "Pagededup-Original-Length"))
			length = parse_number(value, &out->length);
		else if (pd_span_ieq(name, "Pagededup-Original-Digest"))
			out->digest = pd_span_trim(value);
	}
	*known = file && offset && length && out->length && out->digest.n;
	return profile;
}

/* --- bytes of files --- */

static int digest_range(const char *path, uint64_t offset, uint64_t length, struct pd_buf *out, struct pd_err *e)
{
	struct pd_pieces in = { .f = fopen(path, "re"), .name = path, .left = length };
	struct pd_span piece;
	if (!in.f)
		return pd_fail_errno(e, "%s: cannot open", path);
	struct pd_sha1 *h = pd_sha1_new();
	int status = fseeko(in.f, (off_t)offset, SEEK_SET) < 0 ? pd_fail_errno(e, "%s: cannot read", path) : PD_OK;
	while (!status && (status = pd_pieces_next(&in, &piece, e)) == 1) {
		pd_sha1_add(h, piece);
		status = PD_OK;
	}
	pd_buf_add_z(out, "sha1:");
	pd_sha1_end(h, out);
	fclose(in.f);
	return status;
}

/* Return the end of the compressed member that begins at `at`; for a damaged one, the begin of the next.  `s` is
 * opened and closed. */
static int member_end(struct pd_read_source *s, const char *path, const char *name, uint64_t at, uint64_t *end, struct pd_err *e)
{
	struct pd_read_member *m = &s->member;
	struct pd_span piece;
	if (pd_read_source_open(s, path, name) < 0)
		return pd_fail_errno(e, "%s: cannot open", name);
	int status = PD_OK;
	enum pd_codec codec = m->codec;
	if (codec == PD_CODEC_NONE || pd_read_input_seek(&s->in, at) < 0)
		status = pd_fail(e, PD_ERR_INPUT, "%s changed while it was read", name);
	if (!status) {
		pd_read_member_open(m, &s->in, codec);
		if (pd_read_member_next(m) != 1)
			status = pd_fail(e, PD_ERR_INPUT, "%s changed while it was read", name);
	}
	while (!status && (piece = pd_read_member_peek(m, 1)).n)
		pd_read_member_skip(m, piece.n);
	if (!status && m->state == PD_MEMBER_BROKEN)
		pd_read_member_resync(m);
	errno = s->in.error;
	if (errno)
		status = pd_fail_errno(e, "%s: cannot read", name);
	*end = s->in.offset;
	pd_read_source_close(s);
	return status;
}

/* ==== names of outputs ==== */

/* The names of outputs in a folder, derived from those of the inputs.  An input that was named becomes NAME, a file
 * of a folder that was named becomes NAME/…, as with `cp -r`; a file found under "." or ".." keeps its path from
 * there.  If two outputs would have one name, all keep the folders with which their inputs were named, except the
 * common ones:
 *
 *	a/crawl.gz b/crawl.gz -> a/crawl.gz, b/crawl.gz
 *	/data/1/crawl.gz /data/2/x.gz /data/2/crawl.gz -> 1/crawl.gz, 2/x.gz, 2/crawl.gz */

struct places {
	struct pd_map seen;    /* hashes of names */
	bool any, twice;       /* twice: some base name is ambiguous */
	struct pd_buf common;  /* folders that all have in common, with a slash after each */
	struct pd_buf folders; /* scratch */
};

/* The part after the folders with which an input was named. */
static const char *last_path_part(const struct pd_read_file *file)
{
	const char *name = file->path ? file->path + file->name : file->label;
	const char *slash = file->path ? NULL : strrchr(name, '/');
	name = slash ? slash + 1 : name;
	while (*name == '/')
		name++;
	if (!file->path && (!*name || !strcmp(name, "-") || !strcmp(name, ".") || !strcmp(name, "..")))
		name = "stdin";
	return name;
}

/* The folders that it was named with, as plain steps down: no "." and "..", no slash in front, one after each. */
static void folders_of(const struct pd_read_file *file, struct pd_buf *out)
{
	struct pd_span rest = file->path ? pd_span(file->path, file->name) : pd_span("", 0), step;
	pd_buf_clear(out);
	while (rest.n && pd_span_split(&rest, '/', &step)) {
		if (!step.n || pd_span_is(step, ".") || pd_span_is(step, ".."))
			continue;
		pd_buf_add_span(out, step);
		pd_buf_add_c(out, '/');
	}
}

/* Called for every input before the first name is computed. */
static void places_add(struct places *p, const struct pd_read_file *file)
{
	const char *name = last_path_part(file);
	p->twice |= !pd_map_add(&p->seen, pd_map_key(pd_span_z(name)));
	folders_of(file, &p->folders);
	if (!p->any)
		pd_buf_set(&p->common, pd_buf_span(&p->folders));
	p->any = true;
	size_t n = 0, whole = 0;
	for (; n < p->common.n && n < p->folders.n && p->common.p[n] == p->folders.p[n]; n++)
		if (p->common.p[n] == '/')
			whole = n + 1;
	p->common.n = whole;
}

/* Replaces `out` by the name of an output. */
static void places_name(struct places *p, const struct pd_read_file *file, struct pd_buf *out)
{
	pd_buf_clear(out);
	if (p->twice) {
		folders_of(file, &p->folders);
		pd_buf_add(out, p->folders.p + p->common.n, p->folders.n - p->common.n);
	}
	pd_buf_add_z(out, last_path_part(file));
}

static void places_release(struct places *p)
{
	pd_map_release(&p->seen);
	pd_buf_release(&p->common);
	pd_buf_release(&p->folders);
}

int pd_apply_make_folders(const char *path, struct pd_outfile_batch *batch, struct pd_err *e)
{
	struct pd_buf part = { 0 };
	int status = PD_OK;
	for (const char *slash = path; !status && (slash = strchr(slash + 1, '/'));) {
		pd_buf_set(&part, pd_span(path, (size_t)(slash - path)));
		if (mkdir(part.p, 0777) < 0) {
			status = errno == EEXIST ? PD_OK : pd_fail_errno(e, "cannot create the folder %s", part.p);
			continue;
		}
		if (batch)
			pd_outfile_batch_note(batch, part.p);
		else
			status = pd_sync_folder_of(part.p, e);
	}
	pd_buf_release(&part);
	return status;
}

/* The real path of the longest existing prefix of `path`; NULL: unknown, with errno. */
static char *real_place(const char *path)
{
	char *part = pd_strdup(path), *real;
	while (!(real = realpath(*part ? part : "/", NULL)) && (errno == ENOENT || errno == ENOTDIR)) {
		char *slash = strrchr(part, '/');
		if (!slash) {
			real = realpath(".", NULL);
			break;
		}
		*slash = 0;
	}
	free(part);
	return real;
}

/* Return whether `path`, existing or not, is `folder` or inside it. Links are followed. 1, 0, or negative: unknown. */
static int is_inside(const char *path, const char *folder, struct pd_err *e)
{
	char *inner = real_place(path), *outer = inner ? realpath(folder, NULL) : NULL;
	size_t n = outer ? strlen(outer) : 0;
	int inside = outer ? strncmp(inner, outer, n) == 0 && (!inner[n] || inner[n] == '/' || n == 1)
			   : pd_fail_errno(e, "cannot tell whether %s is in %s", path, folder);
	free(inner);
	free(outer);
	return inside;
}

/* ==== an input without its cuts ==== */

/* An input and the cuts of a scan -> the input without them.  Kept records are copied as they are in the file, with
 * their compressed members.  Only a member that lost a part of its contents is compressed again, in its own codec:
 * one member becomes one, or none if nothing is left.  If a record replaces a cut, the members that share such cuts
 * become one.
 *
 * There are two kinds of cuts: bytes of the file, which are skipped, and bytes of the contents of members.  Cuts of
 * the second kind that share members are handled together, from the first such member to the last: each is
 * decompressed, and its parts between the cuts are compressed again.  Bytes between members, junk or padding, are
 * copied.  If records replace such cuts, the rest of these members is compressed as one, and bytes between them are
 * left out: so one member represents one range of bytes of the input, from which it can be restored. */

/* Bytes that are not copied, and their replacement. */
struct cut {
	struct pd_read_extent x;
	enum pd_codec codec;	/* of the input */
	bool rows;		/* of Parquet: `x` counts rows */
	size_t other;		/* number + 1 of a record removed with a page (struct removed_other); 0: none */
	size_t text_at, text_n; /* a record among the texts of the run; 0: none … */
	const char *from;	/* … or bytes of another file; NULL: none */
	uint64_t from_begin, from_end;
};

struct rewriter {
	struct pd_read_source source; /* for members that are unpacked once more */
	struct pd_read_sink sink;
	struct pd_packer *packer;
	struct pd_buf out;
	/* of the run */
	const char *path, *name;
	int fd;
	bool rows; /* the cuts are rows */
	FILE *to;
	const char *texts;
	uint64_t written, rewritten; /* bytes; members compressed again */
	uint64_t lost;		     /* bytes of broken members that could not be kept */
};

enum { FLUSH = 1 << 18 };

/* Damage inside members that are compressed again is reported to `o->damage`. */
static void rewriter_init(struct rewriter *c, const struct pd_reader_options *o)
{
	*c = (struct rewriter){ .sink = { o->damage, o->damage_ctx, 0 }, .packer = pd_packer_new(), .fd = -1 };
	pd_read_source_init(&c->source, o, &c->sink);
}

static void rewriter_release(struct rewriter *c)
{
	pd_read_source_release(&c->source);
	pd_packer_free(c->packer);
	pd_buf_release(&c->out);
}

/* A read error is neither junk nor the end. */
static int check_input(const struct rewriter *c, struct pd_err *e)
{
	errno = c->source.in.error;
	return errno ? pd_fail_errno(e, "%s: cannot read", c->name) : PD_OK;
}

static int copy_between(struct rewriter *c, uint64_t from, uint64_t to, struct pd_err *e)
{
	return from >= to ? PD_OK : pd_copy_range(c->fd, c->name, from, to, c->to, &c->written, e);
}

static int flush_packed(struct rewriter *c, struct pd_err *e)
{
	if (c->out.n && fwrite(c->out.p, 1, c->out.n, c->to) != c->out.n)
		return pd_fail_errno(e, "cannot write");
	c->written += c->out.n;
	pd_buf_clear(&c->out);
	return PD_OK;
}

/* The members that some cuts have a part in. */
struct cut_group {
	const struct cut *cuts;
	size_t n, at;	/* at: the first cut that does not end before the place that is read */
	uint64_t base;	/* stream offset of the first member */
	uint64_t last;	/* start of the last one */
	bool begun;	/* the member that is written has something in it */
	bool joined;	/* records replace cuts: all becomes one member */
	size_t n_texts; /* cuts that were passed */
};

static void pack_span(struct rewriter *c, struct cut_group *g, struct pd_span s)
{
	if (!g->begun)
		pd_pack_start(c->packer, c->source.member.codec);
	g->begun = true;
	pd_pack_feed(c->packer, s, &c->out);
}

/* Compress the kept bytes at `offset` of the stream. */
static void pack_rest(struct rewriter *c, struct cut_group *g, uint64_t offset, struct pd_span s)
{
	while (s.n) {
		while (g->at < g->n && g->cuts[g->at].x.end <= offset)
			g->at++;
		const struct cut *cut = g->at < g->n ? &g->cuts[g->at] : NULL;
		bool inside = cut && cut->x.begin <= offset;
		uint64_t until = !cut ? UINT64_MAX : inside ? cut->x.end : cut->x.begin;
		size_t n = until - offset < s.n ? (size_t)(until - offset) : s.n;
		if (!inside)
			pack_span(c, g, pd_span(s.p, n));
		else if (cut->text_n && g->n_texts <= g->at)
			pack_span(c, g, pd_span(c->texts + cut->text_at, cut->text_n));
		if (inside)
			g->n_texts = g->at + 1;
		offset += n;
		s = pd_span(s.p + n, s.n - n);
	}
}

static int end_packed(struct rewriter *c, struct cut_group *g, struct pd_err *e)
{
	if (!g->begun)
		return PD_OK;
	g->begun = false;
	pd_pack_end(c->packer, &c->out);
	c->rewritten++;
	return flush_packed(c, e);
}

/* Handle the end of a member. One that was empty from the start, such as a skippable frame, is kept. */
static int end_member(struct rewriter *c, struct cut_group *g, bool empty, struct pd_err *e)
{
	const struct pd_read_member *m = &c->source.member;
	if (g->joined)
		return PD_OK;
	return empty && m->state == PD_MEMBER_ENDED ? copy_between(c, m->start, c->source.in.offset, e) : end_packed(c, g, e);
}

static int rewrite_member(struct rewriter *c, struct cut_group *g, struct pd_err *e)
{
	struct pd_read_member *m = &c->source.member;
	bool empty = true;
	int status = PD_OK;
	for (struct pd_span s; !status && (s = pd_read_member_peek(m, 1)).n; empty = false) {
		pack_rest(c, g, g->base + pd_read_member_offset(m), s);
		pd_read_member_skip(m, s.n);
		if (c->out.n >= FLUSH)
			status = flush_packed(c, e);
	}
	if (!status)
		status = check_input(c, e);
	return status ? status : end_member(c, g, empty, e);
}

/* After a damaged member, or at junk: continue at the next member.  Junk is copied; the rest of a damaged member,
 * which cannot be decompressed, is lost. */
static int pass_damage(struct rewriter *c, bool junk, bool joined, struct pd_err *e)
{
	struct pd_read_member *m = &c->source.member;
	uint64_t from = c->source.in.offset;
	if (!junk)
		pd_read_sink_tell(&c->sink, c->name, (struct pd_read_place){ m->start, false }, m->reason);
	pd_read_member_resync(m);
	uint64_t to = c->source.in.offset;
	int status = check_input(c, e);
	if (status)
		return status;
	if (junk)
		return joined ? PD_OK : copy_between(c, from, to, e);
	c->lost += to > m->start ? to - m->start : 0;
	return PD_OK;
}

/* Opens the input at the first member of the group, with the dictionary that it may need. */
static int open_members(struct rewriter *c, uint64_t at, struct pd_err *e)
{
	struct pd_read_source *s = &c->source;
	if (pd_read_source_open(s, c->path, c->name) < 0)
		return pd_fail_errno(e, "%s: cannot open", c->name);
	enum pd_codec codec = s->member.codec;
	int status = check_input(c, e);
	if (status)
		return status;
	if (codec == PD_CODEC_NONE || pd_read_input_seek(&s->in, at) < 0)
		return pd_fail(e, PD_ERR_INPUT, "%s changed while it was read", c->name);
	pd_read_member_open(&s->member, &s->in, codec);
	return PD_OK;
}

/* *pos: position in the input; in: start of the group, out: its end. */
static int rewrite_members(struct rewriter *c, struct cut_group *g, uint64_t *pos, struct pd_err *e)
{
	struct pd_read_member *m = &c->source.member;
	int status = PD_OK;
	while (!status) {
		int r = pd_read_member_next(m);
		uint64_t at = r == 1 ? m->start : c->source.in.offset;
		bool over = r == 0 || at > g->last;
		status = check_input(c, e);
		if (!status && over)
			status = end_packed(c, g, e);
		if (!status && (over || !g->joined))
			status = copy_between(c, *pos, at, e); /* zeroes between members */
		*pos = at;
		if (status || over)
			return status;
		if (r == 1)
			status = rewrite_member(c, g, e);
		if (!status && (r < 0 || m->state == PD_MEMBER_BROKEN))
			status = pass_damage(c, r < 0, g->joined, e);
		*pos = c->source.in.offset;
	}
	return status;
}

static int rewrite_group(struct rewriter *c, struct cut_group *g, uint64_t *pos, struct pd_err *e)
{
	int status = open_members(c, *pos, e);
	if (!status)
		status = rewrite_members(c, g, pos, e);
	pd_read_source_close(&c->source);
	return status;
}

/* Return the number of cuts, from the first, that share compressed members; *last: start of the last of these
 * members. */
static size_t cuts_sharing(const struct cut *cuts, size_t n, uint64_t *last)
{
	size_t shared = 1;
	*last = cuts->x.last;
	while (shared < n && cuts[shared].x.stream && cuts[shared].x.member <= *last) {
		if (cuts[shared].x.last > *last)
			*last = cuts[shared].x.last;
		shared++;
	}
	return shared;
}

static struct cut_group gather_cuts(const struct cut *cuts, size_t n)
{
	struct cut_group g = { .cuts = cuts, .base = cuts->x.member_offset };
	g.n = cuts_sharing(cuts, n, &g.last);
	for (size_t i = 0; i < g.n; i++)
		g.joined |= cuts[i].text_n > 0;
	return g;
}

static int copy_other(struct rewriter *c, const struct cut *cut, struct pd_err *e)
{
	int fd = open(cut->from, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pd_fail_errno(e, "%s: cannot open", cut->from);
	int status = pd_copy_range(fd, cut->from, cut->from_begin, cut->from_end, c->to, &c->written, e);
	close(fd);
	return status;
}

/* The replacement of bytes of the file. */
static int write_replacement(struct rewriter *c, const struct cut *cut, struct pd_err *e)
{
	if (cut->from)
		return copy_other(c, cut, e);
	if (!cut->text_n)
		return PD_OK;
	pd_pack_start(c->packer, cut->codec);
	pd_pack_feed(c->packer, pd_span(c->texts + cut->text_at, cut->text_n), &c->out);
	pd_pack_end(c->packer, &c->out);
	return flush_packed(c, e);
}

static int rewrite_all(struct rewriter *c, const struct cut *cuts, size_t n, struct pd_err *e)
{
	uint64_t pos = 0;
	int status = PD_OK;
	for (size_t i = 0; i < n && !status;) {
		status = copy_between(c, pos, cuts[i].x.stream ? cuts[i].x.member : cuts[i].x.begin, e);
		if (status)
			return status;
		if (!cuts[i].x.stream) {
			pos = cuts[i].x.end;
			status = write_replacement(c, &cuts[i++], e);
			continue;
		}
		struct cut_group g = gather_cuts(cuts + i, n - i);
		pos = cuts[i].x.member;
		status = rewrite_group(c, &g, &pos, e);
		i += g.n;
	}
	return status ? status : copy_between(c, pos, UINT64_MAX, e);
}

static int write_bytes(void *ctx, const void *bytes, size_t n)
{
	struct rewriter *c = ctx;
	errno = 0;
	if (fwrite(bytes, 1, n, c->to) != n)
		return errno ? errno : EIO;
	c->written += n;
	return 0;
}

/* Cuts are rows. */
static int write_without_rows(struct rewriter *c, const struct cut *cuts, size_t n_cuts, struct pd_err *e)
{
	struct pd_parquet_cut *rows = pd_alloc((n_cuts + 1) * sizeof *rows);
	struct pd_parquet_error why;
	for (size_t i = 0; i < n_cuts; i++)
		rows[i] = (struct pd_parquet_cut){ cuts[i].x.begin, cuts[i].x.end };
	int r = pd_parquet_copy(c->fd, rows, n_cuts, write_bytes, c, &why);
	free(rows);
	errno = why.number;
	return !r	    ? PD_OK
	       : why.number ? pd_fail_errno(e, "%s: cannot write what is left of it", c->name)
			    : pd_fail(e, PD_ERR_INPUT, "%s: cannot be written again: %s", c->name, why.text);
}

/* `path`: a regular file.  `texts`: referenced by the cuts.  The counts are set.  PD_ERR_SYSTEM; PD_ERR_INPUT: a
 * file has changed since the scan. */
static int write_without_cuts(struct rewriter *c, const char *path, const char *name, const struct cut *cuts, size_t n_cuts,
			      const char *texts, FILE *to, struct pd_err *e)
{
	c->path = path;
	c->name = name;
	c->texts = texts;
	c->rows = n_cuts && cuts->rows;
	c->to = to;
	c->written = c->rewritten = c->lost = 0;
	pd_buf_clear(&c->out);
	c->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		return pd_fail_errno(e, "%s: cannot open", name);
	int status = n_cuts && c->rows ? write_without_rows(c, cuts, n_cuts, e) : rewrite_all(c, cuts, n_cuts, e);
	close(c->fd);
	return status;
}

/* ==== parts of an input to remove ==== */

/* One input and the pages to remove -> the bytes to remove (cuts).  The input is read once and nothing is written.
 * Memory grows with the removed records.
 *
 * In a WARC file, records that are not pages are removed together with pages:
 *
 * - A request or metadata record is removed if every record that it names (WARC-Concurrent-To, WARC-Refers-To) is
 * removed, or if a removed record names it (WARC-Concurrent-To).
 * - A record that names nothing is removed if it is next to a removed page, with only such records between, and has
 * its URL.
 * - A revisit is removed if the record to which it refers is removed (WARC-Refers-To, otherwise
 * WARC-Refers-To-Target-URI and WARC-Refers-To-Date), together with its own request and metadata.
 * - All other records are kept: warcinfo, and the records of kept pages.
 * - If a kept page has the same id as a removed one, records that name this id are kept.
 *
 * The rule looks ahead without limit, and back over at most PD_APPLY_ASSOCIATED_BACK such records, because writers
 * store the records of a capture together.  For one input the hashes of the ids of kept pages are in memory, about
 * 60 bytes each.
 *
 * A kept revisit of a removed page, in the same input or in another one of the run, has nothing to show: such
 * revisits are reported at the end.  With `kept` it is replaced by one that names the page kept.  Memory: 16 to 32
 * bytes per removed record; the revisits are in a temporary file. */

struct revisits {
	const char *tmp_dir; /* set by the caller */
	struct pd_map removed;
	FILE *stay;
	struct pd_err err; /* of writing them */
};

enum { PD_APPLY_ASSOCIATED_BACK = 64, PD_APPLY_ASSOCIATED_NAMES = 4 };

/* A record that is removed because of the ids of removed pages: it is kept after all if a page that is kept has one of them, too.
 * Record ids should be unique, and are not in dumps that were joined or forged. */
struct removed_other {
	uint64_t own;				   /* hash of its id, 0: none */
	uint64_t cause[PD_APPLY_ASSOCIATED_NAMES]; /* hashes of ids of pages; with `named`: of ids that pages name */
	int n_causes;
	bool named, kept;
};

/* A request or metadata record that is kept so far. */
struct neighbour {
	struct pd_read_extent extent;
	uint64_t own;				   /* hash of its id, 0: none */
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES]; /* hashes of the ids that it names */
	int n_names, n_removed; /* how many of these are removed; with more than PD_APPLY_ASSOCIATED_NAMES names it is kept */
	uint64_t url;
	bool removed;
};

struct associated {
	void (*cut)(void *ctx, const struct pd_read_extent *extent); /* this record is removed; it is the last of `others` */
	void *ctx;
	bool keep;		   /* no record is removed with a page */
	const struct kept *kept;   /* revisits of removed records are replaced; or NULL */
	struct revisits *revisits; /* records the removed pages, and the kept revisits; or NULL */
	struct neighbour ring[PD_APPLY_ASSOCIATED_BACK];
	uint64_t n;			/* records that came into the ring, ever */
	uint64_t beside;		/* of them, the first after the last page */
	bool page_removed;		/* the last page is removed … */
	uint64_t page_url;		/* … and this is its URL */
	uint64_t refers_to;		/* hash of the reference of a replaced revisit, otherwise 0 */
	struct pd_map ids;		/* hashes of removed records and of the records that they name */
	struct pd_map remaining, named; /* hashes of ids of kept pages, and of the records that they name */
	size_t last;			/* number + 1 in `others` of the last record, if it is removed */
	uint64_t page_cause;		/* a revisit that is removed: hash of its id; 0: of a page */
	struct removed_other *others;
	size_t n_others, cap_others;
};

struct scan_options {
	struct pd_apply_removals *removals;
	struct revisits *revisits; /* of all inputs; or NULL: not needed */
	bool keep_others;	   /* all records that are not pages are kept */
	const struct kept *kept;   /* in WARC, revisits replace removed pages; or NULL. All others are kept */
	struct pd_read_jsonl_fields fields;
	size_t max_block; /* as for reading: a JSONL line over four times this length is not a line */
	void (*damage)(void *ctx, const struct pd_read_damage *d);
	/* Called for a removed page; may be NULL. */
	void (*page)(void *ctx, const struct pd_record *r, struct pd_span dup_of);
	/* The record with the id has another URL than its verdict: it is kept. */
	void (*other_url)(void *ctx, const char *id);
	void (*other_page)(void *ctx, const char *id, const char *why);
	void *ctx;
	struct page_check *check;
};

struct input_scan {
	struct scan_options o;
	struct pd_read_sink sink;
	struct pd_read_source source;
	struct pd_record record;
	struct associated associated;
	/* of the input scanned last */
	struct cut *cuts; /* in the order of the input, disjoint and not adjacent */
	size_t n_cuts, cap_cuts;
	struct pd_buf texts, begun;	   /* referenced by the cuts: replacement records; scratch */
	uint64_t revisits;		   /* … and how many these are */
	bool whole;			   /* the input is a single page, and it is removed */
	uint64_t pages, removed_with_page; /* removed records: pages, and others with them */
	uint64_t records;		   /* read */
};

/* --- kept revisits --- */

/* One in the file: this, and the id. */
struct stays {
	uint64_t original;
	uint64_t n;
};

static void note_removed(struct revisits *r, uint64_t id)
{
	pd_map_add(&r->removed, id);
}

static void note_revisit(struct revisits *r, uint64_t original, struct pd_span id)
{
	struct stays s = { original, id.n };
	if (!original || r->err.status)
		return;
	if (!r->stay)
		r->stay = pd_tempfile_open(r->tmp_dir, &r->err);
	if (r->stay && (fwrite(&s, sizeof s, 1, r->stay) != 1 || fwrite(id.p, 1, id.n, r->stay) != id.n))
		pd_fail_errno(&r->err, "cannot write a temporary file");
}

/* After all inputs are scanned, call `orphan` for each revisit whose original is removed, in the order of the
 * inputs. */
static int revisits_end(struct revisits *r, void (*orphan)(void *ctx, const char *id), void *ctx, struct pd_err *e)
{
	struct pd_buf id = { 0 };
	struct stays s;
	if (r->err.status) {
		*e = r->err;
		return e->status;
	}
	if (!r->stay || !r->removed.n)
		return PD_OK;
	if (fflush(r->stay) || fseeko(r->stay, 0, SEEK_SET) < 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	bool ok = true;
	while (ok && fread(&s, sizeof s, 1, r->stay) == 1) {
		pd_buf_clear(&id);
		ok = fread(pd_buf_reserve(&id, s.n), 1, s.n, r->stay) == s.n;
		id.p[s.n] = 0;
		if (ok && pd_map_has(&r->removed, s.original))
			orphan(ctx, id.p);
	}
	pd_buf_release(&id);
	return ok && !ferror(r->stay) ? PD_OK : pd_fail_errno(e, "cannot read a temporary file");
}

static void revisits_release(struct revisits *r)
{
	pd_map_release(&r->removed);
	if (r->stay)
		fclose(r->stay);
}

/* --- records removed with a page --- */

/* The references of a header to other records; views into it. */
struct ties {
	struct pd_span type, own, refers_url, refers_date;
	uint64_t names[PD_APPLY_ASSOCIATED_NAMES];
	int n_names;
	uint64_t refers_to;
};

static void add_associated(struct ties *t, uint64_t id)
{
	if (id && t->n_names < PD_APPLY_ASSOCIATED_NAMES)
		t->names[t->n_names] = id;
	t->n_names += id != 0;
}

static void read_ties(struct pd_span header, struct ties *t)
{
	struct pd_span name, value;
	*t = (struct ties){ 0 };
	while (pd_read_warc_field(&header, &name, &value)) {
		if (pd_span_ieq(name, "WARC-Type"))
			t->type = pd_span_trim(value);
		else if (pd_span_ieq(name, "WARC-Record-ID"))
			t->own = value;
		else if (pd_span_ieq(name, "WARC-Concurrent-To"))
			add_associated(t, hash_field(value));
		else if (pd_span_ieq(name, "WARC-Refers-To"))
			t->refers_to = hash_field(value);
		else if (pd_span_ieq(name, "WARC-Refers-To-Target-URI"))
			t->refers_url = value;
		else if (pd_span_ieq(name, "WARC-Refers-To-Date"))
			t->refers_date = value;
	}
}

/* --- ids of removed records --- */

static bool is_removed(const struct associated *o, uint64_t id)
{
	return id && pd_map_has(&o->ids, id);
}

static void note_other(struct associated *o, uint64_t own, const uint64_t *causes, int n, bool named)
{
	o->others = pd_grow(o->others, o->n_others, &o->cap_others, sizeof *o->others);
	struct removed_other *other = &o->others[o->n_others++];
	*other = (struct removed_other){ .own = own, .n_causes = n, .named = named };
	for (int i = 0; i < n; i++)
		other->cause[i] = causes[i];
}

/* A removed record names its id, or it names only removed records, or it is next to one. */
static void note_neighbour(struct associated *o, const struct neighbour *n)
{
	bool all = n->n_names && n->n_removed == n->n_names;
	if (all)
		note_other(o, n->own, n->names, n->n_names, false);
	else if (is_removed(o, n->own))
		note_other(o, n->own, &n->own, 1, true);
	else
		note_other(o, n->own, &o->page_cause, o->page_cause != 0, false);
}

static void remove_other(struct associated *o, struct neighbour *other)
{
	if (o->keep)
		return;
	other->removed = true;
	note_neighbour(o, other);
	o->cut(o->ctx, &other->extent);
}

static bool has_cause_kept(const struct associated *o, const struct removed_other *other)
{
	for (int i = 0; i < other->n_causes; i++)
		if (pd_map_has(other->named ? &o->named : &o->remaining, other->cause[i]))
			return true;
	return false;
}

/* Mark the records that are kept after all; a kept revisit keeps its own records. True: there are some. */
static bool keep_doubtful(struct associated *o)
{
	bool any = false;
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < o->n_others; i++) {
			struct removed_other *other = &o->others[i];
			if (other->kept || !has_cause_kept(o, other))
				continue;
			other->kept = any = true;
			more |= other->own && pd_map_add(&o->remaining, other->own);
		}
	}
	return any;
}

/* A record id is removed: records that name it, or have it, may be removed too. */
static void look_back(struct associated *o, uint64_t id)
{
	uint64_t from = o->n > PD_APPLY_ASSOCIATED_BACK ? o->n - PD_APPLY_ASSOCIATED_BACK : 0;
	for (uint64_t i = from; i < o->n; i++) {
		struct neighbour *other = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
		for (int k = 0; k < other->n_names && k < PD_APPLY_ASSOCIATED_NAMES; k++)
			other->n_removed += other->names[k] == id;
		bool all = other->n_names && other->n_removed == other->n_names;
		if (!other->removed && (all || other->own == id))
			remove_other(o, other);
	}
}

static void add_id(struct associated *o, uint64_t id)
{
	if (id && o->revisits)
		note_removed(o->revisits, id);
	if (id && pd_map_add(&o->ids, id))
		look_back(o, id);
}

/* --- records --- */

static void clear_associated(struct associated *o)
{
	pd_map_clear(&o->ids, 0);
	pd_map_clear(&o->remaining, 0);
	pd_map_clear(&o->named, 0);
	o->n_others = 0;
	o->page_cause = 0;
	o->n = o->beside = 0;
	o->page_removed = false;
	o->page_url = 0;
}

static void release_associated(struct associated *o)
{
	pd_map_release(&o->ids);
	pd_map_release(&o->remaining);
	pd_map_release(&o->named);
	free(o->others);
}

/* A page, or a revisit, that is kept. */
static void note_remaining(struct associated *o, const struct pd_record *r, const struct ties *t)
{
	uint64_t own = hash_field(t->own), capture = hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time));
	if (own)
		pd_map_add(&o->remaining, own);
	if (capture)
		pd_map_add(&o->remaining, capture);
	for (int i = 0; i < t->n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
		pd_map_add(&o->named, t->names[i]);
}

/* The records before it that name nothing and have its URL. */
static void remove_beside(struct associated *o)
{
	uint64_t from = o->n > PD_APPLY_ASSOCIATED_BACK ? o->n - PD_APPLY_ASSOCIATED_BACK : 0;
	for (uint64_t i = o->beside > from ? o->beside : from; i < o->n; i++) {
		struct neighbour *other = &o->ring[i % PD_APPLY_ASSOCIATED_BACK];
		if (!other->removed && !other->n_names && other->url == o->page_url)
			remove_other(o, other);
	}
}

static void note_capture(struct associated *o, const struct pd_record *r, const struct ties *t, bool page_removed)
{
	o->page_removed = page_removed;
	o->page_url = hash_field(pd_buf_span(&r->url));
	if (page_removed) {
		add_id(o, hash_field(t->own));
		add_id(o, hash_capture(pd_buf_span(&r->url), pd_buf_span(&r->fetch_time)));
		for (int i = 0; i < t->n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
			add_id(o, t->names[i]);
		if (o->page_url)
			remove_beside(o);
	} else if (!o->keep) {
		note_remaining(o, r, t);
	}
	o->beside = o->n;
}

static void associate_page(struct associated *o, const struct pd_record *r, bool page_removed)
{
	struct ties t = { 0 };
	if (page_removed || !o->keep)
		read_ties(pd_buf_span(&r->header), &t);
	o->page_cause = 0;
	note_capture(o, r, &t, page_removed);
}

static bool revisit_is_removed(struct associated *o, const struct pd_record *r, const struct ties *t)
{
	uint64_t original = t->refers_to ? t->refers_to : hash_capture(t->refers_url, t->refers_date);
	bool removed = !o->keep && is_removed(o, original);
	if (o->kept && kept_is_removed(o->kept, original)) {
		o->refers_to = original;
		removed = true;
	}
	if (!removed && o->revisits)
		note_revisit(o->revisits, original, pd_buf_span(&r->id));
	o->page_cause = hash_field(t->own);
	if (removed && !o->refers_to)
		note_other(o, o->page_cause, &original, 1, false);
	size_t number = o->n_others;
	note_capture(o, r, t, removed);
	o->last = number;
	return removed;
}

static bool is_associated(const struct associated *o, const struct neighbour *other)
{
	if (is_removed(o, other->own) || (other->n_names && other->n_removed == other->n_names))
		return true;
	return !other->n_names && o->page_removed && other->url && other->url == o->page_url;
}

static bool other_is_removed(struct associated *o, const struct pd_record *r, const struct pd_read_extent *extent)
{
	struct ties t;
	o->refers_to = 0;
	read_ties(pd_buf_span(&r->header), &t);
	if (pd_span_ieq(t.type, "revisit"))
		return revisit_is_removed(o, r, &t);
	if (!pd_span_ieq(t.type, "request") && !pd_span_ieq(t.type, "metadata"))
		return false;
	add_associated(&t, t.refers_to);
	struct neighbour other = {
		.extent = *extent, .own = hash_field(t.own), .n_names = t.n_names, .url = hash_field(pd_buf_span(&r->url))
	};
	memcpy(other.names, t.names, sizeof t.names);
	for (int i = 0; i < t.n_names && i < PD_APPLY_ASSOCIATED_NAMES; i++)
		other.n_removed += is_removed(o, t.names[i]);
	if (!o->keep && is_associated(o, &other)) {
		note_neighbour(o, &other);
		o->last = o->n_others;
		return true;
	}
	o->ring[o->n++ % PD_APPLY_ASSOCIATED_BACK] = other;
	return false;
}

/* --- one input --- */

static void scan_init(struct input_scan *s, const struct scan_options *o)
{
	struct pd_reader_options r = { .max_block = o->max_block, .fields = o->fields };
	*s = (struct input_scan){ .o = *o, .sink = { .damage = o->damage, .ctx = o->ctx } };
	pd_read_source_init(&s->source, &r, &s->sink);
	read_compared(&s->source, o->check, o->max_block);
	s->source.keep_headers = !o->keep_others || o->revisits || o->kept;
}

static void scan_release(struct input_scan *s)
{
	pd_read_source_release(&s->source);
	pd_record_release(&s->record);
	release_associated(&s->associated);
	pd_buf_release(&s->texts);
	pd_buf_release(&s->begun);
	free(s->cuts);
}

static void add_cut(struct input_scan *s, const struct pd_read_extent *x)
{
	s->cuts = pd_grow(s->cuts, s->n_cuts, &s->cap_cuts, sizeof *s->cuts);
	s->cuts[s->n_cuts++] =
		(struct cut){ .x = *x, .codec = s->source.member.codec, .rows = s->source.kind == PD_SOURCE_PARQUET };
}

static void add_other(void *ctx, const struct pd_read_extent *x)
{
	struct input_scan *s = ctx;
	s->removed_with_page++;
	add_cut(s, x);
	s->cuts[s->n_cuts - 1].other = s->associated.n_others;
}

static bool is_warc(const struct input_scan *s)
{
	return s->source.kind == PD_SOURCE_DUMP && s->source.dump.format == &pd_read_format_warc;
}

/* The last record is removed, and a revisit replaces it. */
static void begin_revisit(struct input_scan *s, struct pd_span dup_of, uint64_t refers_to)
{
	if (!s->o.kept || !is_warc(s))
		return;
	revisit_begin(s->o.kept, &s->record, dup_of, refers_to, &s->begun);
	s->revisits++;
}

static bool page_is_removed(struct input_scan *s)
{
	const struct pd_record *r = &s->record;
	struct pd_apply_removal drop = pd_apply_removals_take(s->o.removals, pd_buf_span(&r->id), pd_buf_span(&r->url));
	if (drop.other_url && s->o.other_url)
		s->o.other_url(s->o.ctx, pd_buf_z(&r->id));
	const char *why = drop.found ? compare_page(s->o.check, r, drop.digest) : NULL;
	if (why && s->o.other_page)
		s->o.other_page(s->o.ctx, pd_buf_z(&r->id), why);
	drop.found &= !why;
	s->pages += drop.found;
	if (drop.found && s->o.page)
		s->o.page(s->o.ctx, r, drop.dup_of);
	if (drop.found)
		begin_revisit(s, drop.dup_of, 0);
	return drop.found;
}

/* Return whether the last record is removed. */
static bool record_is_removed(struct input_scan *s, const struct pd_read_extent *x)
{
	bool page = s->record.kind != PD_RECORD_OTHER || s->source.kind != PD_SOURCE_DUMP;
	bool page_removed = page && page_is_removed(s);
	s->associated.last = 0;
	if (s->source.kind != PD_SOURCE_DUMP || !s->source.keep_headers)
		return page_removed;
	if (page) {
		associate_page(&s->associated, &s->record, page_removed);
		return page_removed;
	}
	bool removed = other_is_removed(&s->associated, &s->record, x);
	if (removed && s->associated.refers_to)
		begin_revisit(s, pd_span(NULL, 0), s->associated.refers_to);
	else
		s->removed_with_page += removed;
	return removed;
}

/* Start of a cut in the input. */
static uint64_t offset_of_extent(const struct pd_read_extent *x)
{
	return x->stream ? x->member : x->begin;
}

static int by_begin(const void *a, const void *b)
{
	const struct pd_read_extent *x = &((const struct cut *)a)->x, *y = &((const struct cut *)b)->x;
	if (offset_of_extent(x) != offset_of_extent(y))
		return offset_of_extent(x) < offset_of_extent(y) ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Merge adjacent cuts, unless a record replaces one. */
static void join_cuts(struct input_scan *s)
{
	size_t n = 0;
	if (s->n_cuts)
		qsort(s->cuts, s->n_cuts, sizeof *s->cuts, by_begin);
	for (size_t i = 0; i < s->n_cuts; i++) {
		struct cut *before = n ? &s->cuts[n - 1] : NULL, *cut = &s->cuts[i];
		if (!before || before->text_n || cut->text_n || before->x.stream != cut->x.stream ||
		    before->x.end != cut->x.begin) {
			s->cuts[n++] = *cut;
			continue;
		}
		before->x.end = cut->x.end;
		before->x.last = cut->x.last;
	}
	s->n_cuts = n;
}

/* Records whose ids are ambiguous are kept. */
static void drop_doubtful_cuts(struct input_scan *s)
{
	size_t n = 0;
	if (!s->associated.n_others || !keep_doubtful(&s->associated))
		return;
	for (size_t i = 0; i < s->n_cuts; i++) {
		bool kept = s->cuts[i].other && s->associated.others[s->cuts[i].other - 1].kept;
		s->removed_with_page -= kept;
		if (!kept)
			s->cuts[n++] = s->cuts[i];
	}
	s->n_cuts = n;
}

static int scan_records(struct input_scan *s)
{
	bool tar = s->source.kind == PD_SOURCE_TAR, open_cut = false;
	int r;
	while ((r = pd_read_source_next(&s->source, &s->record)) == 1 || open_cut) {
		if (open_cut)
			s->cuts[s->n_cuts - 1].x.end = s->source.tar.end;
		open_cut = false;
		if (r != 1)
			break;
		struct pd_read_extent x;
		pd_read_source_extent(&s->source, &x);
		s->records++;
		size_t text_at = s->begun.n;
		if (!record_is_removed(s, &x))
			continue;
		s->whole |= s->source.kind == PD_SOURCE_PAGE;
		add_cut(s, &x);
		s->cuts[s->n_cuts - 1].other = s->associated.last;
		s->cuts[s->n_cuts - 1].text_at = text_at;
		s->cuts[s->n_cuts - 1].text_n = s->begun.n - text_at;
		open_cut = tar;
	}
	drop_doubtful_cuts(s);
	return r;
}

/* The bytes that are represented by cut `i` and those that share members with it; the number of these cuts. */
static size_t original_range(struct input_scan *s, size_t i, const char *path, const char *name, uint64_t *begin, uint64_t *end,
			     int *status, struct pd_err *e)
{
	const struct pd_read_extent *x = &s->cuts[i].x;
	uint64_t last;
	*begin = offset_of_extent(x);
	*end = x->end;
	if (!x->stream)
		return 1;
	size_t n = cuts_sharing(s->cuts + i, s->n_cuts - i, &last);
	*status = member_end(&s->source, path, name, last, end, e);
	return n;
}

/* Write into each revisit the bytes that it represents. */
static int end_revisits(struct input_scan *s, const char *path, const char *name, struct pd_err *e)
{
	struct pd_buf digest = { 0 };
	uint64_t begin, end;
	int status = PD_OK;
	for (size_t i = 0; i < s->n_cuts && s->revisits && !status;) {
		size_t n = original_range(s, i, path, name, &begin, &end, &status, e);
		pd_buf_clear(&digest);
		if (!status && s->cuts[i].text_n)
			status = digest_range(path, begin, end - begin, &digest, e);
		for (struct cut *cut = &s->cuts[i]; !status && cut < &s->cuts[i + n]; cut++) {
			if (!cut->text_n)
				continue;
			struct pd_span text = pd_span(s->begun.p + cut->text_at, cut->text_n);
			cut->text_at = s->texts.n;
			pd_buf_add_span(&s->texts, text);
			revisit_end(path, begin, end - begin, pd_buf_span(&digest), &s->texts);
			cut->text_n = s->texts.n - cut->text_at;
		}
		i += n;
	}
	pd_buf_release(&digest);
	return status;
}

static int open_scan(struct input_scan *s, const char *path, const char *name, struct pd_err *e)
{
	s->n_cuts = 0;
	s->whole = false;
	s->pages = s->removed_with_page = s->records = s->revisits = 0;
	pd_buf_clear(&s->texts);
	pd_buf_clear(&s->begun);
	s->associated.cut = add_other;
	s->associated.ctx = s;
	s->associated.kept = s->o.kept;
	s->associated.keep = s->o.keep_others || s->o.kept;
	s->associated.revisits = s->o.revisits;
	clear_associated(&s->associated);
	return pd_read_source_open(&s->source, path, name) < 0 ? pd_fail_errno(e, "%s: cannot open", name) : PD_OK;
}

/* `name`: the input's name in the verdicts. PD_ERR_SYSTEM, PD_ERR_INPUT. */
static int scan_input(struct input_scan *s, const char *path, const char *name, struct pd_err *e)
{
	int status = open_scan(s, path, name, e);
	if (status)
		return status;
	status = scan_records(s);
	if (status < 0)
		status = pd_fail_errno(e, "%s: cannot read", name);
	pd_read_source_close(&s->source);
	if (s->whole)
		s->n_cuts = 0;
	join_cuts(s);
	return status ? status : end_revisits(s, path, name, e);
}

/* A WARC file without removed pages is read only for its revisits; with `kept` these may be cuts. */
static int scan_revisits(struct input_scan *s, const char *path, const char *name, struct pd_err *e)
{
	struct pd_read_sink before = s->sink;
	int status = open_scan(s, path, name, e);
	if (status)
		return status;
	s->sink.damage = NULL; /* it is passed on as it is */
	if (s->source.kind == PD_SOURCE_DUMP || s->source.in.error)
		status = scan_records(s);
	if (status < 0)
		status = pd_fail_errno(e, "%s: cannot read", name);
	pd_read_source_close(&s->source);
	s->sink = before;
	join_cuts(s);
	return status ? status : end_revisits(s, path, name, e);
}

/* ==== restoring ==== */

/* A dump with revisit records in place of removed records -> its bytes to replace by those of the original inputs,
 * compressed as they were.  Bytes are restored only if their digest is correct. */

struct restore {
	const char *folder; /* folder to search for the inputs; NULL: the paths in the records */
	/* Called for a record that is kept, with the reason; may be NULL. */
	void (*missing)(void *ctx, const char *id, const char *why);
	void *ctx;
	/* its own */
	struct pd_read_source source, probe;
	struct pd_read_sink sink;
	struct pd_record record;
	struct original original;
	struct pd_arena paths;
	struct pd_buf path, digest;
	/* the last bytes read, and the error */
	const char *last_path;
	uint64_t last_offset, last_length;
	struct pd_buf last_digest;
	const char *last_why;
	/* of the dump scanned last */
	struct cut *cuts; /* in the order of the dump; `from` is valid until the next scan */
	size_t n_cuts, cap_cuts;
	uint64_t restored, missed; /* records */
};

/* folder, missing and ctx are set. */
static void restore_init(struct restore *r, const struct pd_reader_options *o)
{
	r->sink = (struct pd_read_sink){ .damage = o->damage, .ctx = o->damage_ctx };
	pd_read_source_init(&r->source, o, &r->sink);
	pd_read_source_init(&r->probe, o, &r->sink);
	r->source.max_block = 1; /* of a record only the header matters */
	r->source.keep_headers = true;
}

static void restore_release(struct restore *r)
{
	pd_read_source_release(&r->source);
	pd_read_source_release(&r->probe);
	pd_record_release(&r->record);
	pd_arena_release(&r->paths);
	pd_buf_release(&r->original.file);
	pd_buf_release(&r->path);
	pd_buf_release(&r->digest);
	pd_buf_release(&r->last_digest);
	free(r->cuts);
}

/* --- the bytes that a record represents --- */

/* 1: the path is a regular file; 0: it is not, or does not exist. */
static int is_file(const char *path, struct pd_err *e)
{
	struct stat st;
	int there = pd_stat_path(path, &st, e);
	return there < 0 ? there : there && S_ISREG(st.st_mode);
}

/* Find the file that the record names, in `path`: in the folder under its whole name, otherwise under the last part
 * of it.  1: it exists.  Only downward steps of a name are used, because a record must not lead out of the folder. */
static int find_original(struct restore *r, struct pd_err *e)
{
	struct pd_span rest = pd_buf_span(&r->original.file), step, last = { NULL, 0 };
	int found = 0;
	if (!r->folder) {
		pd_buf_set(&r->path, pd_buf_span(&r->original.file));
		return is_file(pd_buf_z(&r->path), e);
	}
	pd_buf_set(&r->path, pd_span_z(r->folder));
	while (rest.n && pd_span_split(&rest, '/', &step)) {
		if (!step.n || pd_span_is(step, ".") || pd_span_is(step, ".."))
			continue;
		last = step;
		pd_buf_add_c(&r->path, '/');
		pd_buf_add_span(&r->path, step);
	}
	found = last.n ? is_file(pd_buf_z(&r->path), e) : 0;
	if (found || !last.n)
		return found;
	pd_buf_clear(&r->path);
	pd_buf_printf(&r->path, "%s/%.*s", r->folder, (int)last.n, last.p);
	return is_file(r->path.p, e);
}

/* Bytes of one codec in a file of another would make it unreadable. 1: the codec is the same. */
static int same_codec(struct restore *r, struct pd_err *e)
{
	if (pd_read_source_open(&r->probe, r->path.p, r->path.p) < 0)
		return pd_fail_errno(e, "%s: cannot open", r->path.p);
	bool same = r->probe.member.codec == r->source.member.codec;
	errno = r->probe.in.error;
	int status = errno ? pd_fail_errno(e, "%s: cannot read", r->path.p) : PD_OK;
	pd_read_source_close(&r->probe);
	return status ? status : same;
}

/* *why NULL: the bytes are the original ones. A read error ends the run, because the bytes may be correct. */
static int check_original(struct restore *r, const char **why, struct pd_err *e)
{
	const struct original *o = &r->original;
	int there = find_original(r, e), same = there == 1 ? same_codec(r, e) : there;
	*why = NULL;
	if (same < 0)
		return same;
	if (!same) {
		*why = there ? "the input that it names is compressed otherwise than this dump"
			     : "the input that it names is not there";
		return PD_OK;
	}
	pd_buf_clear(&r->digest);
	int status = digest_range(r->path.p, o->offset, o->length, &r->digest, e);
	if (status == PD_ERR_INPUT)
		*why = "the input that it names has become shorter";
	else if (status)
		return status;
	else if (!pd_span_eq(pd_buf_span(&r->digest), o->digest))
		*why = "the bytes that it names have another digest";
	return PD_OK;
}

/* Records that share members name the same bytes. */
static int check_again(struct restore *r, const char **why, struct pd_err *e)
{
	const struct original *o = &r->original;
	if (r->last_path && r->last_offset == o->offset && r->last_length == o->length &&
	    pd_span_eq(pd_buf_span(&r->last_digest), o->digest) && pd_span_is(pd_buf_span(&o->file), r->last_path)) {
		*why = r->last_why;
		return PD_OK;
	}
	r->last_path = pd_arena_copy(&r->paths, pd_buf_span(&o->file)).p;
	r->last_offset = o->offset;
	r->last_length = o->length;
	pd_buf_set(&r->last_digest, o->digest);
	int status = check_original(r, why, e);
	r->last_why = *why;
	return status;
}

/* --- the dump --- */

/* The bytes of the dump that the record uses: all of the members that it shares with others. */
static int range_of(struct restore *r, const char *path, const char *name, struct pd_read_extent *x, struct pd_err *e)
{
	pd_read_source_extent(&r->source, x);
	if (!x->stream)
		return PD_OK;
	x->begin = x->member;
	x->stream = false;
	return member_end(&r->probe, path, name, x->last, &x->end, e);
}

/* NULL: its bytes are restored, with this cut or with the previous one. */
static const char *add_original(struct restore *r, const struct pd_read_extent *x)
{
	const struct original *o = &r->original;
	const struct cut *last = r->n_cuts ? &r->cuts[r->n_cuts - 1] : NULL;
	uint64_t end = o->offset + o->length;
	if (last && x->begin < last->x.end) {
		bool same = last->x.begin == x->begin && last->x.end == x->end && last->from_begin == o->offset &&
			    last->from_end == end;
		return same ? NULL : "it shares a compressed member with a record that stands for other bytes";
	}
	r->cuts = pd_grow(r->cuts, r->n_cuts, &r->cap_cuts, sizeof *r->cuts);
	r->cuts[r->n_cuts++] = (struct cut){
		.x = *x, .from = pd_arena_copy(&r->paths, pd_buf_span(&r->path)).p, .from_begin = o->offset, .from_end = end
	};
	return NULL;
}

/* `known`: its bytes are. */
static int take_revisit(struct restore *r, bool known, const char *path, const char *name, struct pd_err *e)
{
	struct pd_read_extent x;
	const char *why = known ? NULL : "it does not say which bytes of which file it stands for";
	int status = known ? range_of(r, path, name, &x, e) : PD_OK;
	if (!status && known)
		status = check_again(r, &why, e);
	if (status)
		return status;
	if (!why)
		why = add_original(r, &x);
	r->restored += !why;
	r->missed += why != NULL;
	if (why && r->missing)
		r->missing(r->ctx, pd_buf_z(&r->record.id), why);
	return PD_OK;
}

/* A file that is not a dump has no cuts. PD_ERR_SYSTEM, PD_ERR_INPUT. */
static int restore_scan(struct restore *r, const char *path, const char *name, struct pd_err *e)
{
	int more = 1, status = PD_OK;
	bool known;
	r->n_cuts = 0;
	r->restored = r->missed = 0;
	r->last_path = NULL;
	pd_arena_clear(&r->paths);
	if (pd_read_source_open(&r->source, path, name) < 0)
		return pd_fail_errno(e, "%s: cannot open", name);
	bool dump = r->source.kind == PD_SOURCE_DUMP || r->source.in.error;
	while (dump && !status && (more = pd_read_source_next(&r->source, &r->record)) == 1)
		if (r->record.kind == PD_RECORD_OTHER && original_parse(pd_buf_span(&r->record.header), &r->original, &known))
			status = take_revisit(r, known, path, name, e);
	if (more < 0)
		status = pd_fail_errno(e, "%s: cannot read", name);
	pd_read_source_close(&r->source);
	return status;
}

/* ==== the run ==== */

struct pd_apply {
	const struct pd_apply_options *o;
	struct pd_reader_options in; /* of `o`, a list from stdin put into a spool */
	FILE *list;
	struct pd_buf list_path;
	struct pd_read_files files;
	struct pd_read_file file; /* at hand */
	struct page_check check;
	struct input_scan scan;
	struct rewriter rewriter;
	struct restore restore;
	struct revisits revisits;
	struct kept *kept; /* for rewrite_revisits */
	bool ended;
	struct places places;
	struct pd_buf place, output; /* of the input at hand: its name in the folder, and its path */
};

/* --- before anything is written --- */

/* Paths from stdin are needed three times. */
static int spool_list(struct pd_apply *a, struct pd_err *e)
{
	if (!a->in.files_from || strcmp(a->in.files_from, "-") != 0)
		return PD_OK;
	a->list = pd_tempfile_of(pd_take_stream, stdin, "standard input", a->o->tmp_dir, e);
	if (!a->list)
		return PD_ERR_SYSTEM;
	pd_buf_printf(&a->list_path, "/proc/self/fd/%d", fileno(a->list));
	a->in.files_from = a->list_path.p;
	return PD_OK;
}

static bool is_reserved(const struct pd_apply *a)
{
	const char *name = a->place.p;
	for (const char *const *r = a->o->reserved; r && *r; r++)
		if (strncmp(name, *r, strlen(*r)) == 0 && (!name[strlen(*r)] || name[strlen(*r)] == '/'))
			return true;
	return false;
}

/* Set `place`; the path of the output, or NULL: none. */
static const char *find_output_path(struct pd_apply *a, const struct pd_read_file *f)
{
	places_name(&a->places, f, &a->place);
	if (a->o->mode != PD_APPLY_WRITE)
		return NULL;
	pd_buf_clear(&a->output);
	pd_buf_add_z(&a->output, a->o->output);
	if (!a->o->to_folder)
		return a->output.p;
	if (a->output.n && a->output.p[a->output.n - 1] != '/')
		pd_buf_add_c(&a->output, '/');
	pd_buf_add_span(&a->output, pd_buf_span(&a->place));
	return a->output.p;
}

/* Checks of names: input files, and files that would be overwritten. */
struct names {
	struct pd_map outputs; /* paths */
	struct pd_map read;    /* files, by device and inode */
	struct pd_map over;    /* files that are there and would be written over … */
	struct pd_arena arena;
	const char **over_paths; /* … and their paths */
	size_t n_over, cap_over;
};

static uint64_t hash_file(const struct stat *st)
{
	uint64_t id[] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino };
	return pd_hash64(id, sizeof id);
}

static void names_release(struct names *n)
{
	pd_map_release(&n->outputs);
	pd_map_release(&n->read);
	pd_map_release(&n->over);
	pd_arena_release(&n->arena);
	free(n->over_paths);
}

/* A link to an input, made before with `link`, may be made again. */
static int note_files(struct pd_apply *a, const struct pd_read_file *f, struct names *n, struct pd_err *e)
{
	struct stat in, out;
	int read = f->path && !f->error ? pd_stat_path(f->path, &in, e) : 0;
	if (read > 0)
		pd_map_add(&n->read, hash_file(&in));
	int there = read < 0 ? read : pd_stat_path(a->output.p, &out, e);
	if (there <= 0 || (a->o->link && read && hash_file(&in) == hash_file(&out)) || !pd_map_add(&n->over, hash_file(&out)))
		return there < 0 ? there : PD_OK;
	n->over_paths = pd_grow(n->over_paths, n->n_over, &n->cap_over, sizeof *n->over_paths);
	n->over_paths[n->n_over++] = pd_arena_copy(&n->arena, pd_buf_span(&a->output)).p;
	return PD_OK;
}

static int check_place(struct pd_apply *a, const struct pd_read_file *f, struct names *n, struct pd_err *e)
{
	const char *output = find_output_path(a, f);
	bool to_folder = output && a->o->to_folder;
	if (to_folder && is_reserved(a))
		return pd_fail(e, PD_ERR_USAGE, "%s: an output of this run has that name: rename the input", output);
	for (const char *const *path = a->o->also_written; to_folder && path && *path; path++)
		if (!strcmp(*path, output))
			return pd_fail(e, PD_ERR_USAGE, "two outputs would be written to %s: name another file for one of them",
				       output);
	if ((to_folder || a->o->distinct) && !pd_map_add(&n->outputs, pd_map_key(pd_buf_span(&a->place))))
		return pd_fail(e, PD_ERR_USAGE, "two inputs would both become %s: give them in two runs",
			       to_folder ? output : a->place.p);
	return to_folder ? note_files(a, f, n, e) : PD_OK;
}

static int check_unread(const char *path, const struct names *n, struct pd_err *e)
{
	struct stat st;
	int there = pd_stat_path(path, &st, e);
	if (there <= 0)
		return there;
	return pd_map_has(&n->read, hash_file(&st)) ? pd_fail(e, PD_ERR_USAGE, "%s is read in this run: name another output", path)
						    : PD_OK;
}

/* No file that is read in this run is overwritten, by any output. */
static int check_over(struct pd_apply *a, struct names *n, struct pd_err *e)
{
	struct stat st;
	for (const char *const *path = a->o->also_read; path && *path; path++) {
		int there = pd_stat_path(*path, &st, e);
		if (there < 0)
			return there;
		if (there)
			pd_map_add(&n->read, hash_file(&st));
	}
	int status = PD_OK;
	for (size_t i = 0; i < n->n_over && !status; i++)
		status = check_unread(n->over_paths[i], n, e);
	for (const char *const *path = a->o->also_written; path && *path && !status; path++)
		status = check_unread(*path, n, e);
	return status;
}

/* 1, 0, or negative: unknown. */
static int is_folder(const char *path, struct pd_err *e)
{
	struct stat st;
	int there = pd_stat_path(path, &st, e);
	return there < 0 ? there : there && S_ISDIR(st.st_mode);
}

static int one_output(struct pd_apply *a, int n, struct pd_err *e)
{
	char *const *inputs = a->in.inputs;
	if (a->o->mode != PD_APPLY_WRITE || a->o->to_folder)
		return PD_OK;
	int folder = n <= 1 && !a->in.files_from && a->in.n_inputs ? is_folder(inputs[0], e) : 0;
	if (folder < 0)
		return folder;
	if (n > 1 || a->in.files_from || folder)
		return pd_fail(e, PD_ERR_USAGE, "-o must name a directory for %s: add a slash, as in -o %s/",
			       folder ? "what is in one" : "several inputs",
			       a->o->output && strcmp(a->o->output, "-") ? a->o->output : "clean");
	int status = pd_outfile_check(a->o->output, inputs, a->in.n_inputs, e);
	for (const char *const *path = a->o->also_read; path && *path && !status; path++)
		status = pd_outfile_check(a->o->output, (char *[]){ (char *)*path }, 1, e);
	return status;
}

/* Present every input to the code that needs its name, before anything is done. */
static int meet_inputs(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	int n = 0, r = pd_read_files_open(&files, &a->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1) {
		n += n < 2;
		pd_apply_removals_meet(a->o->removals, f.label);
		places_add(&a->places, &f);
	}
	pd_read_files_release(&files);
	return r < 0 ? r : one_output(a, n, e);
}

/* A dump that `fp` could not decompress has no pages in the verdicts: its copy would look like one without
 * duplicates. `cut`: some of its pages should be removed, which a copy would still contain. */
static int refuse_foreign(const struct pd_apply *a, const char *path, const char *label, bool cut, struct pd_err *e)
{
	struct pd_buf reason = { 0 };
	int r = a->o->any_packing && !cut ? 0 : pd_read_source_foreign(path, label, &reason);
	if (r < 0)
		r = pd_fail_errno(e, "%s: cannot read", label);
	else if (r == 2 || (r && !a->o->any_packing))
		r = pd_fail(e, PD_ERR_INPUT, "%s: %s", label, reason.p);
	pd_buf_release(&reason);
	return r < 0 ? r : PD_OK;
}

/* An archive in a folder may have been found there; only now it is known whether it loses anything. */
static int check_archives(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	const struct pd_apply_removals_counts *removals = pd_apply_removals_counts(a->o->removals);
	if (!removals->in_dumps || a->o->mode != PD_APPLY_WRITE)
		return PD_OK;
	int r = pd_read_files_open(&files, &a->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1)
		if (f.path && f.regular && !f.error &&
		    pd_apply_removals_any(a->o->removals, pd_apply_removals_name(a->o->removals, f.label)))
			r = refuse_foreign(a, f.path, f.label, true, e);
	pd_read_files_release(&files);
	return r;
}

/* Check that each input has one file of the verdicts, and one output. */
static int check_inputs(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	struct names names = { 0 };
	int r = pd_read_files_open(&files, &a->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1) {
		pd_apply_removals_name(a->o->removals, f.label);
		r = check_place(a, &f, &names, e);
		if (r >= 0 && f.path && f.typed && f.regular && !f.error)
			r = refuse_foreign(a, f.path, f.label, false, e);
	}
	if (r >= 0)
		r = check_over(a, &names, e);
	pd_read_files_release(&files);
	names_release(&names);
	if (r >= 0)
		r = pd_apply_removals_settle(a->o->removals, e);
	return r < 0 ? r : check_archives(a, e);
}

static int check_outside(const char *output, const struct pd_reader_options *in, struct pd_err *e)
{
	for (int i = 0; i < in->n_inputs; i++) {
		int inside = is_folder(in->inputs[i], e);
		if (inside > 0)
			inside = is_inside(output, in->inputs[i], e);
		if (inside < 0)
			return inside;
		if (inside)
			return pd_fail(e, PD_ERR_USAGE, "%s is in the input folder %s: name another output", output, in->inputs[i]);
	}
	return PD_OK;
}

/* Outputs must not be written into a folder that is being read. */
static int check_folder(struct pd_apply *a, struct pd_err *e)
{
	if (a->o->mode != PD_APPLY_WRITE || !a->o->to_folder)
		return PD_OK;
	int status = check_outside(a->o->output, &a->in, e);
	for (const char *const *path = a->o->also_written; path && *path && !status; path++)
		status = check_outside(*path, &a->in, e);
	return status;
}

/* Data for revisits: about the pages kept, and about removed pages. */
static int read_kept(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	if (!a->kept || !pd_apply_removals_counts(a->o->removals)->in_dumps)
		return PD_OK;
	int r = pd_read_files_open(&files, &a->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1) {
		errno = f.error;
		if (f.error && (f.typed || !pd_errno_stays(f.error)))
			r = pd_fail_errno(e, "%s: cannot open", f.label);
		else if (f.error)
			continue;
		else if (!f.path || !f.regular)
			r = pd_fail(e, PD_ERR_USAGE, "%s: --rewrite-revisits reads its inputs twice: give files, not pipes",
				    f.label);
		else
			r = kept_read(a->kept, f.path, pd_apply_removals_name(a->o->removals, f.label), e);
	}
	pd_read_files_release(&files);
	return r;
}

int pd_apply_open(struct pd_apply **out, const struct pd_apply_options *o, struct pd_err *e)
{
	struct pd_apply *a = pd_zalloc(sizeof *a);
	struct scan_options scan = { .removals = o->removals,
				     .keep_others = o->keep_others,
				     .fields = o->in.fields,
				     .max_block = o->in.max_block,
				     .damage = o->in.damage,
				     .page = o->on_page,
				     .other_url = o->other_url,
				     .other_page = o->other_page,
				     .ctx = o->ctx,
				     .check = &a->check };
	struct pd_reader_options cut = { .max_block = o->in.max_block, .damage = o->lost, .damage_ctx = o->ctx };
	a->o = o;
	a->in = o->in;
	a->revisits.tmp_dir = o->tmp_dir;
	page_check_init(&a->check, o);
	if (o->orphan)
		scan.revisits = &a->revisits;
	if (o->rewrite_revisits)
		scan.kept = a->kept = kept_new(o->removals, &a->check, o->in.max_block);
	scan_init(&a->scan, &scan);
	rewriter_init(&a->rewriter, &cut);
	a->restore = (struct restore){ .folder = o->originals, .missing = o->missing, .ctx = o->ctx };
	restore_init(&a->restore, &o->in);
	int status = spool_list(a, e);
	if (!status)
		status = check_folder(a, e);
	if (!status)
		status = meet_inputs(a, e);
	if (!status)
		status = check_inputs(a, e);
	if (!status)
		status = read_kept(a, e);
	if (!status)
		status = pd_read_files_open(&a->files, &a->in, e);
	*out = a;
	if (status) {
		pd_apply_free(a);
		*out = NULL;
	}
	return status;
}

void pd_apply_free(struct pd_apply *a)
{
	if (!a)
		return;
	pd_read_files_release(&a->files);
	scan_release(&a->scan);
	page_check_release(&a->check);
	revisits_release(&a->revisits);
	kept_free(a->kept);
	rewriter_release(&a->rewriter);
	restore_release(&a->restore);
	places_release(&a->places);
	pd_buf_release(&a->place);
	pd_buf_release(&a->output);
	pd_buf_release(&a->list_path);
	if (a->list)
		fclose(a->list);
	free(a);
}

/* --- one input --- */

/* An input that is read: through a spool when it can be read only once. */
struct apply_input {
	struct pd_buf path;
	FILE *spool;
	struct stat st;
};

static int meet(const struct pd_apply *a, const struct pd_read_file *f, const struct stat *st, struct pd_err *e)
{
	return a->o->meet ? a->o->meet(a->o->ctx, f, st, e) : PD_OK;
}

static int open_input(const struct pd_apply *a, struct apply_input *in, const struct pd_read_file *f, struct pd_err *e)
{
	int there = f->path ? pd_stat_path(f->path, &in->st, e) : 0;
	if (there < 0)
		return there;
	if (there && S_ISREG(in->st.st_mode)) {
		pd_buf_add_z(&in->path, f->path);
		return meet(a, f, &in->st, e);
	}
	FILE *from = f->path ? fopen(f->path, "re") : stdin;
	if (!from)
		return pd_fail_errno(e, "%s: cannot open", f->label);
	in->spool = pd_tempfile_of(pd_take_stream, from, f->label, a->o->tmp_dir, e);
	if (f->path)
		fclose(from);
	if (!in->spool)
		return PD_ERR_SYSTEM;
	pd_buf_printf(&in->path, "/proc/self/fd/%d", fileno(in->spool));
	return stat(in->path.p, &in->st) < 0 ? pd_fail_errno(e, "%s: cannot read", f->label)
					     : refuse_foreign(a, in->path.p, f->label, false, e);
}

static void close_input(struct apply_input *in)
{
	if (in->spool)
		fclose(in->spool);
	pd_buf_release(&in->path);
}

static int unchanged(const struct apply_input *in, const struct pd_read_file *f, struct pd_err *e)
{
	struct stat now;
	if (stat(in->path.p, &now) < 0)
		return pd_fail_errno(e, "%s: cannot read its size and time again", f->label);
	if (now.st_size == in->st.st_size && now.st_mtim.tv_sec == in->st.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == in->st.st_mtim.tv_nsec && now.st_ino == in->st.st_ino)
		return PD_OK;
	return pd_fail(e, PD_ERR_INPUT, "%s changed while it was read", f->label);
}

static int make_folder(const struct pd_apply *a, const struct pd_apply_result *done, struct pd_err *e)
{
	return a->o->to_folder ? pd_apply_make_folders(done->output, a->o->batch, e) : PD_OK;
}

static int write_without(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f, const struct cut *cuts,
			 size_t n_cuts, struct pd_apply_result *done, struct pd_err *e)
{
	struct pd_outfile out;
	int status = make_folder(a, done, e);
	if (!status)
		status = pd_outfile_open_dump(&out, done->output, e);
	if (status)
		return status;
	status = write_without_cuts(&a->rewriter, in->path.p, f->label, cuts, n_cuts, a->scan.texts.p, out.f, e);
	if (!status)
		status = unchanged(in, f, e);
	if (status) {
		pd_outfile_abandon(&out);
		return status;
	}
	done->bytes_out = a->rewriter.written;
	done->rewritten = a->rewriter.rewritten;
	done->lost = a->rewriter.lost;
	return pd_outfile_commit_in(&out, a->o->batch, e);
}

static int write_cut(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f, struct pd_apply_result *done,
		     struct pd_err *e)
{
	return write_without(a, in, f, a->scan.cuts, a->scan.n_cuts, done, e);
}

/* Without a function to write with a stream is in error, not empty. */
static ssize_t drop_bytes(void *cookie, const char *bytes, size_t n)
{
	return (ssize_t)n;
}

/* Bytes of the file are counted; compressed parts have to be compressed again. */
static int measure(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f, struct pd_apply_result *done,
		   struct pd_err *e)
{
	bool packed = false;
	done->bytes_out = a->scan.whole ? 0 : done->bytes_in;
	for (size_t i = 0; i < a->scan.n_cuts; i++) {
		packed |= a->scan.cuts[i].x.stream || a->scan.cuts[i].rows;
		done->bytes_out -= a->scan.cuts[i].x.end - a->scan.cuts[i].x.begin;
	}
	if (!packed)
		return PD_OK;
	/* Discard the output; a root without devices has no /dev/null. */
	FILE *nowhere = pd_check_alloc(fopencookie(NULL, "w", (cookie_io_functions_t){ .write = drop_bytes }));
	int status =
		write_without_cuts(&a->rewriter, in->path.p, f->label, a->scan.cuts, a->scan.n_cuts, a->scan.texts.p, nowhere, e);
	done->bytes_out = a->rewriter.written;
	fclose(nowhere);
	return status;
}

static int link_input(const char *from, const char *to, struct pd_err *e)
{
	struct pd_buf temp = { 0 };
	int r = linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
	if (r < 0 && errno == EEXIST) {
		pd_buf_printf(&temp, "%s.%ld", to, (long)getpid());
		r = linkat(AT_FDCWD, from, AT_FDCWD, temp.p, AT_SYMLINK_FOLLOW);
		if (r == 0)
			r = rename(temp.p, to);
		/* Two names of one file are not renamed over each other. */
		unlink(temp.p);
	}
	pd_buf_release(&temp);
	return r < 0 ? pd_fail_errno(e, "cannot link %s to %s", to, from) : PD_OK;
}

/* Nothing is removed from it. */
static int pass_on(struct pd_apply *a, const struct pd_read_file *f, struct pd_apply_result *done, struct pd_err *e)
{
	struct stat st;
	if (a->o->mode == PD_APPLY_LIST)
		return PD_OK;
	int there = f->path && a->o->link ? pd_stat_path(f->path, &st, e) : 0;
	if (there < 0)
		return there;
	if (there && S_ISREG(st.st_mode)) {
		done->bytes_in = done->bytes_out = (uint64_t)st.st_size;
		int status = meet(a, f, &st, e);
		if (!status)
			status = make_folder(a, done, e);
		if (!status)
			status = link_input(f->path, done->output, e);
		done->linked = !status;
		if (!status && a->o->batch)
			pd_outfile_batch_note(a->o->batch, done->output);
		else if (!status)
			status = pd_sync_folder_of(done->output, e);
		return status;
	}
	struct apply_input in = { 0 };
	a->scan.n_cuts = 0;
	int status = open_input(a, &in, f, e);
	done->bytes_in = done->bytes_out = (uint64_t)in.st.st_size;
	if (!status && a->o->mode == PD_APPLY_WRITE)
		status = write_cut(a, &in, f, done, e);
	close_input(&in);
	return status;
}

static int write_cut_input(struct pd_apply *a, const struct pd_read_file *f, const char *name, struct pd_apply_result *done,
			   struct pd_err *e)
{
	struct apply_input in = { 0 };
	int status = open_input(a, &in, f, e);
	if (!status)
		status = scan_input(&a->scan, in.path.p, name, e);
	done->bytes_in = (uint64_t)in.st.st_size;
	done->pages = a->scan.pages;
	done->removed_with_page = a->scan.removed_with_page;
	done->revisits = a->scan.revisits;
	done->page = a->scan.whole;
	if (!status && a->o->mode == PD_APPLY_WRITE && !a->scan.whole)
		status = write_cut(a, &in, f, done, e);
	if (!status && a->o->mode == PD_APPLY_MEASURE)
		status = measure(a, &in, f, done, e);
	if (done->page)
		done->output = NULL;
	close_input(&in);
	return status;
}

/* Nothing is removed from it, and it may contain revisits of removed pages.  Only a regular file is read again:
 * other inputs can be read once only. */
static bool has_revisits(const struct pd_apply *a, const struct pd_read_file *f)
{
	return f->path && f->regular && pd_apply_removals_counts(a->o->removals)->in_dumps;
}

static int find_revisits(struct pd_apply *a, const struct pd_read_file *f, const char *name, struct pd_err *e)
{
	return a->o->orphan && has_revisits(a, f) ? scan_revisits(&a->scan, f->path, name, e) : PD_OK;
}

/* The same, if revisits are rewritten. */
static int rewrite_revisits(struct pd_apply *a, const struct pd_read_file *f, const char *name, struct pd_apply_result *done,
			    struct pd_err *e)
{
	struct apply_input in = { 0 };
	int status = open_input(a, &in, f, e);
	if (!status)
		status = scan_revisits(&a->scan, in.path.p, name, e);
	done->bytes_in = (uint64_t)in.st.st_size;
	done->revisits = a->scan.revisits;
	if (!status && a->scan.n_cuts)
		status = write_cut(a, &in, f, done, e);
	else if (!status)
		status = pass_on(a, f, done, e);
	close_input(&in);
	return status;
}

static int restore_input(struct pd_apply *a, const struct pd_read_file *f, struct pd_apply_result *done, struct pd_err *e)
{
	struct apply_input in = { 0 };
	struct stat st;
	/* Another record may be restored from it. */
	int there = strcmp(done->output, "-") != 0 ? pd_stat_path(done->output, &st, e) : 0;
	if (there < 0)
		return there;
	if (there && S_ISREG(st.st_mode))
		return pd_fail(e, PD_ERR_USAGE, "%s exists already, and --restore overwrites nothing: name another output",
			       done->output);
	int status = open_input(a, &in, f, e);
	if (!status)
		status = restore_scan(&a->restore, in.path.p, f->label, e);
	done->bytes_in = (uint64_t)in.st.st_size;
	done->restored = a->restore.restored;
	done->missing = a->restore.missed;
	if (!status)
		status = write_without(a, &in, f, a->restore.cuts, a->restore.n_cuts, done, e);
	close_input(&in);
	return status;
}

static int do_input(struct pd_apply *a, const struct pd_read_file *f, struct pd_apply_result *done, struct pd_err *e)
{
	const char *name = pd_apply_removals_name(a->o->removals, f->label);
	if (a->o->restore)
		return restore_input(a, f, done, e);
	if (a->o->skip && a->o->skip(a->o->ctx, f, done->output)) {
		done->skipped = true;
		return find_revisits(a, f, name, e);
	}
	if (pd_apply_removals_any(a->o->removals, name))
		return write_cut_input(a, f, name, done, e);
	if (a->kept && a->o->mode == PD_APPLY_WRITE && has_revisits(a, f))
		return rewrite_revisits(a, f, name, done, e);
	int status = pass_on(a, f, done, e);
	return status ? status : find_revisits(a, f, name, e);
}

int pd_apply_next(struct pd_apply *a, struct pd_apply_result *out, struct pd_err *e)
{
	const struct pd_read_file *f = &a->file;
	int r = pd_read_files_next(&a->files, &a->file, e);
	*out = (struct pd_apply_result){ .file = f };
	if (!r && !a->ended && a->o->orphan) {
		a->ended = true;
		return revisits_end(&a->revisits, a->o->orphan, a->o->ctx, e);
	}
	if (r <= 0)
		return r;
	out->output = find_output_path(a, f);
	out->place = a->place.p;
	out->error = f->error || !f->path || access(f->path, R_OK) == 0 ? f->error : errno;
	errno = out->error;
	if (out->error && (f->typed || pd_errno_is_want(out->error))) /* as for the reader: inputs on the command line must exist */
		return pd_fail_errno(e, "%s: cannot open", f->label);
	r = out->error ? meet(a, f, NULL, e) : do_input(a, f, out, e);
	return r < 0 ? r : 1;
}
