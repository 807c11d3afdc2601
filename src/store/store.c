/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fields.h"
#include "base/threads.h"
#include "join/plan.h"
#include "match/verify.h"
#include "store/segment_write.h"

static int write_log(struct pd_store *s, uint64_t file, struct pd_err *e)
{
	struct pd_buf head = { 0 };
	char name[PD_STORE_IO_NAME_MAX];
	pd_store_file_name(s, "log", file, name, NULL);
	pd_store_log_head(file, &head);
	pd_store_io_close(&s->log);
	int status = pd_store_io_create(&s->io, name, &s->log, e);
	if (!status)
		status = pd_store_io_append(&s->log, head.p, head.n, e);
	if (!status)
		status = pd_store_io_sync(&s->log, e);
	pd_buf_release(&head);
	return status;
}

struct pd_store_settings pd_store_defaults(int bits)
{
	return (struct pd_store_settings){ .bits = bits,
					   .k = pd_verify_default_k(bits, PD_STORE_PAGES),
					   .alone = pd_join_default_k(bits, PD_STORE_PAGES) };
}

/* Is it one of our files, and which? */
static bool our_file(const char *name, const char *kind, uint64_t *file)
{
	size_t n = strlen(kind);
	return !strncmp(name, kind, n) && name[n] == '-' && pd_span_u64(pd_span_z(name + n + 1), file);
}

/* A folder without a manifest may hold what a killed init left, and nothing else. */
static int check_empty(const struct pd_store_io *io, struct pd_err *e)
{
	int fd = dup(io->fd), status = PD_OK;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint64_t file;
	if (!d)
		return pd_fail_errno(e, "cannot read %s", io->dir);
	rewinddir(d);
	for (struct dirent *entry; !status && (entry = readdir(d));) {
		const char *n = entry->d_name;
		if (n[0] != '.' && strcmp(n, "lock") && strcmp(n, "manifest.new") && !our_file(n, "log", &file))
			status = pd_fail(e, PD_ERR_USAGE, "%s is not a store, and not empty (it holds '%s'): name a new or empty folder", io->dir, n);
	}
	closedir(d);
	return status;
}

static int take_lock(const struct pd_store_io *io, int *lock, struct pd_err *e)
{
	*lock = openat(io->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (*lock < 0)
		return pd_fail_errno(e, "cannot open %s/lock", io->dir);
	if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
		return PD_OK;
	int busy = errno == EWOULDBLOCK;
	close(*lock);
	*lock = -1;
	return busy ? pd_fail(e, PD_ERR_LIMIT,
			      "another process is writing to %s: only one can, wait until it has ended", io->dir) :
		pd_fail_errno(e, "cannot lock %s/lock", io->dir);
}

/* The same again changes nothing; other parameters are refused. */
static int is_there(struct pd_store *s, const struct pd_store_settings *want, struct pd_err *e)
{
	int status = pd_store_manifest_load(&s->m, &s->io, e);
	if (status)
		return status;
	const struct {
		const char *name;
		int is, wanted;
	} rows[] = { { "bits", s->m.bits, want->bits }, { "k", s->m.k, want->k },
		     { "k_unknown", s->m.alone, want->alone } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].is != rows[i].wanted)
			return pd_fail(e, PD_ERR_PARAMS, "%s is already a store, with other parameters (%s: %d and %d)",
				       s->io.dir, rows[i].name, rows[i].is, rows[i].wanted);
	return PD_OK;
}

static bool has_manifest(const struct pd_store *s)
{
	struct stat st;
	return fstatat(s->io.fd, "manifest", &st, 0) == 0;
}

