/* SPDX-License-Identifier: MIT
 *
 * The n-th system call on an input fails, for every n: the reader gives the records before it and reports that it
 * could not read; it does not mistake the fault for the end of the input, for damage or for another format.
 */
#include "read_dumps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "read/reader.h"
#include "read_pack.h"

enum call { READ, PREAD, LSEEK, FSTAT, CALLS };

static const char *const call_names[CALLS] = { "read", "pread", "lseek", "fstat" };

static struct {
	bool armed;
	enum call call;
	int left, failed;
} fault;

/* Is this the call that fails? */
static bool fails(enum call call)
{
	if (!fault.armed || fault.call != call || fault.left-- != 0)
		return false;
	fault.failed++;
	errno = EIO;
	return true;
}

/* In place of libc's, for the library that this program is linked with. */
ssize_t read(int fd, void *to, size_t n)
{
	return fails(READ) ? -1 : syscall(SYS_read, fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	return fails(PREAD) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

off_t lseek(int fd, off_t at, int whence)
{
	return fails(LSEEK) ? -1 : syscall(SYS_lseek, fd, at, whence);
}

int fstat(int fd, struct stat *st)
{
	return fails(FSTAT) ? -1 : fstatat(fd, "", st, AT_EMPTY_PATH);
}

static struct pd_buf told;

static void note(void *ctx, const struct pd_read_damage *d)
{
	pd_buf_printf(&told, "! %s%llu %s\n", d->stream ? "+" : "", (unsigned long long)d->offset, d->reason);
}

/* Everything that the reader gives of one input, then how it ended. */
static int read_all(char *path, struct pd_err *e)
{
	struct pd_reader_options o = { .inputs = &path, .n_inputs = 1, .max_block = 1 << 20, .damage = note };
	struct pd_record r = { 0 };
	struct pd_reader *reader;
	pd_buf_clear(&told);
	int status = pd_reader_open(&reader, &o, e);
	while (!status && (status = pd_reader_next(reader, &r, e)) == 1) {
		pd_buf_printf(&told, "%s %d %zu\n", r.id.p, r.kind, r.block.n);
		status = 0;
	}
	pd_reader_free(reader);
	pd_record_release(&r);
	return status;
}

/* A record so long that its end is examined by seeking, with a wrong length: another record begins at its end. */
static void long_records(struct pd_buf *out)
{
	for (int i = 0; i < 2; i++) {
		pd_buf_printf(out,
			      "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://h/%d\r\nContent-Length: 700000\r\n\r\n",
			      i);
		for (int k = 0; k < 700000 - 100 * i; k++)
			pd_buf_add_c(out, k % 80 ? 'x' : '\n');
		pd_buf_add_z(out, "\r\n\r\n");
	}
	pd_buf_add_z(out, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://h/2\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n");
}

static void lines(struct pd_buf *out)
{
	for (int i = 0; i < 30000; i++)
		pd_buf_printf(out, "{\"text\": \"line %d of a file that is longer than one look into it\"}\n", i);
}

static void a_page(struct pd_buf *out)
{
	pd_buf_add_z(out, "<p>a page of its own");
}

static const struct {
	const char *name;
	void (*make)(struct pd_buf *out);
	bool packed;
} inputs[] = {
	{ "warc", long_records, false }, { "warc.gz", long_records, true }, { "jsonl", lines, false },
	{ "jsonl.gz", lines, true },	 { "page", a_page, false },	    { "page.gz", a_page, true },
};

START_TEST(test_every_call_fails_once)
{
	struct pd_buf plain = { 0 }, packed = { 0 }, want = { 0 };
	struct pd_err e;
	int failed[CALLS] = { 0 };
	inputs[_i].make(&plain);
	if (inputs[_i].packed)
		pack(&packed, PD_CODEC_GZIP, pd_buf_span(&plain));
	char *path = dump_file("dump", pd_buf_span(inputs[_i].packed ? &packed : &plain));
	ck_assert_int_eq(read_all(path, &e), 0);
	pd_buf_set(&want, pd_buf_span(&told));
	for (int call = 0; call < CALLS; call++) {
		for (int n = 0;; n++) {
			fault.call = (enum call)call;
			fault.left = n;
			fault.failed = 0;
			fault.armed = true;
			int status = read_all(path, &e);
			fault.armed = false;
			if (!fault.failed) {
				ck_assert_int_eq(status, 0);
				break;
			}
			failed[call]++;
			ck_assert_msg(status == PD_ERR_SYSTEM, "%s, %s %d: status %d, %s", inputs[_i].name, call_names[call], n,
				      status, pd_buf_z(&told));
			ck_assert_msg(strstr(e.text, "Input/output error") != NULL, "%s", e.text);
			ck_assert_msg(told.n <= want.n && memcmp(pd_buf_z(&told), want.p, told.n) == 0, "%s, %s %d: other records",
				      inputs[_i].name, call_names[call], n);
		}
	}
	/* The size of the file is queried, and it is read; a long uncompressed record is examined by seeking. */
	ck_assert_int_ge(failed[READ], 1);
	ck_assert_int_ge(failed[LSEEK], 1);
	ck_assert_int_ge(failed[FSTAT], 1);
	ck_assert_int_ge(failed[PREAD], _i == 0);
	free(path);
	pd_buf_release(&plain);
	pd_buf_release(&packed);
	pd_buf_release(&want);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reader_faults");
	TCase *t = tcase_create("faults");
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_every_call_fails_once, 0, (int)(sizeof inputs / sizeof *inputs));
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
