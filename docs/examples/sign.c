/* SPDX-License-Identifier: MIT
 *
 * Print the fingerprint, title and language of pages: sign FILE... */
#include <pagededup.h>
#include <stdio.h>
#include <stdlib.h>

static char body[1 << 22];

int main(int argc, char **argv)
{
	pagededup_model *model;
	pagededup_worker *worker;
	pagededup_error error = { .size = sizeof error };
	pagededup_page page = { .size = sizeof page };
	if (pagededup_model_open(&model, NULL, &error) || pagededup_worker_new(&worker, model, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f) {
			perror(argv[i]);
			return 2;
		}
		pagededup_input input = {
			.size = sizeof input, .body = body, .bytes = fread(body, 1, sizeof body, f), .url = argv[i]
		};
		fclose(f);
		if (pagededup_sign(worker, &input, &page, &error) != PAGEDEDUP_OK)
			printf("-\t%s\t%s\n", argv[i], error.text);
		else if (!page.bits)
			printf("-\t%s\ttoo little text\n", argv[i]);
		else
			printf("%016llx\t%s\t%s\n", (unsigned long long)page.fingerprint[0], argv[i], page.title);
	}
	pagededup_worker_free(worker);
	pagededup_model_free(model);
	return 0;
}