/* The folder itself has a name, in the folder that holds it. */
static int sync_parent(struct pd_store *s, struct pd_err *e)
{
	int fd = openat(s->io.fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int bad = fd >= 0 && fsync(fd) && errno != EINVAL && errno != EROFS;
	if (fd >= 0)
		close(fd);
	return bad ? pd_fail_errno(e, "cannot sync the folder of %s", s->io.dir) : PD_OK;
}

static int create_in(struct pd_store *s, const struct pd_store_settings *want, struct pd_err *e)
{
	if (has_manifest(s))
		return is_there(s, want, e);
	int status = check_empty(&s->io, e);
	if (!status)
		status = take_lock(&s->io, &s->lock, e);
	if (!status && has_manifest(s))	/* somebody was faster */
		return is_there(s, want, e);
	if (!status)
		status = sync_parent(s, e);
	s->m = (struct pd_store_manifest){ .bits = want->bits, .k = want->k, .alone = want->alone, .log = 1,
					   .next_file = 2, .next = 1 };
	if (!status)
		status = write_log(s, s->m.log, e);
	if (!status)
		status = pd_store_io_sync_dir(&s->io, e);
	return status ? status : pd_store_manifest_save(&s->m, &s->io, e);
}

int pd_store_create(const char *dir, const struct pd_store_settings *settings, const struct pd_store_io *io,
		    struct pd_err *e)
{
	struct pd_store s = { .lock = -1, .log.fd = -1 };
	if (io)
		s.io = *io;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return pd_fail_errno(e, "cannot make %s", dir);
	int status = pd_store_io_open_dir(&s.io, dir, e);
	if (!status)
		status = create_in(&s, settings, e);
	pd_store_close(&s);
	return status;
}

/* What a killed writer left, and the manifest does not name. */
static int sweep(struct pd_store *s, struct pd_err *e)
{
	int fd = dup(s->io.fd), status = PD_OK;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint64_t file;
	if (!d)
		return pd_fail_errno(e, "cannot read %s", s->io.dir);
	rewinddir(d);
	for (struct dirent *entry; !status && (entry = readdir(d));) {
		const char *n = entry->d_name;
		bool stray = !strcmp(n, "manifest.new") || (our_file(n, "log", &file) && file != s->m.log) ||
			     (our_file(n, "gone", &file) && file != s->m.tombstones);
		if (our_file(n, "seg", &file)) {
			stray = true;
			for (size_t i = 0; i < s->m.n_segments; i++)
				stray = stray && s->m.segments[i].file != file;
		}
		if (stray)
			status = pd_store_io_unlink(&s->io, n, e);
	}
	closedir(d);
	return status;
}

/* Nothing is made in a folder that is no store. */
static int lock_store(struct pd_store *s, struct pd_err *e)
{
	int status = pd_store_manifest_load(&s->m, &s->io, e);
	pd_store_manifest_release(&s->m);
	if (status)
		return status == PD_ERR_NOT_FOUND ? PD_ERR_USAGE : status;
	return take_lock(&s->io, &s->lock, e);
}

int pd_store_open(struct pd_store *s, const char *dir, enum pd_store_mode mode, struct pd_err *e)
{
	s->lock = -1;
	s->log.fd = -1;
	s->texts = pd_store_text_cache_new();
	int status = pd_store_io_open_dir(&s->io, dir, e);
	if (!status && mode == PD_STORE_WRITE)
		status = lock_store(s, e);
	if (!status)
		status = pd_store_load(s, e);
	if (!status && mode == PD_STORE_WRITE)
		status = sweep(s, e);
	return status;
}

/* A store holds fingerprints of one make.  Which, it learns from the first rows that are added. */

static int differ(const struct pd_store *s, const char *where, const char *how, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_PARAMS, "%s: made with other parameters than the store %s (%s)", where, s->io.dir,
		       how);
}

/* The name of the sketches, out of a header's recorded parameters; none is as good as not said. */
static int settle_sketch(struct pd_store *s, struct pd_span recorded, const char *where, struct pd_err *e)
{
	struct pd_span name = pd_param(recorded, "sketch");
	char how[64];
	if (!name.n || pd_span_is(name, "none") || pd_span_is(name, "-") || name.n >= sizeof s->m.sketch)
		return PD_OK;
	if (s->m.sketch[0] && !pd_span_is(name, s->m.sketch)) {
		snprintf(how, sizeof how, "sketch: %s and %.*s", s->m.sketch, (int)name.n, name.p);
		return differ(s, where, how, e);
	}
	if (s->m.sketch[0])
		return PD_OK;
	int status = pd_sketch_read(&s->sketch, name, e);
	if (status)
		return status;
	snprintf(s->m.sketch, sizeof s->m.sketch, "%.*s", (int)name.n, name.p);
	s->dirty = true;
	return PD_OK;
}

