/* SPDX-License-Identifier: MIT
 *
 * Rows of pairs -> pages, identified by number, and edges between them for cluster.h.  A page is identified by its
 * id and stored once; its data from the rows (URL, time, length, quality) is in a spool on disk.  Pages are first
 * numbered as they occur; keep.h renumbers them in the order of keeping.
 */
#ifndef PD_GROUP_PAGES_H
#define PD_GROUP_PAGES_H

#include <strings.h>

#include "base/map.h"
#include "base/memory.h"
#include "row/table.h"
#include "cluster/cluster.h"
#include "url/owner.h"
#include "sign/sign.h"

/* Suspects: two similar pages that are not a pair. */
struct pd_suspicion {
	struct pd_edge edge;
	uint32_t why; /* number of a reason */
};

/* Data of a pair from other methods than the fingerprint. */
struct pd_edge_by {
	uint32_t methods;	   /* number of the list of methods that found it */
	uint32_t shared;	   /* items that both pages have, of the first of these that compares sets */
	uint16_t share_a, share_b; /* thousandths of each page's items; PD_NO_SHARE: no method compares sets */
};

#define PD_NO_SHARE UINT16_MAX

/* Which methods must have found a pair. */
struct pd_require {
	bool said;			   /* false: more than half of them */
	int least;			   /* the number of methods; 0: one is sufficient; negative: all that matched the rows */
	const char *names[PD_METHODS_MAX]; /* these (of the table of methods), if there are any */
	int n;
};

/* Ids of pages by number. */
struct pd_ids {
	struct pd_names files;
	struct pd_names odd; /* ids that no stage writes, such as f:007: known by all their bytes */
	uint32_t *file;	     /* by number; its two highest bits: enum form in pages.c */
	uint64_t *offset;    /* with an odd id its number among those */
	size_t n, cap_file, cap_offset;
	struct pd_hashtab index; /* of the data in `file` and `offset` */
	uint32_t last_file;	 /* that was requested */
};

/* Lines that are too many for memory: appended, and read again at any time by their offsets, in a file without a
 * name. The written part is mapped, so that reading costs no copy; mapped pages are released periodically, and read
 * again from the file when needed. */
struct pd_pages_spool {
	FILE *f;
	struct pd_buf tail; /* bytes that are not in the file yet */
	uint64_t written;   /* bytes in the file */
	char *map;
	size_t mapped;	/* bytes of address space: may be more than the file has */
	uint64_t views; /* since the last trim */
};

struct pd_pages {
	size_t n, cap;
	struct pd_edge *edges; /* `tag` is the number of the pair's similarity */
	size_t n_edges, cap_edges;
	struct pd_suspicion *suspicions;
	size_t n_suspicions, cap_suspicions;
	struct pd_edge_by *by; /* parallel to `edges`; NULL: the rows have only the fingerprint */
	size_t n_by, cap_by;
	struct pd_names methods;    /* lists of methods, by number: as the rows have them */
	int n_methods;		    /* that matched the rows, by their header; 0: the fingerprint alone */
	uint64_t n_refused;	    /* pairs that too few methods found */
	uint64_t n_exempt;	    /* pairs of a page that is exempt by its quality */
	uint64_t n_outside;	    /* pairs that the scope parts */
	struct pd_owners *owners;   /* only with a scope */
	struct pd_names reasons;    /* of suspicions, by number: as the rows have them */
	struct pd_names similarity; /* by number, larger ones first, "-" last: as the rows have it */
	uint32_t *by_id;	    /* pages in the order of their ids; NULL: that is the order of their numbers */
	size_t n_https;		    /* pages whose URL has this scheme */
	uint64_t bad;		    /* unreadable rows: reported and skipped */
	struct pd_buf must, totals; /* of the header, for the next stage */
	uint64_t cut;		    /* tables of pairs that were cut */
	bool same_is_one;	    /* equal signatures are one node (not with a scope that keeps apart) */
	/* its own */
	struct pd_ids ids; /* until pages are renumbered */
	uint8_t *at;	   /* of a page's line in the spool */
	struct pd_pages_spool spool;
};

/* The property that both pages of a pair must share: nothing, the host, the registered domain, the owner. */
enum pd_pages_scope { PD_PAGES_ALL, PD_PAGES_HOST, PD_PAGES_DOMAIN, PD_PAGES_SITE };
extern const char *const pd_pages_scopes[]; /* NULL at the end */

struct pd_pages_options {
	char **paths;
	int n_paths;
	struct pd_table_sources sources; /* for paths that are not files */
	const char *tmp_dir;
	struct pd_require require;
	double exempt; /* ignore pairs of a page whose quality is over this; 0: none */
	enum pd_pages_scope scope;
	const char *sites; /* with PD_PAGES_SITE: the owners of hosts */
	/* Hashes of ids as in rows.  With `may_go` all other pages are preferred to these, and only pairs make two
	 * pages equal; pairs of pages in `gone` are left out.  Either may be NULL. */
	const struct pd_map *may_go, *gone;
	bool parts; /* as in struct pd_table_reader */
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

/* Default number of methods, of n, that must find a pair: more than half. */
static inline int pd_require_usual(int n)
{
	return n / 2 + 1;
}

/* "any", "all", "2", "simhash,segments"; PD_ERR_USAGE. */
int pd_require_parse(const char *text, struct pd_require *out, struct pd_err *e);
/* Does a URL begin with https:? */
static inline bool pd_pages_is_https(struct pd_span url)
{
	return url.n > 8 && !strncasecmp(url.p, "https://", 8);
}

int pd_pages_read(struct pd_pages *p, const struct pd_pages_options *o, struct pd_err *e);
struct pd_row_view pd_pages_view(struct pd_pages *p, uint32_t page);
/* Announce that `pages` will be examined in this order, and no others. */
int pd_pages_arrange(struct pd_pages *p, const uint32_t *pages, size_t n, const char *tmp_dir, struct pd_err *e);
/* Prefetch pages that will be examined: the offset of one, and the line of another whose offset was prefetched some
 * steps before. */
void pd_pages_expect(const struct pd_pages *p, uint32_t soon, uint32_t sooner);
struct pd_span pd_pages_similarity(const struct pd_pages *p, const struct pd_edge *edge);
/* Data of methods about an edge; NULL: there is only the fingerprint. */
const struct pd_edge_by *pd_pages_by(const struct pd_pages *p, const struct pd_edge *edge);
/* All pages in the order of their ids, once; to be freed.  No more can be added. */
uint32_t *pd_pages_order(struct pd_pages *p);
/* `order` contains all pages: the first becomes page 0 and so on, also in edges. */
void pd_pages_renumber(struct pd_pages *p, const uint32_t *order);
void pd_pages_release(struct pd_pages *p);

#endif
