/* SPDX-License-Identifier: MIT
 *
 * The plug-in that reads and writes Parquet and Arrow.  It is in the folder of the program or of the shared library, or in
 * ../lib/pagededup there; PAGEDEDUP_PARQUET names another file.
 */
#include "base/parquet.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/threads.h"

static const struct pd_parquet_calls *calls;
static char why_not[300]; /* the reason why there is none */

/* A static program has no dynamic linker, and cannot load anything. */
static bool is_static(void)
{
	const ElfW(Phdr) *h = (const void *)getauxval(AT_PHDR);
	for (unsigned long i = 0, n = h ? getauxval(AT_PHNUM) : 0; i < n; i++)
		if (h[i].p_type == PT_INTERP)
			return false;
	return h != NULL;
}

static bool find_plugin(char *path, size_t size)
{
	static const char *const places[] = { "", "../lib/pagededup/", "pagededup/" };
	const char *named = getenv("PAGEDEDUP_PARQUET");
	Dl_info self;
	if (named) {
		snprintf(path, size, "%s", named);
		return true;
	}
	if (!dladdr((const void *)(uintptr_t)find_plugin, &self) || !self.dli_fname)
		return false;
	char program[4096];
	const char *file = strchr(self.dli_fname, '/') ? self.dli_fname : program;
	if (file == program) { /* the program, as it was called */
		ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
		program[n > 0 ? n : 0] = 0;
	}
	const char *end = strrchr(file, '/');
	for (size_t i = 0; end && i < sizeof places / sizeof *places; i++) {
		snprintf(path, size, "%.*s/%spagededup-parquet.so", (int)(end - file), file, places[i]);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static void load_plugin(void)
{
	char path[8192];
	if (is_static()) {
		snprintf(why_not, sizeof why_not, "a static program cannot load it");
		return;
	}
	if (!find_plugin(path, sizeof path)) {
		snprintf(why_not, sizeof why_not, "it is not installed");
		return;
	}
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct pd_parquet_calls *found = plugin ? dlsym(plugin, "pd_parquet_plugin") : NULL;
	if (!found)
		snprintf(why_not, sizeof why_not, "%s", dlerror());
	else if (found->plugin != PD_PARQUET_PLUGIN)
		snprintf(why_not, sizeof why_not, "%.200s is of another version", path);
	else
		calls = found;
}

int pd_parquet_load(enum pd_parquet_form form, struct pd_parquet_error *e)
{
	static int loaded;
	pd_once(&loaded, load_plugin);
	if (calls)
		return 0;
	e->number = 0;
	snprintf(e->text, sizeof e->text,
		 "it is %s, which needs the plug-in pagededup-parquet.so (%.150s); make it in the source folder: pip install "
		 "pyarrow; "
		 "make parquet.  Python's pagededup.dedup('FILE') needs only pyarrow",
		 form == PD_FORM_ARROW ? "Arrow" : "Parquet", why_not);
	return -1;
}

int pd_parquet_open(struct pd_parquet **out, int fd, struct pd_parquet_error *e)
{
	*out = NULL;
	return pd_parquet_load(PD_FORM_PARQUET, e) ? -1 : calls->open(out, fd, e);
}

int pd_parquet_open_stream(struct pd_parquet **out, pd_parquet_take *take, void *ctx, struct pd_parquet_error *e)
{
	*out = NULL;
	return pd_parquet_load(PD_FORM_ARROW, e) ? -1 : calls->open_stream(out, take, ctx, e);
}

int pd_parquet_writer_open(struct pd_parquet_writer **out, enum pd_parquet_form form, const struct pd_parquet_column *v, size_t n,
			   const char *key, const char *note, pd_parquet_write *write, void *ctx, struct pd_parquet_error *e)
{
	*out = NULL;
	return pd_parquet_load(form, e) ? -1 : calls->writer_open(out, form, v, n, key, note, write, ctx, e);
}

int pd_parquet_copy(int fd, const struct pd_parquet_cut *cuts, size_t n, pd_parquet_write *write, void *ctx,
		    struct pd_parquet_error *e)
{
	return pd_parquet_load(PD_FORM_PARQUET, e) ? -1 : calls->copy(fd, cuts, n, write, ctx, e);
}

int pd_parquet_join(const int fd[2], const struct pd_parquet_piece *pieces, size_t n, pd_parquet_write *write, void *ctx,
		    struct pd_parquet_error *e)
{
	return pd_parquet_load(PD_FORM_PARQUET, e) ? -1 : calls->join(fd, pieces, n, write, ctx, e);
}

/* A file or writer exists only if the plug-in was loaded; NULL is ignored. */
void pd_parquet_close(struct pd_parquet *p)
{
	if (p)
		calls->close(p);
}

uint64_t pd_parquet_rows(const struct pd_parquet *p)
{
	return calls->rows(p);
}

const char *pd_parquet_note(const struct pd_parquet *p, const char *key)
{
	return calls->note(p, key);
}

size_t pd_parquet_columns(const struct pd_parquet *p)
{
	return p ? calls->columns(p) : 0;
}

const char *pd_parquet_name(const struct pd_parquet *p, size_t i)
{
	return calls->name(p, i);
}

int pd_parquet_type(const struct pd_parquet *p, size_t i)
{
	return calls->type(p, i);
}

int pd_parquet_read(struct pd_parquet *p, const struct pd_parquet_want *want, size_t n, uint64_t from, int threads,
		    struct pd_parquet_error *e)
{
	return calls->read(p, want, n, from, threads, e);
}

int pd_parquet_next(struct pd_parquet *p, struct pd_parquet_batch *out, struct pd_parquet_error *e)
{
	return calls->next(p, out, e);
}

int pd_parquet_writer_put(struct pd_parquet_writer *w, const struct pd_parquet_column *v, uint64_t rows, struct pd_parquet_error *e)
{
	return calls->writer_put(w, v, rows, e);
}

int pd_parquet_writer_end(struct pd_parquet_writer *w, const char *key, const char *note, struct pd_parquet_error *e)
{
	return calls->writer_end(w, key, note, e);
}

void pd_parquet_writer_free(struct pd_parquet_writer *w)
{
	if (w)
		calls->writer_free(w);
}
