/* SPDX-License-Identifier: MIT
 *
 * Locks between processes that write to the same place.  The kernel releases a lock when its process ends, in whatever way, so a
 * killed run blocks nobody.
 */
#ifndef PD_BASE_LOCK_H
#define PD_BASE_LOCK_H

#include "base/err.h"
#include "base/terminal.h"

/* Locks the file `name` in the folder `dir` (AT_FDCWD: the working directory), which is made if it is not there, and is never removed.
 * 1: *fd holds the lock until it is closed.  0: another process holds it.  Negative: errno. */
int pd_file_lock_try(int dir, const char *name, int *fd);
/* Does errno say that the file system has no locks? */
bool pd_file_lock_is_unsupported(int error);

/* A file that a run reads, changes and writes again, so that two runs would lose what one of them added.  Zeroed: not locked. */
struct pd_file_lock {
	char *path;	/* of the lock file, next to the file; NULL: nothing is locked */
	int fd, slot;
};

/* Waits until no other run holds `path`, and tells the user so.  The lock is a file PATH.lock, because PATH itself is replaced.  What
 * is not a regular file is not locked. */
int pd_file_lock_take(struct pd_file_lock *l, const char *path, struct pd_log *log, struct pd_err *e);
/* Removes the lock file and releases the lock. */
void pd_file_lock_release(struct pd_file_lock *l);

#endif
