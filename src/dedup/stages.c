/* SPDX-License-Identifier: MIT
 *
 * The stages of a run, each skipped when the journal says that it is done.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "dedup/dedup.h"
#include "dedup/units.h"

/* A path that is the caller's to free. */
static char *own_path(struct pd_dedup *d, const char *name)
{
	return pd_strdup(pd_dedup_path(d, name));
}

static char *unit_path(struct pd_dedup *d, size_t unit)
{
	char name[64];
	snprintf(name, sizeof name, ".dedup/%zu.fp", unit);
	return own_path(d, name);
}

static struct pd_reader_options reader_options(const struct pd_dedup *d)
{
	return (struct pd_reader_options){ .inputs = d->inputs,
					   .n_inputs = d->n_inputs,
					   .files_from = d->o->walk.files_from,
					   .max_block = d->o->walk.page.max_page + PD_BLOCK_ROOM,
					   .fields = d->o->walk.fields };
}

/* --- rows --- */

/* A stage that has told what was wrong. */
static int stage_code(struct pd_dedup *d, int code)
{
	d->told = code == PD_EXIT_FAILED;
	return d->told ? PD_ERR_STOPPED : PD_OK;
}

/* What a killed run left of them. */
static void sweep_rows(const char *output, const char *table)
{
	pd_dedup_sweep(output);
	if (table)
		pd_dedup_sweep(table);
}

static int make_rows(struct pd_dedup *d, struct pd_units *u, size_t unit)
{
	struct pd_walk_options walk = d->o->walk;
	char *output = unit_path(d, unit), *table = walk.learn ? own_path(d, ".dedup/site.bp") : NULL;
	walk.output = output;
	walk.files_from = NULL;
	walk.found = u->found;
	walk.ignore_damaged = true;
	walk.tmp_dir = d->o->tmp_dir;
	walk.save_boilerplate = table;
	sweep_rows(output, table);
	int status = pd_walk(&pd_walk_fp, &walk, u->paths, u->n_paths, d->log, &d->err);
	free(table);
	free(output);
	return status < 0 ? status : pd_journal_add_rows(&d->journal, u->identity, &d->err);
}

static void on_alias(void *ctx, const char *path)
{
	struct pd_dedup *d = ctx;
	pd_log_note(d->log, "%s: another name of a file that is read already; its copy is made, no row", path);
}

static int changed(struct pd_dedup *d, const char *what)
{
	return pd_fail(&d->err, PD_ERR_PARAMS, "%s is not what it was when the run in %s began: begin anew in another folder", what,
		       d->o->walk.output);
}

static int one_unit(struct pd_dedup *d, struct pd_units *u, size_t unit)
{
	if (unit >= d->journal.n_rows)
		return d->journal.n_units ? changed(d, u->paths[0]) : make_rows(d, u, unit);
	return d->journal.rows[unit] == u->identity ? PD_OK : changed(d, u->paths[0]);
}

static int do_rows(struct pd_dedup *d, size_t *n_units)
{
	struct pd_reader_options o = reader_options(d);
	o.once = true;
	o.alias = on_alias;
	o.damage_ctx = d;
	struct pd_units u;
	int status = pd_units_open(&u, &o, d->o->walk.learn, &d->err), r = 0;
	while (!status && (r = pd_units_next(&u, &d->err)) == 1)
		status = one_unit(d, &u, (*n_units)++);
	if (!status && !r && *n_units < d->journal.n_rows)
		status = changed(d, "the list of inputs");
	else if (!status && !r && !d->journal.n_units)
		status = pd_journal_add(&d->journal, &d->err, "units %zu", *n_units);
	pd_units_release(&u);
	return status ? status : r;
}

/* --- pairs, verdicts --- */

static struct pd_match_command match_command(const struct pd_dedup *d, const char *output)
{
	struct pd_match_command match = d->o->match;
	match.preset = d->o->walk.preset;
	match.jobs = d->o->walk.jobs;
	match.tmp_dir = d->o->tmp_dir;
	match.output = output;
	match.ignore_damaged = true;
	return match;
}

static int match_rows(struct pd_dedup *d, const struct pd_match_command *match, size_t n_units, struct pd_log *log)
{
	char **paths = pd_zalloc((n_units + 1) * sizeof *paths);
	for (size_t i = 0; i < n_units; i++)
		paths[i] = unit_path(d, i);
	int status = stage_code(d, pd_match_run(match, paths, (int)n_units, log));
	for (size_t i = 0; i < n_units; i++)
		free(paths[i]);
	free(paths);
	return status;
}

static int do_pairs(struct pd_dedup *d, size_t n_units)
{
	char *output = own_path(d, ".dedup/pairs.tsv");
	struct pd_match_command match = match_command(d, output);
	int status = d->journal.pairs ? PD_OK : match_rows(d, &match, n_units, d->log);
	if (!status && !d->journal.pairs)
		status = pd_journal_add(&d->journal, &d->err, "pairs");
	free(output);
	return status;
}

