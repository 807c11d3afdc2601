/* SPDX-License-Identifier: MIT
 *
 * The stages; each is skipped if the journal contains it.
 */
#include "run/dedup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/tsv.h"

/* ==== the folder of a run ==== */

#define DEDUP_PAIRS ".dedup/pairs.tsv"

#define DEDUP_OLD_PAIRS ".dedup/old-pairs.tsv"
#define DEDUP_OLD_VERDICTS ".dedup/old.tsv"
#define DEDUP_NEW_VERDICTS ".dedup/new.tsv"

#define DEDUP_MORE_PAIRS ".dedup/more.tsv"

#define DEDUP_TABLE ".dedup/site.bp"
#define DEDUP_LOCK ".dedup/lock"

#define DEDUP_SECRET ".dedup/secret"

/* Names at the top that no output of an input may have; NULL at the end. */
static const char *const folder_reserved[] = {
	"verdicts.tsv", "stats.json", "report.html", "rows.fp", "pairs.tsv", "old-pairs.tsv", "site.bp", ".dedup", NULL,
};

/* … of a file of a unit: its rows ("fp"), "shingles", "left-out", "canonical". */
static char *folder_unit(const char *folder, size_t unit, const char *what)
{
	struct pd_buf path = { 0 };
	pd_buf_printf(&path, "%s/.dedup/%zu.%s", folder, unit, what);
	return path.p;
}

/* … of all units, for folder_free. */
static char **folder_units(const char *folder, size_t n, const char *what)
{
	char **paths = pd_zalloc((n + 1) * sizeof *paths);
	for (size_t i = 0; i < n; i++)
		paths[i] = folder_unit(folder, i, what);
	return paths;
}

static void folder_free(char **paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
}

/* Return whether the folder contains only files of a run that ended before its journal began: 1, 0, or errno as a
 * negative number. */
static int is_empty_folder(const char *path, const char *except)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;
	if (!dir)
		return errno == ENOENT ? 1 : -errno;
	errno = 0;
	while ((entry = readdir(dir)))
		empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !strcmp(entry->d_name, except);
	int error = errno;
	closedir(dir);
	return error ? -error : empty;
}

static int check_empty(const char *path, struct pd_err *e)
{
	char *own = pd_dedup_folder_path(path, ".dedup");
	int empty = is_empty_folder(path, ".dedup"), begun = empty > 0 ? is_empty_folder(own, "lock") : 1;
	free(own);
	errno = empty < 0 ? -empty : -begun;
	if (empty < 0 || begun < 0)
		return pd_fail_errno(e, "%s: cannot read", path);
	return empty && begun ? PD_OK : pd_fail(e, PD_ERR_USAGE, "%s is not empty: name a new or empty folder", path);
}

/* Check for a run in the folder. Without one the folder must be empty or missing: otherwise PD_ERR_USAGE. */
static int folder_look(const char *folder, bool *run, struct pd_err *e)
{
	char *journal = pd_dedup_folder_path(folder, PD_DEDUP_JOURNAL);
	*run = access(journal, F_OK) == 0;
	int status = *run ? PD_OK : check_empty(folder, e);
	/* Another run may have begun after the first look. */
	if (status && access(journal, F_OK) == 0) {
		*run = true;
		status = PD_OK;
	}
	free(journal);
	return status;
}

/* --- unfinished files --- */

/* Escape wildcards in a path. */
static void add_literal(struct pd_buf *pattern, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			pd_buf_add_c(pattern, '\\');
		pd_buf_add_c(pattern, *path);
	}
}

/* Remove unfinished files of a killed process next to `path`, and next to all files at the top. */
static void folder_sweep(const char *path)
{
	struct pd_buf pattern = { 0 };
	glob_t found;
	add_literal(&pattern, path);
	pd_buf_add_z(&pattern, ".??????.part");
	if (glob(pattern.p, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	pd_buf_release(&pattern);
}

static void folder_sweep_top(const char *folder)
{
	for (const char *const *name = folder_reserved; *name; name++) {
		char *path = pd_dedup_folder_path(folder, *name);
		folder_sweep(path);
		free(path);
	}
}

/* --- the end --- */

static int append_file(const char *path, bool behind_head, FILE *to, struct pd_err *e)
{
	uint64_t written = 0, from = 0;
	FILE *f = fopen(path, "re");
	int c = 0;
	if (!f)
		return pd_fail_errno(e, "cannot open %s", path);
	while (behind_head && c != '\n' && (c = getc(f)) != EOF)
		from++;
	int status = ferror(f) ? pd_fail_errno(e, "cannot read %s", path)
			       : pd_copy_range(fileno(f), path, from, UINT64_MAX, to, &written, e);
	fclose(f);
	return status;
}

/* Copy: files that a run reads stay in their place until it has ended. */
static int folder_copy(char *const *from, size_t n, bool headed, const char *to, struct pd_err *e)
{
	struct pd_outfile out;
	int status = pd_outfile_open(&out, to, e);
	if (status)
		return status;
	for (size_t i = 0; i < n && !status; i++)
		status = append_file(from[i], headed && i, out.f, e);
	if (!status)
		return pd_outfile_commit(&out, e);
	pd_outfile_abandon(&out);
	return status;
}

/* Remove all intermediate files except the journal; a file that cannot be removed is named. */
static void folder_tidy(const char *folder, struct pd_log *log)
{
	struct pd_buf path = { 0 };
	char *own = pd_dedup_folder_path(folder, ".dedup");
	DIR *dir = opendir(own);
	struct dirent *entry;
	if (dir)
		errno = 0;
	for (; dir && (entry = readdir(dir)); errno = 0) {
		pd_buf_clear(&path);
		pd_buf_printf(&path, "%s/%s", own, entry->d_name);
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "journal") && strcmp(entry->d_name, "lock") &&
		    unlink(path.p) < 0)
			pd_log_error(log, "cannot remove %s: %s", path.p, strerror(errno));
	}
	if (errno)
		pd_log_error(log, "cannot clear %s: %s", own, strerror(errno));
	if (dir)
		closedir(dir);
	free(own);
	pd_buf_release(&path);
}

/* ==== the stages ==== */

/* An output that is not in the journal yet. */
struct pending {
	struct pd_apply_result done;
	char *input;
	char *name; /* in the folder; NULL: nothing is written */
};

