/* SPDX-License-Identifier: MIT */
#include "read/record.h"

void pd_record_clear(struct pd_record *r)
{
	r->kind = PD_RECORD_OTHER;
	pd_buf_clear(&r->id);
	pd_buf_clear(&r->url);
	pd_buf_clear(&r->fetch_time);
	pd_buf_clear(&r->digest);
	pd_buf_clear(&r->user_id);
	pd_buf_clear(&r->content_type);
	pd_buf_clear(&r->address);
	pd_buf_clear(&r->header);
	pd_buf_clear(&r->block);
	r->length = 0;
	r->cut = false;
	r->html_only = false;
}

void pd_record_release(struct pd_record *r)
{
	pd_buf_release(&r->id);
	pd_buf_release(&r->url);
	pd_buf_release(&r->fetch_time);
	pd_buf_release(&r->digest);
	pd_buf_release(&r->user_id);
	pd_buf_release(&r->content_type);
	pd_buf_release(&r->address);
	pd_buf_release(&r->header);
	pd_buf_release(&r->block);
}
