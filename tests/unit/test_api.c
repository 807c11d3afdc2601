/* SPDX-License-Identifier: MIT
 *
 * The public API: what settings open and what they are refused for, what a page becomes, and that contexts are apart.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pagededup.h"

static const char page_en[] = "<title>Mill</title><p>The tide mill at Pellow Creek grinds again, after eighty quiet years.";
static const char page_near[] = "<p>The tide mill at Pellow Creek grinds again, after ninety quiet years.</p>";

static const struct opening {
	const char *name, *settings;
	const char *error;	/* part of the message; NULL: opens */
	int bits;
} openings[] = {
	{ "none", NULL, NULL, 64 },
	{ "empty", "", NULL, 64 },
	{ "bits", "bits=128", NULL, 128 },
	{ "the preset decides first, wherever it stands", "bits=256 topic=main preset=paper", NULL, 256 },
	{ "several", "shingle=3 weights=set hash=rabin min_terms=4 max_page=100000", NULL, 64 },
	{ "spaces", "  shingle=1  ", NULL, 64 },
	{ "unknown preset", "preset=none", "unknown preset 'none'", 0 },
	{ "unknown key", "colour=red", "colour", 0 },
	{ "unknown value", "hash=md5", "md5", 0 },
	{ "no number", "bits=many", "many", 0 },
	{ "a width that is none", "bits=65", "65", 0 },
};

START_TEST(open_and_sign)
{
	const struct opening *o = &openings[_i];
	pagededup_context *c = NULL;
	pagededup_page p;
	char error[200] = "";
	int status = pagededup_open(&c, o->settings, error, sizeof error);
	if (o->error) {
		ck_assert_msg(status < 0 && !c, "%s: opened", o->name);
		ck_assert_msg(strstr(error, o->error) != NULL, "%s: message '%s'", o->name, error);
		ck_assert_msg(*pagededup_strerror(status), "%s: status without words", o->name);
		return;
	}
	ck_assert_msg(status == 0, "%s: %s", o->name, error);
	ck_assert_msg(strlen(pagededup_params(c)) == 8, "%s: params '%s'", o->name, pagededup_params(c));
	ck_assert_msg(pagededup_sign(c, page_en, sizeof page_en - 1, "text/html; charset=utf-8", &p) == 0, "%s: no page", o->name);
	ck_assert_msg(p.bits == o->bits, "%s: %d bits", o->name, p.bits);
	ck_assert_msg(strstr(p.text, "Pellow Creek") != NULL, "%s: text '%s'", o->name, p.text);
	ck_assert_msg(strlen(p.text) == p.text_bytes, "%s: %zu bytes", o->name, p.text_bytes);
	ck_assert_msg(!strcmp(p.charset, "utf-8"), "%s: charset %s", o->name, p.charset);
	ck_assert_msg(strlen(p.text_digest) == 32, "%s: digest '%s'", o->name, p.text_digest);
	pagededup_close(c);
}
END_TEST

START_TEST(message_may_be_cut_or_absent)
{
	pagededup_context *c = NULL;
	char error[5] = "----";
	ck_assert_int_lt(pagededup_open(&c, "preset=none", error, sizeof error), 0);
	ck_assert_str_eq(error, "unkn");
	ck_assert_int_lt(pagededup_open(&c, "preset=none", NULL, 0), 0);
	pagededup_close(NULL);
}
END_TEST

START_TEST(pages_one_after_the_other)
{
	pagededup_context *a, *b;
	pagededup_page first, again, near, other;
	ck_assert_int_eq(pagededup_open(&a, NULL, NULL, 0), 0);
	ck_assert_int_eq(pagededup_open(&b, "preset=paper", NULL, 0), 0);
	ck_assert_str_ne(pagededup_params(a), pagededup_params(b));
	ck_assert_int_eq(pagededup_sign(a, page_en, sizeof page_en - 1, NULL, &first), 0);
	ck_assert_int_eq(pagededup_sign(b, page_en, sizeof page_en - 1, NULL, &other), 0);
	ck_assert_int_eq(pagededup_sign(a, page_near, sizeof page_near - 1, NULL, &near), 0);
	ck_assert_int_eq(pagededup_sign(a, page_en, sizeof page_en - 1, NULL, &again), 0);
	ck_assert_int_eq(pagededup_distance(first.fingerprint, again.fingerprint, 64), 0);
	ck_assert_int_gt(pagededup_distance(first.fingerprint, near.fingerprint, 64), 0);
	ck_assert_int_lt(pagededup_distance(first.fingerprint, near.fingerprint, 64), 32);
	pagededup_close(a);
	pagededup_close(b);
}
END_TEST

