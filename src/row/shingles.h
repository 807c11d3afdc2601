/* SPDX-License-Identifier: MIT
 *
 * The shingles of pages in a file next to their rows: all data of a sketch, so that two pages can be compared
 * exactly. Input: a page's shingles as they are signed (sign/sketch.h), and a digest of its text.  Output: the set
 * of a page, by its id.  A page takes 8 bytes per term on disk and 20 more; a reader uses 32 bytes for each
 * requested page, and no text.
 *
 * Shingles, digests and ids are hashed with a secret.  `dedup` draws one for each run, so that no author of a page
 * can compute a page with the shingles of another.
 *
 * A file is a container (base/container.h) with the parameters of the rows ("k=v k=v"), and blocks:
 *
 *	u32 pages, u32 shingles of all of them, u64 XXH3-64 of the three lists that follow
 *	u64 keyed hash of the id, for each page
 *	u64 keyed hash of the folded text, for each page; 0: it has none
 *	u32 shingles, for each page
 *	u64 shingle, page by page in the order of the text, with repetitions
 *
 * The last block has no pages.  The order of pages is that of the rows, so that a file does not depend on threads.
 */
#ifndef PD_ROW_SHINGLES_H
#define PD_ROW_SHINGLES_H

#include "base/buf.h"
#include "base/container.h"
#include "base/file.h"
#include "base/hash.h"

#define PD_SHINGLES_VERSION 3 /* 2: before the container */

enum pd_shingles_section { PD_SHINGLES_PARAMS, PD_SHINGLES_BLOCKS, PD_SHINGLES_SECTIONS };

/* The secret of files for which none was given. It is public. */
extern const struct pd_secret pd_no_secret;

/* --- writing --- */

struct pd_shingles_writer {
	struct pd_outfile out;
	struct pd_container_file file;
	struct pd_container_writer c;
	struct pd_buf ids, texts, counts, shingles; /* of the block at hand */
};

/* `must`: the parameters that shaped the shingles. */
int pd_shingles_create(struct pd_shingles_writer *w, const char *path, struct pd_span must, struct pd_err *e);
/* Add a page: the hash of its id; the digest of its text, 0: it has none; its shingles, as u64. */
int pd_shingles_add(struct pd_shingles_writer *w, uint64_t id, uint64_t text, struct pd_span shingles, struct pd_err *e);
/* Give the file its name, unless `status` is an earlier error, which is returned.  Call it once, even if creating
 * failed. */
int pd_shingles_close(struct pd_shingles_writer *w, int status, struct pd_err *e);

/* --- reading --- */

struct pd_shingles;

/* The hash of an id, as its row has it. */
static inline uint64_t pd_shingles_id(const struct pd_secret *secret, struct pd_span id)
{
	return pd_keyed64(secret, id.p, id.n);
}

/* Looks in the files for these pages, known by their ids' numbers; which come in any order, and are sorted.  PD_ERR_FORMAT:
 * a file is damaged or cut; PD_ERR_PARAMS: two were made with different parameters. */
int pd_shingles_open(struct pd_shingles **out, char *const *paths, int n_paths, uint64_t *ids, size_t n_ids, struct pd_err *e);
void pd_shingles_free(struct pd_shingles *s);

/* The items of a set are runs of terms: consecutive shingles are joined until they have this many terms.  An edited
 * word changes five runs of five terms, but only three of three: with shorter runs the share of a text that is lost
 * looks smaller than it is. */
#define PD_SHINGLE_SET_TERMS 5

/* Different runs, ascending. */
struct pd_shingle_set {
	uint64_t *v; /* the caller frees it */
	size_t n, cap;
};

/* The runs of the page in the order of its text, with repetitions.  1: found, perhaps no run; 0: it is in no file;
 * negative: damaged. */
int pd_shingles_runs(struct pd_shingles *s, uint64_t id, struct pd_shingle_set *out, struct pd_err *e);
/* The same as a set. */
int pd_shingles_get(struct pd_shingles *s, uint64_t id, struct pd_shingle_set *out, struct pd_err *e);
/* The number of its shingles, with repetitions; 0: it is in no file. */
size_t pd_shingles_count(const struct pd_shingles *s, uint64_t id);
/* The digest of its text; 0: it has none, or is in no file. */
uint64_t pd_shingles_text(const struct pd_shingles *s, uint64_t id);
/* The number of runs of a that are also in b. */
size_t pd_shingle_set_common(const struct pd_shingle_set *a, const struct pd_shingle_set *b);

#endif
