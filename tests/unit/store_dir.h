/* SPDX-License-Identifier: MIT
 *
 * Folders for the tests of the store: made, copied, removed.
 */
#ifndef STORE_DIR_H
#define STORE_DIR_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void store_dir_make(char dir[64])
{
	/* In memory if possible, because syncing to a disk takes time. */
	snprintf(dir, 64, "%s/pagededup-store-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
}

/* Removes the files in it, and itself unless it is wanted empty. */
static inline void store_dir_clear(const char *dir)
{
	DIR *d = opendir(dir);
	char path[512];
	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.')
			unlink(path);
	}
	if (d)
		closedir(d);
}

static inline void store_dir_remove(const char *dir)
{
	store_dir_clear(dir);
	rmdir(dir);
}

static inline void store_dir_copy_file(const char *from, const char *to)
{
	char buf[65536];
	FILE *a = fopen(from, "r"), *b = fopen(to, "w");
	size_t n;
	if (!a || !b)
		abort();
	while ((n = fread(buf, 1, sizeof buf, a)) > 0)
		if (fwrite(buf, 1, n, b) != n)
			abort();
	fclose(a);
	if (fclose(b))
		abort();
}

static inline void store_dir_copy(const char *from, const char *to)
{
	DIR *d = opendir(from);
	char a[512], b[512];
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(a, sizeof a, "%s/%s", from, e->d_name);
		snprintf(b, sizeof b, "%s/%s", to, e->d_name);
		store_dir_copy_file(a, b);
	}
	if (d)
		closedir(d);
}

#endif
