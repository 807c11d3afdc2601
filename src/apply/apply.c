/* SPDX-License-Identifier: MIT */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/places.h"
#include "apply/restore.h"
#include "apply/rewrite.h"
#include "apply/scan.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/outfile.h"

struct pd_apply {
	const struct pd_apply_options *o;
	struct pd_reader_options in;	/* of `o`, a list from stdin put into a spool */
	FILE *list;
	struct pd_buf list_path;
	struct pd_read_files files;
	struct pd_read_file file;		/* at hand */
	struct pd_apply_scan scan;
	struct pd_apply_rewriter rewriter;
	struct pd_apply_restore restore;
	struct pd_apply_revisits revisits;
	struct pd_apply_kept *kept;	/* for rewrite_revisits */
	bool ended;
	struct pd_apply_places places;
	struct pd_buf place, output;	/* of the input at hand: its name in the folder, and its path */
};

/* --- before anything is written --- */

/* Paths that come in by stdin are wanted three times. */
static int spool_list(struct pd_apply *a, struct pd_err *e)
{
	char piece[4096];
	size_t n;
	if (!a->in.files_from || strcmp(a->in.files_from, "-") != 0)
		return PD_OK;
	a->list = pd_tempfile_open(a->o->tmp_dir, e);
	if (!a->list)
		return PD_ERR_SYSTEM;
	while ((n = fread(piece, 1, sizeof piece, stdin)) > 0 && fwrite(piece, 1, n, a->list) == n)
		;
	if (ferror(stdin))
		return pd_fail_errno(e, "cannot read the list");
	if (ferror(a->list) || fflush(a->list) != 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	pd_buf_printf(&a->list_path, "/proc/self/fd/%d", fileno(a->list));
	a->in.files_from = a->list_path.p;
	return PD_OK;
}

static bool is_reserved(const struct pd_apply *a)
{
	const char *name = a->place.p;
	for (const char *const *r = a->o->reserved; r && *r; r++)
		if (strncmp(name, *r, strlen(*r)) == 0 && (!name[strlen(*r)] || name[strlen(*r)] == '/'))
			return true;
	return false;
}

/* Sets `place`; the path of the output, or NULL: none. */
static const char *place(struct pd_apply *a, const struct pd_read_file *f)
{
	pd_apply_places_name(&a->places, f, &a->place);
	if (a->o->mode != PD_APPLY_WRITE)
		return NULL;
	pd_buf_clear(&a->output);
	pd_buf_add_z(&a->output, a->o->output);
	if (!a->o->to_folder)
		return a->output.p;
	if (a->output.n && a->output.p[a->output.n - 1] != '/')
		pd_buf_add_c(&a->output, '/');
	pd_buf_add_span(&a->output, pd_buf_span(&a->place));
	return a->output.p;
}

/* What is looked at by name: what is read, and what would be written over. */
struct names {
	struct pd_map outputs;		/* paths */
	struct pd_map read;		/* files, by device and inode */
	struct pd_map over;		/* files that are there and would be written over … */
	struct pd_arena arena;
	const char **over_paths;	/* … and their paths */
	size_t n_over, cap_over;
};

static uint64_t hash_file(const struct stat *st)
{
	uint64_t id[] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino };
	return pd_hash64(id, sizeof id);
}

static void names_release(struct names *n)
{
	pd_map_release(&n->outputs);
	pd_map_release(&n->read);
	pd_map_release(&n->over);
	pd_arena_release(&n->arena);
	free(n->over_paths);
}

/* A link to an input, made before with `link`, may be made again. */
static int note_files(struct pd_apply *a, const struct pd_read_file *f, struct names *n, struct pd_err *e)
{
	struct stat in, out;
	int read = f->path && !f->error ? pd_look(f->path, &in, e) : 0;
	if (read > 0)
		pd_map_add(&n->read, hash_file(&in));
	int there = read < 0 ? read : pd_look(a->output.p, &out, e);
	if (there <= 0 || (a->o->link && read && hash_file(&in) == hash_file(&out)) || !pd_map_add(&n->over, hash_file(&out)))
		return there < 0 ? there : PD_OK;
	n->over_paths = pd_grow(n->over_paths, n->n_over, &n->cap_over, sizeof *n->over_paths);
	n->over_paths[n->n_over++] = pd_arena_copy(&n->arena, pd_buf_span(&a->output)).p;
	return PD_OK;
}

