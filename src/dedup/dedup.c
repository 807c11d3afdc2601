/* SPDX-License-Identifier: MIT
 *
 * The stages, each skipped when the journal says that it is done.
 */
#include "dedup/dedup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apply/apply.h"
#include "apply/places.h"
#include "base/hash.h"
#include "dedup/folder.h"
#include "dedup/units.h"
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

/* --- rows --- */

static int make_rows(struct run *r, struct pd_units *u, size_t unit)
{
	struct pd_walk_options walk = r->o->walk;
	char *output = pd_dedup_folder_rows(r->folder, unit);
	char *table = walk.learn ? pd_dedup_folder_path(r->folder, PD_DEDUP_TABLE) : NULL;
	walk.output = output;
	walk.files_from = NULL;
	walk.found = u->found;
	walk.ignore_damaged = true;
	walk.tmp_dir = r->o->tmp_dir;
	walk.save_boilerplate = table;
	pd_dedup_folder_sweep(output);
	if (table)
		pd_dedup_folder_sweep(table);
	int status = pd_walk(&pd_walk_fp, &walk, u->paths, u->n_paths, r->log, r->err);
	free(table);
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

static int one_unit(struct run *r, struct pd_units *u, size_t unit)
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
	struct pd_units u;
	size_t n_units = 0;
	int status = pd_units_open(&u, &o, r->o->walk.learn, r->err), more = 0;
	while (!status && (more = pd_units_next(&u, r->err)) == 1)
		status = one_unit(r, &u, n_units++);
	if (!status && !more && n_units < r->journal.n_rows)
		status = changed(r, "the list of inputs");
	else if (!status && !more && !r->journal.n_units)
		status = pd_journal_add(&r->journal, r->err, "units %zu", n_units);
	pd_units_release(&u);
	return status ? status : more;
}

/* --- pairs, verdicts --- */

static int match_rows(struct run *r, const struct pd_stage_match *how, const char *output, struct pd_log *log)
{
	struct pd_stage_match match = *how;
	size_t n = r->journal.n_rows;
	char **rows = pd_zalloc((n + 1) * sizeof *rows), *path = pd_dedup_folder_path(r->folder, output);
	match.preset = r->o->walk.preset;
	match.jobs = r->o->walk.jobs;
	match.tmp_dir = r->o->tmp_dir;
	match.output = path;
	match.ignore_damaged = true;
	for (size_t i = 0; i < n; i++)
		rows[i] = pd_dedup_folder_rows(r->folder, i);
	pd_dedup_folder_sweep(path);
	int status = pd_stage_match_run(&match, rows, (int)n, log, r->err);
	for (size_t i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
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
	cluster.output = output;
	cluster.group.in.tmp_dir = r->o->tmp_dir;
	cluster.ignore_damaged = true;
	int status = pd_stage_cluster_run(&cluster, &pairs, 1, r->log, r->err);
	free(pairs);
	free(output);
	return status ? status : pd_journal_add(&r->journal, r->err, "verdicts");
}

/* --- outputs --- */

static void bad_row(void *ctx, const char *why)
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
				      .link = r->o->link, .keep_others = r->o->keep_others, .tmp_dir = r->o->tmp_dir,
				      .lost = on_lost, .orphan = on_orphan, .skip = is_done, .ctx = r };
	a.in.damage = on_damage;
	a.in.damage_ctx = r;
	return a;
}

static int read_removals(struct run *r, char *verdicts, struct pd_apply_removals **out)
{
	struct pd_apply_removals_options o = { .paths = &verdicts, .n_paths = 1, .bad_row = bad_row, .ctx = r };
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
				       .sample = PD_REPORT_SAMPLE, .seed = 1, .in = reader_options(r), .with_texts = true,
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

static int keep_rows(struct run *r)
{
	size_t n = r->journal.n_rows;
	char **rows = pd_zalloc((n + 1) * sizeof *rows), *pairs = pd_dedup_folder_path(r->folder, PD_DEDUP_PAIRS);
	for (size_t i = 0; i < n; i++)
		rows[i] = pd_dedup_folder_rows(r->folder, i);
	int status = pd_dedup_folder_copy(r->folder, rows, n, "rows.fp", r->err);
	if (!status)
		status = pd_dedup_folder_copy(r->folder, &pairs, 1, "pairs.tsv", r->err);
	for (size_t i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
	free(pairs);
	return status;
}

/* The table that the verdicts were made with: `compare`, `why` and `show` take it from here. */
static int keep_table(struct run *r)
{
	char *table = table_path(r);
	int status = table ? pd_dedup_folder_copy(r->folder, &table, 1, "site.bp", r->err) : PD_OK;
	free(table);
	return status;
}

static int write_stats(struct run *r)
{
	char *table = table_path(r), *path = pd_dedup_folder_path(r->folder, "stats.json");
	struct pd_dedup_stats s = { .options = pd_buf_span(&r->journal.options), .counts = r->counts, .table = table,
				    .removed = r->o->dry_run ? NULL : &r->journal.sums };
	int status = pd_dedup_stats_write(&s, path, r->err);
	free(table);
	free(path);
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
		status = write_stats(r);
	if (!status)
		status = pd_journal_add(&r->journal, r->err, "end");
	if (!status)
		pd_dedup_folder_tidy(r->folder, r->log);
	return status;
}

/* --- all --- */

static int count(struct run *r)
{
	char *verdicts = pd_dedup_folder_path(r->folder, "verdicts.tsv");
	int status = pd_dedup_stats_count(verdicts, &r->counts, r->err);
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
	int status = check_outputs(&r);
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
