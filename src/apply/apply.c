/* SPDX-License-Identifier: MIT
 *
 * The run over all inputs.  Inputs are listed once, checked, and then processed in order: an input is scanned for its
 * cuts (scan.h, restore.h) and written without them (rewrite.h).
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/outputs.h"
#include "apply/restore.h"
#include "apply/scan.h"
#include "base/alloc.h"
#include "base/file.h"

struct pd_apply {
	const struct pd_apply_options *o;
	struct pd_read_file *inputs;
	const char **verdict_names; /* of each input: its name in the verdicts */
	size_t n_inputs, cap_inputs, at;
	struct pd_arena arena; /* paths of inputs */
	struct pd_apply_names names;
	struct pd_buf place, output; /* of the current input: its name in the folder, and its path */
	struct pd_apply_check check;
	struct pd_apply_scan scan;
	struct pd_apply_restore restore;
	struct pd_apply_rewriter rewriter;
	struct pd_apply_orphans orphans;
	struct pd_apply_kept *kept; /* for rewrite_revisits */
	bool ended;
	struct pd_apply_meter meter;
	uint64_t bytes_before, bytes; /* of the inputs before the current one, and of all */
};

/* --- before anything is written --- */

/* List all inputs, and present them to the code that needs their names. */
static int list_inputs(struct pd_apply *a, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	int r = pd_read_files_open(&files, &a->o->in, e);
	while (r >= 0 && (r = pd_read_files_next(&files, &f, e)) == 1) {
		if (f.path)
			f.path = pd_arena_copy(&a->arena, pd_span_z(f.path)).p;
		f.label = f.path ? f.path : pd_arena_copy(&a->arena, pd_span_z(f.label)).p;
		a->inputs = pd_grow(a->inputs, a->n_inputs, &a->cap_inputs, sizeof *a->inputs);
		a->inputs[a->n_inputs++] = f;
		a->bytes += f.size;
		pd_apply_removals_note_input(a->o->removals, f.label);
		pd_apply_names_add(&a->names, &f);
	}
	pd_read_files_release(&files);
	a->verdict_names = pd_alloc((a->n_inputs + 1) * sizeof *a->verdict_names);
	for (size_t i = 0; i < a->n_inputs && r >= 0; i++)
		a->verdict_names[i] = pd_apply_removals_name(a->o->removals, a->inputs[i].label);
	return r;
}

/* Refuse to copy a dump that `fp` could not decompress: it has no pages in the verdicts, and its copy would look like
 * a dump without duplicates.  `cut`: the verdicts remove pages of it. */
static int refuse_foreign(const struct pd_apply *a, const char *path, const char *label, bool cut, struct pd_err *e)
{
	pd_local_buf reason = { 0 };
	int r = a->o->any_packing && !cut ? 0 : pd_read_source_foreign(path, label, &reason);
	if (r < 0)
		r = pd_fail_errno(e, "%s: cannot read", label);
	else if (r == 2 || (r && !a->o->any_packing))
		r = pd_fail(e, PD_ERR_INPUT, "%s: %s", label, reason.p);
	return r < 0 ? r : PD_OK;
}

static int check_inputs(struct pd_apply *a, struct pd_err *e)
{
	bool cuts = pd_apply_removals_counts(a->o->removals)->in_dumps, writes = a->o->mode == PD_APPLY_WRITE;
	int status = pd_apply_check_outputs(a->o, &a->names, a->inputs, a->n_inputs, e);
	for (size_t i = 0; i < a->n_inputs && !status; i++) {
		const struct pd_read_file *f = &a->inputs[i];
		if (f->path && f->typed && f->regular && !f->error)
			status = refuse_foreign(a, f->path, f->label, false, e);
	}
	if (!status)
		status = pd_apply_removals_check_inputs(a->o->removals, e);
	/* An archive in a folder was not named by the user, so it is refused only if it loses pages. */
	for (size_t i = 0; i < a->n_inputs && !status && cuts && writes; i++) {
		const struct pd_read_file *f = &a->inputs[i];
		if (f->path && f->regular && !f->error && pd_apply_removals_any(a->o->removals, a->verdict_names[i]))
			status = refuse_foreign(a, f->path, f->label, true, e);
	}
	/* Data for revisits: about the pages kept, and about removed pages. */
	for (size_t i = 0; i < a->n_inputs && !status && cuts && a->kept; i++) {
		const struct pd_read_file *f = &a->inputs[i];
		errno = f->error;
		if (f->error && (f->typed || !pd_errno_stays(f->error)))
			status = pd_fail_errno(e, "%s: cannot open", f->label);
		else if (!f->error && (!f->path || !f->regular))
			status = pd_fail(e, PD_ERR_USAGE, "%s: --rewrite-revisits reads its inputs twice; give files, not pipes",
					 f->label);
		else if (!f->error)
			status = pd_apply_kept_read(a->kept, f->path, a->verdict_names[i], e);
	}
	return status;
}

