/* SPDX-License-Identifier: MIT */
#include "base/spool.h"

#include <sys/mman.h>

#include "base/tempfile.h"

enum { TAIL = 1 << 20, FIRST_MAP = 1 << 24, TRIM_AFTER = 1 << 13 };

int pd_spool_init(struct pd_spool *s, const char *dir, struct pd_err *e)
{
	*s = (struct pd_spool){ .f = pd_tempfile_open(dir, e) };
	return s->f ? PD_OK : PD_ERR_SYSTEM;
}

void pd_spool_release(struct pd_spool *s)
{
	if (s->map)
		munmap(s->map, s->mapped);
	if (s->f)
		fclose(s->f);
	pd_buf_release(&s->tail);
	*s = (struct pd_spool){ 0 };
}

uint64_t pd_spool_end(const struct pd_spool *s)
{
	return s->written + s->tail.n;
}

/* Address space beyond the end of the file costs nothing: it is doubled, so that mapping again is rare. */
static int map_written(struct pd_spool *s, struct pd_err *e)
{
	size_t want = s->mapped ? s->mapped : FIRST_MAP;
	if (s->written <= s->mapped)
		return PD_OK;
	while (want < s->written)
		want *= 2;
	if (s->map)
		munmap(s->map, s->mapped);
	s->mapped = 0;
	s->map = mmap(NULL, want, PROT_READ, MAP_SHARED, fileno(s->f), 0);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		return pd_fail_errno(e, "cannot map the temporary file");
	}
	s->mapped = want;
	return PD_OK;
}

int pd_spool_line_done(struct pd_spool *s, struct pd_err *e)
{
	pd_buf_add_c(&s->tail, '\n');
	if (s->tail.n < TAIL)
		return PD_OK;
	if (fwrite(s->tail.p, 1, s->tail.n, s->f) != s->tail.n || fflush(s->f))
		return pd_fail_errno(e, "cannot write the temporary file (choose another place with --tmp-dir)");
	s->written += s->tail.n;
	pd_buf_clear(&s->tail);
	return map_written(s, e);
}

struct pd_span pd_spool_line(struct pd_spool *s, uint64_t at)
{
	bool in_file = at < s->written;
	uint64_t in_tail = at - s->written;
	struct pd_span rest = in_file ? pd_span(s->map + at, s->written - at) : pd_span(s->tail.p + in_tail, s->tail.n - in_tail);
	s->views += in_file;
	rest.n = (size_t)((const char *)memchr(rest.p, '\n', rest.n) - rest.p);
	return rest;
}

void pd_spool_trim(struct pd_spool *s)
{
	if (s->views < TRIM_AFTER || !s->map)
		return;
	madvise(s->map, s->mapped, MADV_DONTNEED);
	s->views = 0;
}
