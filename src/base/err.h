/* SPDX-License-Identifier: MIT
 *
 * Status codes and error texts.  0 is success, errors are negative and are grouped in bands; a reader returns 1 for
 * a record and 0 at the end.  If the user must understand the failure of a function, it takes a `struct pd_err *` and
 * writes a message there: the failed operation, the place, and the remedy.
 */
#ifndef PD_BASE_ERR_H
#define PD_BASE_ERR_H

#include <stdbool.h>

enum pd_status {
	PD_OK = 0,
	/* system */
	PD_ERR_SYSTEM = -1,  /* a system call failed: errno is in the text */
	PD_ERR_STOPPED = -2, /* stopped by a signal */
	PD_ERR_LIMIT = -3,   /* a stated limit was reached */
	PD_ERR_USAGE = -4,   /* the request is impossible */
	PD_ERR_MEMORY = -5,  /* of the library alone: see base/alloc.h */
	PD_ERR_BUSY = -6,    /* of the library alone: another call uses the handle */
	/* input */
	PD_ERR_INPUT = -100,	 /* damaged input: a record is lost, and reading may continue */
	PD_ERR_TRUNCATED = -101, /* input ends in the middle */
	PD_ERR_NOT_FOUND = -102, /* no such page */
	PD_ERR_CHARSET = -103,	 /* unknown charset, or iconv lacks it */
	/* dictionary */
	PD_ERR_DICT = -200, /* not a dictionary, or damaged */
	/* files between stages */
	PD_ERR_FORMAT = -300,  /* not such a file, or a row that cannot be read */
	PD_ERR_VERSION = -301, /* a newer version than this program supports */
	PD_ERR_PARAMS = -302,  /* made with other parameters */
};

struct pd_err {
	int status;
	char text[512];
};

/* Fills `e` (may be NULL) and returns `status`. */
int pd_fail(struct pd_err *e, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Put the place of an error before its message; returns its status. */
int pd_fail_at(struct pd_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Like pd_fail, with ": " and strerror(errno) after the text; returns PD_ERR_SYSTEM.  A lack of memory also
 * fails the call (base/alloc.h), because a caller must not mistake it for a problem of the file. */
int pd_fail_errno(struct pd_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Errors of a file that repeat at every attempt: it does not exist, or may not be read.  Other errors say nothing
 * about the file. */
bool pd_errno_stays(int error);
/* Errors of the machine, independent of the file: no memory, or too many open files. */
bool pd_errno_is_want(int error);

/* In messages on tables that were cut, which concern no single row. */
#define PD_CUT_ROWS "rows at its end are missing"

#endif