int pd_apply_open(struct pd_apply **out, const struct pd_apply_options *o, struct pd_err *e)
{
	struct pd_apply *a = pd_zalloc(sizeof *a);
	struct pd_reader_options lost = { .max_block = o->in.max_block, .damage = o->lost, .damage_ctx = o->ctx };
	a->o = o;
	a->orphans.tmp_dir = o->tmp_dir;
	pd_apply_check_init(&a->check, o->removals, o->unchecked, o->max_page);
	if (o->rewrite_revisits)
		a->kept = pd_apply_kept_new(o->removals, &a->check, o->in.max_block);
	pd_apply_scan_init(&a->scan, &(struct pd_apply_scan_options){ .removals = o->removals,
								      .orphans = o->orphan ? &a->orphans : NULL,
								      .keep_others = o->keep_others,
								      .kept = a->kept,
								      .fields = o->in.fields,
								      .max_block = o->in.max_block,
								      .damage = o->in.damage,
								      .page = o->on_page,
								      .other_url = o->other_url,
								      .other_page = o->other_page,
								      .ctx = o->ctx,
								      .check = &a->check,
								      .meter = &a->meter });
	pd_apply_rewriter_init(&a->rewriter, &lost);
	a->rewriter.meter = &a->meter;
	a->restore = (struct pd_apply_restore){ .folder = o->originals, .missing = o->missing, .ctx = o->ctx };
	pd_apply_restore_init(&a->restore, &o->in);
	int status = pd_apply_check_folders(o, e);
	if (!status)
		status = list_inputs(a, e);
	if (!status)
		status = check_inputs(a, e);
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
	free(a->inputs);
	free(a->verdict_names);
	pd_arena_release(&a->arena);
	pd_apply_scan_release(&a->scan);
	pd_apply_check_release(&a->check);
	pd_apply_orphans_release(&a->orphans);
	pd_apply_kept_free(a->kept);
	pd_apply_rewriter_release(&a->rewriter);
	pd_apply_restore_release(&a->restore);
	pd_apply_names_release(&a->names);
	pd_buf_release(&a->place);
	pd_buf_release(&a->output);
	free(a);
}

/* --- one input --- */

/* An opened input: its path, or the path of a spool if it can be read only once. */
struct apply_input {
	struct pd_buf path;
	FILE *spool;
	struct stat st;
};

static int open_input(const struct pd_apply *a, struct apply_input *in, const struct pd_read_file *f, struct pd_err *e)
{
	int there = f->path ? pd_stat_path(f->path, &in->st, e) : 0;
	if (there < 0)
		return there;
	if (there && S_ISREG(in->st.st_mode)) {
		pd_buf_add_z(&in->path, f->path);
		return a->o->check_input ? a->o->check_input(a->o->ctx, f, &in->st, e) : PD_OK;
	}
	FILE *from = f->path ? fopen(f->path, "re") : stdin;
	if (!from)
		return pd_fail_errno(e, "%s: cannot open", f->label);
	in->spool = pd_tempfile_of(pd_take_stream, from, f->label, a->o->tmp_dir, e);
	if (f->path)
		fclose(from);
	if (!in->spool)
		return PD_ERR_SYSTEM;
	pd_buf_printf(&in->path, "/proc/self/fd/%d", fileno(in->spool));
	if (stat(in->path.p, &in->st) < 0)
		return pd_fail_errno(e, "%s: cannot read", f->label);
	return refuse_foreign(a, in->path.p, f->label, false, e);
}