struct run {
	int lock;
	struct pd_outfile_batch *batch; /* of outputs */
	struct pending *pending;
	size_t n_pending, cap_pending;
	const struct pd_dedup_options *o;
	const char *folder;
	char **inputs;
	int n_inputs;
	struct pd_log *log;
	struct pd_journal journal;
	struct pd_secret secret; /* of this run: shingles are made with it */
	struct pd_dedup_counts counts;
	struct pd_map met;     /* the state of each file when its unit was read: state_of its facts, by a hash of the path */
	bool incomplete;       /* something could not be read for the report, or differs from its row */
	struct pd_buf aliases; /* rows of the list of skipped records: other names of files */
	struct pd_err *err;
};

static struct pd_reader_options reader_options(const struct run *r)
{
	return (struct pd_reader_options){ .inputs = r->inputs,
					   .n_inputs = r->n_inputs,
					   .files_from = r->o->walk.files_from,
					   .max_block = r->o->walk.page.max_page + PD_BLOCK_ROOM,
					   .fields = r->o->walk.fields };
}

/* The boilerplate table with which the rows are made; NULL: none, or no inputs. The caller frees it. */
static char *table_path(const struct run *r)
{
	const char *given = r->o->walk.page.boilerplate;
	if (!r->o->walk.learn)
		return given ? pd_strdup(given) : NULL;
	return r->journal.n_rows ? pd_dedup_folder_path(r->folder, DEDUP_TABLE) : NULL;
}

/* --- the beginning --- */

/* The identity of a run: the program, its tables, and all given options. */
static void print_options(const struct pd_dedup_options *o, const struct pd_tables *t, struct pd_buf *out)
{
	pd_buf_printf(out, "program=%s %s %s learn_boilerplate=%s %s", PD_VERSION, pd_buf_z(&t->must), pd_buf_z(&t->recorded),
		      o->walk.learn ? "yes" : "no", o->given);
}

/* --- the secret ---
 *
 * Pages are compared by hashes that depend on a random secret of the run, so that no author of a page can compute a
 * page that looks like another.  The secret is in a separate file, which only the owner can read and which is
 * removed when the run has ended; the journal remains, and others may read it. */

static int write_secret(struct run *r, const char *path)
{
	int error = pd_secret_random(&r->secret);
	if (error < 0) {
		errno = -error;
		return pd_fail_errno(r->err, "cannot read random numbers");
	}
	unlink(path); /* of a run that was killed before it had rows: it may have other permissions */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return pd_fail_errno(r->err, "cannot write %s", path);
	bool good = write(fd, r->secret.bytes, sizeof r->secret.bytes) == (ssize_t)sizeof r->secret.bytes && fsync(fd) == 0;
	int status = good ? PD_OK : pd_fail_errno(r->err, "cannot write %s", path);
	close(fd);
	return status;
}

static int read_secret(struct run *r, const char *path)
{
	char bytes[sizeof r->secret.bytes + 1];
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	if (f)
		fclose(f);
	if (n != sizeof r->secret.bytes)
		return pd_fail(r->err, PD_ERR_FORMAT, "%s is missing or damaged: delete the folder and start again", path);
	memcpy(r->secret.bytes, bytes, n);
	return PD_OK;
}

static int find_secret(struct run *r)
{
	char *path = pd_dedup_folder_path(r->folder, DEDUP_SECRET);
	int status = r->journal.n_rows ? read_secret(r, path) : write_secret(r, path);
	free(path);
	return status;
}

/* One run at a time writes to the folder. */
static int take_folder(struct run *r)
{
	char *path = pd_dedup_folder_path(r->folder, DEDUP_LOCK);
	int taken = pd_file_lock_try(AT_FDCWD, path, &r->lock), error = errno;
	free(path);
	errno = error;
	if (taken < 0 && pd_file_lock_is_unsupported(error)) {
		pd_log_note(r->log, "%s: this file system has no locks; start no other run with this folder", r->folder);
		return PD_OK;
	}
	if (taken < 0)
		return pd_fail_errno(r->err, "cannot lock %s/" DEDUP_LOCK, r->folder);
	return taken ? PD_OK
		     : pd_fail(r->err, PD_ERR_USAGE,
			       "another run of dedup is writing to %s: wait until it has ended, or name another folder", r->folder);
}

static int check_run(struct run *r)
{
	bool found;
	int status = folder_look(r->folder, &found, r->err);
	if (!status && found && !r->o->resume)
		status = pd_fail(r->err, PD_ERR_USAGE,
				 "%s holds a run of dedup already: continue it with --resume, or name another folder", r->folder);
	return status;
}

static int enter(struct run *r)
{
	struct pd_tables tables;
	struct pd_buf options = { 0 };
	int status = check_run(r);
	if (status)
		return status;
	status = pd_tables_open(&tables, &r->o->walk.page, r->err);
	if (status)
		return status;
	print_options(r->o, &tables, &options);
	pd_tables_release(&tables);
	char *journal = pd_dedup_folder_path(r->folder, PD_DEDUP_JOURNAL);
	status = pd_apply_make_folders(journal, NULL, r->err);
	if (!status)
		status = take_folder(r);
	if (!status) /* another run may have ended in it before the lock was free */
		status = check_run(r);
	if (!status)
		status = pd_journal_open(&r->journal, journal, r->folder, pd_buf_span(&options), r->log, r->err);
	pd_buf_set(&r->journal.options, pd_buf_span(&options));
	if (!status && !r->journal.end)
		status = find_secret(r);
	if (!status)
		folder_sweep_top(r->folder);
	free(journal);
	pd_buf_release(&options);
	return status;
}

/* --- units of inputs ---
 *
 * A unit is a sequence of files, large enough to take some time and small enough that a kill loses little; or all
 * files, if rows depend on other pages.  The rows of a unit are made in one step. */

enum { UNIT_BYTES = 64 << 20, UNIT_FILES = 4096 };

/* Paths of a unit, and a hash of these and of the sizes and times of the files, by which a changed input is noticed. */
struct units {
	struct pd_read_files files;
	struct pd_arena arena;
	struct pd_map *met; /* of the run */
	bool whole;	    /* all inputs are one unit */
	/* of the unit at hand */
	char **paths;
	struct pd_found *found; /* how each was come by */
	int n_paths;
	size_t cap_paths, cap_found;
	uint64_t identity;
};