int pd_store_settle(struct pd_store *s, struct pd_span must, struct pd_span recorded, const char *where,
		    struct pd_err *e)
{
	struct pd_buf how = { 0 };
	struct pd_span bits = pd_param(must, "bits");
	char params[9];
	uint64_t n;
	int status = PD_OK;
	pd_params_hash(must, params);
	if (pd_span_u64(bits, &n) && n != (uint64_t)s->m.bits) {
		pd_buf_printf(&how, "bits: %d and %.*s", s->m.bits, (int)bits.n, bits.p);
		status = differ(s, where, how.p, e);
	} else if (s->m.must.n) {
		pd_params_differ(pd_buf_span(&s->m.must), must, &how);
		status = how.n ? differ(s, where, how.p, e) : PD_OK;
	} else if (must.n && s->m.params[0] && strcmp(s->m.params, params)) {
		pd_buf_printf(&how, "params: %s and %s", s->m.params, params);
		status = differ(s, where, how.p, e);
	} else if (must.n) {
		pd_buf_set(&s->m.must, must);
		memcpy(s->m.params, params, sizeof params);
		s->dirty = true;
	}
	pd_buf_release(&how);
	return status ? status : settle_sketch(s, recorded, where, e);
}

int pd_store_settle_row(struct pd_store *s, struct pd_span params, struct pd_err *e)
{
	if (!params.n || pd_span_is(params, "-") || pd_span_is(params, s->m.params))
		return PD_OK;
	if (s->m.params[0])
		return pd_fail(e, PD_ERR_PARAMS, "made with other parameters (%.*s) than the store %s (%s)",
			       (int)params.n, params.p, s->io.dir, s->m.params);
	if (params.n < sizeof s->m.params) {
		snprintf(s->m.params, sizeof s->m.params, "%.*s", (int)params.n, params.p);
		s->dirty = true;
	}
	return PD_OK;
}

/* Adding and removing: memory first, then the log, which waits for pd_store_sync. */

static int append_record(struct pd_store *s, struct pd_buf *record, struct pd_err *e)
{
	int status = pd_store_io_append(&s->log, record->p, record->n, e);
	pd_buf_release(record);
	return status;
}

/* Pages that are removed from here on. */
static void add_tombstones(struct pd_store *s, const uint64_t *removed, size_t n_removed)
{
	for (size_t i = 0; i < n_removed; i++) {
		pd_store_tombstones_add(&s->tombstones, removed[i]);
		pd_store_recent_drop(&s->recent, removed[i]);
	}
}

int pd_store_add(struct pd_store *s, const struct pd_store_page *page, const uint64_t *removed, size_t n_removed,
		 uint64_t *number, struct pd_err *e)
{
	struct pd_buf record = { 0 };
	int status = s->dirty ? pd_store_manifest_save(&s->m, &s->io, e) : PD_OK;
	if (status)
		return status;
	s->dirty = false;	/* what rows were made with is known before the first of them is */
	*number = s->m.next++;
	pd_store_log_add(s->m.log, s->log.size, *number, page, s->m.bits, removed, n_removed, &record);
	pd_store_recent_add(&s->recent, *number, page);
	add_tombstones(s, removed, n_removed);
	return append_record(s, &record, e);
}

int pd_store_remove(struct pd_store *s, const uint64_t *removed, size_t n_removed, struct pd_err *e)
{
	struct pd_buf record = { 0 };
	pd_store_log_remove(s->m.log, s->log.size, removed, n_removed, &record);
	add_tombstones(s, removed, n_removed);
	return append_record(s, &record, e);
}

int pd_store_remove_named(struct pd_store *s, enum pd_store_by by, struct pd_span name, uint64_t *pages,
			  struct pd_err *e)
{
	struct pd_store_places places = { 0 };
	int status = pd_store_find_text(s, by, name, &places, e);
	for (size_t i = 0; !status && i < places.n; i++)
		status = pd_store_remove(s, &places.v[i].number, 1, e);
	*pages = places.n;
	free(places.v);
	return status;
}