static int check_unchanged(const struct apply_input *in, const struct pd_read_file *f, struct pd_err *e)
{
	struct stat now;
	if (stat(in->path.p, &now) < 0)
		return pd_fail_errno(e, "%s: cannot read its size and time again", f->label);
	if (now.st_size == in->st.st_size && now.st_mtim.tv_sec == in->st.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == in->st.st_mtim.tv_nsec && now.st_ino == in->st.st_ino)
		return PD_OK;
	return pd_fail(e, PD_ERR_INPUT, "%s changed while it was read", f->label);
}

/* Link an input without cuts to its output.  The output may exist. */
static int link_input(struct pd_apply *a, const char *from, struct pd_apply_result *done, struct pd_err *e)
{
	const char *to = done->output;
	int r = linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
	if (r < 0 && errno == EEXIST) {
		pd_local_buf temp = { 0 };
		pd_buf_printf(&temp, "%s.%ld", to, (long)getpid());
		r = linkat(AT_FDCWD, from, AT_FDCWD, temp.p, AT_SYMLINK_FOLLOW);
		if (r == 0)
			r = rename(temp.p, to);
		/* If both names are links to one file, rename() leaves the temporary name. */
		unlink(temp.p);
	}
	if (r < 0)
		return pd_fail_errno(e, "cannot link %s to %s", to, from);
	done->linked = true;
	if (!a->o->batch)
		return pd_sync_folder_of(to, e);
	pd_outfile_batch_note(a->o->batch, to);
	return PD_OK;
}

/* Write the input without the cuts. */
static int write_output(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f,
			const struct pd_apply_cut *cuts, size_t n_cuts, struct pd_apply_result *done, struct pd_err *e)
{
	struct pd_outfile out;
	int status = pd_outfile_open_dump(&out, done->output, e);
	if (status)
		return status;
	status = pd_apply_rewrite(&a->rewriter, in->path.p, f->label, cuts, n_cuts, a->scan.texts.p, out.f, e);
	if (!status)
		status = check_unchanged(in, f, e);
	if (status) {
		pd_outfile_abandon(&out);
		return status;
	}
	done->bytes_out = a->rewriter.written;
	done->rewritten = a->rewriter.rewritten;
	done->lost = a->rewriter.lost;
	return pd_outfile_commit_in(&out, a->o->batch, e);
}

/* A sink needs a write function: without one the stream reports errors. */
static ssize_t discard_bytes(void *cookie, const char *bytes, size_t n)
{
	return (ssize_t)n;
}

/* Compute the size of the output: bytes of the file are counted; compressed parts have to be compressed again. */
static int measure_output(struct pd_apply *a, const struct apply_input *in, const struct pd_read_file *f,
			  struct pd_apply_result *done, struct pd_err *e)
{
	const struct pd_apply_scan *s = &a->scan;
	bool packed = false;
	done->bytes_out = s->whole ? 0 : done->bytes_in;
	for (size_t i = 0; i < s->n_cuts; i++) {
		packed |= s->cuts[i].x.stream || s->cuts[i].rows;
		done->bytes_out -= s->cuts[i].x.end - s->cuts[i].x.begin;
	}
	if (!packed)
		return PD_OK;
	/* Discard the output. /dev/null may be absent in a chroot. */
	FILE *nowhere = PD_RETRY(fopencookie(NULL, "w", (cookie_io_functions_t){ .write = discard_bytes }));
	int status = pd_apply_rewrite(&a->rewriter, in->path.p, f->label, s->cuts, s->n_cuts, s->texts.p, nowhere, e);
	done->bytes_out = a->rewriter.written;
	fclose(nowhere);
	return status;
}

#define SCAN_SHARE .5 /* of the time for an input: it is searched for its cuts, and then written */

/* Measure the progress in this part of the current input. */
static void begin_part(struct pd_apply *a, const struct pd_read_file *f, double from, double to)
{
	double before = (double)a->bytes_before / (double)(a->bytes ? a->bytes : 1);
	double here = (double)f->size / (double)(a->bytes ? a->bytes : 1);
	a->meter = (struct pd_apply_meter){ a->o->log, f->size, a->at, a->n_inputs };
	if (a->o->log)
		pd_log_part(a->o->log, before + here * from, before + here * to);
	pd_apply_meter_move(&a->meter, 0);
}

