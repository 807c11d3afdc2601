/* SPDX-License-Identifier: MIT */
#include "walk/spool.h"

#include <stdlib.h>

#include "base/file.h"
#include "page/packed.h"
#include "text/text.h"

struct pd_walk_spool {
	FILE *f;
	uint64_t bytes, read;	/* put in; read since the rewind */
};

void pd_walk_codec_release(struct pd_walk_codec *c)
{
	pd_packer_free(c->packer);
	pd_unpacker_free(c->unpacker);
	pd_buf_release(&c->plain);
}

static void pack_plain(const struct pd_pipeline *p, struct pd_buf *out)
{
	const struct pd_page *g = &p->page;
	const struct pd_span spans[] = { g->id, g->url, g->fetch_time, g->digest, g->user_id, g->content_type, g->charset };
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
		pd_packed_span(out, spans[i]);
	pd_packed_number(out, g->type);
	pd_packed_number(out, (uint64_t)g->status);
	pd_packed_number(out, g->flags);
	pd_packed_span(out, pd_buf_span(&p->content_digest));
	for (int i = 0; i < p->tables->methods.n; i++)	/* those that are known already: they look at the body, which does not come along */
		pd_packed_span(out, p->by_method[i].present ? pd_buf_span(&p->by_method[i].column) : pd_span("", 0));
	pd_packed_number(out, p->text.charset->id);
	pd_packed_number(out, p->text.how);
	pd_packed_number(out, p->text.replaced);
	pd_blocks_pack(&p->blocks, out);
}

void pd_walk_spool_pack(struct pd_walk_codec *c, const struct pd_pipeline *p, struct pd_buf *out)
{
	if (!c->packer)
		c->packer = pd_packer_new();
	pd_buf_clear(&c->plain);
	pack_plain(p, &c->plain);
	pd_pack_start(c->packer, PD_CODEC_LZ4);
	pd_pack_feed(c->packer, pd_buf_span(&c->plain), out);
	pd_pack_end(c->packer, out);
}

static bool unpack_plain(struct pd_span bytes, struct pd_pipeline *p)
{
	struct pd_packed in = { bytes.p, bytes.p + bytes.n, false };
	struct pd_page *g = &p->page;
	*g = (struct pd_page){ 0 };
	struct pd_span *const spans[] = { &g->id, &g->url, &g->fetch_time, &g->digest, &g->user_id, &g->content_type, &g->charset };
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
		*spans[i] = pd_packed_next_span(&in);
	g->type = (enum pd_page_type)pd_packed_next(&in);
	g->status = (int)pd_packed_next(&in);
	g->flags = (unsigned)pd_packed_next(&in);
	pd_buf_set(&p->content_digest, pd_packed_next_span(&in));
	for (int i = 0; i < p->tables->methods.n; i++) {
		pd_buf_set(&p->by_method[i].column, pd_packed_next_span(&in));
		p->by_method[i].present = p->by_method[i].column.n > 0;
	}
	p->text.utf8 = pd_span(NULL, 0);
	p->text.charset = pd_charset_by_id((enum pd_charset_id)pd_packed_next(&in));
	p->text.how = (enum pd_charset_how)pd_packed_next(&in);
	p->text.replaced = pd_packed_next(&in);
	return pd_blocks_unpack(&in, &p->blocks) && p->text.charset && in.at == in.end;
}

bool pd_walk_spool_unpack(struct pd_walk_codec *c, struct pd_span bytes, struct pd_pipeline *p)
{
	if (!c->unpacker)
		c->unpacker = pd_unpacker_new();
	pd_buf_clear(&c->plain);
	int status = pd_unpack_all(c->unpacker, PD_CODEC_LZ4, bytes, SIZE_MAX / 2, &c->plain);
	return !status && unpack_plain(pd_buf_span(&c->plain), p);
}

int pd_walk_spool_new(struct pd_walk_spool **out, const char *tmp_dir, struct pd_err *e)
{
	FILE *f = pd_tempfile_open(tmp_dir, e);
	*out = NULL;
	if (!f)
		return PD_ERR_SYSTEM;
	*out = pd_zalloc(sizeof **out);
	(*out)->f = f;
	return PD_OK;
}

void pd_walk_spool_free(struct pd_walk_spool *s)
{
	if (!s)
		return;
	fclose(s->f);
	free(s);
}

uint64_t pd_walk_spool_bytes(const struct pd_walk_spool *s)
{
	return s->bytes;
}

int pd_walk_spool_put(struct pd_walk_spool *s, struct pd_span page, struct pd_err *e)
{
	uint64_t n = page.n;
	if (fwrite(&n, sizeof n, 1, s->f) != 1 || fwrite(page.p, 1, page.n, s->f) != page.n)
		return pd_fail_errno(e, "cannot write a temporary file");
	s->bytes += sizeof n + page.n;
	return PD_OK;
}

int pd_walk_spool_rewind(struct pd_walk_spool *s, struct pd_err *e)
{
	if (fflush(s->f) != 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	s->read = 0;
	return fseeko(s->f, 0, SEEK_SET) < 0 ? pd_fail_errno(e, "cannot read a temporary file") : PD_OK;
}

static int unreadable(struct pd_walk_spool *s, struct pd_err *e)
{
	return ferror(s->f) ? pd_fail_errno(e, "cannot read a temporary file") : pd_fail(e, PD_ERR_FORMAT, "a temporary file was cut short");
}

int pd_walk_spool_next(struct pd_walk_spool *s, struct pd_buf *out, struct pd_err *e)
{
	uint64_t n;
	pd_buf_clear(out);
	if (s->read == s->bytes)
		return 0;
	if (fread(&n, sizeof n, 1, s->f) != 1)
		return unreadable(s, e);
	if (n > s->bytes - s->read - sizeof n)
		return pd_fail(e, PD_ERR_FORMAT, "a temporary file is damaged");
	char *at = pd_buf_reserve(out, n);
	if (fread(at, 1, n, s->f) != n)
		return unreadable(s, e);
	s->read += sizeof n + n;
	out->n = n;
	out->p[n] = 0;
	return 1;
}