static int check_place(struct pd_apply *a, const struct pd_read_file *f, struct names *n, struct pd_err *e)
{
	const char *output = place(a, f);
	bool to_folder = output && a->o->to_folder;
	if (to_folder && is_reserved(a))
		return pd_fail(e, PD_ERR_USAGE, "%s: an output of this run has that name; rename the input", output);
	if ((to_folder || a->o->distinct) && !pd_map_add(&n->outputs, pd_hash64(a->place.p, a->place.n)))
		return pd_fail(e, PD_ERR_USAGE, "two inputs would both become %s: give them in two runs", to_folder ? output : a->place.p);
	return to_folder ? note_files(a, f, n, e) : PD_OK;
}

/* Nothing that is read in this run is written over, whoever's output it would be. */
static int check_over(struct pd_apply *a, struct names *n, struct pd_err *e)
{
	struct stat st;
	for (const char *const *path = a->o->also_read; path && *path; path++) {
		int there = pd_look(*path, &st, e);
		if (there < 0)
			return there;
		if (there)
			pd_map_add(&n->read, hash_file(&st));
	}
	for (size_t i = 0; i < n->n_over; i++) {
		int there = pd_look(n->over_paths[i], &st, e);
		if (there < 0)
			return there;
		if (there && pd_map_has(&n->read, hash_file(&st)))
			return pd_fail(e, PD_ERR_USAGE, "%s is read in this run: name another output", n->over_paths[i]);
	}
	return PD_OK;
}

/* 1, 0, or negative: nobody could tell. */
static int is_folder(const char *path, struct pd_err *e)
{
	struct stat st;
	int there = pd_look(path, &st, e);
	return there < 0 ? there : there && S_ISDIR(st.st_mode);
}

static int one_output(struct pd_apply *a, int n, struct pd_err *e)
{
	char *const *inputs = a->in.inputs;
	if (a->o->mode != PD_APPLY_WRITE || a->o->to_folder)
		return PD_OK;
	int folder = n <= 1 && !a->in.files_from && a->in.n_inputs ? is_folder(inputs[0], e) : 0;
	if (folder < 0)
		return folder;
	if (n > 1 || a->in.files_from || folder)
		return pd_fail(e, PD_ERR_USAGE, "several inputs need a folder: end its name with a slash, as in -o %s/", a->o->output && strcmp(a->o->output, "-") ? a->o->output : "clean");
	int status = pd_outfile_check(a->o->output, inputs, a->in.n_inputs, e);
	for (const char *const *path = a->o->also_read; path && *path && !status; path++)
		status = pd_outfile_check(a->o->output, (char *[]){ (char *)*path }, 1, e);
	return status;
}

/* Every input is shown to those who need its name before anything is done. */
static int meet_inputs(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	int n = 0, r = pd_read_files_open(&files, &a->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1) {
		n += n < 2;
		pd_apply_removals_meet(a->o->removals, f.label);
		pd_apply_places_add(&a->places, &f);
	}
	pd_read_files_release(&files);
	return r < 0 ? r : one_output(a, n, e);
}

/* Is it clear which file of the verdicts each input is, and where it goes? */
static int check_inputs(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	struct names names = { 0 };
	int r = pd_read_files_open(&files, &a->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1) {
		pd_apply_removals_name(a->o->removals, f.label);
		r = check_place(a, &f, &names, e);
	}
	if (r >= 0)
		r = check_over(a, &names, e);
	pd_read_files_release(&files);
	names_release(&names);
	return r < 0 ? r : pd_apply_removals_settle(a->o->removals, e);
}

/* A folder that is being read must not grow by what is written. */
static int check_folder(struct pd_apply *a, struct pd_err *e)
{
	if (a->o->mode != PD_APPLY_WRITE || !a->o->to_folder)
		return PD_OK;
	for (int i = 0; i < a->in.n_inputs; i++) {
		int inside = is_folder(a->in.inputs[i], e);
		if (inside > 0)
			inside = pd_apply_is_inside(a->o->output, a->in.inputs[i], e);
		if (inside < 0)
			return inside;
		if (inside)
			return pd_fail(e, PD_ERR_USAGE, "%s lies in the input folder %s: name another output", a->o->output, a->in.inputs[i]);
	}
	return PD_OK;
}

/* What revisits will say of the pages kept, and of which removed pages. */
static int read_kept(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	if (!a->kept || !pd_apply_removals_counts(a->o->removals)->in_dumps)
		return PD_OK;
	int r = pd_read_files_open(&files, &a->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1) {
		errno = f.error;
		if (f.error && (f.typed || !pd_error_stays(f.error)))
			r = pd_fail_errno(e, "%s: cannot open", f.label);
		else if (f.error)
			continue;
		else if (!f.path || !f.regular)
			r = pd_fail(e, PD_ERR_USAGE, "%s: --rewrite-revisits reads its inputs twice, so that they must be files", f.label);
		else
			r = pd_apply_kept_read(a->kept, f.path, pd_apply_removals_name(a->o->removals, f.label), e);
	}
	pd_read_files_release(&files);
	return r;
}