/* Process an input; `name` is its name in the verdicts. */
static int process_input(struct pd_apply *a, const struct pd_read_file *f, const char *name, struct pd_apply_result *done,
			 struct pd_err *e)
{
	const struct pd_apply_options *o = a->o;
	struct apply_input in = { 0 };
	bool writes = o->mode == PD_APPLY_WRITE, removes = !o->restore && pd_apply_removals_any(o->removals, name);

	/* An input without removed pages may contain revisits of pages that are removed from others.  Only a regular file
	 * is read again: other inputs can be read only once. */
	bool may_refer = f->path && f->regular && pd_apply_removals_counts(o->removals)->in_dumps;
	if (!o->restore && o->skip && o->skip(o->ctx, f, done->output)) {
		done->skipped = true;
		return may_refer && o->orphan ? pd_apply_scan(&a->scan, f->path, name, true, e) : PD_OK;
	}
	may_refer = may_refer && !o->restore && !removes && (o->orphan || (a->kept && writes));
	if (o->mode == PD_APPLY_LIST && !removes && !may_refer)
		return PD_OK;
	if (o->restore && strcmp(done->output, "-") != 0) {
		struct stat st;
		/* Never overwrite: a later record may be restored from the existing file. */
		int there = pd_stat_path(done->output, &st, e);
		if (there < 0)
			return there;
		if (there && S_ISREG(st.st_mode))
			return pd_fail(e, PD_ERR_USAGE, "%s exists, and --restore does not overwrite files; name another output",
				       done->output);
	}

	/* Find the cuts. */
	begin_part(a, f, 0, SCAN_SHARE);
	pd_apply_scan_clear(&a->scan);
	int status = open_input(a, &in, f, e);
	if (!status && o->restore)
		status = pd_apply_restore_scan(&a->restore, in.path.p, f->label, e);
	else if (!status && (removes || may_refer))
		status = pd_apply_scan(&a->scan, in.path.p, name, may_refer, e);
	done->bytes_in = done->bytes_out = (uint64_t)in.st.st_size;
	done->pages = a->scan.pages;
	done->removed_with_page = a->scan.removed_with_page;
	done->revisits = a->scan.revisits;
	done->restored = a->restore.restored;
	done->missing = a->restore.missed;
	done->page = a->scan.whole;
	if (removes)
		done->bytes_out = 0;

	/* Write the output. */
	begin_part(a, f, SCAN_SHARE, 1);
	if (!status && writes && !done->page) {
		const struct pd_apply_cut *cuts = o->restore ? a->restore.cuts : a->scan.cuts;
		size_t n_cuts = o->restore ? a->restore.n_cuts : a->scan.n_cuts;
		bool link = o->link && !removes && !o->restore && !n_cuts && !in.spool;
		status = o->to_folder ? pd_apply_make_folders(done->output, o->batch, e) : PD_OK;
		if (!status)
			status = link ? link_input(a, f->path, done, e) : write_output(a, &in, f, cuts, n_cuts, done, e);
	}
	if (!status && o->mode == PD_APPLY_MEASURE && removes)
		status = measure_output(a, &in, f, done, e);
	if (done->page)
		done->output = NULL;
	if (in.spool)
		fclose(in.spool);
	pd_buf_release(&in.path);
	return status;
}

int pd_apply_next(struct pd_apply *a, struct pd_apply_result *out, struct pd_err *e)
{
	*out = (struct pd_apply_result){ 0 };
	if (a->at == a->n_inputs) {
		bool ends = !a->ended && a->o->orphan;
		a->ended = true;
		return ends ? pd_apply_orphans_end(&a->orphans, a->o->orphan, a->o->ctx, e) : 0;
	}
	const struct pd_read_file *f = &a->inputs[a->at];
	const char *name = a->verdict_names[a->at++];
	out->file = f;
	out->output = pd_apply_output_path(a->o, &a->names, f, &a->place, &a->output);
	out->place = a->place.p;
	out->error = f->error || !f->path || access(f->path, R_OK) == 0 ? f->error : errno;
	errno = out->error;
	if (out->error && (f->typed || pd_errno_is_want(out->error))) /* as for the reader: inputs on the command line must exist */
		return pd_fail_errno(e, "%s: cannot open", f->label);
	int status = PD_OK;
	if (!out->error)
		status = process_input(a, f, name, out, e);
	else if (a->o->check_input)
		status = a->o->check_input(a->o->ctx, f, NULL, e);
	a->bytes_before += f->size;
	return status < 0 ? status : 1;
}
