/* SPDX-License-Identifier: MIT
 *
 * The stages, each skipped when the journal says that it is done.
 */
#include "dedup/dedup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/apply.h"
#include "base/alloc.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/outfile.h"
#include "base/tsv.h"
#include "dedup/folder.h"
#include "inspect/pick.h"
#include "report/report.h"

struct run {
	const struct pd_dedup_options *o;
	const char *folder;
	char **inputs;
	int n_inputs;
	struct pd_log *log;
	struct pd_journal journal;
	struct pd_dedup_counts counts;
	bool incomplete;		/* something could not be read for the report */
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

/* The table of what sites repeat that the rows are made with; NULL: none, as without inputs.  The caller's to free. */
static char *table_path(const struct run *r)
{
	const char *given = r->o->walk.page.boilerplate;
	if (!r->o->walk.learn)
		return given ? pd_strdup(given) : NULL;
	return r->journal.n_rows ? pd_dedup_folder_path(r->folder, PD_DEDUP_TABLE) : NULL;
}

/* --- the beginning --- */

/* What makes this run another one when it differs: the program, its tables, and whatever option was given. */
static void print_options(const struct pd_dedup_options *o, const struct pd_tables *t, struct pd_buf *out)
{
	pd_buf_printf(out, "program=%s %s %s learn_boilerplate=%s %s", PD_VERSION, pd_buf_z(&t->must), pd_buf_z(&t->recorded),
		      o->walk.learn ? "yes" : "no", o->given);
}

static int enter(struct run *r)
{
	struct pd_tables tables;
	struct pd_buf options = { 0 };
	bool found;
	int status = pd_dedup_folder_look(r->folder, &found, r->err);
	if (status)
		return status;
	if (found && !r->o->resume)
		return pd_fail(r->err, PD_ERR_USAGE, "%s holds a run of dedup already: continue it with --resume, or name another folder", r->folder);
	status = pd_tables_open(&tables, &r->o->walk.page, r->err);
	if (status)
		return status;
	print_options(r->o, &tables, &options);
	pd_tables_release(&tables);
	char *journal = pd_dedup_folder_path(r->folder, PD_DEDUP_JOURNAL);
	status = pd_apply_make_folders(journal, r->err);
	if (!status)
		status = pd_journal_open(&r->journal, journal, pd_buf_span(&options), r->err);
	pd_buf_set(&r->journal.options, pd_buf_span(&options));
	pd_dedup_folder_sweep_top(r->folder);
	free(journal);
	pd_buf_release(&options);
	return status;
}

/* --- the inputs in units ---
 * Files one after the other, so many that a unit takes some time and so few that a kill costs little; or all of them, where
 * rows depend on the other pages.  A unit's rows are made in one go. */

enum { UNIT_BYTES = 64 << 20, UNIT_FILES = 4096 };

/* Paths of a unit, and a hash of them and of the sizes and times of the files, by which a changed input is noticed. */
struct units {
	struct pd_read_files files;
	struct pd_arena arena;
	bool whole;		/* all inputs are one unit */
	/* of the unit at hand */
	char **paths;
	struct pd_found *found;	/* how each was come by */
	int n_paths;
	size_t cap_paths, cap_found;
	uint64_t identity;
};

static int units_open(struct units *u, const struct pd_reader_options *o, bool whole, struct pd_err *e)
{
	*u = (struct units){ .whole = whole };
	return pd_read_files_open(&u->files, o, e);
}

static void units_release(struct units *u)
{
	pd_read_files_release(&u->files);
	pd_arena_release(&u->arena);
	free(u->paths);
	free(u->found);
}

static void add_to_unit(struct units *u, const struct pd_read_file *f, const struct stat *st)
{
	int64_t facts[] = { (int64_t)u->identity, (int64_t)st->st_size, (int64_t)st->st_mtim.tv_sec, (int64_t)st->st_mtim.tv_nsec };
	u->identity = pd_hash64_seed(f->path, strlen(f->path), pd_hash64(facts, sizeof facts));
	u->paths = pd_grow(u->paths, (size_t)u->n_paths, &u->cap_paths, sizeof *u->paths);
	u->found = pd_grow(u->found, (size_t)u->n_paths, &u->cap_found, sizeof *u->found);
	u->found[u->n_paths] = (struct pd_found){ f->name, f->typed, f->found };
	u->paths[u->n_paths++] = (char *)pd_arena_copy(&u->arena, pd_span_z(f->path)).p;
}

/* What is not there, or may not be read, is a part of the unit, too: `fp` names and counts it.  What could not be told is
 * none: the journal would hold a size that no later run finds again. */
static int look_at(const struct pd_read_file *f, struct stat *st, struct pd_err *e)
{
	*st = (struct stat){ .st_mode = f->path ? S_IFREG : 0 };
	if (!f->path || stat(f->path, st) == 0 || pd_error_stays(errno))
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
		if (look_at(&f, &st, e))
			return PD_ERR_SYSTEM;
		if (!S_ISREG(st.st_mode))
			return pd_fail(e, PD_ERR_USAGE, "%s can be read only once, and dedup reads its inputs twice", f.label);
		add_to_unit(u, &f, &st);
		bytes += (uint64_t)st.st_size;
	}
	return r < 0 ? r : u->n_paths > 0;
}