int pd_apply_open(struct pd_apply **out, const struct pd_apply_options *o, struct pd_err *e)
{
	struct pd_apply *a = pd_zalloc(sizeof *a);
	struct pd_apply_scan_options scan = { .removals = o->removals, .keep_others = o->keep_others, .fields = o->in.fields,
					.max_block = o->in.max_block, .damage = o->in.damage, .page = o->on_page,
					.other_url = o->other_url, .ctx = o->ctx };
	struct pd_reader_options cut = { .max_block = o->in.max_block, .damage = o->lost, .damage_ctx = o->ctx };
	a->o = o;
	a->in = o->in;
	a->revisits.tmp_dir = o->tmp_dir;
	if (o->orphan)
		scan.revisits = &a->revisits;
	if (o->rewrite_revisits)
		scan.kept = a->kept = pd_apply_kept_new(o->removals);
	pd_apply_scan_init(&a->scan, &scan);
	pd_apply_rewriter_init(&a->rewriter, &cut);
	a->restore = (struct pd_apply_restore){ .folder = o->originals, .missing = o->missing, .ctx = o->ctx };
	pd_apply_restore_init(&a->restore, &o->in);
	int status = spool_list(a, e);
	if (!status)
		status = check_folder(a, e);
	if (!status)
		status = meet_inputs(a, e);
	if (!status)
		status = check_inputs(a, e);
	if (!status)
		status = read_kept(a, e);
	if (!status)
		status = pd_read_files_open(&a->files, &a->in, e);
	*out = a;
	if (status) {
		pd_apply_free(a);
		*out = NULL;
	}
	return status;
}

void pd_apply_free(struct pd_apply *a)
{
	if (!a)
		return;
	pd_read_files_release(&a->files);
	pd_apply_scan_release(&a->scan);
	pd_apply_revisits_release(&a->revisits);
	pd_apply_kept_free(a->kept);
	pd_apply_rewriter_release(&a->rewriter);
	pd_apply_restore_release(&a->restore);
	pd_apply_places_release(&a->places);
	pd_buf_release(&a->place);
	pd_buf_release(&a->output);
	pd_buf_release(&a->list_path);
	if (a->list)
		fclose(a->list);
	free(a);
}

/* --- one input --- */

/* An input that is read: through a spool when it can be read only once. */
struct apply_input {
	struct pd_buf path;
	FILE *spool;
	struct stat st;
};

static int fill_spool(struct apply_input *in, const struct pd_read_file *f, struct pd_err *e)
{
	char piece[1 << 16];
	FILE *from = f->path ? fopen(f->path, "re") : stdin;
	size_t n;
	if (!from)
		return pd_fail_errno(e, "%s: cannot open", f->label);
	while ((n = fread(piece, 1, sizeof piece, from)) > 0 && fwrite(piece, 1, n, in->spool) == n)
		;
	bool bad = ferror(from);
	if (f->path)
		fclose(from);
	if (bad)
		return pd_fail_errno(e, "%s: cannot read", f->label);
	if (ferror(in->spool) || fflush(in->spool) != 0)
		return pd_fail_errno(e, "cannot write a temporary file");
	return PD_OK;
}

static int open_input(struct apply_input *in, const struct pd_read_file *f, const char *tmp_dir, struct pd_err *e)
{
	int there = f->path ? pd_look(f->path, &in->st, e) : 0;
	if (there < 0)
		return there;
	if (there && S_ISREG(in->st.st_mode)) {
		pd_buf_add_z(&in->path, f->path);
		return PD_OK;
	}
	in->spool = pd_tempfile_open(tmp_dir, e);
	if (!in->spool)
		return PD_ERR_SYSTEM;
	pd_buf_printf(&in->path, "/proc/self/fd/%d", fileno(in->spool));
	int status = fill_spool(in, f, e);
	if (!status && stat(in->path.p, &in->st) < 0)
		status = pd_fail_errno(e, "%s: cannot read", f->label);
	return status;
}

static void close_input(struct apply_input *in)
{
	if (in->spool)
		fclose(in->spool);
	pd_buf_release(&in->path);
}

