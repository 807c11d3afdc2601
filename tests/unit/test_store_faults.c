/* SPDX-License-Identifier: MIT
 *
 * The writer of a store is killed, or its disk fails, at every step that changes a file (failures also at every step
 * that reads one): pages reported as kept are stored, the state is one that the run passed through, the store is
 * undamaged, and running the same again ends as if nothing had happened.  The steps are the steps of init, add,
 * remove and compact.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_dir.h"
#include "store_model.h"
#include "row/columns.h"
#include "store/judge.c" /* for its functions that are not exported */

enum { BATCHES = 14, ROWS = 7, STATES = BATCHES * (ROWS + 2) + 2, FILES = 64 };

/* The kind of failure of the n-th step. */
enum fault { NONE, DIE, DIE_HALFWAY, POWER_CUT, FULL, FAIL };

static const char *const fault_names[] = { "none", "die", "die halfway", "power cut", "disk full", "one step fails" };

/* The contents of a file after a power cut. */
struct durable {
	char name[PD_STORE_IO_NAME_MAX];
	off_t size, synced;
	bool named; /* the folder was synced since it was made */
};

struct shared {
	size_t reported;		 /* states[0 .. reported - 1] were reported to the user */
	bool seen[PD_STORE_IO_READ + 1]; /* kinds of steps that went wrong */
};

struct scene {
	char dir[64];
	enum fault fault;
	long at, steps; /* the step that fails; steps so far */
	bool failing, halved;
	struct durable files[FILES];
	size_t n_files;
	struct pd_buf manifest; /* before a rename that is not durable yet */
	bool renamed;
	struct shared *shared;
	/* live numbers after each change */
	uint64_t *states[STATES];
	size_t n_live[STATES], n_states;
	enum pd_store_on_duplicate on_duplicate;
};

static struct durable *file_of(struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->n_files; i++)
		if (!strcmp(s->files[i].name, name))
			return &s->files[i];
	ck_assert(s->n_files < FILES);
	struct durable *f = &s->files[s->n_files++];
	*f = (struct durable){ .named = true };
	snprintf(f->name, sizeof f->name, "%s", name);
	return f;
}

/* The contents of a file that is opened again are as durable as before. */
static off_t size_of(const struct scene *s, const char *name)
{
	char path[128];
	struct stat st;
	snprintf(path, sizeof path, "%s/%s", s->dir, name);
	return stat(path, &st) ? 0 : st.st_size;
}

static void note_rename(struct scene *s)
{
	char path[128], buf[4096];
	snprintf(path, sizeof path, "%s/manifest", s->dir);
	FILE *f = fopen(path, "r");
	pd_buf_clear(&s->manifest);
	for (size_t n; f && (n = fread(buf, 1, sizeof buf, f)) > 0;)
		pd_buf_add(&s->manifest, buf, n);
	if (f)
		fclose(f);
	s->renamed = true;
}

/* Steps that will be taken. */
static void note(struct scene *s, enum pd_store_io_step step, const char *name, size_t n)
{
	if (step == PD_STORE_IO_SYNC_DIR) {
		for (size_t i = 0; i < s->n_files; i++)
			s->files[i].named = true;
		s->renamed = false;
	} else if (step == PD_STORE_IO_RENAME) {
		note_rename(s);
	} else {
		struct durable *f = file_of(s, name);
		if (step == PD_STORE_IO_CREATE)
			*f = (struct durable){ .named = false };
		snprintf(f->name, sizeof f->name, "%s", name);
		if (step == PD_STORE_IO_OPEN)
			f->size = f->synced = size_of(s, name);
		f->size += step == PD_STORE_IO_WRITE ? (off_t)n : 0;
		f->synced = step == PD_STORE_IO_SYNC ? f->size : f->synced;
	}
}

