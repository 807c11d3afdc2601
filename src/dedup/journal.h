/* SPDX-License-Identifier: MIT
 *
 * What a run of `dedup` has finished, so that another can go on after a kill: a text file, a line for each step, written
 * when the step's output has its final name.  A last line without its line end was being written: it does not count.
 *
 *	pagededup dedup 1
 *	options bits=64 shingle=2 … k=-1 scope=all …
 *	rows 0 5f0c…				unit 0 of the inputs: its identity (paths, sizes, times)
 *	units 3
 *	pairs
 *	verdicts
 *	output 44 80 20182 10398 0 0 demo.warc.gz	pages, others, bytes in and out, members packed again, lost; the input
 *	end
 */
#ifndef PD_DEDUP_JOURNAL_H
#define PD_DEDUP_JOURNAL_H

#include "base/map.h"
#include "apply/apply.h"

struct pd_journal_sums {
	uint64_t inputs, pages, along, bytes_in, bytes_out, rewritten, lost;
};

struct pd_journal {
	char *path;
	FILE *f;
	struct pd_buf text;		/* as it was found */
	struct pd_buf options;
	uint64_t *rows;			/* identities of the units whose rows are there */
	size_t n_rows, cap_rows, n_units;	/* n_units 0: not known */
	bool pairs, verdicts, end;
	struct pd_map outputs;		/* hashes of the labels of inputs that are done */
	struct pd_journal_sums sums;	/* of them */
};

/* Reads what is there, if anything, and opens it to be continued.  `options` say what shapes the result: PD_ERR_PARAMS
 * when the run that is there had others. */
int pd_journal_open(struct pd_journal *j, const char *path, struct pd_span options, struct pd_err *e);
/* What shaped the run that the journal at `path` tells of; nothing is written. */
int pd_journal_options(const char *path, struct pd_buf *out, struct pd_err *e);
void pd_journal_release(struct pd_journal *j);
/* One step more, as a line without its end. */
int pd_journal_add(struct pd_journal *j, struct pd_err *e, const char *format, ...) __attribute__((format(printf, 3, 4)));
int pd_journal_add_rows(struct pd_journal *j, uint64_t identity, struct pd_err *e);
int pd_journal_add_output(struct pd_journal *j, const struct pd_apply_result *done, struct pd_err *e);

#endif
