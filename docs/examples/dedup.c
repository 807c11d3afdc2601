/* SPDX-License-Identifier: MIT
 *
 * Find the near-duplicates of dumps: dedup DUMP...
 * Prints the verdicts that `pagededup fp | pagededup match | pagededup cluster` writes. */
#include <pagededup.h>
#include <stdio.h>

enum { COLUMNS = 32 };

static int fail(const pagededup_error *error)
{
	fprintf(stderr, "%s\n", error->text);
	return 2;
}

static void damage(void *context, const char *where, const char *what)
{
	(void)context;
	fprintf(stderr, "%s: %s; left out\n", where, what);
}

int main(int argc, char **argv)
{
	pagededup_error error = { .size = sizeof error };
	pagededup_reader_options inputs = {
		.size = sizeof inputs, .paths = (const char *const *)argv + 1, .n_paths = (size_t)argc - 1, .damage = damage
	};
	pagededup_model *model;
	pagededup_reader *reader;
	pagededup_table *pages, *pairs, *verdicts;
	/* Pages: all threads, all columns of `fp`. */
	if (pagededup_model_open(&model, NULL, &error) || pagededup_reader_open(&reader, model, &inputs, &error) ||
	    pagededup_table_new(&pages, model, 0, &error) || pagededup_table_read(pages, reader, 0, 0, &error) < 0)
		return fail(&error);
	/* Pairs: two numbers of rows, a distance, a similarity each. */
	if (pagededup_match_table(&pairs, pages, NULL, NULL, &error))
		return fail(&error);
	pagededup_column columns[COLUMNS];
	size_t n = pagededup_table_columns(pairs);
	for (size_t i = 0; i < n; i++) {
		columns[i].size = sizeof *columns;
		pagededup_table_column(pairs, i, &columns[i]);
	}
	/* Clusters, and which page of each stays. */
	pagededup_cluster_options how = { .size = sizeof how,
					  .settings = "keep=longest",
					  .pairs_header = pagededup_table_header(pairs) };
	if (pagededup_cluster(pages, NULL, columns, n, pagededup_table_rows(pairs), &how, &verdicts, &error))
		return fail(&error);
	const char *text;
	size_t bytes;
	if (pagededup_table_text(verdicts, &text, &bytes, &error))
		return fail(&error);
	fwrite(text, 1, bytes, stdout);
	pagededup_table_free(verdicts);
	pagededup_table_free(pairs);
	pagededup_table_free(pages);
	pagededup_reader_free(reader);
	pagededup_model_free(model);
	return 0;
}