/* Data that was not synced is lost. */
static void cut_power(struct scene *s)
{
	char path[128];
	for (size_t i = 0; i < s->n_files; i++) {
		struct durable *f = &s->files[i];
		snprintf(path, sizeof path, "%s/%s", s->dir, f->name);
		if (!strcmp(f->name, "manifest.new"))
			unlink(path);
		else if (!f->named)
			unlink(path);
		else if (f->synced < f->size && truncate(path, f->synced) && errno != ENOENT)
			abort();
	}
	snprintf(path, sizeof path, "%s/manifest", s->dir);
	if (s->renamed && !s->manifest.n) /* there was none */
		unlink(path);
	FILE *f = s->renamed && s->manifest.n ? fopen(path, "w") : NULL;
	if (f && fwrite(s->manifest.p, 1, s->manifest.n, f) != s->manifest.n)
		abort();
	if (f)
		fclose(f);
}

/* Steps that read count only for failures; a kill before one equals a kill before the next step. */
static bool is_step(const struct scene *s, enum pd_store_io_step step)
{
	return s->fault == FAIL || (s->fault != NONE && step != PD_STORE_IO_READ);
}

/* The step that fails; if it does not return, the process ends. Halfway: it writes the first half. */
static void go_wrong(struct scene *s, enum pd_store_io_step step, size_t *n)
{
	if (s->fault == POWER_CUT)
		cut_power(s);
	if (s->fault == DIE_HALFWAY && step == PD_STORE_IO_WRITE) {
		*n = (*n + 1) / 2;
		s->halved = true;
	} else if (s->fault != FULL && s->fault != FAIL) {
		_exit(9);
	}
	s->failing = s->fault == FULL;
}

static int before(void *ctx, enum pd_store_io_step step, const char *name, size_t *n)
{
	struct scene *s = ctx;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	if (s->halved)
		_exit(9);
	bool now = is_step(s, step) && ++s->steps == s->at;
	if (now && s->shared)
		s->shared->seen[step] = true;
	if (now)
		go_wrong(s, step, n);
	if (s->fault == POWER_CUT && step != PD_STORE_IO_READ)
		note(s, step, name, step == PD_STORE_IO_WRITE ? *n : 0);
	bool full = s->failing && (step == PD_STORE_IO_WRITE || step == PD_STORE_IO_CREATE || step == PD_STORE_IO_SYNC);
	pthread_mutex_unlock(&lock);
	return full ? ENOSPC : now && s->fault == FAIL ? EIO : 0;
}

static int list_page(void *ctx, uint64_t number, const struct pd_store_page *page)
{
	struct scene *s = ctx;
	s->states[s->n_states] = pd_realloc(s->states[s->n_states], (s->n_live[s->n_states] + 1) * sizeof(uint64_t));
	s->states[s->n_states][s->n_live[s->n_states]++] = number;
	return 0;
}

static void no_damage(void *ctx, const char *what)
{
	ck_abort_msg("damage: %s", what);
}

/* The live pages as a state after the last. */
static void take_state(struct scene *s, struct pd_store *store)
{
	struct pd_err e = { 0 };
	ck_assert(s->n_states < STATES);
	s->n_live[s->n_states] = 0;
	ck_assert_msg(pd_store_each(store, list_page, s, &e) == PD_OK, "%s", e.text);
	s->n_states++;
}

struct teller {
	struct scene *s;
	struct pd_store *store;
	bool states;
	size_t changes;
};

static int take_answer(void *ctx, const struct pd_store_answer *a)
{
	struct teller *t = ctx;
	t->changes++;
	if (t->states)
		take_state(t->s, t->store);
	return 0;
}

static int add_batch(struct teller *t, struct model *m, struct pd_err *e)
{
	struct pd_store_judge j = { .s = t->store,
				    .o = { .keep = true, .k = m->k, .on_duplicate = t->s->on_duplicate, .verify.off = true } };
	struct pd_store_page pages[ROWS];
	struct pd_buf row = { 0 }, texts[ROWS] = { 0 };
	int status = PD_OK;
	for (size_t i = 0; i < ROWS; i++) {
		model_row(m, &row);
		ck_assert(model_take(&pages[i], &row, &t->store->sketch, &texts[i], e) == PD_OK);
	}
	status = pd_store_judge_batch(&j, pages, ROWS, take_answer, t, e);
	if (!status)
		status = pd_store_sync(t->store, e);
	pd_store_judge_release(&j);
	pd_buf_release(&row);
	for (size_t i = 0; i < ROWS; i++)
		pd_buf_release(&texts[i]);
	return status;
}