static int units_open(struct units *u, const struct pd_reader_options *o, struct pd_map *met, bool whole, struct pd_err *e)
{
	*u = (struct units){ .met = met, .whole = whole };
	return pd_read_files_open(&u->files, o, e);
}

static void units_release(struct units *u)
{
	pd_read_files_release(&u->files);
	pd_arena_release(&u->arena);
	free(u->paths);
	free(u->found);
}

/* Hash of the state of a file, with a seed; 0 is reserved for a file that cannot be opened. */
static uint64_t state_of(uint64_t seed, const struct stat *st)
{
	int64_t facts[] = { (int64_t)seed, (int64_t)st->st_size, (int64_t)st->st_mtim.tv_sec, (int64_t)st->st_mtim.tv_nsec };
	return pd_hash64(facts, sizeof facts);
}

static uint32_t short_state(const struct stat *st)
{
	return (uint32_t)state_of(0, st) | 1;
}

static void add_to_unit(struct units *u, const struct pd_read_file *f, const struct stat *st)
{
	u->identity = pd_hash64_seed(f->path, strlen(f->path), state_of(u->identity, st));
	*pd_map_put(u->met, pd_map_key(pd_span_z(f->path))) = access(f->path, R_OK) == 0 ? short_state(st) : 0;
	u->paths = pd_grow(u->paths, (size_t)u->n_paths, &u->cap_paths, sizeof *u->paths);
	u->found = pd_grow(u->found, (size_t)u->n_paths, &u->cap_found, sizeof *u->found);
	u->found[u->n_paths] = (struct pd_found){ f->name, f->typed, f->found };
	u->paths[u->n_paths++] = (char *)pd_arena_copy(&u->arena, pd_span_z(f->path)).p;
}

/* A missing or unreadable file is also part of the unit: `fp` names and counts it.  A file in an unknown state is
 * not: the journal would contain a size that no later run finds again. */
static int stat_input(const struct pd_read_file *f, struct stat *st, struct pd_err *e)
{
	*st = (struct stat){ .st_mode = f->path ? S_IFREG : 0 };
	if (!f->path || stat(f->path, st) == 0 || pd_errno_stays(errno))
		return PD_OK;
	return pd_fail_errno(e, "%s: cannot tell its size", f->label);
}

/* 1 a unit, 0 no more, negative.  PD_ERR_USAGE: an input that can be read only once. */
static int units_next(struct units *u, struct pd_err *e)
{
	uint64_t bytes = 0;
	struct pd_read_file f;
	struct stat st;
	int r = 1;
	u->n_paths = 0;
	u->identity = 0;
	pd_arena_clear(&u->arena);
	while ((u->whole || (bytes < UNIT_BYTES && u->n_paths < UNIT_FILES)) && (r = pd_read_files_next(&u->files, &f, e)) == 1) {
		if (stat_input(&f, &st, e))
			return PD_ERR_SYSTEM;
		if (!S_ISREG(st.st_mode))
			return pd_fail(e, PD_ERR_USAGE, "%s can be read only once, and dedup reads its inputs twice", f.label);
		add_to_unit(u, &f, &st);
		bytes += (uint64_t)st.st_size;
	}
	return r < 0 ? r : u->n_paths > 0;
}

/* --- rows --- */

/* The files of the next step, by paths in the folder; NULL and missing files are ignored. */
static int add_files(struct run *r, const char *const *paths, size_t n)
{
	int status = PD_OK;
	for (size_t i = 0; i < n && !status; i++)
		if (paths[i])
			status = pd_journal_add_file(&r->journal, r->folder, paths[i] + strlen(r->folder) + 1, false, r->err);
	return status;
}

/* The same, by names. */
static int add_named(struct run *r, const char *const *names, size_t n)
{
	int status = PD_OK;
	for (size_t i = 0; i < n && !status; i++)
		status = pd_journal_add_file(&r->journal, r->folder, names[i], false, r->err);
	return status;
}

static int make_rows(struct run *r, struct units *u, size_t unit)
{
	struct pd_walk_options walk = r->o->walk;
	char *output = folder_unit(r->folder, unit, "fp"), *shingles = folder_unit(r->folder, unit, "shingles");
	char *left_out = folder_unit(r->folder, unit, "left-out");
	char *canonical =
		pd_keep_has(&r->o->cluster.group.keep, PD_KEEP_CANONICAL) ? folder_unit(r->folder, unit, "canonical") : NULL;
	char *table = walk.learn ? pd_dedup_folder_path(r->folder, DEDUP_TABLE) : NULL;
	walk.output = output;
	walk.shingles = shingles;
	walk.shingles_secret = &r->secret;
	walk.left_out = left_out;
	walk.canonical = canonical;
	walk.files_from = NULL;
	walk.found = u->found;
	walk.ignore_damaged = walk.twice = true;
	walk.tmp_dir = r->o->tmp_dir;
	walk.save_boilerplate = table;
	folder_sweep(output);
	folder_sweep(shingles);
	folder_sweep(left_out);
	if (canonical)
		folder_sweep(canonical);
	if (table)
		folder_sweep(table);
	int status = pd_walk(&pd_walk_fp, &walk, u->paths, u->n_paths, r->log, r->err);
	const char *const files[] = { output, shingles, left_out, canonical, table };
	status = status < 0 ? status : add_files(r, files, sizeof files / sizeof *files);
	free(table);
	free(canonical);
	free(left_out);
	free(shingles);
	free(output);
	return status < 0 ? status : pd_journal_add_rows(&r->journal, u->identity, r->err);
}

static void on_alias(void *ctx, const char *path)
{
	struct run *r = ctx;
	pd_log_note(r->log, "%s: the same file is read under another name already; it is copied, without a row of its own", path);
	pd_tsv_add(&r->aliases, pd_span_z(path));
	pd_buf_add_z(&r->aliases, "\t-\t-\tanother name of a file that was read already\n");
}

static int changed(struct run *r, const char *what)
{
	return pd_fail(r->err, PD_ERR_PARAMS, "%s has changed since the run in %s began: start again in another folder", what,
		       r->folder);
}

static int one_unit(struct run *r, struct units *u, size_t unit)
{
	if (unit >= r->journal.n_rows)
		return r->journal.n_units ? changed(r, u->paths[0]) : make_rows(r, u, unit);
	return r->journal.rows[unit] == u->identity ? PD_OK : changed(r, u->paths[0]);
}

