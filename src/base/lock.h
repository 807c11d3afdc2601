/* SPDX-License-Identifier: MIT
 *
 * Locks between processes that write to the same place.  The kernel releases a lock when its process ends in any way,
 * so a killed run does not block others.
 */
#ifndef PD_BASE_LOCK_H
#define PD_BASE_LOCK_H

#include "base/err.h"
#include "base/terminal.h"

/* Lock the file `name` in the folder `dir` (AT_FDCWD: the working directory); it is created if necessary and never
 * removed.  1: *fd holds the lock until it is closed.  0: another process holds it.  Negative: errno. */
int pd_file_lock_try(int dir, const char *name, int *fd);
/* Return whether errno means that the file system has no locks. */
bool pd_file_lock_is_unsupported(int error);

/* A file that a run reads, changes and writes again, so that two runs at the same time would lose data.  Zeroed: not
 * locked. */
struct pd_file_lock {
	char *path; /* of the lock file, next to the file; NULL: not locked */
	int fd, slot;
};

/* Wait until `path` is free, and print a note for the user.  The lock is the file PATH.lock, because PATH itself is
 * replaced.  A path that is not a regular file is not locked. */
int pd_file_lock_take(struct pd_file_lock *l, const char *path, struct pd_log *log, struct pd_err *e);
/* Removes the lock file and releases the lock. */
void pd_file_lock_release(struct pd_file_lock *l);

#endif