static int take_first(void *ctx, uint64_t number, const struct pd_store_page *page)
{
	(void)page;
	*(uint64_t *)ctx = number;
	return 1;
}

/* The oldest stored page is removed. */
static int remove_one(struct teller *t, struct pd_err *e)
{
	uint64_t n = t->store->m.next;
	pd_store_each(t->store, take_first, &n, e);
	int status = pd_store_remove(t->store, &n, 1, e);
	t->changes++;
	if (t->states)
		take_state(t->s, t->store);
	return status ? status : pd_store_sync(t->store, e);
}

/* A run like one night's, always the same. With states: also the stored pages after each change. */
static int night(struct scene *s, bool states, struct pd_err *e)
{
	struct pd_store store = { .io = { .before = before, .ctx = s }, .limits = { 15, 3 } };
	struct teller t = { .s = s, .store = &store, .states = states };
	struct model m = { .bits = 64, .k = 3, .random = 42 };
	int status = pd_store_open(&store, s->dir, PD_STORE_WRITE, e);
	if (!status)
		status = store_settle(&store, pd_span_z("bits=64 x=y"), pd_span_z("sketch=64x4x5"), "rows", e);
	if (states)
		take_state(s, &store);
	for (int i = 0; !status && i < BATCHES; i++) {
		status = add_batch(&t, &m, e);
		if (!status && i % 3 == 2 && !(s->shared && s->on_duplicate == PD_STORE_SKIP))
			status = remove_one(&t, e);
		if (!status && s->shared)
			s->shared->reported = t.changes + 1;
		if (!status)
			status = pd_store_tend(&store, i % 5 == 4, e);
		if (!status && i == 9)
			status = pd_store_compact(&store, e);
	}
	if (!status)
		status = pd_store_tend(&store, true, e);
	pd_store_close(&store);
	return status;
}

static void scene_init(struct scene *s, enum pd_store_on_duplicate on_duplicate)
{
	struct pd_err e = { 0 };
	*s = (struct scene){ .on_duplicate = on_duplicate };
	store_dir_make(s->dir);
	ck_assert_msg(pd_store_create(s->dir, &(struct pd_store_settings){ 64, 3, 3 }, NULL, &e) == PD_OK, "%s", e.text);
	s->shared = mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(s->shared != MAP_FAILED);
}

static void scene_release(struct scene *s)
{
	store_dir_remove(s->dir);
	for (size_t i = 0; i < STATES; i++)
		free(s->states[i]);
	pd_buf_release(&s->manifest);
}

static bool is_state(const struct scene *s, size_t a, size_t b)
{
	return s->n_live[a] == s->n_live[b] &&
	       (!s->n_live[a] || !memcmp(s->states[a], s->states[b], s->n_live[a] * sizeof(uint64_t)));
}

/* The present state is not older than the reported one. */
static void check_left(struct scene *s, const char *what)
{
	struct pd_store store = { .damaged = no_damage };
	struct pd_err e = { 0 };
	int status = pd_store_verify(&store, s->dir, &e);
	ck_assert_msg(status == PD_OK, "%s: %s", what, e.text);
	pd_store_close(&store);
	status = pd_store_open(&store, s->dir, PD_STORE_READ, &e);
	ck_assert_msg(status == PD_OK, "%s: %s", what, e.text);
	size_t now = s->n_states, from = s->shared->reported ? s->shared->reported - 1 : 0, i = from;
	take_state(s, &store);
	s->n_states = now;
	while (i < now && !is_state(s, i, now))
		i++;
	ck_assert_msg(i < now, "%s: %zu pages are kept, which is no state after the %zu that were reported", what, s->n_live[now],
		      from);
	pd_store_close(&store);
}

