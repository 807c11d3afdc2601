/* SPDX-License-Identifier: MIT
 * pagededup store: the actions that take no rows. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/threads.h"
#include "base/tsv.h"
#include "cmd/store.h"
#include "write/jsonl.h"

int pd_store_run_init(struct pd_store_run *r)
{
	const struct pd_store_options *o = r->o;
	int bits = 64 << (o->bits < 0 ? 0 : o->bits), k = o->k < 0 && o->preset == 1 ? 3 : o->k;
	struct pd_store_settings settings = pd_store_defaults(bits);
	if (k > bits / 4)
		return pd_fail(&r->err, PD_ERR_USAGE, "distance %d: must be 0 to %d, a quarter of the %d bits", k, bits / 4, bits);
	if (k >= 0)
		settings.k = settings.alone = k;
	int status = pd_store_create(r->dir, &settings, NULL, &r->err);
	if (!status)
		pd_log_note(r->log, "%s is a store for fingerprints of %d bits, k %d", r->dir, bits, settings.k);
	return status;
}

int pd_store_run_compact(struct pd_store_run *r)
{
	int status = pd_store_open(&r->store, r->dir, PD_STORE_WRITE, &r->err);
	if (!status)
		status = pd_store_compact(&r->store, &r->err);
	if (!status)
		pd_log_note(r->log, "done, %.1f s", pd_wall_seconds() - r->started);
	return status;
}

int pd_store_run_verify(struct pd_store_run *r)
{
	r->store.damaged = pd_store_run_damaged;
	r->store.damaged_ctx = r;
	int status = pd_store_verify(&r->store, r->dir, &r->err);
	if (!status && !r->bad)
		pd_log_note(r->log, "no damage, %.1f s", pd_wall_seconds() - r->started);
	return status;
}

/* Pages kept: rows without those that are gone.  A number that is gone may have left its segment already. */
static int count_pages(struct pd_store *s, uint64_t *pages, uint64_t *gone, struct pd_err *e)
{
	size_t n;
	uint64_t *all = pd_store_tombstones_all(&s->tombstones, &n);
	struct pd_store_tombstones none = { 0 }, kept = s->tombstones;
	int status = PD_OK;
	*pages = s->recent.n;
	*gone = 0;
	for (size_t i = 0; i < s->m.n_segments; i++)
		*pages += s->m.segments[i].rows;
	s->tombstones = none;
	for (size_t i = 0; status >= 0 && i < n; i++) {
		struct pd_store_place at;
		status = pd_store_find_number(s, all[i], &at, e);
		*gone += status > 0;
	}
	s->tombstones = kept;
	free(all);
	*pages -= *gone;
	return status < 0 ? status : PD_OK;
}

static uint64_t bytes_of(const struct pd_store *s)
{
	uint64_t bytes = s->log_synced + s->tombstones.map.n;
	for (size_t i = 0; i < s->m.n_segments; i++)
		bytes += s->m.segments[i].bytes;
	return bytes;
}

static void print_segments(const struct pd_store *s)
{
	for (size_t i = 0; i < s->m.n_segments; i++) {
		const struct pd_store_segment_footer *f = &s->segments[i].f;
		printf("segment\tseg-%" PRIu64 ": %" PRIu64 " pages, %" PRIu64 " bytes, %" PRIu32 " tables of %" PRIu32 " bits\n", f->file,
		       f->rows, s->m.segments[i].bytes, f->tables, f->table_bits);
	}
}

static void print_info(const struct pd_store *s, uint64_t pages, uint64_t gone)
{
	printf("version\t%d\npages\t%" PRIu64 "\ngone\t%" PRIu64 "\nin_log\t%zu\nbytes\t%" PRIu64 "\nnext\t%" PRIu64 "\n",
	       PD_STORE_VERSION, pages, gone, s->recent.n, bytes_of(s), s->m.next);
	printf("bits\t%d\nk\t%d\nk_unknown\t%d\nsketch\t%s\nparams\t%s\nmust\t%s\n", s->m.bits, s->m.k, s->m.alone, s->m.sketch[0] ? s->m.sketch : "-",
	       s->m.params[0] ? s->m.params : "-", s->m.must.n ? s->m.must.p : "-");
	print_segments(s);
}

static void print_json(const struct pd_store *s, uint64_t pages, uint64_t gone)
{
	struct pd_json *j = pd_json_new();
	struct pd_buf out = { 0 };
	pd_json_int(j, "version", PD_STORE_VERSION);
	pd_json_int(j, "pages", (int64_t)pages);
	pd_json_int(j, "gone", (int64_t)gone);
	pd_json_int(j, "in_log", (int64_t)s->recent.n);
	pd_json_int(j, "bytes", (int64_t)bytes_of(s));
	pd_json_int(j, "next", (int64_t)s->m.next);
	pd_json_int(j, "bits", s->m.bits);
	pd_json_int(j, "k", s->m.k);
	pd_json_int(j, "k_unknown", s->m.alone);
	pd_json_str_or_null(j, "sketch", pd_span_z(s->m.sketch));
	pd_json_str_or_null(j, "params", pd_span_z(s->m.params));
	pd_json_str_or_null(j, "must", pd_buf_span(&s->m.must));
	pd_json_int(j, "segments", (int64_t)s->m.n_segments);
	pd_json_write(j, &out);
	puts(out.p);
	pd_buf_release(&out);
	pd_json_free(j);
}