int pd_store_sync(struct pd_store *s, struct pd_err *e)
{
	if (s->log.size == s->log_synced)
		return PD_OK;
	int status = pd_store_io_sync(&s->log, e);
	if (!status)
		s->log_synced = s->log.size;
	return status;
}

/* How the files of a store change: the log becomes a segment, segments become one.  Each change makes new files, all
 * durable; then the manifest is replaced; then the old ones are removed.
 *
 * Segments stand in the order of their pages.  Of segments of one class (rows between two powers of FANOUT) and smaller at
 * the young end, FANOUT are merged: so there are at most FANOUT - 1 of each class, and a page is rewritten once for each.
 * The end of a run leaves fewer: each is over twice as large as all younger ones together. */

enum {
	FANOUT = 4,
	TWICE = 2,
	BEHIND = 4 * FANOUT	/* segments that wait while one merge runs, before adding waits for it */
};

/* Segments from .. to - 1 become `result`. */
struct pd_store_merge {
	struct pd_task *task;		/* NULL: done at once */
	struct pd_store_segment *segments;	/* of their own, read in the background */
	size_t n;			/* of them, open */
	size_t from, to;
	struct pd_store_segment_job job;
	uint64_t *tombstones;
	uint64_t first, last;		/* pages that it holds have numbers first .. last */
	struct pd_store_manifest_segment result;
	int status;
	struct pd_err err;
};

static void merge_run(void *ctx)
{
	struct pd_store_merge *m = ctx;
	m->status = pd_store_segment_merge(&m->job, m->segments, m->n, &m->result, &m->err);
}

static void merge_free(struct pd_store_merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		pd_store_segment_close(&m->segments[i]);
	free(m->segments);
	free(m->tombstones);
	free(m);
}

static int merge_begin(struct pd_store *s, size_t from, size_t to, bool background, struct pd_err *e)
{
	struct pd_store_merge *m = pd_zalloc(sizeof *m);
	int status = PD_OK;
	*m = (struct pd_store_merge){ .from = from, .to = to };
	m->segments = pd_zalloc((to - from + 1) * sizeof *m->segments);
	for (size_t i = from; !status && i < to; i++, m->n++)
		status = pd_store_open_segment(s, i, &m->segments[i - from], e);
	if (status) {
		merge_free(m);
		return status;
	}
	m->job.io = &s->io;
	m->job.file = s->m.next_file++;
	m->job.bits = s->m.bits;
	m->job.k = s->m.k;
	m->job.tombstones = m->tombstones = pd_store_tombstones_all(&s->tombstones, &m->job.n_tombstones);
	m->first = from ? s->segments[from].f.first : 0;
	m->last = to < s->m.n_segments ? s->segments[to].f.first - 1 : s->recent.n ? s->recent.numbers[0] - 1 :
		s->m.next - 1;
	s->merge = m;
	if (background)
		m->task = pd_task_start(merge_run, m);
	if (!m->task)
		merge_run(m);
	return PD_OK;
}

static void merge_abandon(struct pd_store *s)
{
	if (!s->merge)
		return;
	pd_task_join(s->merge->task);
	merge_free(s->merge);
	s->merge = NULL;
}

/* What a change makes durable, and what it makes superfluous. */
struct change {
	uint64_t old_log, old_tombstones;	/* 0: stays */
	uint64_t *old_segments;
	size_t n_old;
};

static int unlink_file(struct pd_store *s, const char *kind, uint64_t file, struct pd_err *e)
{
	char name[PD_STORE_IO_NAME_MAX];
	pd_store_file_name(s, kind, file, name, NULL);
	return file ? pd_store_io_unlink(&s->io, name, e) : PD_OK;
}

/* New files are written and synced; now they are the store. */
static int install(struct pd_store *s, const struct change *c, struct pd_err *e)
{
	int status = pd_store_io_sync_dir(&s->io, e);
	if (!status)
		status = pd_store_manifest_save(&s->m, &s->io, e);
	if (!status)
		s->dirty = false;
	if (!status)
		status = unlink_file(s, "log", c->old_log, e);
	if (!status)
		status = unlink_file(s, "gone", c->old_tombstones, e);
	for (size_t i = 0; !status && i < c->n_old; i++)
		status = unlink_file(s, "seg", c->old_segments[i], e);
	return status;
}