static int make_store(struct scene *s, struct pd_err *e)
{
	struct pd_store_io io = { .before = before, .ctx = s };
	return pd_store_create(s->dir, &(struct pd_store_settings){ 64, 3, 3 }, &io, e);
}

/* True: the run ended before its n-th step. */
static bool run_child(struct scene *s, int (*work)(struct scene *s, struct pd_err *e), enum fault fault, long at)
{
	struct pd_err e = { 0 };
	s->shared->reported = 0;
	s->fault = fault;
	s->at = at;
	s->steps = 0;
	s->n_files = 0;
	s->failing = s->renamed = s->halved = false;
	fflush(NULL);
	pid_t pid = fork();
	ck_assert(pid >= 0);
	if (pid == 0)
		_exit(work(s, &e) == PD_OK ? 0 : 2);
	int status;
	waitpid(pid, &status, 0);
	ck_assert_msg(WIFEXITED(status), "%s at %ld: ended by a signal", fault_names[fault], at);
	int want = fault == FULL || fault == FAIL ? 2 : 9;
	ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == want, "%s at %ld: exit %d", fault_names[fault], at,
		      WEXITSTATUS(status));
	return WEXITSTATUS(status) == 0;
}

static void start_anew(struct scene *s)
{
	struct pd_err e = { 0 };
	s->fault = NONE;
	store_dir_clear(s->dir);
	ck_assert_msg(make_store(s, &e) == PD_OK, "%s", e.text);
}

static int one_night(struct scene *s, struct pd_err *e)
{
	return night(s, false, e);
}

/* The same run again, undisturbed: with skip the stored pages are the same as after an undisturbed run. */
static void run_again(struct scene *s, const char *what)
{
	struct pd_err e = { 0 };
	struct pd_store store = { 0 };
	s->fault = NONE;
	int status = night(s, false, &e);
	ck_assert_msg(status == PD_OK, "%s, then again: %s", what, e.text);
	ck_assert(pd_store_open(&store, s->dir, PD_STORE_READ, &e) == PD_OK);
	size_t now = s->n_states;
	take_state(s, &store);
	s->n_states = now;
	if (s->on_duplicate == PD_STORE_SKIP)
		ck_assert_msg(s->n_live[now] == s->n_live[now - 1], "%s, then again: %zu pages are kept, not %zu", what,
			      s->n_live[now], s->n_live[now - 1]);
	pd_store_close(&store);
}

static const struct {
	enum fault fault;
	enum pd_store_on_duplicate on_duplicate;
} cases[] = {
	{ DIE, PD_STORE_SKIP },		 { DIE, PD_STORE_REPLACE },    { DIE_HALFWAY, PD_STORE_REPLACE },
	{ POWER_CUT, PD_STORE_REPLACE }, { POWER_CUT, PD_STORE_SKIP }, { FULL, PD_STORE_REPLACE },
	{ FULL, PD_STORE_SKIP },	 { FAIL, PD_STORE_REPLACE },   { FAIL, PD_STORE_SKIP },
};

/* Every kind of step was among the failed steps, so that no kind bypasses the test. */
static void check_seen(const struct scene *s, enum fault fault)
{
	static const char *const names[] = {
		"create", "open", "write", "sync", "cut", "rename", "unlink", "sync the folder", "read"
	};
	for (int step = 0; step <= PD_STORE_IO_READ; step++)
		if (step != PD_STORE_IO_CUT && (step != PD_STORE_IO_READ || fault == FAIL))
			ck_assert_msg(s->shared->seen[step], "%s: never at a step that would %s", fault_names[fault], names[step]);
}

START_TEST(at_every_step)
{
	struct scene s;
	struct pd_err e = { 0 };
	enum fault fault = cases[_i].fault;
	char what[64];
	long n = 0;
	scene_init(&s, cases[_i].on_duplicate);
	ck_assert_msg(night(&s, true, &e) == PD_OK, "%s", e.text);
	for (bool ended = false; !ended;) {
		start_anew(&s);
		ended = run_child(&s, one_night, fault, ++n);
		snprintf(what, sizeof what, "%s at step %ld", fault_names[fault], n);
		check_left(&s, what);
		if (n % 5 == 0)
			run_again(&s, what);
	}
	ck_assert_msg(n > 60, "only %ld steps: the run is too short", n);
	check_seen(&s, fault);
	scene_release(&s);
}
END_TEST