static int do_rows(struct run *r)
{
	struct pd_reader_options o = reader_options(r);
	o.once = true;
	o.alias = on_alias;
	o.damage_ctx = r;
	struct units u;
	size_t n_units = 0;
	int status = units_open(&u, &o, &r->met, r->o->walk.learn, r->err), more = 0;
	while (!status && (more = units_next(&u, r->err)) == 1)
		status = one_unit(r, &u, n_units++);
	if (!status && !more && n_units < r->journal.n_rows)
		status = changed(r, "the list of inputs");
	else if (!status && !more && !r->journal.n_units)
		status = pd_journal_add(&r->journal, r->err, "units %zu", n_units);
	units_release(&u);
	return status ? status : more;
}

/* --- pairs, verdicts --- */

static int match_rows(struct run *r, const struct pd_stage_match *how, const char *output, struct pd_log *log)
{
	struct pd_stage_match match = *how;
	size_t n = r->journal.n_rows;
	char **rows = folder_units(r->folder, n, "fp"), *path = pd_dedup_folder_path(r->folder, output);
	match.preset = r->o->walk.preset;
	match.jobs = r->o->walk.jobs;
	match.tmp_dir = r->o->tmp_dir;
	match.output = path;
	match.ignore_damaged = true;
	folder_sweep(path);
	int status = pd_stage_match_run(&match, rows, (int)n, log, r->err);
	folder_free(rows, n);
	free(path);
	return status;
}

/* --- pages like old ones, which are removed first ---
 *
 * Pairs with old pages form clusters around these: old pages are never removed.  Pages removed for an old page are
 * not compared with the other pages, so that every removed page is similar to the page that is named for it. */

static int identity_of_old(struct run *r, uint64_t *out)
{
	struct stat st;
	*out = 1;
	for (int i = 0; i < r->o->n_against; i++) {
		if (stat(r->o->against[i], &st) < 0)
			return pd_fail_errno(r->err, "--against: %s: cannot open", r->o->against[i]);
		*out = state_of(pd_hash64_seed(r->o->against[i], strlen(r->o->against[i]), *out), &st) | 1;
	}
	return PD_OK;
}

/* Ids as rows have them, hashed: of rows of all units, or of the pages that went in a file of verdicts. */
static int add_ids(struct run *r, char **paths, size_t n, bool verdicts, struct pd_map *out)
{
	static const char *const columns[] = { "id", "is_duplicate", NULL }, *const of_rows[] = { "id", "url", NULL };
	struct pd_tsv_reader in = { .kind = verdicts ? "verdicts" : "fp",
				    .columns = verdicts ? columns : of_rows,
				    .v1_columns = verdicts ? pd_verdicts_columns : pd_fp_columns,
				    .paths = paths,
				    .n_paths = (int)n };
	int more;
	while ((more = pd_tsv_next(&in, r->err)) == 1)
		if (!verdicts || pd_span_is(in.fields[1], "1"))
			pd_map_add(out, pd_map_key(in.fields[0]));
	pd_tsv_release(&in);
	return more;
}

static int add_new_ids(struct run *r, struct pd_map *out)
{
	size_t n = r->journal.n_rows;
	char **rows = folder_units(r->folder, n, "fp");
	int status = add_ids(r, rows, n, false, out);
	folder_free(rows, n);
	return status;
}

static int match_old(struct run *r)
{
	struct pd_stage_match match = r->o->match;
	match.against = r->o->against;
	match.n_against = r->o->n_against;
	return match_rows(r, &match, DEDUP_OLD_PAIRS, r->log);
}

static int cluster_around_old(struct run *r)
{
	struct pd_stage_cluster cluster = r->o->cluster;
	struct pd_map new = { 0 };
	struct pd_log log = *r->log;
	char *pairs = pd_dedup_folder_path(r->folder, DEDUP_OLD_PAIRS),
	     *output = pd_dedup_folder_path(r->folder, DEDUP_OLD_VERDICTS);
	cluster.linkage = PD_LINKAGE_STAR;
	cluster.group.linkage = PD_LINKAGE_STAR;
	cluster.group.in.may_go = &new;
	cluster.group.in.tmp_dir = r->o->tmp_dir;
	cluster.output = output;
	cluster.ignore_damaged = log.quiet = true;
	folder_sweep(output);
	int status = add_new_ids(r, &new);
	if (!status)
		status = pd_stage_cluster_run(&cluster, &pairs, 1, &log, r->err);
	pd_map_release(&new);
	free(pairs);
	free(output);
	return status;
}

static int do_against(struct run *r)
{
	static const char *const files[] = { DEDUP_OLD_PAIRS, DEDUP_OLD_VERDICTS };
	uint64_t identity;
	if (!r->o->n_against)
		return PD_OK;
	int status = identity_of_old(r, &identity);
	if (status || r->journal.against == identity)
		return status;
	if (r->journal.against)
		return changed(r, "what --against names");
	status = match_old(r);
	if (!status)
		status = cluster_around_old(r);
	if (!status)
		status = add_named(r, files, sizeof files / sizeof *files);
	return status ? status : pd_journal_add(&r->journal, r->err, "against %" PRIu64, identity);
}

/* Rows of verdicts as they are read, to be written under other numbers of clusters. */
struct merging {
	FILE *out;
	struct pd_map *new, named; /* ids of pages that may be removed; ids in the later verdicts */
	struct pd_buf suspects;	   /* rows of suspects of old pages */
	struct pd_buf ids;	   /* … hashed, as 8 bytes each */
	uint64_t clusters;
};

/* Suspects of an old page wait, because the later verdicts may have a row for them. */
static void take_row(struct merging *m, const struct pd_tsv_reader *in, bool old, uint64_t first)
{
	uint64_t cluster = 0, id = pd_map_key(in->fields[1]);
	struct pd_span rest = in->line, number;
	pd_span_split(&rest, '\t', &number);
	if (!old)
		pd_map_add(&m->named, id);
	if (!pd_span_u64(in->fields[0], &cluster)) {
		if (!old)
			fprintf(m->out, "%.*s\n", (int)in->line.n, in->line.p);
		else if (pd_map_has(m->new, id)) {
			pd_buf_add_span(&m->suspects, in->line);
			pd_buf_add_c(&m->suspects, '\n');
			pd_buf_add(&m->ids, &id, sizeof id);
		}
		return;
	}
	cluster += first;
	m->clusters = cluster > m->clusters ? cluster : m->clusters;
	fprintf(m->out, "%" PRIu64 "\t%.*s\n", cluster, (int)rest.n, rest.p);
}

