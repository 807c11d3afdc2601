/* SPDX-License-Identifier: MIT
 *
 * Making and opening a store.
 */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "join/choose.h"
#include "match/verify.h"
#include "store/store_merge.h"

struct pd_store_settings pd_store_defaults(int bits)
{
	return (struct pd_store_settings){ .bits = bits,
					   .k = pd_verify_default_k(bits, PD_STORE_PAGES),
					   .alone = pd_join_default_k(bits, PD_STORE_PAGES) };
}

void pd_store_name(const struct pd_store *s, const char *kind, uint64_t file, char out[PD_IO_NAME_MAX], struct pd_buf *path)
{
	snprintf(out, PD_IO_NAME_MAX, "%s-%" PRIu64, kind, file);
	if (path) {
		pd_buf_clear(path);
		pd_buf_printf(path, "%s/%s", s->io.dir, out);
	}
}

/* Is it one of our files, and which? */
static bool our_file(const char *name, const char *kind, uint64_t *file)
{
	size_t n = strlen(kind);
	return !strncmp(name, kind, n) && name[n] == '-' && pd_span_u64(pd_span_z(name + n + 1), file);
}

/* A folder without a manifest may hold what a killed init left, and nothing else. */
static int check_empty(const struct pd_io *io, struct pd_err *e)
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
			status = pd_fail(e, PD_ERR_USAGE, "%s is no store, and not empty: it holds '%s'", io->dir, n);
	}
	closedir(d);
	return status;
}

static int take_lock(const struct pd_io *io, int *lock, struct pd_err *e)
{
	*lock = openat(io->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (*lock < 0)
		return pd_fail_errno(e, "cannot open %s/lock", io->dir);
	if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
		return PD_OK;
	int busy = errno == EWOULDBLOCK;
	close(*lock);
	*lock = -1;
	return busy ? pd_fail(e, PD_ERR_LIMIT, "another process is writing to %s: only one can, wait until it has ended", io->dir) :
		      pd_fail_errno(e, "cannot lock %s/lock", io->dir);
}

int pd_store_write_log(struct pd_store *s, uint64_t file, struct pd_err *e)
{
	struct pd_buf head = { 0 };
	char name[PD_IO_NAME_MAX];
	pd_store_name(s, "log", file, name, NULL);
	pd_log_head(file, &head);
	pd_io_close(&s->log);
	int status = pd_io_create(&s->io, name, &s->log, e);
	if (!status)
		status = pd_io_append(&s->log, head.p, head.n, e);
	if (!status)
		status = pd_io_sync(&s->log, e);
	pd_buf_release(&head);
	return status;
}

/* The same again changes nothing; other parameters are refused. */
static int is_there(struct pd_store *s, const struct pd_store_settings *want, struct pd_err *e)
{
	int status = pd_manifest_load(&s->m, &s->io, e);
	if (status)
		return status;
	const struct {
		const char *name;
		int is, wanted;
	} rows[] = { { "bits", s->m.bits, want->bits }, { "k", s->m.k, want->k }, { "k_unknown", s->m.alone, want->alone } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].is != rows[i].wanted)
			return pd_fail(e, PD_ERR_PARAMS, "%s is a store already, with other parameters (%s: %d and %d)", s->io.dir,
				       rows[i].name, rows[i].is, rows[i].wanted);
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
	s->m = (struct pd_manifest){ .bits = want->bits, .k = want->k, .alone = want->alone, .log = 1, .next_file = 2, .next = 1 };
	if (!status)
		status = pd_store_write_log(s, s->m.log, e);
	if (!status)
		status = pd_io_sync_dir(&s->io, e);
	return status ? status : pd_manifest_save(&s->m, &s->io, e);
}

int pd_store_create(const char *dir, const struct pd_store_settings *settings, struct pd_io *io, struct pd_err *e)
{
	struct pd_store s = { .lock = -1, .log.fd = -1 };
	if (io)
		s.io = *io;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return pd_fail_errno(e, "cannot make %s", dir);
	int status = pd_io_open_dir(&s.io, dir, e);
	if (!status)
		status = create_in(&s, settings, e);
	pd_store_close(&s);
	return status;
}