/* A torn end of the log is cut off when the store is opened to write: at each step of that, too. */
START_TEST(torn_log)
{
	struct scene s;
	struct pd_err e = { 0 };
	enum fault fault = (enum fault)(DIE + _i);
	char path[128];
	long n = 0;
	scene_init(&s, PD_STORE_SKIP);
	ck_assert_msg(night(&s, true, &e) == PD_OK, "%s", e.text);
	for (bool ended = false; !ended;) {
		start_anew(&s);
		snprintf(path, sizeof path, "%s/log-1", s.dir);
		FILE *f = fopen(path, "a");
		ck_assert(f && fwrite("\x10\0\0", 1, 3, f) == 3 && fclose(f) == 0);
		ended = run_child(&s, one_night, fault, ++n) || s.shared->seen[PD_STORE_IO_CUT];
		check_left(&s, "torn log");
		run_again(&s, "torn log");
	}
	ck_assert(s.shared->seen[PD_STORE_IO_CUT]);
	scene_release(&s);
}
END_TEST

START_TEST(init_at_every_step)
{
	struct scene s;
	struct pd_err e = { 0 };
	enum fault fault = (enum fault)(DIE + _i);
	long n = 0;
	scene_init(&s, PD_STORE_SKIP);
	s.n_states = 1; /* the empty store */
	for (bool ended = false; !ended;) {
		store_dir_clear(s.dir);
		ended = run_child(&s, make_store, fault, ++n);
		s.fault = NONE;
		ck_assert_msg(make_store(&s, &e) == PD_OK, "%s at step %ld, then again: %s", fault_names[fault], n, e.text);
		check_left(&s, "init");
	}
	ck_assert_msg(n > 7, "only %ld steps", n);
	scene_release(&s);
}
END_TEST

/* The first sync of the log fails, as long as `failing` says so. */
static int fail_log_sync(void *ctx, enum pd_store_io_step step, const char *name, size_t *n)
{
	const bool *failing = ctx;
	return *failing && step == PD_STORE_IO_SYNC && !strncmp(name, "log", 3) ? EIO : 0;
}

/* Data that was not synced never counts as synced, for any number of queries. */
START_TEST(failed_sync_is_told_again)
{
	bool failing = false;
	struct pd_store s = { .io = { .before = fail_log_sync, .ctx = &failing } };
	struct model m = { .bits = 64, .k = 3, .random = 42 };
	struct scene scene;
	struct pd_err e = { 0 };
	scene_init(&scene, PD_STORE_SKIP);
	struct teller t = { .s = &scene, .store = &s };
	ck_assert_msg(pd_store_open(&s, scene.dir, PD_STORE_WRITE, &e) == PD_OK, "%s", e.text);
	ck_assert(store_settle(&s, pd_span_z("bits=64 x=y"), pd_span_z("sketch=64x4x5"), "rows", &e) == PD_OK);
	uint64_t synced = s.log.synced;
	failing = true;
	ck_assert_int_eq(add_batch(&t, &m, &e), PD_ERR_SYSTEM);
	ck_assert(s.log.synced == synced && s.log.file.size > synced);
	failing = false;
	ck_assert_int_eq(pd_store_sync(&s, &e), PD_ERR_SYSTEM);
	ck_assert_msg(strstr(e.text, "an earlier write to it failed"), "%s", e.text);
	ck_assert(s.log.synced == synced);
	pd_store_close(&s);
	scene_release(&scene);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store_faults");
	TCase *t = tcase_create("faults");
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, at_every_step, 0, (int)(sizeof cases / sizeof *cases));
	tcase_add_test(t, failed_sync_is_told_again);
	tcase_add_loop_test(t, torn_log, 0, FAIL);
	tcase_add_loop_test(t, init_at_every_step, 0, FAIL);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