static int unchanged(const struct apply_input *in, const struct pd_read_file *f, struct pd_err *e)
{
	struct stat now;
	if (stat(in->path.p, &now) < 0)
		return pd_fail_errno(e, "%s: cannot be looked at again", f->label);
	if (now.st_size == in->st.st_size && now.st_mtim.tv_sec == in->st.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == in->st.st_mtim.tv_nsec && now.st_ino == in->st.st_ino)
		return PD_OK;
	return pd_fail(e, PD_ERR_INPUT, "%s changed while it was read", f->label);
}

static int make_folder(const struct pd_apply *a, const struct pd_apply_result *done, struct pd_err *e)
{
	return a->o->to_folder ? pd_apply_make_folders(done->output, e) : PD_OK;
}

static int write_without(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f, const struct pd_apply_cut *cuts,
			 size_t n_cuts, struct pd_apply_result *done, struct pd_err *e)
{
	struct pd_outfile out;
	int status = make_folder(a, done, e);
	if (!status)
		status = pd_outfile_open(&out, done->output, e);
	if (status)
		return status;
	status = pd_apply_rewrite(&a->rewriter, in->path.p, f->label, cuts, n_cuts, a->scan.texts.p, out.f, e);
	if (!status)
		status = unchanged(in, f, e);
	if (status) {
		pd_outfile_abandon(&out);
		return status;
	}
	done->bytes_out = a->rewriter.written;
	done->rewritten = a->rewriter.rewritten;
	done->lost = a->rewriter.lost;
	return pd_outfile_commit(&out, e);
}

static int write_cut(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f, struct pd_apply_result *done,
		     struct pd_err *e)
{
	return write_without(a, in, f, a->scan.cuts, a->scan.n_cuts, done, e);
}

/* Bytes of the file are counted; what would be packed again has to be. */
static int measure(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f, struct pd_apply_result *done,
		   struct pd_err *e)
{
	bool packed = false;
	done->bytes_out = a->scan.whole ? 0 : done->bytes_in;
	for (size_t i = 0; i < a->scan.n_cuts; i++) {
		packed |= a->scan.cuts[i].x.stream;
		done->bytes_out -= a->scan.cuts[i].x.end - a->scan.cuts[i].x.begin;
	}
	if (!packed)
		return PD_OK;
	FILE *nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		return pd_fail_errno(e, "cannot open /dev/null");
	int status = pd_apply_rewrite(&a->rewriter, in->path.p, f->label, a->scan.cuts, a->scan.n_cuts, a->scan.texts.p, nowhere, e);
	done->bytes_out = a->rewriter.written;
	fclose(nowhere);
	return status;
}

static int link_input(const char *from, const char *to, struct pd_err *e)
{
	struct pd_buf temp = { 0 };
	int r = linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
	if (r < 0 && errno == EEXIST) {
		pd_buf_printf(&temp, "%s.%ld", to, (long)getpid());
		r = linkat(AT_FDCWD, from, AT_FDCWD, temp.p, AT_SYMLINK_FOLLOW);
		if (r == 0)
			r = rename(temp.p, to);
		/* Two names of one file are not renamed over each other. */
		unlink(temp.p);
	}
	pd_buf_release(&temp);
	return r < 0 ? pd_fail_errno(e, "cannot link %s to %s", to, from) : PD_OK;
}

/* Nothing goes from it. */
static int pass_on(struct pd_apply *a, const struct pd_read_file *f, struct pd_apply_result *done, struct pd_err *e)
{
	struct stat st;
	if (a->o->mode == PD_APPLY_LIST)
		return PD_OK;
	int there = f->path && a->o->link ? pd_look(f->path, &st, e) : 0;
	if (there < 0)
		return there;
	if (there && S_ISREG(st.st_mode)) {
		done->bytes_in = done->bytes_out = (uint64_t)st.st_size;
		int status = make_folder(a, done, e);
		return status ? status : link_input(f->path, done->output, e);
	}
	struct apply_input in = { 0 };
	a->scan.n_cuts = 0;
	int status = open_input(&in, f, a->o->tmp_dir, e);
	done->bytes_in = done->bytes_out = (uint64_t)in.st.st_size;
	if (!status && a->o->mode == PD_APPLY_WRITE)
		status = write_cut(a, &in, f, done, e);
	close_input(&in);
	return status;
}

