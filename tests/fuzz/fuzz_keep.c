/* SPDX-License-Identifier: MIT
 * The first byte chooses: a file of ranks, a list of hosts, or verdicts that why reads.  Of three fixed pages: keys are as
 * the header says, whatever is in the file; a chain has no more steps than its cluster has pages. */
#include "fuzz.h"
#include "group/keep.h"
#include "group/order.h"
#include "inspect/inspect.h"

static void bad_row(void *ctx, const char *why)
{
	HOLDS(why && why[0]);
	*(uint64_t *)ctx += 1;
}

static int pairs_file(void)
{
	static const char rows[] = "d:1\td:2\t1\t-\tsimhash\thttp://a.example/\thttp://b.a.example/x\t-\t-\t-\t-\t-\t-\n"
				   "d:2\td:3\t1\t-\tsimhash\thttp://b.a.example/x\t-\t-\t-\t-\t-\t-\t-\n";
	int fd = memfd_create("pairs", 0);
	HOLDS(fd >= 0 && pwrite(fd, rows, sizeof rows - 1, 0) == sizeof rows - 1);
	return fd;
}

static void rank_or_hosts(const char *file, bool hosts)
{
	static int fd = -1;
	char path[64], *paths[] = { path };
	uint64_t bad = 0, key[3];
	struct pd_pages_options o = { .paths = paths, .n_paths = 1, .bad_row = bad_row, .ctx = &bad };
	struct pd_pages pages;
	struct pd_err e = { 0 };
	if (fd < 0)
		fd = pairs_file();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	HOLDS(pd_pages_read(&pages, &o, &e) == PD_OK && pages.n == 3);
	if (hosts)
		HOLDS(pd_keep_host_keys(&pages, file, key, &e) == PD_OK);
	else
		HOLDS(pd_keep_rank_keys(&pages, file, &o, key, &e) == PD_OK);
	HOLDS(bad == pages.bad);
	/* A page without a URL is never named. */
	HOLDS(!hosts || key[2] == PD_KEY_LAST);
	pd_pages_release(&pages);
}

static void why(const char *file, bool by_url)
{
	struct pd_why_options o = { .id = by_url ? NULL : "d:2", .url = by_url ? "http://a.example/" : NULL, .verdicts = file };
	struct pd_why w;
	struct pd_err e = { 0 };
	struct pd_buf text = { 0 }, json = { 0 };
	struct pd_json *j = pd_json_new();
	int status = pd_why_open(&w, &o, &e);
	HOLDS(status == PD_OK || e.text[0]);
	HOLDS(w.n_chain <= w.n && w.n_suggestions <= PD_WHY_SUGGESTIONS);
	if (!status) {
		pd_why_text(&w, "V", false, &text);
		pd_why_json(&w, j, &json);
		HOLDS(text.n && json.n && fuzz_utf8(pd_buf_span(&json)));
	}
	pd_json_free(j);
	pd_buf_release(&text);
	pd_buf_release(&json);
	pd_why_release(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	unsigned first = fuzz_first(&data, &n);
	const char *file = fuzz_file(data, n);
	if (first & 2)
		why(file, first & 1);
	else
		rank_or_hosts(file, first & 1);
	return 0;
}