static int merge_file(struct run *r, struct merging *m, char *path, bool old)
{
	static const char *const columns[] = { "cluster_id", "id", NULL };
	struct pd_tsv_reader in = {
		.kind = "verdicts", .columns = columns, .v1_columns = pd_verdicts_columns, .paths = &path, .n_paths = 1
	};
	uint64_t first = m->clusters;
	int more;
	while ((more = pd_tsv_next(&in, r->err)) == 1)
		take_row(m, &in, old, first);
	struct pd_span suspects = pd_buf_span(&m->suspects), totals = pd_buf_span(&in.totals), line;
	for (size_t i = 0; !old && suspects.n && pd_span_split(&suspects, '\n', &line); i++) {
		uint64_t id;
		memcpy(&id, m->ids.p + i * sizeof id, sizeof id);
		if (!pd_map_has(&m->named, id))
			fprintf(m->out, "%.*s\n", (int)line.n, line.p);
	}
	while (!old && totals.n && pd_span_split(&totals, '\n', &line))
		fprintf(m->out, "# total %.*s\n", (int)line.n, line.p);
	pd_tsv_release(&in);
	return more;
}

/* The parameters, and the names of the columns. */
static int copy_header(struct run *r, const char *path, FILE *to)
{
	struct pd_line_reader lines = { 0 };
	struct pd_span line;
	FILE *f = fopen(path, "re");
	int more = 1;
	if (!f)
		return pd_fail_errno(r->err, "cannot open %s", path);
	pd_line_reader_start(&lines, f, path);
	for (int i = 0; i < 2 && (more = pd_line_next(&lines, &line, r->err)) == 1; i++)
		fprintf(to, "%.*s\n", (int)line.n, line.p);
	pd_line_reader_release(&lines);
	fclose(f);
	return more < 0 ? more : PD_OK;
}

/* The header of the later verdicts, then clusters around old pages, then the others. */
static int merge_verdicts(struct run *r, char *old, char *new, const char *to)
{
	struct pd_map ids = { 0 };
	struct merging m = { .new = &ids };
	struct pd_outfile out;
	int status = add_new_ids(r, &ids);
	if (!status)
		status = pd_outfile_open(&out, to, r->err);
	if (!status) {
		m.out = out.f;
		status = copy_header(r, new, out.f);
		if (!status)
			status = merge_file(r, &m, old, true);
		if (!status)
			status = merge_file(r, &m, new, false);
		if (!status)
			status = pd_outfile_commit(&out, r->err);
		else
			pd_outfile_abandon(&out);
	}
	pd_map_release(&ids);
	pd_map_release(&m.named);
	pd_buf_release(&m.suspects);
	pd_buf_release(&m.ids);
	return status;
}

static int do_pairs(struct run *r)
{
	static const char *const files[] = { DEDUP_PAIRS };
	if (r->journal.pairs)
		return PD_OK;
	int status = match_rows(r, &r->o->match, DEDUP_PAIRS, r->log);
	if (!status)
		status = add_named(r, files, sizeof files / sizeof *files);
	return status ? status : pd_journal_add(&r->journal, r->err, "pairs");
}

static int do_verdicts(struct run *r)
{
	static const char *const files[] = { "verdicts.tsv", DEDUP_NEW_VERDICTS };
	struct pd_stage_cluster cluster = r->o->cluster;
	if (r->journal.verdicts)
		return PD_OK;
	char *pairs = pd_dedup_folder_path(r->folder, DEDUP_PAIRS), *output = pd_dedup_folder_path(r->folder, "verdicts.tsv");
	size_t n = r->journal.n_rows;
	char **shingles = folder_units(r->folder, n, "shingles");
	cluster.group.shingles = shingles;
	cluster.group.n_shingles = (int)n;
	char **canonical = folder_units(r->folder, n, "canonical");
	cluster.group.keep.canonical = canonical;
	cluster.group.keep.n_canonical = pd_keep_has(&cluster.group.keep, PD_KEEP_CANONICAL) ? (int)n : 0;
	cluster.group.shingles_secret = &r->secret;
	char *old = pd_dedup_folder_path(r->folder, DEDUP_OLD_VERDICTS), *new = pd_dedup_folder_path(r->folder, DEDUP_NEW_VERDICTS);
	struct pd_map gone = { 0 };
	int status = r->o->n_against ? add_ids(r, &old, 1, true, &gone) : PD_OK;
	cluster.output = r->o->n_against ? new : output;
	cluster.group.in.gone = r->o->n_against ? &gone : NULL;
	cluster.group.in.tmp_dir = r->o->tmp_dir;
	cluster.ignore_damaged = true;
	if (!status)
		status = pd_stage_cluster_run(&cluster, &pairs, 1, r->log, r->err);
	if (!status && r->o->n_against)
		status = merge_verdicts(r, old, new, output);
	pd_map_release(&gone);
	folder_free(shingles, n);
	folder_free(canonical, n);
	free(pairs);
	free(output);
	free(old);
	free(new);
	if (!status)
		status = add_named(r, files, sizeof files / sizeof *files);
	return status ? status : pd_journal_add(&r->journal, r->err, "verdicts");
}

/* --- outputs --- */

static void tell_bad_verdict(void *ctx, const char *why)
{
	pd_log_error(((struct run *)ctx)->log, "%s", why);
}

static void pass_over_damage(void *ctx, const struct pd_read_damage *damage)
{
	/* fp named it already. */
}

static void on_lost(void *ctx, const struct pd_read_damage *damage)
{
	struct run *r = ctx;
	pd_log_error(r->log, "%s:%" PRIu64 ": %s; the rest of this compressed member is lost", damage->file, damage->offset,
		     damage->reason);
}

static void on_other_page(void *ctx, const char *id, const char *why)
{
	struct run *r = ctx;
	r->incomplete = true;
	if (pd_log_many(r->log, "pages that changed"))
		pd_log_error(r->log, "%s: %s: it has changed since its row was made; kept", id, why);
}

static void on_orphan(void *ctx, const char *id)
{
	struct run *r = ctx;
	if (pd_log_many(r->log, "revisit records"))
		pd_log_note(r->log, "%s: this revisit record stays, and what it refers to is removed", id);
}