/* --- rows --- */

static int make_rows(struct run *r, struct units *u, size_t unit)
{
	struct pd_walk_options walk = r->o->walk;
	char *output = pd_dedup_folder_unit(r->folder, unit, "fp"), *shingles = pd_dedup_folder_unit(r->folder, unit, "shingles");
	char *left_out = pd_dedup_folder_unit(r->folder, unit, "left-out");
	char *table = walk.learn ? pd_dedup_folder_path(r->folder, PD_DEDUP_TABLE) : NULL;
	walk.output = output;
	walk.shingles = shingles;
	walk.left_out = left_out;
	walk.files_from = NULL;
	walk.found = u->found;
	walk.ignore_damaged = true;
	walk.tmp_dir = r->o->tmp_dir;
	walk.save_boilerplate = table;
	pd_dedup_folder_sweep(output);
	pd_dedup_folder_sweep(shingles);
	pd_dedup_folder_sweep(left_out);
	if (table)
		pd_dedup_folder_sweep(table);
	int status = pd_walk(&pd_walk_fp, &walk, u->paths, u->n_paths, r->log, r->err);
	free(table);
	free(left_out);
	free(shingles);
	free(output);
	return status < 0 ? status : pd_journal_add_rows(&r->journal, u->identity, r->err);
}

static void on_alias(void *ctx, const char *path)
{
	struct run *r = ctx;
	pd_log_note(r->log, "%s: the same file is read under another name already; it is copied, without a row of its own", path);
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
	int status = units_open(&u, &o, r->o->walk.learn, r->err), more = 0;
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
	char **rows = pd_dedup_folder_units(r->folder, n, "fp"), *path = pd_dedup_folder_path(r->folder, output);
	match.preset = r->o->walk.preset;
	match.jobs = r->o->walk.jobs;
	match.tmp_dir = r->o->tmp_dir;
	match.output = path;
	match.ignore_damaged = true;
	pd_dedup_folder_sweep(path);
	int status = pd_stage_match_run(&match, rows, (int)n, log, r->err);
	pd_dedup_folder_free(rows, n);
	free(path);
	return status;
}

static int do_pairs(struct run *r)
{
	if (r->journal.pairs)
		return PD_OK;
	int status = match_rows(r, &r->o->match, PD_DEDUP_PAIRS, r->log);
	return status ? status : pd_journal_add(&r->journal, r->err, "pairs");
}

static int do_verdicts(struct run *r)
{
	struct pd_stage_cluster cluster = r->o->cluster;
	if (r->journal.verdicts)
		return PD_OK;
	char *pairs = pd_dedup_folder_path(r->folder, PD_DEDUP_PAIRS), *output = pd_dedup_folder_path(r->folder, "verdicts.tsv");
	size_t n = r->journal.n_rows;
	char **shingles = pd_dedup_folder_units(r->folder, n, "shingles");
	cluster.group.shingles = shingles;
	cluster.group.n_shingles = (int)n;
	cluster.output = output;
	cluster.group.in.tmp_dir = r->o->tmp_dir;
	cluster.ignore_damaged = true;
	int status = pd_stage_cluster_run(&cluster, &pairs, 1, r->log, r->err);
	pd_dedup_folder_free(shingles, n);
	free(pairs);
	free(output);
	return status ? status : pd_journal_add(&r->journal, r->err, "verdicts");
}

/* --- outputs --- */

static void tell_bad_verdict(void *ctx, const char *why)
{
	pd_log_error(((struct run *)ctx)->log, "%s", why);
}

static void on_damage(void *ctx, const struct pd_read_damage *damage)
{
	/* fp named it already. */
}

static void on_lost(void *ctx, const struct pd_read_damage *damage)
{
	struct run *r = ctx;
	pd_log_error(r->log, "%s:%" PRIu64 ": %s; the rest of this compressed member is lost", damage->file, damage->offset,
		     damage->reason);
}

static void on_orphan(void *ctx, const char *id)
{
	struct run *r = ctx;
	if (pd_log_many(r->log, "revisit records"))
		pd_log_note(r->log, "%s: this revisit record stays, and what it refers to is removed", id);
}

