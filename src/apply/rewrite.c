/* SPDX-License-Identifier: MIT
 *
 * Cuts come in two kinds: bytes of the file, which are skipped, and bytes of what members unpack to.  Cuts of the second
 * kind that share members are done in one go, from the first such member to the last: each is unpacked, and its parts
 * between the cuts are packed again.  Whatever lies between members, junk or padding, is copied.
 *
 * Where records stand in the place of such cuts, all that is left of these members is packed as one, and what lay between them
 * is left out: so one member stands for one range of bytes of the input, by which it can be given back.
 */
#include "apply/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

enum { FLUSH = 1 << 18 };

void pd_apply_rewriter_init(struct pd_apply_rewriter *c, const struct pd_reader_options *o)
{
	*c = (struct pd_apply_rewriter){ .sink = { o->damage, o->damage_ctx, 0 }, .packer = pd_packer_new(), .fd = -1 };
	pd_read_source_init(&c->source, o, &c->sink);
}

void pd_apply_rewriter_release(struct pd_apply_rewriter *c)
{
	pd_read_source_release(&c->source);
	pd_packer_free(c->packer);
	pd_buf_release(&c->out);
}

/* What could not be read is neither junk nor the end. */
static int check_input(const struct pd_apply_rewriter *c, struct pd_err *e)
{
	errno = c->source.in.error;
	return errno ? pd_fail_errno(e, "%s: cannot read", c->name) : PD_OK;
}

static int copy(struct pd_apply_rewriter *c, uint64_t from, uint64_t to, struct pd_err *e)
{
	return from >= to ? PD_OK : pd_copy_range(c->fd, c->name, from, to, c->to, &c->written, e);
}

static int flush(struct pd_apply_rewriter *c, struct pd_err *e)
{
	if (c->out.n && fwrite(c->out.p, 1, c->out.n, c->to) != c->out.n)
		return pd_fail_errno(e, "cannot write");
	c->written += c->out.n;
	pd_buf_clear(&c->out);
	return PD_OK;
}

/* The members that some cuts have a part in. */
struct group {
	const struct pd_apply_cut *cuts;
	size_t n, at;			/* at: the first cut that does not end before what is being looked at */
	uint64_t base;			/* stream offset of the first member */
	uint64_t last;			/* where the last one begins */
	bool begun;			/* the member that is written has something in it */
	bool joined;			/* records stand in the place of cuts: all becomes one member */
	size_t n_texts;			/* cuts whose place has been passed */
};

static void pack(struct pd_apply_rewriter *c, struct group *g, struct pd_span s)
{
	if (!g->begun)
		pd_pack_start(c->packer, c->source.member.codec);
	g->begun = true;
	pd_pack_feed(c->packer, s, &c->out);
}

/* Packs what stays of the bytes at `offset` of the stream. */
static void pack_rest(struct pd_apply_rewriter *c, struct group *g, uint64_t offset, struct pd_span s)
{
	while (s.n) {
		while (g->at < g->n && g->cuts[g->at].x.end <= offset)
			g->at++;
		const struct pd_apply_cut *cut = g->at < g->n ? &g->cuts[g->at] : NULL;
		bool inside = cut && cut->x.begin <= offset;
		uint64_t until = !cut ? UINT64_MAX : inside ? cut->x.end : cut->x.begin;
		size_t n = until - offset < s.n ? (size_t)(until - offset) : s.n;
		if (!inside)
			pack(c, g, pd_span(s.p, n));
		else if (cut->text_n && g->n_texts <= g->at)
			pack(c, g, pd_span(c->texts + cut->text_at, cut->text_n));
		if (inside)
			g->n_texts = g->at + 1;
		offset += n;
		s = pd_span(s.p + n, s.n - n);
	}
}

static int end_packed(struct pd_apply_rewriter *c, struct group *g, struct pd_err *e)
{
	if (!g->begun)
		return PD_OK;
	g->begun = false;
	pd_pack_end(c->packer, &c->out);
	c->rewritten++;
	return flush(c, e);
}

/* The end of a member.  One that was empty from the start, such as a skippable frame, stays as it is. */
static int end_member(struct pd_apply_rewriter *c, struct group *g, bool empty, struct pd_err *e)
{
	const struct pd_read_member *m = &c->source.member;
	if (g->joined)
		return PD_OK;
	return empty && m->state == PD_MEMBER_ENDED ? copy(c, m->start, c->source.in.offset, e) : end_packed(c, g, e);
}