/* A step that is not done may have been started. */
static bool is_done(void *ctx, const struct pd_read_file *file, const char *output)
{
	struct run *r = ctx;
	if (pd_map_has(&r->journal.outputs, pd_map_key(pd_span_z(file->label))))
		return true;
	if (r->o->resume)
		folder_sweep(output);
	return false;
}

/* Records are found by their offsets at the time when the rows were made, and the pages kept must be written. */
static int on_input(void *ctx, const struct pd_read_file *file, const struct stat *st, struct pd_err *e)
{
	struct run *r = ctx;
	const uint32_t *was = pd_map_find(&r->met, pd_map_key(pd_span_z(file->path)));
	if (!was || *was == (st ? short_state(st) : 0))
		return PD_OK;
	if (!st)
		return pd_fail_errno(e, "%s: cannot open it now, though it could be opened before", file->label);
	return *was ? pd_fail(e, PD_ERR_PARAMS, "%s has changed since its rows were made: start again in another folder",
			      file->label)
		    : PD_OK;
}

static struct pd_apply_options apply_options(struct run *r, struct pd_apply_removals *removals)
{
	struct pd_apply_options a = { .in = reader_options(r),
				      .removals = removals,
				      .output = r->folder,
				      .to_folder = true,
				      .any_packing = true,
				      .link = r->o->link,
				      .keep_others = r->o->keep_others,
				      .rewrite_revisits = r->o->rewrite_revisits,
				      .tmp_dir = r->o->tmp_dir,
				      .max_page = r->o->walk.page.max_page,
				      .other_page = on_other_page,
				      .lost = on_lost,
				      .orphan = on_orphan,
				      .meet = on_input,
				      .skip = is_done,
				      .ctx = r };
	a.in.damage = pass_over_damage;
	a.in.damage_ctx = r;
	return a;
}

/* `verdicts`: NULL for none. */
static int read_removals(struct run *r, char *verdicts, struct pd_apply_removals **out)
{
	struct pd_apply_removals_options o = { .paths = &verdicts,
					       .n_paths = verdicts ? 1 : 0,
					       .keep_dup_of = r->o->rewrite_revisits,
					       .remove_suspects = r->o->remove_suspects,
					       .bad_row = tell_bad_verdict,
					       .ctx = r };
	return pd_apply_removals_read(out, &o, r->err);
}

/* Outputs that have their names, and inputs without an output. */
static int note_outputs(struct run *r)
{
	int status = PD_OK;
	size_t n = r->n_pending;
	for (size_t i = 0; i < n; i++) {
		struct pending *p = &r->pending[i];
		if (!status && p->name)
			status = pd_journal_add_file(&r->journal, r->folder, p->name, p->done.linked, r->err);
		if (!status)
			pd_journal_add_output(&r->journal, &p->done, p->input);
		free(p->input);
		free(p->name);
	}
	r->n_pending = 0;
	return !status && n ? pd_journal_sync(&r->journal, r->err) : status;
}

/* The batch has been committed when it is empty again. */
static int add_output(struct run *r, const struct pd_apply_result *done)
{
	enum { PENDING_MAX = 256 };
	bool waits = !pd_outfile_batch_is_empty(r->batch);
	r->pending = pd_grow(r->pending, r->n_pending, &r->cap_pending, sizeof *r->pending);
	r->pending[r->n_pending++] =
		(struct pending){ *done, pd_strdup(done->file->label), done->output ? pd_strdup(done->place) : NULL };
	if (r->n_pending < PENDING_MAX && (waits || !done->output))
		return PD_OK;
	int status = waits ? pd_outfile_batch_commit(r->batch, r->err) : PD_OK;
	return status ? status : note_outputs(r);
}

static int write_outputs(struct run *r, struct pd_apply *apply)
{
	struct pd_apply_result done;
	size_t met = 0;
	int more;
	while ((more = pd_apply_next(apply, &done, r->err)) == 1) {
		met += pd_map_has(&r->met, pd_map_key(pd_span_z(done.file->path)));
		if (!done.skipped && !done.error && (more = add_output(r, &done)) < 0)
			break;
	}
	if (!more)
		more = pd_outfile_batch_commit(r->batch, r->err);
	if (!more)
		more = note_outputs(r);
	return more || met == r->met.n ? more : changed(r, "the list of inputs");
}

static void release_outputs(struct run *r)
{
	for (size_t i = 0; i < r->n_pending; i++) {
		free(r->pending[i].input);
		free(r->pending[i].name);
	}
	free(r->pending);
	r->pending = NULL;
	r->n_pending = r->cap_pending = 0;
	pd_outfile_batch_free(r->batch);
	r->batch = NULL;
}

static int do_outputs(struct run *r)
{
	struct pd_apply_removals *removals = NULL;
	struct pd_apply *apply = NULL;
	if (r->o->dry_run)
		return PD_OK;
	char *verdicts = pd_dedup_folder_path(r->folder, "verdicts.tsv");
	int status = read_removals(r, verdicts, &removals);
	struct pd_apply_options a = apply_options(r, removals);
	a.batch = r->batch = pd_outfile_batch_new();
	if (!status)
		status = pd_apply_open(&apply, &a, r->err);
	if (!status)
		status = write_outputs(r, apply);
	pd_log_many_end(r->log);
	pd_apply_free(apply);
	release_outputs(r);
	pd_apply_removals_free(removals);
	free(verdicts);
	return status;
}

/* Check the paths of all outputs before hours are spent. */
static int check_outputs(struct run *r)
{
	struct pd_apply_removals *removals = NULL;
	struct pd_apply *apply = NULL;
	int status = r->o->walk.left_out ? pd_outfile_check_own(r->o->walk.left_out, r->err) : PD_OK;
	if (!status)
		status = read_removals(r, NULL, &removals);
	struct pd_apply_options a = apply_options(r, removals);
	const char *list = r->o->walk.left_out, *const also_written[] = { list && strcmp(list, "-") ? list : NULL, NULL };
	a.also_written = also_written;
	a.reserved = folder_reserved;
	a.any_packing = r->o->walk.ignore_damaged || r->o->dry_run;
	if (!status)
		status = pd_apply_open(&apply, &a, r->err);
	pd_apply_free(apply);
	pd_apply_removals_free(removals);
	return status;
}