/* What is not done may have been begun. */
static bool is_done(void *ctx, const struct pd_read_file *file, const char *output)
{
	struct run *r = ctx;
	if (pd_map_has(&r->journal.outputs, pd_hash64(file->label, strlen(file->label))))
		return true;
	if (r->o->resume)
		pd_dedup_folder_sweep(output);
	return false;
}

static struct pd_apply_options apply_options(struct run *r, struct pd_apply_removals *removals)
{
	struct pd_apply_options a = { .in = reader_options(r), .removals = removals, .output = r->folder, .to_folder = true,
				      .link = r->o->link, .keep_others = r->o->keep_others,
				      .rewrite_revisits = r->o->rewrite_revisits, .tmp_dir = r->o->tmp_dir,
				      .lost = on_lost, .orphan = on_orphan, .skip = is_done, .ctx = r };
	a.in.damage = on_damage;
	a.in.damage_ctx = r;
	return a;
}

static int read_removals(struct run *r, char *verdicts, struct pd_apply_removals **out)
{
	struct pd_apply_removals_options o = { .paths = &verdicts, .n_paths = 1, .keep_dup_of = r->o->rewrite_revisits,
					        .remove_suspects = r->o->remove_suspects,
					        .bad_row = tell_bad_verdict, .ctx = r };
	return pd_apply_removals_read(out, &o, r->err);
}

static int write_outputs(struct run *r, struct pd_apply *apply)
{
	struct pd_apply_result done;
	int more;
	while ((more = pd_apply_next(apply, &done, r->err)) == 1)
		if (!done.skipped && !done.error && (more = pd_journal_add_output(&r->journal, &done, r->err)) < 0)
			break;
	return more;
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
	if (!status)
		status = pd_apply_open(&apply, &a, r->err);
	if (!status)
		status = write_outputs(r, apply);
	pd_log_many_end(r->log);
	pd_apply_free(apply);
	pd_apply_removals_free(removals);
	free(verdicts);
	return status;
}

/* Would every output have a place?  Asked before hours are spent. */
static int check_outputs(struct run *r)
{
	char nothing[] = "/dev/null";
	struct pd_apply_removals *removals = NULL;
	struct pd_apply *apply = NULL;
	int status = read_removals(r, nothing, &removals);
	struct pd_apply_options a = apply_options(r, removals);
	a.reserved = pd_dedup_folder_reserved;
	if (!status)
		status = pd_apply_open(&apply, &a, r->err);
	pd_apply_free(apply);
	pd_apply_removals_free(removals);
	return status;
}

/* --- the end --- */

/* Pairs are matched once more, to say what one bit more would change: beside reading pages that costs next to nothing. */
static int match_more(struct run *r)
{
	struct pd_stage_match match = r->o->match;
	struct pd_log log = *r->log;
	log.quiet = match.quiet = true;
	match.explain = false;
	match.one_more = match.plan != PD_PLAN_PAPER;	/* whose k has an end of its own */
	return match_rows(r, &match, PD_DEDUP_MORE_PAIRS, &log);
}

/* What it is made of stays until the run has ended, so that it is the same for a run that was resumed. */
static int write_report(struct run *r)
{
	char *pairs = pd_dedup_folder_path(r->folder, PD_DEDUP_MORE_PAIRS);
	char *verdicts = pd_dedup_folder_path(r->folder, "verdicts.tsv");
	char *output = pd_dedup_folder_path(r->folder, "report.html"), *table = table_path(r);
	struct pd_walk_options walk = r->o->walk;
	struct pd_pick_texts texts = { .walk = &walk, .log = r->log };
	struct pd_report_options o = { .verdicts = verdicts, .pairs = pairs, .output = output, .tmp_dir = r->o->tmp_dir,
				       .suspects_go = r->o->remove_suspects, .sample = PD_REPORT_SAMPLE, .seed = 1, .in = reader_options(r), .with_texts = true,
				       .fetch = pd_pick_text, .ctx = &texts };
	struct pd_report_result done;
	if (!r->o->dry_run) {
		o.bytes_in = r->journal.sums.bytes_in;
		o.bytes_out = r->journal.sums.bytes_out;
	}
	walk.learn = false;
	walk.page.boilerplate = table;
	int status = match_more(r);
	if (!status)
		status = pd_tables_open(&texts.tables, &walk.page, r->err);
	if (!status) {
		status = pd_report_write(&o, r->log, &done, r->err);
		r->incomplete = !status && done.damaged;
		pd_tables_release(&texts.tables);
	}
	free(pairs);
	free(verdicts);
	free(output);
	free(table);
	return status;
}