int pd_store_open_segment(struct pd_store *s, size_t i, struct pd_segment *out, struct pd_err *e)
{
	const struct pd_manifest_segment *m = &s->m.segments[i];
	struct pd_io_map map;
	struct pd_buf path = { 0 };
	char name[PD_IO_NAME_MAX];
	pd_store_name(s, "seg", m->file, name, &path);
	int status = pd_io_map(&s->io, name, &map, e);
	if (!status && map.n != m->bytes) {
		status = pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %zu: it has %zu bytes, not %" PRIu64, path.p,
				 map.n < m->bytes ? map.n : (size_t)m->bytes, map.n, m->bytes);
		pd_io_unmap(&map);
	}
	if (!status)
		status = pd_segment_open(out, map, m->file, path.p, e);
	if (!status && (out->f.check != m->check || out->f.rows != m->rows || (int)out->f.bits != s->m.bits)) {
		status = pd_segment_damaged(out, out->f.content, "not the file that the manifest means", e);
		pd_segment_close(out);
	}
	pd_buf_release(&path);
	return status;
}

/* Damage ends the opening, unless somebody wants what can be saved. */
static int pass_over(struct pd_store *s, int status, const struct pd_err *e)
{
	if (!s->damaged || !(status == PD_ERR_FORMAT || (status == PD_ERR_NOT_FOUND && s->lost)))
		return status;
	pd_buf_add(&s->damage, e->text, strlen(e->text) + 1);
	return PD_OK;
}

static void tell_damage(struct pd_store *s)
{
	for (size_t at = 0; at < s->damage.n; at += strlen(s->damage.p + at) + 1)
		s->damaged(s->damaged_ctx, s->damage.p + at);
	pd_buf_release(&s->damage);
}

static int open_segments(struct pd_store *s, struct pd_err *e)
{
	int status = PD_OK;
	s->segments = pd_zalloc((s->m.n_segments + 1) * sizeof *s->segments);
	for (size_t i = 0; !status && i < s->m.n_segments; i++)
		status = pass_over(s, pd_store_open_segment(s, i, &s->segments[i], e), e);
	return status;
}

int pd_store_open_gone(struct pd_store *s, uint64_t file, struct pd_gone *out, struct pd_err *e)
{
	struct pd_io_map map;
	struct pd_buf path = { 0 };
	char name[PD_IO_NAME_MAX];
	*out = (struct pd_gone){ 0 };
	if (!file)
		return PD_OK;
	pd_store_name(s, "gone", file, name, &path);
	int status = pd_io_map(&s->io, name, &map, e);
	if (!status)
		status = pd_gone_open(out, map, file, path.p, e);
	pd_buf_release(&path);
	return status;
}

static void take_record(struct pd_store *s, const struct pd_log_record *r)
{
	for (uint32_t i = 0; i < r->n_gone; i++) {
		uint64_t number = pd_get64(r->gone + i * (size_t)8);
		pd_gone_add(&s->gone, number);
		pd_recent_drop(&s->recent, number);
	}
	if (r->kind != PD_LOG_ADD)
		return;
	pd_recent_add(&s->recent, r->number, &r->page);
	if (r->number >= s->m.next)
		s->m.next = r->number + 1;
}

static int read_records(struct pd_store *s, struct pd_log_reader *r, struct pd_err *e)
{
	struct pd_log_record record;
	uint64_t last = 0;
	int status = pd_log_begin(r, e), more = 0;
	while (!status && (more = pd_log_next(r, &record, e)) > 0) {
		if (record.kind == PD_LOG_ADD && (record.number <= last || s->recent.n >= UINT32_MAX / 2))
			return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset %" PRIu64 ": pages are out of order", r->name, r->at);
		if (record.kind == PD_LOG_ADD)
			last = record.number;
		take_record(s, &record);
	}
	s->log_synced = r->at;
	return status ? status : more;
}