/* --- the end --- */

/* Match the pairs once more with one more bit, to report the difference: next to reading pages this costs very
 * little. */
static int match_more(struct run *r)
{
	struct pd_stage_match match = r->o->match;
	struct pd_log log = *r->log;
	log.quiet = match.quiet = true;
	match.explain = false;
	match.one_more = match.plan != PD_PLAN_PAPER; /* whose k has its own upper limit */
	return match_rows(r, &match, DEDUP_MORE_PAIRS, &log);
}

/* Its sources are kept until the run has ended, so that a resumed run makes the same report. */
static int write_report(struct run *r)
{
	if (!r->o->report)
		return PD_OK;
	char *pairs = pd_dedup_folder_path(r->folder, DEDUP_MORE_PAIRS);
	char *verdicts = pd_dedup_folder_path(r->folder, "verdicts.tsv");
	char *output = pd_dedup_folder_path(r->folder, "report.html"), *table = table_path(r);
	struct pd_map new = { 0 };
	struct pd_dedup_report report = { .verdicts = verdicts,
					  .pairs = pairs,
					  .output = output,
					  .boilerplate = table,
					  .in = reader_options(r),
					  .new = &new,
					  .bytes_in = r->o->dry_run ? 0 : r->journal.sums.bytes_in,
					  .bytes_out = r->o->dry_run ? 0 : r->journal.sums.bytes_out };
	int status = match_more(r);
	if (!status && r->o->n_against)
		status = add_new_ids(r, &new);
	if (!status)
		status = r->o->report(r->o, &report, r->log, r->err);
	r->incomplete |= status > 0;
	pd_map_release(&new);
	free(pairs);
	free(verdicts);
	free(output);
	free(table);
	return status < 0 ? status : PD_OK;
}

static int copy_to_top(struct run *r, char *const *from, size_t n, const char *name)
{
	char *to = pd_dedup_folder_path(r->folder, name);
	int status = folder_copy(from, n, false, to, r->err);
	free(to);
	return status;
}

static int keep_rows(struct run *r)
{
	size_t n = r->journal.n_rows;
	char **rows = folder_units(r->folder, n, "fp"), *pairs = pd_dedup_folder_path(r->folder, DEDUP_PAIRS);
	int status = copy_to_top(r, rows, n, "rows.fp");
	char *old = pd_dedup_folder_path(r->folder, DEDUP_OLD_PAIRS);
	if (!status)
		status = copy_to_top(r, &pairs, 1, "pairs.tsv");
	if (!status && r->o->n_against)
		status = copy_to_top(r, &old, 1, "old-pairs.tsv");
	folder_free(rows, n);
	free(pairs);
	free(old);
	return status;
}

/* The boilerplate table of the verdicts: `explain` uses this copy. */
static int keep_table(struct run *r)
{
	char *table = table_path(r);
	int status = table ? copy_to_top(r, &table, 1, "site.bp") : PD_OK;
	free(table);
	return status;
}

static int write_aliases(struct run *r, const char *path)
{
	struct pd_outfile f;
	int status = pd_outfile_open(&f, path, r->err);
	if (status)
		return status;
	fprintf(f.f, "#id\turl\ttype\treason\n%s", pd_buf_z(&r->aliases));
	return pd_outfile_commit(&f, r->err);
}

/* The skipped records of all units, as fp would list them, and then the files that are not an input of any. */
static int list_left_out(struct run *r)
{
	size_t n = r->journal.n_rows;
	if (!r->o->walk.left_out)
		return PD_OK;
	char **units = folder_units(r->folder, n, "left-out"), *aliases = pd_dedup_folder_path(r->folder, ".dedup/aliases");
	char **lists = pd_alloc((n + 1) * sizeof *lists);
	memcpy(lists, units, n * sizeof *lists);
	lists[n] = aliases;
	int status = write_aliases(r, aliases);
	if (!status)
		status = folder_copy(lists, n + 1, true, r->o->walk.left_out, r->err);
	free(lists);
	free(aliases);
	folder_free(units, n);
	return status;
}

/* --- stats.json --- */

static void add_removed(const struct pd_journal_sums *s, struct pd_json *j)
{
	struct pd_json *out = pd_json_new();
	pd_json_int(out, "inputs", (int64_t)s->inputs);
	pd_json_int(out, "pages", (int64_t)s->pages);
	pd_json_int(out, "records_with_them", (int64_t)s->removed_with_page);
	pd_json_int(out, "bytes_in", (int64_t)s->bytes_in);
	pd_json_int(out, "bytes_out", (int64_t)s->bytes_out);
	pd_json_int(out, "members_rewritten", (int64_t)s->rewritten);
	pd_json_int(out, "bytes_lost", (int64_t)s->lost);
	pd_json_object(j, "removed", out);
}

static void add_table(const struct pd_boilerplate *b, struct pd_json *j)
{
	struct pd_json *out = pd_json_new();
	int64_t repeat = 0, lines = 0, paths = 0;
	for (size_t i = 0; i < pd_boilerplate_info(b)->hosts; i++) {
		struct pd_boilerplate_host h = pd_boilerplate_host(b, i);
		repeat += h.site.n_lines || h.site.n_paths;
		lines += (int64_t)h.site.n_lines;
		paths += (int64_t)h.site.n_paths;
	}
	pd_json_str(out, "checksum", pd_span_z(pd_boilerplate_info(b)->checksum));
	pd_json_int(out, "hosts", (int64_t)pd_boilerplate_info(b)->hosts);
	pd_json_int(out, "hosts_that_repeat", repeat);
	pd_json_int(out, "lines", lines);
	pd_json_int(out, "paths", paths);
	pd_json_object(j, "boilerplate", out);
}

static int add_boilerplate(const char *path, struct pd_json *j, struct pd_err *e)
{
	struct pd_boilerplate *b;
	int status = path ? pd_boilerplate_open(path, &b, e) : PD_OK;
	if (status || !path)
		return status;
	add_table(b, j);
	pd_boilerplate_free(b);
	return PD_OK;
}