/* Segments from .. to - 1 give way to one, or to none when nothing was left. */
static int replace_segments(struct pd_store *s, size_t from, size_t to, struct pd_store_manifest_segment by,
			    struct pd_err *e)
{
	struct pd_store_segment fresh = { 0 };
	size_t stays = by.rows ? 1 : 0;
	for (size_t i = from; i < to; i++)
		pd_store_segment_close(&s->segments[i]);
	if (stays)
		pd_store_manifest_put(&s->m, from, to, by);
	else
		pd_store_manifest_cut(&s->m, from, to);
	size_t behind = s->m.n_segments - from - stays;
	s->segments = pd_realloc(s->segments, (s->m.n_segments + (to - from) + 2) * sizeof *s->segments);
	memmove(s->segments + from + stays, s->segments + to, behind * sizeof *s->segments);
	int status = stays ? pd_store_open_segment(s, from, &fresh, e) : PD_OK;
	if (stays)
		s->segments[from] = fresh;
	return status;
}

/* The tombstones, without numbers of first .. last that `done` names; ends up in a file of its own. */
static int shorten_tombstones(struct pd_store *s, const uint64_t *all, size_t n, uint64_t first, uint64_t last,
			      const uint64_t *done, size_t n_done, struct pd_err *e)
{
	uint64_t *stay = pd_alloc((n + 1) * sizeof *stay);
	size_t n_stay = 0, d = 0;
	for (size_t i = 0; i < n; i++) {
		while (d < n_done && done[d] < all[i])
			d++;
		bool left = all[i] >= first && all[i] <= last && d < n_done && done[d] == all[i];
		if (!left)
			stay[n_stay++] = all[i];
	}
	uint64_t file = n_stay ? s->m.next_file++ : 0;
	int status = n_stay ? pd_store_tombstones_write(&s->io, file, stay, n_stay, e) : PD_OK;
	struct pd_store_tombstones fresh = { 0 };
	if (!status)
		status = pd_store_open_tombstones(s, file, &fresh, e);
	if (!status) {
		pd_store_tombstones_release(&s->tombstones);
		s->tombstones = fresh;
		s->m.tombstones = file;
	}
	free(stay);
	return status;
}

static int merge_install(struct pd_store *s, struct pd_store_merge *m, struct pd_err *e)
{
	struct change c = { .old_tombstones = s->m.tombstones, .n_old = m->to - m->from };
	size_t n;
	uint64_t *all = pd_store_tombstones_all(&s->tombstones, &n);
	c.old_segments = pd_alloc(c.n_old * sizeof *c.old_segments);
	for (size_t i = 0; i < c.n_old; i++)
		c.old_segments[i] = s->m.segments[m->from + i].file;
	int status = shorten_tombstones(s, all, n, m->first, m->last, m->tombstones, m->job.n_tombstones, e);
	if (!status)
		status = replace_segments(s, m->from, m->to, m->result, e);
	if (!status)
		status = install(s, &c, e);
	free(c.old_segments);
	free(all);
	return status;
}

static int merge_end(struct pd_store *s, struct pd_err *e)
{
	struct pd_store_merge *m = s->merge;
	pd_task_join(m->task);
	m->task = NULL;
	int status = m->status;
	if (status && e)
		*e = m->err;
	if (!status)
		status = merge_install(s, m, e);
	s->merge = NULL;
	merge_free(m);
	return status;
}

static int class_of(uint64_t rows)
{
	int c = 0;
	for (; rows >= FANOUT; rows /= FANOUT)
		c++;
	return c;
}

/* Where the segments begin that are to be merged, up to the youngest; n_segments: none are.  A small segment counts with
 * the largest that is younger: it will be merged with it. */
static size_t merge_class(const struct pd_store_manifest *m)
{
	size_t best = m->n_segments, n = 0;
	int most = -1;
	for (size_t i = m->n_segments; i-- > 0;) {
		int c = class_of(m->segments[i].rows);
		if (c > most)
			n = 0;
		most = c > most ? c : most;
		if (++n >= FANOUT && (i == 0 || class_of(m->segments[i - 1].rows) > most))
			best = i;
	}
	return best;
}