START_TEST(too_little_text)
{
	pagededup_context *c;
	pagededup_page p;
	ck_assert_int_eq(pagededup_open(&c, NULL, NULL, 0), 0);
	ck_assert_int_eq(pagededup_sign(c, "<p>gone", 7, "text/html", &p), 0);
	ck_assert_int_eq(p.bits, 0);
	ck_assert_int_lt(pagededup_sign(c, "", 0, "text/html", &p), 0);
	pagededup_close(c);
}
END_TEST

START_TEST(distances)
{
	static const uint64_t a[4] = { 1, 0, 0, 1 }, b[4] = { 2, ~0ull, 0, 0 };
	ck_assert_int_eq(pagededup_distance(a, b, 64), 2);
	ck_assert_int_eq(pagededup_distance(a, b, 128), 66);
	ck_assert_int_eq(pagededup_distance(a, b, 256), 67);
	ck_assert(*pagededup_version());
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The n-th request for memory fails, and all that follow: those of our own and of the libraries below, but for C++. */
static long requests_left = -1;
static bool failing;

static bool refused(const void *caller)
{
	Dl_info from;
	if (!failing || requests_left-- > 0)
		return false;
	bool refuse = !dladdr(caller, &from) || !strstr(from.dli_fname, "libstdc++");
	if (refuse)
		errno = ENOMEM;
	return refuse;
}

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t k, size_t n);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return refused(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t k, size_t n)
{
	return refused(__builtin_return_address(0)) ? NULL : __libc_calloc(k, n);
}

void *realloc(void *p, size_t n)
{
	return refused(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

/* Opens and signs with n requests granted; the status. */
static int run_with(long n, uint64_t *fingerprint)
{
	pagededup_context *c;
	pagededup_page p;
	requests_left = n;
	failing = true;
	int status = pagededup_open(&c, NULL, NULL, 0);
	if (!status)
		status = pagededup_sign(c, page_en, sizeof page_en - 1, NULL, &p);
	failing = false;
	if (!status)
		*fingerprint = p.fingerprint[0];
	else if (c)
		ck_assert_int_eq(pagededup_sign(c, page_en, sizeof page_en - 1, NULL, &p), PAGEDEDUP_ERR_MEMORY);
	pagededup_close(c);
	return status;
}

START_TEST(memory_runs_out_anywhere)
{
	uint64_t want = 0, got = 0;
	long n = 0;
	ck_assert_int_eq(run_with(LONG_MAX, &want), 0);
	for (int status = -1; status; n++) {
		status = run_with(n, &got);
		ck_assert_msg(status == 0 || status == PAGEDEDUP_ERR_MEMORY, "after %ld requests: %d", n, status);
	}
	ck_assert_uint_eq(got, want);
	ck_assert_int_gt(n, 20);
}
END_TEST
#endif

static void *open_some(void *start)
{
	pagededup_context *c = NULL;
	pagededup_page p;
	pthread_barrier_wait(start);
	for (int i = 0; i < 3; i++) {
		if (pagededup_open(&c, NULL, NULL, 0) < 0 || pagededup_sign(c, page_en, sizeof page_en - 1, NULL, &p) < 0)
			return start;
		pagededup_close(c);
	}
	return NULL;
}

/* The first contexts of a process, opened by many threads at once; what libraries do at first use they do once in a
 * process, so each try is a process of its own. */
static int many_threads(void)
{
	enum { THREADS = 8 };
	pthread_t thread[THREADS];
	pthread_barrier_t start;
	int bad = 0;
	alarm(30);
	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, open_some, &start))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		void *failed = NULL;
		pthread_join(thread[i], &failed);
		bad |= failed != NULL;
	}
	return bad;
}

START_TEST(first_contexts_of_many_threads)
{
	for (int i = 0; i < 80; i++) {
		int status;
		pid_t child = fork();
		ck_assert(child >= 0);
		if (!child)
			_exit(many_threads());
		ck_assert(waitpid(child, &status, 0) == child);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d: %s", i,
			      WIFSIGNALED(status) ? "hung or crashed" : "a context could not be opened");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("api");
	TCase *t = tcase_create("api");
	tcase_add_loop_test(t, open_and_sign, 0, (int)(sizeof openings / sizeof *openings));
	tcase_add_test(t, message_may_be_cut_or_absent);
	tcase_add_test(t, pages_one_after_the_other);
	tcase_add_test(t, too_little_text);
	tcase_add_test(t, distances);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(t, memory_runs_out_anywhere);
	tcase_set_timeout(t, 60);
#endif
	suite_add_tcase(s, t);
	t = tcase_create("threads");
	tcase_set_timeout(t, 600);
	tcase_add_test(t, first_contexts_of_many_threads);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