/* The same for a run that was interrupted and resumed. */
static int write_run_stats(struct run *r)
{
	const struct pd_dedup_counts *c = &r->counts;
	struct pd_outfile f;
	struct pd_buf text = { 0 };
	char *path = pd_dedup_folder_path(r->folder, "stats.json");
	int status = pd_outfile_open(&f, path, r->err);
	free(path);
	if (status)
		return status;
	char *table = table_path(r);
	struct pd_json *j = pd_json_new();
	pd_json_str(j, "version", pd_span_z(PD_VERSION));
	pd_json_str(j, "options", pd_buf_span(&r->journal.options));
	pd_json_int(j, "pages", (int64_t)c->pages);
	pd_json_int(j, "without_fingerprint", (int64_t)c->without_fingerprint);
	pd_json_int(j, "left_out", (int64_t)c->left_out);
	pd_json_int(j, "damaged", (int64_t)c->damaged);
	pd_json_int(j, "bytes", (int64_t)c->bytes);
	pd_json_int(j, "clusters", (int64_t)c->clusters);
	pd_json_int(j, "duplicates", (int64_t)c->duplicates);
	if (r->o->n_against)
		pd_json_int(j, "duplicates_of_old_pages", (int64_t)c->of_old);
	pd_json_int(j, "suspects", (int64_t)c->suspects);
	if (!r->o->dry_run)
		add_removed(&r->journal.sums, j);
	status = add_boilerplate(table, j, r->err);
	pd_json_write(j, &text);
	fprintf(f.f, "%s\n", text.p);
	pd_json_free(j);
	pd_buf_release(&text);
	free(table);
	if (!status)
		return pd_outfile_commit(&f, r->err);
	pd_outfile_abandon(&f);
	return status;
}

static int leave(struct run *r)
{
	static const char *const files[] = { "report.html", "stats.json", "site.bp", "rows.fp", "pairs.tsv", "old-pairs.tsv" };
	int status = write_report(r);
	if (!status && r->o->keep_rows)
		status = keep_rows(r);
	if (!status)
		status = keep_table(r);
	if (!status)
		status = list_left_out(r);
	if (!status)
		status = write_run_stats(r);
	if (!status)
		status = add_named(r, files, sizeof files / sizeof *files);
	if (!status)
		status = pd_journal_add(&r->journal, r->err, "end");
	if (!status)
		folder_tidy(r->folder, r->log);
	return status;
}

/* --- all --- */

static void add_total(uint64_t *to, struct pd_span totals, const char *key)
{
	struct pd_span value = pd_param(totals, key);
	uint64_t n = 0;
	if (pd_span_u64(value, &n))
		*to += n;
}

/* A line for each unit of the inputs. */
static void add_unit_totals(struct pd_dedup_counts *c, struct pd_span totals)
{
	struct pd_span line;
	while (totals.n && pd_span_split(&totals, '\n', &line)) {
		add_total(&c->pages, line, "pages");
		add_total(&c->without_fingerprint, line, "without_fingerprint");
		add_total(&c->left_out, line, "left_out");
		add_total(&c->damaged, line, "damaged");
		add_total(&c->inputs_without_pages, line, "inputs_without_pages");
		add_total(&c->bytes, line, "bytes");
	}
}

/* From the file of verdicts. */
static int count_verdicts(const char *verdicts, struct pd_dedup_counts *out, struct pd_err *e)
{
	static const char *const columns[] = { "id", "is_duplicate", "suspect", NULL };
	char *path = (char *)verdicts;
	struct pd_tsv_reader in = {
		.kind = "verdicts", .columns = columns, .v1_columns = pd_verdicts_columns, .paths = &path, .n_paths = 1
	};
	int r;
	*out = (struct pd_dedup_counts){ 0 };
	while ((r = pd_tsv_next(&in, e)) == 1) {
		bool kept = pd_span_is(in.fields[1], "0"), suspect = in.fields[2].n && !pd_span_is(in.fields[2], "-");
		out->clusters += kept && !suspect;
		out->duplicates += !kept;
		out->suspects += kept && suspect;
	}
	add_unit_totals(out, pd_buf_span(&in.totals));
	pd_tsv_release(&in);
	return r;
}

/* The numbers about old pages are kept until the run has ended. */
static int count_removed(struct run *r)
{
	char *verdicts = pd_dedup_folder_path(r->folder, "verdicts.tsv"),
	     *old = pd_dedup_folder_path(r->folder, DEDUP_OLD_VERDICTS);
	struct pd_dedup_counts of_old = { 0 };
	int status = count_verdicts(verdicts, &r->counts, r->err);
	if (!status && r->o->n_against && !r->journal.end)
		status = count_verdicts(old, &of_old, r->err);
	r->counts.of_old = of_old.duplicates;
	free(verdicts);
	free(old);
	return status;
}

static int do_stages(struct run *r)
{
	int status = do_rows(r);
	if (!status)
		status = do_against(r);
	if (!status)
		status = do_pairs(r);
	if (!status)
		status = do_verdicts(r);
	if (!status)
		status = do_outputs(r);
	return status;
}

static int check_left_out(struct run *r)
{
	const char *list = r->o->walk.left_out;
	for (const char *const *name = folder_reserved; list && *name; name++) {
		char *taken = pd_dedup_folder_path(r->folder, *name);
		bool same = !strcmp(list, taken);
		free(taken);
		if (same)
			return pd_fail(r->err, PD_ERR_USAGE, "%s is written by every run: name another file for --left-out", list);
	}
	return pd_outfile_check(list, r->inputs, r->n_inputs, r->err);
}

int pd_dedup(const struct pd_dedup_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_dedup_result *out,
	     struct pd_err *e)
{
	struct run r = {
		.o = o, .folder = o->walk.output, .inputs = inputs, .n_inputs = n_inputs, .log = log, .err = e, .lock = -1
	};
	uint64_t identity;
	int status = check_left_out(&r);
	if (!status)
		status = identity_of_old(&r, &identity);
	if (!status)
		status = check_outputs(&r);
	if (!status)
		status = enter(&r);
	bool ended = !status && r.journal.end;
	if (!status && !ended)
		status = do_stages(&r);
	if (!status)
		status = count_removed(&r);
	if (!status && !ended)
		status = leave(&r);
	else if (!status) /* it may have been stopped during this step */
		folder_tidy(r.folder, r.log);
	*out = (struct pd_dedup_result){ r.counts, r.journal.sums, r.incomplete };
	pd_journal_release(&r.journal);
	pd_map_release(&r.met);
	pd_buf_release(&r.aliases);
	if (r.lock >= 0)
		close(r.lock);
	return status;
}
