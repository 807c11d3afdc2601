/* SPDX-License-Identifier: MIT
 *
 * The log: what was added and removed since the last segment, record behind record.  What is reported as kept lies here,
 * synced, before it is reported.
 *
 *	head	8 bytes magic, 4 version, 4 zero, 8 number of the log, 8 checksum of the 24 before
 *	record	4 bytes length of the body, 4 checksum of the length, body, 8 checksum of the body
 *
 * All checksums are seeded with the log's number and the record's offset.  A log whose last record is cut off, or that ends
 * in zeroes, was being written when the writer died: that record was never reported, and is passed over.  Anything else
 * that does not fit is damage.
 */
#ifndef PD_STORE_LOG_H
#define PD_STORE_LOG_H

#include "store/io.h"
#include "store/page.h"

#define PD_STORE_LOG_MAGIC "\x89PDLOG\r\n"
#define PD_STORE_LOG_HEAD 32

enum pd_store_log_kind { PD_STORE_LOG_ADD = 1, PD_STORE_LOG_REMOVE = 2 };

/* A record that was read: views into the log. */
struct pd_store_log_record {
	enum pd_store_log_kind kind;
	uint64_t number;		/* ADD: of the page */
	struct pd_store_page page;	/* its hashes are set too */
	const uint8_t *removed;		/* numbers that this takes away, 8 bytes each */
	uint32_t n_removed;
};

struct pd_store_log_reader {
	struct pd_span bytes;
	uint64_t file;
	const char *name;
	int bits;
	uint64_t at;			/* behind the last good record; 0: nothing was read yet */
	bool torn;			/* something unfinished lies behind it */
};

/* 1 a record, 0 the end, PD_ERR_FORMAT damage, with file and offset; the first looks at the head, too. */
int pd_store_log_next(struct pd_store_log_reader *r, struct pd_store_log_record *out, struct pd_err *e);

/* Bytes of an empty log, and of one record that stands at offset `at`; both appended. */
void pd_store_log_head(uint64_t file, struct pd_buf *out);
void pd_store_log_add(uint64_t file, uint64_t at, uint64_t number, const struct pd_store_page *page, int bits,
		      const uint64_t *removed, size_t n_removed, struct pd_buf *out);
void pd_store_log_remove(uint64_t file, uint64_t at, const uint64_t *removed, size_t n_removed, struct pd_buf *out);

#endif
