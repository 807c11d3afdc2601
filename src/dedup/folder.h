/* SPDX-License-Identifier: MIT
 *
 * The folder of a run: paths in it, what a killed process left beside one, copies of what is to stay.  It knows nothing of
 * stages.
 *
 *	FOLDER/verdicts.tsv, stats.json, report.html, site.bp	what was found
 *	FOLDER/…				the inputs without what goes
 *	FOLDER/.dedup/journal			what is done
 *	FOLDER/.dedup/N.fp, pairs.tsv		rows of unit N of the inputs, pairs: until the run has ended
 *	FOLDER/.dedup/N.shingles, N.left-out	the shingles of its pages, and what was left out of it: as long
 *	FOLDER/.dedup/more.tsv			pairs of one bit more, for the report
 *	FOLDER/.dedup/site.bp			what the sites repeat, where that is learned: as long
 */
#ifndef PD_DEDUP_FOLDER_H
#define PD_DEDUP_FOLDER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/terminal.h"

#define PD_DEDUP_JOURNAL ".dedup/journal"
#define PD_DEDUP_PAIRS ".dedup/pairs.tsv"
#define PD_DEDUP_MORE_PAIRS ".dedup/more.tsv"
#define PD_DEDUP_TABLE ".dedup/site.bp"

/* Names at the top that no output of an input may take; NULL at the end. */
extern const char *const pd_dedup_folder_reserved[];

/* A path in the folder, for the caller to free. */
char *pd_dedup_folder_path(const char *folder, const char *name);
/* … of a file of a unit: its rows ("fp"), "shingles", "left-out". */
char *pd_dedup_folder_unit(const char *folder, size_t unit, const char *what);
/* … of all units, for pd_dedup_folder_free. */
char **pd_dedup_folder_units(const char *folder, size_t n, const char *what);
void pd_dedup_folder_free(char **paths, size_t n);
/* Is a run in it?  Without one, what is there is no business of ours: PD_ERR_USAGE unless it is empty or not there. */
int pd_dedup_folder_look(const char *folder, bool *run, struct pd_err *e);
/* Unfinished files of a killed process beside `path`, and beside all that stands at the top. */
void pd_dedup_folder_sweep(const char *path);
void pd_dedup_folder_sweep_top(const char *folder);
/* `to` becomes a copy of these files, one behind the other; `headed`: the first line of each is the same, and stands once. */
int pd_dedup_folder_copy(char *const *from, size_t n, bool headed, const char *to, struct pd_err *e);
/* Removes all that only the run itself needed, but the journal; what cannot be removed is named. */
void pd_dedup_folder_tidy(const char *folder, struct pd_log *log);

#endif