static int read_log(struct pd_store *s, struct pd_err *e)
{
	struct pd_buf path = { 0 };
	char name[PD_IO_NAME_MAX];
	pd_store_name(s, "log", s->m.log, name, &path);
	pd_recent_init(&s->recent, s->m.bits, s->m.k);
	int status = pd_io_read(&s->io, name, &s->recent.text, e);
	struct pd_log_reader r = { .bytes = pd_buf_span(&s->recent.text), .file = s->m.log, .name = path.p, .bits = s->m.bits };
	if (!status)
		status = read_records(s, &r, e);
	if (!status && s->lock >= 0)
		status = pd_io_reopen(&s->io, name, s->log_synced, &s->log, e);
	if (!status && s->lock >= 0)	/* a writer may have died between writing and syncing */
		status = pd_io_sync(&s->log, e);
	pd_buf_release(&path);
	return status;
}

static void forget(struct pd_store *s)
{
	for (size_t i = 0; s->segments && i < s->m.n_segments; i++)
		pd_segment_close(&s->segments[i]);
	free(s->segments);
	s->segments = NULL;
	pd_recent_release(&s->recent);
	pd_gone_release(&s->gone);
	pd_manifest_release(&s->m);
	pd_buf_clear(&s->damage);
}

static int load(struct pd_store *s, struct pd_err *e)
{
	int status = pd_manifest_load(&s->m, &s->io, e);
	if (status)
		return status == PD_ERR_NOT_FOUND ? PD_ERR_USAGE : status;
	if (s->m.sketch[0] && pd_sketch_read(&s->sketch, pd_span_z(s->m.sketch), e))
		return pd_fail(e, PD_ERR_FORMAT, "%s/manifest: damaged: no sketch is called '%s'", s->io.dir, s->m.sketch);
	s->dirty = s->m.version < PD_STORE_VERSION;	/* before it gets what an older program would misread */
	status = open_segments(s, e);
	if (!status)
		status = pass_over(s, pd_store_open_gone(s, s->m.gone, &s->gone, e), e);
	return status ? status : pass_over(s, read_log(s, e), e);
}

/* A writer removes a file only after a manifest that does not name it has taken the place of the one that does.  So a file
 * that is missing is looked for again by the manifest as it is now; when that is still the same, the file is lost. */
static int load_one_state(struct pd_store *s, struct pd_err *e)
{
	uint64_t before = 0;
	int status;
	while ((status = load(s, e)) == PD_ERR_NOT_FOUND && !s->lost) {
		s->lost = s->m.check == before;
		before = s->m.check;
		forget(s);
	}
	if (!status)
		tell_damage(s);
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
			     (our_file(n, "gone", &file) && file != s->m.gone);
		if (our_file(n, "seg", &file)) {
			stray = true;
			for (size_t i = 0; i < s->m.n_segments; i++)
				stray = stray && s->m.segments[i].file != file;
		}
		if (stray)
			status = pd_io_unlink(&s->io, n, e);
	}
	closedir(d);
	return status;
}

/* Nothing is made in a folder that is no store. */
static int lock_store(struct pd_store *s, struct pd_err *e)
{
	int status = pd_manifest_load(&s->m, &s->io, e);
	pd_manifest_release(&s->m);
	if (status)
		return status == PD_ERR_NOT_FOUND ? PD_ERR_USAGE : status;
	return take_lock(&s->io, &s->lock, e);
}

int pd_store_open(struct pd_store *s, const char *dir, enum pd_store_mode mode, struct pd_err *e)
{
	s->lock = -1;
	s->log.fd = -1;
	s->texts = pd_text_cache_new();
	int status = pd_io_open_dir(&s->io, dir, e);
	if (!status && mode == PD_STORE_WRITE)
		status = lock_store(s, e);
	if (!status)
		status = load_one_state(s, e);
	if (!status && mode == PD_STORE_WRITE)
		status = sweep(s, e);
	return status;
}

void pd_store_close(struct pd_store *s)
{
	pd_store_merge_abandon(s);
	forget(s);
	pd_io_close(&s->log);
	if (s->lock >= 0)
		close(s->lock);
	pd_text_cache_free(s->texts);
	pd_near_release(&s->near);
	free(s->found.v);
	pd_buf_release(&s->damage);
	pd_io_close_dir(&s->io);
	*s = (struct pd_store){ .lock = -1, .log.fd = -1 };
}
