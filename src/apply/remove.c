/* SPDX-License-Identifier: MIT */
#include "apply/remove.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/hash.h"
#include "base/page_id.h"
#include "base/tsv.h"

enum { FIRST_ROWS = 1 << 10 };

static uint64_t hash(struct pd_span s)
{
	return pd_hash64(s.p, s.n) | 1;
}

static size_t slot_of(const struct pd_remover *r, uint64_t id)
{
	size_t i = id & (r->cap - 1);
	while (r->ids[i] && r->ids[i] != id)
		i = (i + 1) & (r->cap - 1);
	return i;
}

static void grow(struct pd_remover *r)
{
	uint64_t *ids = r->ids, *digests = r->digests;
	size_t cap = r->cap;
	if (2 * (r->n + 1) <= cap)
		return;
	r->cap = cap ? 2 * cap : FIRST_ROWS;
	r->ids = pd_zalloc(r->cap * sizeof *r->ids);
	r->digests = pd_zalloc(r->cap * sizeof *r->digests);
	for (size_t i = 0; i < cap; i++) {
		size_t to = ids[i] ? slot_of(r, ids[i]) : 0;
		if (!ids[i])
			continue;
		r->ids[to] = ids[i];
		r->digests[to] = digests[i];
	}
	free(ids);
	free(digests);
}

/* Only pages that are files: those of dumps cannot be deleted.  A row that cannot be read leaves its file alone. */
static void add_row(struct pd_remover *r, const struct pd_span *f, struct pd_buf *id)
{
	struct pd_span digest = f[PD_FP_CONTENT_DIGEST];
	if (!digest.n || pd_span_is(digest, "-") || pd_tsv_value(f[PD_FP_ID], id) < 0 || !id->n)
		return;
	if (pd_page_id_parse(pd_buf_span(id)).has_offset)
		return;
	grow(r);
	size_t i = slot_of(r, hash(pd_buf_span(id)));
	r->n += !r->ids[i];
	r->ids[i] = hash(pd_buf_span(id));
	r->digests[i] = hash(digest);
}

int pd_remover_open(struct pd_remover *r, const char *rows, size_t max_block, struct pd_err *e)
{
	char *path = (char *)rows;
	struct pd_tsv_reader in = { .kind = "fp", .columns = pd_fp_columns, .v1_columns = pd_fp_columns, .paths = &path, .n_paths = 1 };
	struct pd_buf id = { 0 };
	int status;
	*r = (struct pd_remover){ .reader = { .max_block = max_block } };
	while ((status = pd_tsv_next(&in, e)) != 0) {
		if (status > 0)
			add_row(r, in.fields, &id);
		else if (status != PD_ERR_FORMAT)
			break;
	}
	pd_tsv_release(&in);
	pd_buf_release(&id);
	return status;
}

void pd_remover_release(struct pd_remover *r)
{
	free(r->ids);
	free(r->digests);
	pd_record_release(&r->record);
	pd_buf_release(&r->dup_of);
	pd_buf_release(&r->digest);
}

void pd_remover_note(struct pd_remover *r, struct pd_span dup_of)
{
	if (pd_tsv_value(dup_of, &r->dup_of) < 0)
		pd_buf_clear(&r->dup_of);
}

/* Is the file there that holds the page kept?  A member of an archive is behind an exclamation mark. */
static bool kept_is_there(const struct pd_remover *r)
{
	struct pd_page_id id = pd_page_id_parse(pd_buf_span(&r->dup_of));
	if (!r->dup_of.n)
		return false;
	if (access(pd_buf_z(&r->dup_of), F_OK) == 0)
		return true;
	char *file = pd_strndup(id.file.p, id.file.n);
	bool there = id.has_offset && access(file, F_OK) == 0;
	for (char *mark = file + strlen(file); !there && (mark = memrchr(file, '!', (size_t)(mark - file)));) {
		*mark = 0;
		there = access(file, F_OK) == 0;
	}
	free(file);
	return there;
}

static const char *changed(struct pd_remover *r, const char *path)
{
	struct pd_err e;
	size_t i = r->cap ? slot_of(r, hash(pd_span_z(path))) : 0;
	if (!r->cap || !r->ids[i])
		return "the rows do not say what it was";
	if (pd_reader_fetch(path, &r->reader, &r->record, &e) < 0)
		return "it cannot be read again";
	pd_buf_clear(&r->digest);
	pd_sha1_base32(pd_buf_span(&r->record.block), &r->digest);
	return hash(pd_buf_span(&r->digest)) == r->digests[i] ? NULL : "it is no longer what the rows saw";
}

int pd_remover_delete(struct pd_remover *r, const char *path, const char **why, struct pd_err *e)
{
	*why = !path ? "it came from standard input" :
	       !kept_is_there(r) ? "the page kept in its place is not there" : changed(r, path);
	r->refused += *why != NULL;
	if (*why)
		return PD_OK;
	if (unlink(path) < 0)
		return pd_fail_errno(e, "cannot delete %s", path);
	r->deleted++;
	return PD_OK;
}
