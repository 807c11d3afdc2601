/* SPDX-License-Identifier: MIT */
#include "store/segment_out.h"

#include <inttypes.h>
#include <stdio.h>

void pd_out_open(struct pd_segment_out *o, struct pd_io *io, uint64_t file, struct pd_err *e)
{
	char name[PD_IO_NAME_MAX];
	*o = (struct pd_segment_out){ .file = file, .e = e };
	snprintf(name, sizeof name, "seg-%" PRIu64, file);
	o->status = pd_io_create(io, name, &o->f, e);
}

static void end_block(struct pd_segment_out *o)
{
	uint64_t block = o->checks.n / 8;
	if (!o->block.n)
		return;
	pd_put64(&o->checks, pd_hash64_seed(o->block.p, o->block.n, o->file << 32 ^ block));
	if (!o->status)
		o->status = pd_io_append(&o->f, o->block.p, o->block.n, o->e);
	pd_buf_clear(&o->block);
}

void pd_out_put(struct pd_segment_out *o, const void *p, size_t n)
{
	const char *from = p;
	while (n && !o->status) {
		size_t room = PD_STORE_BLOCK - o->block.n, some = n < room ? n : room;
		pd_buf_add(&o->block, from, some);
		from += some;
		n -= some;
		o->at += some;
		if (o->block.n == PD_STORE_BLOCK)
			end_block(o);
	}
}

void pd_out_align(struct pd_segment_out *o)
{
	static const char zeroes[PD_STORE_ALIGN];
	pd_out_put(o, zeroes, (PD_STORE_ALIGN - o->at % PD_STORE_ALIGN) % PD_STORE_ALIGN);
}

void pd_out_section(struct pd_segment_out *o, int section)
{
	pd_out_align(o);
	o->footer.section[section].at = o->at;
}

void pd_out_section_end(struct pd_segment_out *o, int section)
{
	o->footer.section[section].n = o->at - o->footer.section[section].at;
}

int pd_out_finish(struct pd_segment_out *o)
{
	struct pd_segment_footer *f = &o->footer;
	end_block(o);
	memcpy(f->magic, PD_SEGMENT_MAGIC, sizeof f->magic);
	f->version = PD_STORE_VERSION;
	f->block = PD_STORE_BLOCK;
	f->file = o->file;
	f->content = o->at;
	f->checks_check = pd_hash64_seed(o->checks.p, o->checks.n, o->file);
	f->check = pd_hash64_seed(f, sizeof *f - 8, o->file);
	if (!o->status)
		o->status = pd_io_append(&o->f, o->checks.p, o->checks.n, o->e);
	if (!o->status)
		o->status = pd_io_append(&o->f, f, sizeof *f, o->e);
	if (!o->status)
		o->status = pd_io_sync(&o->f, o->e);
	pd_io_close(&o->f);
	pd_buf_release(&o->block);
	pd_buf_release(&o->checks);
	return o->status;
}