/* At the end of a run there is time for more: a segment that is not over TWICE as large as all younger ones together goes
 * with them.  Every segment that is left is asked for every question; merging costs half a microsecond a page. */
static size_t merge_small(const struct pd_store_manifest *m)
{
	size_t best = m->n_segments;
	uint64_t younger = 0;
	for (size_t i = m->n_segments; i-- > 0;) {
		if (m->segments[i].rows <= TWICE * younger)
			best = i;
		younger += m->segments[i].rows;
	}
	return best;
}

static size_t merge_from(const struct pd_store_manifest *m, bool closing)
{
	size_t a = merge_class(m), b = closing ? merge_small(m) : m->n_segments;
	return a < b ? a : b;
}

static int make_segment_of_log(struct pd_store *s, struct pd_err *e)
{
	struct pd_store_manifest_segment made;
	struct change c = { .old_log = s->m.log, .old_tombstones = s->m.tombstones };
	size_t n;
	uint64_t *all = pd_store_tombstones_all(&s->tombstones, &n);
	struct pd_store_segment_job job = { .io = &s->io, .file = s->m.next_file++, .bits = s->m.bits, .k = s->m.k,
					    .tombstones = all, .n_tombstones = n };
	int status = pd_store_segment_write(&job, &s->recent, pd_sketch_words(&s->sketch), &made, e);
	uint64_t first = s->recent.n ? s->recent.numbers[0] : UINT64_MAX;
	if (!status)
		status = shorten_tombstones(s, all, n, first, UINT64_MAX, all, n, e);
	free(all);
	s->m.log = s->m.next_file++;
	if (!status)
		status = write_log(s, s->m.log, e);
	if (!status)
		s->log_synced = s->log.size;
	if (!status && made.rows)
		status = replace_segments(s, s->m.n_segments, s->m.n_segments, made, e);
	pd_store_recent_release(&s->recent);
	pd_store_recent_init(&s->recent, s->m.bits, s->m.k);
	return status ? status : install(s, &c, e);
}

/* A log that is long takes its time whenever the store is opened. */
static bool log_is_long(const struct pd_store *s, bool closing)
{
	size_t most = s->limits.recent ? s->limits.recent : PD_STORE_RECENT_MAX, left = s->limits.left ?
		s->limits.left : PD_STORE_RECENT_LEFT;
	return s->recent.n > (closing ? left : most) || s->log.size > PD_STORE_RECENT_BYTES;
}

int pd_store_tend(struct pd_store *s, bool closing, struct pd_err *e)
{
	int status = log_is_long(s, closing) ? make_segment_of_log(s, e) : PD_OK;
	bool wait = closing || s->m.n_segments > BEHIND;
	while (!status) {
		size_t from = merge_from(&s->m, closing);
		if (s->merge && !wait && !pd_task_done(s->merge->task))
			break;
		if (s->merge)
			status = merge_end(s, e);
		else if (from < s->m.n_segments)
			status = merge_begin(s, from, s->m.n_segments, true, e);
		else
			break;
	}
	return status;
}

int pd_store_compact(struct pd_store *s, struct pd_err *e)
{
	int status = s->merge ? merge_end(s, e) : PD_OK;
	if (!status && (s->recent.n || s->log.size > PD_STORE_LOG_HEAD))
		status = make_segment_of_log(s, e);
	if (status || (s->m.n_segments < 2 && !s->m.tombstones))
		return status;
	if (s->m.n_segments)
		status = merge_begin(s, 0, s->m.n_segments, false, e);
	return status || !s->merge ? status : merge_end(s, e);
}

void pd_store_close(struct pd_store *s)
{
	merge_abandon(s);
	pd_store_unload(s);
	pd_store_io_close(&s->log);
	if (s->lock >= 0)
		close(s->lock);
	pd_store_text_cache_free(s->texts);
	pd_store_near_release(&s->near);
	free(s->found.v);
	pd_buf_release(&s->damage);
	pd_store_io_close_dir(&s->io);
	*s = (struct pd_store){ .lock = -1, .log.fd = -1 };
}
