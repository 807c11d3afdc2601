/* SPDX-License-Identifier: MIT */
#include "url/patterns.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/hash.h"
#include "row/tsv.h"

static int add_pattern(struct pd_patterns *p, struct pd_span line, const struct pd_line_reader *in, struct pd_err *e)
{
	size_t n = 0;
	char why[200];
	while (n < line.n && !pd_ascii_space(line.p[n]))
		n++;
	struct pd_span name = pd_span(line.p, n), expression = pd_span_trim(pd_span(line.p + n, line.n - n));
	if (!expression.n)
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": expected a name and a regular expression", in->path, in->no);
	if (p->n == PD_PATTERNS_MAX)
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": more than %d patterns", in->path, in->no, PD_PATTERNS_MAX);
	pd_buf_set(&p->text, expression);
	int status = regcomp(&p->v[p->n], pd_buf_z(&p->text), REG_EXTENDED);
	if (status) {
		regerror(status, NULL, why, sizeof why);
		return pd_fail(e, PD_ERR_FORMAT, "%s:%" PRIu64 ": not a regular expression: %s", in->path, in->no, why);
	}
	pd_buf_printf(&p->names, "%s%.*s", p->n ? "," : "", (int)name.n, name.p);
	p->hash = pd_hash64_seed(expression.p, expression.n, pd_hash64_seed(name.p, name.n, p->hash + 1));
	p->n++;
	return PD_OK;
}

int pd_patterns_open(struct pd_patterns *p, const char *path, struct pd_err *e)
{
	FILE *f = pd_input_fopen(path, e);
	if (!f)
		return e->status;
	struct pd_line_reader in = { .f = f, .path = path };
	struct pd_span line;
	int status;
	while ((status = pd_line_next(&in, &line, e)) == 1) {
		line = pd_span_trim(line);
		if (line.n && line.p[0] != '#' && (status = add_pattern(p, line, &in, e)) != 0)
			break;
	}
	if (!status && !p->n)
		status = pd_fail(e, PD_ERR_FORMAT, "%s: no pattern; give lines of a name and a regular expression", path);
	pd_line_reader_release(&in);
	fclose(f);
	return status;
}

void pd_patterns_release(struct pd_patterns *p)
{
	for (int i = 0; i < p->n; i++)
		regfree(&p->v[i]);
	pd_buf_release(&p->names);
	pd_buf_release(&p->text);
}

void pd_patterns_take(struct pd_patterns *p, struct pd_span canonical)
{
	pd_buf_set(&p->text, canonical);
	pd_buf_z(&p->text);
}

struct pd_span pd_patterns_value(struct pd_patterns *p, int i)
{
	regmatch_t m[2];
	if (regexec(&p->v[i], p->text.p, 2, m, 0))
		return pd_span("", 0);
	const regmatch_t *found = &m[m[1].rm_so >= 0];
	return pd_span(p->text.p + found->rm_so, (size_t)(found->rm_eo - found->rm_so));
}
