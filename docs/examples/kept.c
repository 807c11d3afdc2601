/* SPDX-License-Identifier: MIT
 *
 * Add the new pages of dumps to a store: kept STORE DUMP...  Prints "status<TAB>id" for each page. */
#include <pagededup.h>
#include <stdio.h>

static int fail(const pagededup_error *error)
{
	fprintf(stderr, "%s\n", error->text);
	return 2;
}

static void print(const pagededup_column *c, uint64_t row, char after)
{
	fwrite((const char *)c->data + c->offsets[row], 1, (size_t)(c->offsets[row + 1] - c->offsets[row]), stdout);
	putchar(after);
}

int main(int argc, char **argv)
{
	pagededup_error error = { .size = sizeof error };
	pagededup_reader_options inputs = { .size = sizeof inputs,
					    .paths = (const char *const *)argv + 2,
					    .n_paths = (size_t)argc - 2 };
	pagededup_model *model;
	pagededup_reader *reader;
	pagededup_store *store;
	int more;
	if (argc < 3)
		return 2;
	if (pagededup_store_create(argv[1], 64, -1, &error) ||
	    pagededup_store_open(&store, argv[1], PAGEDEDUP_STORE_WRITE, &error) || pagededup_model_open(&model, NULL, &error) ||
	    pagededup_reader_open(&reader, model, &inputs, &error))
		return fail(&error);
	do { /* a thousand pages at a time, for a dump of any size */
		pagededup_table *pages, *answers;
		if (pagededup_table_new(&pages, model, 0, &error))
			return fail(&error);
		more = pagededup_table_read(pages, reader, 1000, 0, &error);
		if (more < 0 || pagededup_store_add(store, pages, &answers, &error))
			return fail(&error);
		pagededup_column status = { .size = sizeof status }, id = status;
		pagededup_table_find(answers, "status", &status);
		pagededup_table_find(answers, "id", &id);
		for (uint64_t row = 0; row < pagededup_table_rows(answers); row++) {
			print(&status, row, '\t');
			print(&id, row, '\n');
		}
		pagededup_table_free(answers);
		pagededup_table_free(pages);
	} while (more == PAGEDEDUP_MORE);
	if (pagededup_store_sync(store, &error))
		return fail(&error);
	pagededup_store_close(store);
	pagededup_reader_free(reader);
	pagededup_model_free(model);
	return 0;
}
