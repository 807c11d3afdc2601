/* SPDX-License-Identifier: MIT
 *
 * The names of outputs in a folder, derived from the names of the inputs.  An input file NAME becomes NAME, and the
 * files of an input folder NAME become NAME/…, as with `cp -r`; a file found under "." or ".." keeps its path from
 * there.  If two outputs would have the same name, all outputs keep the folders in the paths of their inputs, except
 * the common ones:
 *
 *	a/crawl.gz b/crawl.gz -> a/crawl.gz, b/crawl.gz
 *	/data/1/crawl.gz /data/2/x.gz /data/2/crawl.gz -> 1/crawl.gz, 2/x.gz, 2/crawl.gz
 *
 * Before anything is written, the names are checked: outputs must have different names, and must not replace an
 * input.
 */
#ifndef PD_APPLY_OUTPUTS_H
#define PD_APPLY_OUTPUTS_H

#include "apply/options.h"
#include "base/map.h"

struct pd_apply_names {
	struct pd_map seen;    /* hashes of names */
	bool any, twice;       /* some base name occurs twice */
	struct pd_buf common;  /* common folders of all inputs, with a slash after each */
	struct pd_buf folders; /* scratch */
};

/* Add an input.  All inputs must be added before the first name is computed. */
void pd_apply_names_add(struct pd_apply_names *p, const struct pd_read_file *file);
void pd_apply_names_release(struct pd_apply_names *p);

/* Find the name of an input's output in the folder, and its path.  Return the path; NULL if the run does not write. */
const char *pd_apply_output_path(const struct pd_apply_options *o, struct pd_apply_names *p, const struct pd_read_file *f,
				 struct pd_buf *name, struct pd_buf *path);

/* Check the outputs of all inputs.  PD_ERR_USAGE: two inputs would become one file, an output would replace an input or
 * be in an input folder, or `reserved` or `also_written` has the name. */
int pd_apply_check_outputs(const struct pd_apply_options *o, struct pd_apply_names *p, const struct pd_read_file *inputs, size_t n,
			   struct pd_err *e);
/* Check, before inputs are listed, that no output is inside an input folder. */
int pd_apply_check_folders(const struct pd_apply_options *o, struct pd_err *e);

#endif
