/* SPDX-License-Identifier: MIT
 *
 * What drops.c builds and drops_ask.c looks into: a table of the files that the rows name.  Pages in dumps are offsets,
 * sorted by file and offset once all are read; a page that is a file of its own is a file of the table that goes as a
 * whole, and so is a member of an archive.
 */
#ifndef PD_APPLY_DROPS_TABLE_H
#define PD_APPLY_DROPS_TABLE_H

#include "base/arena.h"
#include "apply/drops.h"

#define PD_NO_FILE UINT32_MAX

/*  63       62    61 … 0
 * [stream | met | offset ] */
#define PD_DROP_STREAM (UINT64_C(1) << 63)
#define PD_DROP_MET (UINT64_C(1) << 62)

struct drop_at {
	uint64_t at;
	uint32_t file;
	uint32_t url;		/* hash; 0: unknown */
};

struct drop_file {
	struct pd_span name;
	uint32_t base_next;	/* another file with the same base name, or PD_NO_FILE */
	uint32_t url;		/* of a page that goes as a whole */
	bool whole;		/* a page that goes */
	bool met;		/* … and was asked for */
	bool container;		/* holds pages: may be known by its base name */
	bool any;		/* something in it goes */
	bool typed;		/* an input has this very path */
	const char *input;	/* the input that was taken for it by its base name */
	size_t first, n;	/* its pages in `at` */
};

/* Open addressing: index + 1 of a file, 0 where there is none. */
struct drop_table {
	uint32_t *v;
	size_t cap, n;
};

struct pd_drops {
	struct pd_arena arena;
	struct drop_file *files;
	size_t n_files, cap_files;
	struct drop_table by_name, by_base;
	struct drop_at *at;
	struct pd_span *dup_of;		/* beside `at`, and of whole files in `whole_dup_of`; NULL unless kept */
	struct pd_span *whole_dup_of;
	size_t n_at, cap_at, cap_dup_of, cap_whole;
	uint64_t n_whole, bad, demoted;
	bool demote;			/* the header says so */
	const char *ambiguous;		/* the first input whose base name does not tell … */
	const char *beside;		/* … and the other input, or one of the files, that it could be */
};

/* The file of this name, or PD_NO_FILE. */
uint32_t pd_drops_file(const struct pd_drops *d, struct pd_span name);
/* The first of those with the base name of `path`; base_next leads to the others. */
uint32_t pd_drops_by_base(const struct pd_drops *d, struct pd_span path);
uint32_t pd_drops_url(struct pd_span url);

#endif