static int cut(struct pd_apply *a, const struct pd_read_file *f, const char *name, struct pd_apply_result *done, struct pd_err *e)
{
	struct apply_input in = { 0 };
	int status = open_input(&in, f, a->o->tmp_dir, e);
	if (!status)
		status = pd_apply_scan_input(&a->scan, in.path.p, name, e);
	done->bytes_in = (uint64_t)in.st.st_size;
	done->pages = a->scan.pages;
	done->along = a->scan.along;
	done->revisits = a->scan.revisits;
	done->page = a->scan.whole;
	if (!status && a->o->mode == PD_APPLY_WRITE && !a->scan.whole)
		status = write_cut(a, &in, f, done, e);
	if (!status && a->o->mode == PD_APPLY_MEASURE)
		status = measure(a, &in, f, done, e);
	if (done->page)
		done->output = NULL;
	close_input(&in);
	return status;
}

/* Nothing goes from it, and it may hold revisits of pages that do.  A regular file alone: what can be read only once has been
 * written already. */
static bool has_revisits(const struct pd_apply *a, const struct pd_read_file *f)
{
	return f->path && f->regular && pd_apply_removals_counts(a->o->removals)->in_dumps;
}

static int find_revisits(struct pd_apply *a, const struct pd_read_file *f, const char *name, struct pd_err *e)
{
	return a->o->orphan && has_revisits(a, f) ? pd_apply_scan_revisits(&a->scan, f->path, name, e) : PD_OK;
}

/* The same, where they are rewritten. */
static int rewrite_revisits(struct pd_apply *a, const struct pd_read_file *f, const char *name, struct pd_apply_result *done,
			    struct pd_err *e)
{
	struct apply_input in = { 0 };
	int status = open_input(&in, f, a->o->tmp_dir, e);
	if (!status)
		status = pd_apply_scan_revisits(&a->scan, in.path.p, name, e);
	done->bytes_in = (uint64_t)in.st.st_size;
	done->revisits = a->scan.revisits;
	if (!status && a->scan.n_cuts)
		status = write_cut(a, &in, f, done, e);
	else if (!status)
		status = pass_on(a, f, done, e);
	close_input(&in);
	return status;
}

static int restore_input(struct pd_apply *a, const struct pd_read_file *f, struct pd_apply_result *done, struct pd_err *e)
{
	struct apply_input in = { 0 };
	struct stat st;
	/* It could be what another record is to be restored from. */
	int there = strcmp(done->output, "-") != 0 ? pd_look(done->output, &st, e) : 0;
	if (there < 0)
		return there;
	if (there && S_ISREG(st.st_mode))
		return pd_fail(e, PD_ERR_USAGE, "%s is there already: what is restored is written over nothing", done->output);
	int status = open_input(&in, f, a->o->tmp_dir, e);
	if (!status)
		status = pd_apply_restore_scan(&a->restore, in.path.p, f->label, e);
	done->bytes_in = (uint64_t)in.st.st_size;
	done->restored = a->restore.restored;
	done->missing = a->restore.missed;
	if (!status)
		status = write_without(a, &in, f, a->restore.cuts, a->restore.n_cuts, done, e);
	close_input(&in);
	return status;
}

static int do_input(struct pd_apply *a, const struct pd_read_file *f, struct pd_apply_result *done, struct pd_err *e)
{
	const char *name = pd_apply_removals_name(a->o->removals, f->label);
	if (a->o->restore)
		return restore_input(a, f, done, e);
	if (a->o->skip && a->o->skip(a->o->ctx, f, done->output)) {
		done->skipped = true;
		return find_revisits(a, f, name, e);
	}
	if (pd_apply_removals_any(a->o->removals, name))
		return cut(a, f, name, done, e);
	if (a->kept && a->o->mode == PD_APPLY_WRITE && has_revisits(a, f))
		return rewrite_revisits(a, f, name, done, e);
	int status = pass_on(a, f, done, e);
	return status ? status : find_revisits(a, f, name, e);
}

int pd_apply_next(struct pd_apply *a, struct pd_apply_result *out, struct pd_err *e)
{
	const struct pd_read_file *f = &a->file;
	int r = pd_read_files_next(&a->files, &a->file, e);
	*out = (struct pd_apply_result){ .file = f };
	if (!r && !a->ended && a->o->orphan) {
		a->ended = true;
		return pd_apply_revisits_end(&a->revisits, a->o->orphan, a->o->ctx, e);
	}
	if (r <= 0)
		return r;
	out->output = place(a, f);
	out->place = a->place.p;
	out->error = f->error || !f->path || access(f->path, R_OK) == 0 ? f->error : errno;
	errno = out->error;
	if (out->error)		/* as for the reader: what was typed must be there */
		return f->typed ? pd_fail_errno(e, "%s: cannot open", f->label) : 1;
	r = do_input(a, f, out, e);
	return r < 0 ? r : 1;
}