static int rewrite_member(struct pd_apply_rewriter *c, struct group *g, struct pd_err *e)
{
	struct pd_read_member *m = &c->source.member;
	bool empty = true;
	int status = PD_OK;
	for (struct pd_span s; !status && (s = pd_read_member_peek(m, 1)).n; empty = false) {
		pack_rest(c, g, g->base + pd_read_member_offset(m), s);
		pd_read_member_skip(m, s.n);
		if (c->out.n >= FLUSH)
			status = flush(c, e);
	}
	if (!status)
		status = check_input(c, e);
	return status ? status : end_member(c, g, empty, e);
}

/* Behind a broken member, or at junk: to the next member.  Junk is copied; the rest of a broken member, which nobody can
 * unpack, is lost. */
static int pass_damage(struct pd_apply_rewriter *c, bool junk, bool joined, struct pd_err *e)
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
		return joined ? PD_OK : copy(c, from, to, e);
	c->lost += to > m->start ? to - m->start : 0;
	return PD_OK;
}

/* Opens the input at the first member of the group, with the dictionary that it may need. */
static int open_members(struct pd_apply_rewriter *c, uint64_t at, struct pd_err *e)
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

/* *pos: what of the input was dealt with; in: the start of the group, out: its end. */
static int rewrite_members(struct pd_apply_rewriter *c, struct group *g, uint64_t *pos, struct pd_err *e)
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
			status = copy(c, *pos, at, e);	/* zeroes between members */
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

static int rewrite(struct pd_apply_rewriter *c, struct group *g, uint64_t *pos, struct pd_err *e)
{
	int status = open_members(c, *pos, e);
	if (!status)
		status = rewrite_members(c, g, pos, e);
	pd_read_source_close(&c->source);
	return status;
}

size_t pd_apply_cuts_sharing(const struct pd_apply_cut *cuts, size_t n, uint64_t *last)
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

static struct group gather(const struct pd_apply_cut *cuts, size_t n)
{
	struct group g = { .cuts = cuts, .base = cuts->x.member_offset };
	g.n = pd_apply_cuts_sharing(cuts, n, &g.last);
	for (size_t i = 0; i < g.n; i++)
		g.joined |= cuts[i].text_n > 0;
	return g;
}

static int copy_other(struct pd_apply_rewriter *c, const struct pd_apply_cut *cut, struct pd_err *e)
{
	int fd = open(cut->from, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pd_fail_errno(e, "%s: cannot open", cut->from);
	int status = pd_copy_range(fd, cut->from, cut->from_begin, cut->from_end, c->to, &c->written, e);
	close(fd);
	return status;
}

/* What stands in the place of bytes of the file. */
static int put(struct pd_apply_rewriter *c, const struct pd_apply_cut *cut, struct pd_err *e)
{
	if (cut->from)
		return copy_other(c, cut, e);
	if (!cut->text_n)
		return PD_OK;
	pd_pack_start(c->packer, cut->codec);
	pd_pack_feed(c->packer, pd_span(c->texts + cut->text_at, cut->text_n), &c->out);
	pd_pack_end(c->packer, &c->out);
	return flush(c, e);
}

static int rewrite_all(struct pd_apply_rewriter *c, const struct pd_apply_cut *cuts, size_t n, struct pd_err *e)
{
	uint64_t pos = 0;
	int status = PD_OK;
	for (size_t i = 0; i < n && !status;) {
		status = copy(c, pos, cuts[i].x.stream ? cuts[i].x.member : cuts[i].x.begin, e);
		if (status)
			return status;
		if (!cuts[i].x.stream) {
			pos = cuts[i].x.end;
			status = put(c, &cuts[i++], e);
			continue;
		}
		struct group g = gather(cuts + i, n - i);
		pos = cuts[i].x.member;
		status = rewrite(c, &g, &pos, e);
		i += g.n;
	}
	return status ? status : copy(c, pos, UINT64_MAX, e);
}

int pd_apply_rewrite(struct pd_apply_rewriter *c, const char *path, const char *name, const struct pd_apply_cut *cuts, size_t n_cuts,
		     const char *texts, FILE *to, struct pd_err *e)
{
	c->path = path;
	c->name = name;
	c->texts = texts;
	c->to = to;
	c->written = c->rewritten = c->lost = 0;
	pd_buf_clear(&c->out);
	c->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		return pd_fail_errno(e, "%s: cannot open", name);
	int status = rewrite_all(c, cuts, n_cuts, e);
	close(c->fd);
	return status;
}
