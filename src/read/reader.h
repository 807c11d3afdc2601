/* SPDX-License-Identifier: MIT
 *
 * In: paths (files, folders), lists of paths, or standard input.  Out: one record after the other, in the order
 * given, folders recursively in bytewise order of their paths.  Memory does not grow with the dump.
 *
 * What is broken is reported to `damage` (file, offset, reason) and reading goes on at the next record; only what
 * cannot go on is an error.  Kinds of input are recognised by their bytes, never by their name.
 *
 * Adding an input: a format of records goes beside warc.c and arc.c as a pd_read_format, anything else becomes a kind in
 * source.c with a `recognises` that knows its first bytes, a `next` that fills a pd_record, and an id that fetch.c can find
 * again.  Add its shapes to tests/unit/ and to test_fetch_all in test_reader.c.
 */
#ifndef PD_READ_READER_H
#define PD_READ_READER_H

#include "base/err.h"
#include "base/terminal.h"
#include "read/record.h"

struct pd_reader_stats {
	uint64_t records;	/* records given, of any kind */
	uint64_t damaged;	/* calls of `damage` */
	uint64_t files;		/* inputs opened */
	uint64_t aliases;	/* further names of files that were read already */
	uint64_t mirrored;	/* records whose URL was taken from their path */
	uint64_t unselected;	/* records that the index names in files that are no inputs; once all was read */
	uint64_t bytes_read;	/* compressed bytes taken from inputs */
};

struct pd_reader;

int pd_reader_open(struct pd_reader **out, const struct pd_reader_options *o, struct pd_err *e);
/* 1 a record, 0 the end, negative: cannot go on (an input that cannot be opened, a read error). */
int pd_reader_next(struct pd_reader *r, struct pd_record *out, struct pd_err *e);
/* Once nobody reads any more. */
void pd_reader_stats(const struct pd_reader *r, struct pd_reader_stats *out);
/* Compressed bytes that the records given so far took, even while another thread reads, and those of all inputs; 0: not
 * measured, or not to be known (a pipe is among them). */
void pd_reader_progress(const struct pd_reader *r, uint64_t *done, uint64_t *total);
void pd_reader_free(struct pd_reader *r);

/* "crawl.warc.gz:+1234", as in ids; of an input that is damaged as a whole its name. */
void pd_read_damage_where(const struct pd_read_damage *d, struct pd_buf *out);
/* Says it: "crawl.warc.gz:1234: damaged gzip member; left out".  `what` becomes of it; not said of whole inputs, whose reasons
 * say what to do.  Of one file the first hundred are said, see pd_log_many. */
void pd_read_damage_tell(const struct pd_read_damage *d, const char *what, struct pd_log *log);

/* The one record that an id names: opens the file and goes to it.  PD_ERR_NOT_FOUND when nothing begins there. */
int pd_reader_fetch(const char *id, const struct pd_reader_options *o, struct pd_record *out, struct pd_err *e);
/* The path of the file that it would open; the caller's to free. */
char *pd_reader_file(const char *id);

#endif