int pd_store_run_info(struct pd_store_run *r)
{
	uint64_t pages, gone;
	int status = pd_store_open(&r->store, r->dir, PD_STORE_READ, &r->err);
	if (!status)
		status = count_pages(&r->store, &pages, &gone, &r->err);
	if (!status && r->o->format == PD_ROWS_JSONL)
		print_json(&r->store, pages, gone);
	else if (!status)
		print_info(&r->store, pages, gone);
	return status;
}

struct exporting {
	struct pd_store_run *r;
	struct pd_json *json;
	struct pd_buf line;
	uint64_t n;
};

static int export_page(void *ctx, uint64_t number, const struct pd_store_page *page)
{
	struct exporting *x = ctx;
	const struct pd_store *s = &x->r->store;
	pd_buf_clear(&x->line);
	pd_store_page_row(page, s->m.bits, &s->sketch, s->m.params, &x->line);
	if (x->json)
		pd_jsonl_row(x->json, pd_fp_columns, &x->line, 0);
	x->n++;
	if (fwrite(x->line.p, 1, x->line.n, stdout) != x->line.n)
		return pd_fail_errno(&x->r->err, "cannot write standard output");
	return PD_OK;
}

static void export_header(const struct pd_store *s)
{
	printf("# pagededup fp 1 %s |%s%s\n#", pd_buf_z(&s->m.must), s->m.sketch[0] ? " sketch=" : "", s->m.sketch);
	for (int i = 0; i < PD_FP_COLUMNS; i++)
		printf("%s%c", pd_fp_columns[i], i + 1 < PD_FP_COLUMNS ? '\t' : '\n');
}

int pd_store_run_export(struct pd_store_run *r)
{
	struct exporting x = { .r = r, .json = r->o->format == PD_ROWS_JSONL ? pd_json_new() : NULL };
	r->store.damaged = pd_store_run_damaged;
	r->store.damaged_ctx = r;
	int status = pd_store_open(&r->store, r->dir, PD_STORE_READ, &r->err);
	if (!status && !x.json)
		export_header(&r->store);
	if (!status)
		status = pd_store_each(&r->store, export_page, &x, &r->err);
	if (!status)
		pd_log_note(r->log, "%" PRIu64 " pages, %.1f s", x.n, pd_wall_seconds() - r->started);
	pd_json_free(x.json);
	pd_buf_release(&x.line);
	return status;
}

struct removing {
	struct pd_store_run *r;
	struct pd_store_places places;
	uint64_t pages;
};

/* All that is kept under an id or a URL, escaped as in rows. */
static int remove_one(struct removing *x, struct pd_span what)
{
	struct pd_store_run *r = x->r;
	struct pd_buf missing = { 0 };
	x->places.n = 0;
	int status = pd_store_find_text(&r->store, r->o->by_url ? PD_STORE_BY_URL : PD_STORE_BY_ID, what, &x->places, &r->err);
	if (!status && !x->places.n) {
		pd_buf_printf(&missing, "%.*s is not kept", (int)what.n, what.p);
		pd_store_run_damaged(r, missing.p);
		pd_buf_release(&missing);
	}
	for (size_t i = 0; !status && i < x->places.n; i++, x->pages++)
		status = pd_store_remove(&r->store, &x->places.v[i].number, 1, &r->err);
	return status;
}

static int remove_lines(struct removing *x)
{
	struct pd_line_reader lines = { .f = stdin, .path = "standard input" };
	struct pd_span what;
	int status;
	while ((status = pd_line_next(&lines, &what, &x->r->err)) > 0) {
		what = pd_span_trim(what);
		status = what.n ? remove_one(x, what) : PD_OK;
		if (status)
			break;
	}
	pd_line_reader_release(&lines);
	return status;
}

int pd_store_run_remove(struct pd_store_run *r)
{
	struct removing x = { .r = r };
	int status = pd_store_open(&r->store, r->dir, PD_STORE_WRITE, &r->err);
	for (int i = 0; !status && i < r->n_operands; i++)
		status = remove_one(&x, pd_span_z(r->operands[i]));
	if (!status && !r->n_operands)
		status = remove_lines(&x);
	if (!status)
		status = pd_store_sync(&r->store, &r->err);
	if (!status)	/* said at once: tidying up may lack room, and they are gone all the same */
		pd_log_note(r->log, "%" PRIu64 " removed, %" PRIu64 " not kept, %.1f s", x.pages, r->bad, pd_wall_seconds() - r->started);
	if (!status)
		status = pd_store_tend(&r->store, true, &r->err);
	free(x.places.v);
	return status;
}
