/* SPDX-License-Identifier: MIT
 *
 * Lines of pages, as rows came, into the order in which they will be asked for.  Picked one by one they would bring most of
 * the file into memory again and again, so they are picked many at a time, in the order in which they lie.
 */
#include <stdlib.h>

#include "group/offsets.h"
#include "group/order.h"
#include "group/pages.h"
#include "base/memory.h"

enum { PICKED = 1 << 19, NEAR = 1 << 16, FAR_SHARE = 16 };

struct pages_picked {
	uint64_t *at;		/* where the i-th line lies; then where it begins in `text` */
	uint32_t *order;	/* i by place */
	struct pd_buf text;
};

/* A line that follows close to the one before costs nothing. */
static bool is_scattered(const struct pd_pages *p, const uint32_t *pages, size_t n)
{
	uint64_t last = 0;
	size_t far = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = pd_offset_get(p->at, pages[i]);
		far += (at > last ? at - last : last - at) > NEAR;
		last = at;
	}
	return far > n / FAR_SHARE;
}

static void pick(struct pd_pages *p, const uint32_t *pages, size_t n, struct pages_picked *out)
{
	for (size_t i = 0; i < n; i++) {
		out->at[i] = pd_offset_get(p->at, pages[i]);
		out->order[i] = (uint32_t)i;
	}
	pd_order_by(out->order, n, out->at);
	pd_buf_clear(&out->text);
	for (size_t i = 0; i < n; i++) {
		uint64_t *at = &out->at[out->order[i]];
		pd_spool_trim(&p->spool);
		struct pd_span line = pd_spool_line(&p->spool, *at);
		*at = out->text.n;
		pd_buf_add_span(&out->text, line);
		pd_buf_add_c(&out->text, '\n');
	}
}

static int put(struct pd_pages *p, struct pd_spool *to, const uint32_t *pages, size_t n, const struct pages_picked *from,
	       struct pd_err *e)
{
	int status = PD_OK;
	for (size_t i = 0; i < n && !status; i++) {
		const char *line = from->text.p + from->at[i];
		pd_offset_put(p->at, pages[i], pd_spool_end(to));
		pd_buf_add(&to->tail, line, (size_t)((const char *)rawmemchr(line, '\n') - line));
		status = pd_spool_line_done(to, e);
	}
	return status;
}

int pd_pages_arrange(struct pd_pages *p, const uint32_t *pages, size_t n, const char *tmp_dir, struct pd_err *e)
{
	struct pages_picked picked = { 0 };
	struct pd_spool to;
	if (!is_scattered(p, pages, n))
		return PD_OK;
	int status = pd_spool_init(&to, tmp_dir, e);
	picked.at = pd_big_alloc(PICKED * sizeof *picked.at);
	picked.order = pd_big_alloc(PICKED * sizeof *picked.order);
	for (size_t at = 0, some; !status && at < n; at += some) {
		some = n - at < PICKED ? n - at : PICKED;
		pick(p, pages + at, some, &picked);
		status = put(p, &to, pages + at, some, &picked, e);
	}
	free(picked.at);
	free(picked.order);
	pd_buf_release(&picked.text);
	pd_spool_release(status ? &to : &p->spool);
	if (!status)
		p->spool = to;
	return status;
}