static int copy_to_top(struct run *r, char *const *from, size_t n, const char *name)
{
	char *to = pd_dedup_folder_path(r->folder, name);
	int status = pd_dedup_folder_copy(from, n, false, to, r->err);
	free(to);
	return status;
}

static int keep_rows(struct run *r)
{
	size_t n = r->journal.n_rows;
	char **rows = pd_dedup_folder_units(r->folder, n, "fp"), *pairs = pd_dedup_folder_path(r->folder, PD_DEDUP_PAIRS);
	int status = copy_to_top(r, rows, n, "rows.fp");
	if (!status)
		status = copy_to_top(r, &pairs, 1, "pairs.tsv");
	pd_dedup_folder_free(rows, n);
	free(pairs);
	return status;
}

/* The table that the verdicts were made with: `compare`, `why` and `show` take it from here. */
static int keep_table(struct run *r)
{
	char *table = table_path(r);
	int status = table ? copy_to_top(r, &table, 1, "site.bp") : PD_OK;
	free(table);
	return status;
}

/* What was left out of all units, as fp would list it. */
static int list_left_out(struct run *r)
{
	size_t n = r->journal.n_rows;
	if (!r->o->walk.left_out)
		return PD_OK;
	char **lists = pd_dedup_folder_units(r->folder, n, "left-out");
	int status = pd_dedup_folder_copy(lists, n, true, r->o->walk.left_out, r->err);
	pd_dedup_folder_free(lists, n);
	return status;
}

/* --- stats.json --- */

static void add_removed(const struct pd_journal_sums *s, struct pd_json *j)
{
	struct pd_json *out = pd_json_new();
	pd_json_int(out, "inputs", (int64_t)s->inputs);
	pd_json_int(out, "pages", (int64_t)s->pages);
	pd_json_int(out, "records_with_them", (int64_t)s->along);
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
	for (size_t i = 0; i < pd_boilerplate_hosts(b); i++) {
		struct pd_boilerplate_host h = pd_boilerplate_host(b, i);
		repeat += h.site.n_lines || h.site.n_paths;
		lines += (int64_t)h.site.n_lines;
		paths += (int64_t)h.site.n_paths;
	}
	pd_json_str(out, "checksum", pd_span_z(pd_boilerplate_checksum(b)));
	pd_json_int(out, "hosts", (int64_t)pd_boilerplate_hosts(b));
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
static int write_stats(struct run *r)
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
	int status = write_report(r);
	if (!status && r->o->keep_rows)
		status = keep_rows(r);
	if (!status)
		status = keep_table(r);
	if (!status)
		status = list_left_out(r);
	if (!status)
		status = write_stats(r);
	if (!status)
		status = pd_journal_add(&r->journal, r->err, "end");
	if (!status)
		pd_dedup_folder_tidy(r->folder, r->log);
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
		add_total(&c->barren, line, "inputs_without_pages");
		add_total(&c->bytes, line, "bytes");
	}
}

/* From the file of verdicts. */
static int count_verdicts(const char *verdicts, struct pd_dedup_counts *out, struct pd_err *e)
{
	static const char *const columns[] = { "id", "is_duplicate", "suspect", NULL };
	char *path = (char *)verdicts;
	struct pd_tsv_reader in = { .kind = "verdicts", .columns = columns, .v1_columns = pd_verdicts_columns, .paths = &path, .n_paths = 1 };
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

static int count(struct run *r)
{
	char *verdicts = pd_dedup_folder_path(r->folder, "verdicts.tsv");
	int status = count_verdicts(verdicts, &r->counts, r->err);
	free(verdicts);
	return status;
}

static int do_stages(struct run *r)
{
	int status = do_rows(r);
	if (!status)
		status = do_pairs(r);
	if (!status)
		status = do_verdicts(r);
	if (!status)
		status = do_outputs(r);
	return status;
}

int pd_dedup(const struct pd_dedup_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_dedup_result *out,
	     struct pd_err *e)
{
	struct run r = { .o = o, .folder = o->walk.output, .inputs = inputs, .n_inputs = n_inputs, .log = log, .err = e };
	int status = pd_outfile_check(o->walk.left_out, inputs, n_inputs, e);
	if (!status)
		status = check_outputs(&r);
	if (!status)
		status = enter(&r);
	bool ended = !status && r.journal.end;
	if (!status && !ended)
		status = do_stages(&r);
	if (!status)
		status = count(&r);
	if (!status && !ended)
		status = leave(&r);
	else if (!status)	/* it may have been stopped before it was done with this */
		pd_dedup_folder_tidy(r.folder, r.log);
	*out = (struct pd_dedup_result){ r.counts, r.journal.sums, r.incomplete };
	pd_journal_release(&r.journal);
	return status;
}
