/* SPDX-License-Identifier: MIT
 *
 * The report of a run.  What it is made of stays until the run has ended, so that it is the same for a run that was broken
 * off and gone on with.  Pairs are matched once more, to say what one bit more would change: beside reading pages that costs
 * next to nothing.
 */
#include <stdlib.h>

#include "dedup/dedup.h"
#include "cmd/report.h"

int pd_dedup_write_report(struct pd_dedup *d)
{
	char *pairs = pd_strdup(pd_dedup_path(d, ".dedup/more.tsv")), *verdicts = pd_strdup(pd_dedup_path(d, "verdicts.tsv"));
	char *output = pd_strdup(pd_dedup_path(d, "report.html"));
	struct pd_report_command o = { .walk = d->o->walk, .verdicts = verdicts, .pairs = pairs, .sample = PD_REPORT_SAMPLE, .seed = 1,
				       .inputs = d->inputs, .n_inputs = d->n_inputs, .with_texts = true };
	const char *table = pd_dedup_boilerplate(d);
	char *boilerplate = table ? pd_strdup(table) : NULL;
	struct pd_log log = *d->log;
	log.quiet = true;
	o.walk.output = output;
	o.walk.learn = false;
	o.walk.page.boilerplate = boilerplate;
	if (!d->o->dry_run) {
		o.bytes_in = d->journal.sums.bytes_in;
		o.bytes_out = d->journal.sums.bytes_out;
	}
	pd_dedup_sweep(pairs);
	int status = pd_dedup_more_pairs(d, pairs);
	if (!status) {
		int code = pd_report_run(&o, &log);
		d->told = code == PD_EXIT_FAILED;
		d->incomplete = code == PD_EXIT_DAMAGED;
		status = d->told ? PD_ERR_STOPPED : PD_OK;
	}
	free(pairs);
	free(verdicts);
	free(output);
	free(boilerplate);
	return status;
}