int pd_dedup_more_pairs(struct pd_dedup *d, const char *output)
{
	struct pd_match_command match = match_command(d, output);
	struct pd_log log = *d->log;
	log.quiet = match.quiet = true;
	match.explain = false;
	match.one_more = match.plan != PD_PLAN_PAPER;	/* whose k has an end of its own */
	return match_rows(d, &match, d->journal.n_rows, &log);
}

static int do_verdicts(struct pd_dedup *d)
{
	struct pd_cluster_command cluster = d->o->cluster;
	char *pairs = own_path(d, ".dedup/pairs.tsv"), *output = own_path(d, "verdicts.tsv");
	int status = PD_OK;
	cluster.output = output;
	cluster.group.in.tmp_dir = d->o->tmp_dir;
	cluster.ignore_damaged = true;
	if (!d->journal.verdicts)
		status = stage_code(d, pd_cluster_run(&cluster, &pairs, 1, d->log));
	if (!status && !d->journal.verdicts)
		status = pd_journal_add(&d->journal, &d->err, "verdicts");
	free(pairs);
	free(output);
	return status;
}

/* --- outputs --- */

static void bad_row(void *ctx, const char *why)
{
	pd_log_error(((struct pd_dedup *)ctx)->log, "%s", why);
}

static void on_damage(void *ctx, const struct pd_damage *damage)
{
	/* fp named it already. */
}

static void on_lost(void *ctx, const struct pd_damage *damage)
{
	struct pd_dedup *d = ctx;
	d->lost++;
	pd_log_error(d->log, "%s:%" PRIu64 ": %s; the rest of this compressed member is lost", damage->file, damage->offset,
		     damage->reason);
}

/* What is not done may have been begun. */
static bool is_done(void *ctx, const struct pd_file *file, const char *output)
{
	struct pd_dedup *d = ctx;
	if (pd_map_has(&d->journal.outputs, pd_hash64(file->label, strlen(file->label))))
		return true;
	if (d->o->resume)
		pd_dedup_sweep(output);
	return false;
}

static struct pd_apply_options apply_options(struct pd_dedup *d, struct pd_apply_removals *removals)
{
	struct pd_apply_options a = { .in = reader_options(d), .removals = removals, .output = d->o->walk.output, .to_folder = true,
				      .link = d->o->link, .keep_others = d->o->keep_others, .tmp_dir = d->o->tmp_dir,
				      .lost = on_lost, .skip = is_done, .ctx = d };
	a.in.damage = on_damage;
	a.in.damage_ctx = d;
	return a;
}

static int read_removals(struct pd_dedup *d, const char *path, struct pd_apply_removals **out)
{
	char *paths[] = { (char *)path };
	struct pd_apply_removals_options o = { .paths = paths, .n_paths = 1, .bad_row = bad_row, .ctx = d };
	return pd_apply_removals_read(out, &o, &d->err);
}

static int write_outputs(struct pd_dedup *d, struct pd_apply *apply)
{
	struct pd_apply_result done;
	int r;
	while ((r = pd_apply_next(apply, &done, &d->err)) == 1)
		if (!done.skipped && !done.error && (r = pd_journal_add_output(&d->journal, &done, &d->err)) < 0)
			break;
	return r;
}

static int do_outputs(struct pd_dedup *d)
{
	struct pd_apply_removals *removals = NULL;
	struct pd_apply *apply = NULL;
	if (d->o->dry_run)
		return PD_OK;
	int status = read_removals(d, pd_dedup_path(d, "verdicts.tsv"), &removals);
	struct pd_apply_options a = apply_options(d, removals);
	if (!status)
		status = pd_apply_open(&apply, &a, &d->err);
	if (!status)
		status = write_outputs(d, apply);
	pd_apply_free(apply);
	pd_apply_removals_free(removals);
	return status;
}

int pd_dedup_check(struct pd_dedup *d)
{
	static const char *const reserved[] = { ".dedup", "verdicts.tsv", "stats.json", "report.html", "rows.fp", "pairs.tsv",
						"site.bp", NULL };
	struct pd_apply_removals *removals = NULL;
	struct pd_apply *apply = NULL;
	int status = read_removals(d, "/dev/null", &removals);
	struct pd_apply_options a = apply_options(d, removals);
	a.reserved = reserved;
	if (!status)
		status = pd_apply_open(&apply, &a, &d->err);
	pd_apply_free(apply);
	pd_apply_removals_free(removals);
	return status;
}

int pd_dedup_run(struct pd_dedup *d)
{
	size_t n_units = 0;
	int status = do_rows(d, &n_units);
	if (!status)
		status = do_pairs(d, n_units);
	if (!status)
		status = do_verdicts(d);
	if (!status)
		status = do_outputs(d);
	return status;
}
