/* SPDX-License-Identifier: MIT */
#include "apply/revisits.h"

#include "base/tempfile.h"

/* One in the file: this, and the id. */
struct stays {
	uint64_t original;
	uint64_t n;
};

void pd_apply_revisits_removed(struct pd_apply_revisits *r, uint64_t id)
{
	pd_map_add(&r->removed, id);
}

void pd_apply_revisits_stays(struct pd_apply_revisits *r, uint64_t original, struct pd_span id)
{
	struct stays s = { original, id.n };
	if (!original || r->err.status)
		return;
	if (!r->stay)
		r->stay = pd_tempfile_open(r->tmp_dir, &r->err);
	if (r->stay && (fwrite(&s, sizeof s, 1, r->stay) != 1 || fwrite(id.p, 1, id.n, r->stay) != id.n))
		pd_fail_errno(&r->err, "cannot write a temporary file");
}

int pd_apply_revisits_end(struct pd_apply_revisits *r, void (*orphan)(void *ctx, const char *id), void *ctx, struct pd_err *e)
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

void pd_apply_revisits_release(struct pd_apply_revisits *r)
{
	pd_map_release(&r->removed);
	if (r->stay)
		fclose(r->stay);
}
