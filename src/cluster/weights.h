/* SPDX-License-Identifier: MIT
 *
 * Members of a cluster -> rows of sample weights, for data sets that keep near-duplicates: each member has a share of
 * the weight of its cluster.
 *
 * fineweb2: the number of copies of a document in FineWeb2, by the size of its cluster (github.com/huggingface/fineweb-2,
 * README): 1, 2, 3 and 3 for 1 to 4 pages, 5 from 5 pages on, 8 from 100, 1 from 1,000.  log: 1 + ln of the size.  soft: the weight of a
 * page is the inverse of its commonness (group.h), after N. He et al., "SoftDedup", ACL 2024, which takes the commonness from an
 * n-gram model of the whole collection.
 */
#ifndef PD_CLUSTER_WEIGHTS_H
#define PD_CLUSTER_WEIGHTS_H

#include "base/json.h"
#include "cluster/group.h"

enum pd_sample_weights { PD_SAMPLE_WEIGHTS_NONE, PD_SAMPLE_WEIGHTS_FINEWEB2, PD_SAMPLE_WEIGHTS_LOG, PD_SAMPLE_WEIGHTS_SOFT };
extern const char *const pd_sample_weights_names[]; /* NULL at the end */

/* Append the two header lines; `ends`: they promise the last line. */
void pd_weights_header(const struct pd_group *g, enum pd_sample_weights by, bool ends, struct pd_buf *out);
/* Append the rows of all n members of a cluster; as JSON if `j` is given. */
int pd_weights_add(struct pd_group *g, enum pd_sample_weights by, const struct pd_group_member *members, size_t n,
		   struct pd_json *j, struct pd_buf *out, struct pd_err *e);

#endif
