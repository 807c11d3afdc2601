/* SPDX-License-Identifier: MIT
 *
 * Inputs that are refused: packed formats that are not supported, or are read but not written, with advice for the user; and
 * other files that are named like a dump.
 */
#include "read/formats.h"

#include <errno.h>

#include "read/sniff.h"

/* A packed format that is not supported. */
struct foreign {
	const char *magic, *name, *unpack; /* the program to be called with -dc or -d; NULL: no program can convert
						 * it to a supported stream */
};

static const struct foreign *find_foreign(struct pd_span head)
{
	static const struct foreign all[] = {
		{ "\xfd"
		  "7zXZ",
		  "xz", "xz" },
		{ "BZh", "bzip2", "bzip2" },
		{ "LZIP", "lzip", "lzip" },
		{ "\x1f\x9d", "compress", "gzip" },
		{ "PK\3\4", "zip", NULL },
		{ "7z\xbc\xaf", "7z", NULL },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		size_t n = strlen(all[i].magic);
		if (head.n <= n + 8 || memcmp(head.p, all[i].magic, n) != 0)
			continue;
		/* Text may begin with this word. */
		return strcmp(all[i].name, "bzip2") != 0 || memcmp(head.p + 4, "1AY&SY", 6) == 0 ? &all[i] : NULL;
	}
	return NULL;
}

static bool ends_like(const char *label, const char *const *ends)
{
	for (int i = 0; ends[i]; i++)
		if (pd_span_iends(pd_span_z(label), ends[i]))
			return true;
	return false;
}

bool pd_read_is_wacz(const char *label, struct pd_span head)
{
	static const char *const parts[] = { "archive/", "indexes/", "pages/", "datapackage", PD_READ_ZIP_ORIGINAL, NULL },
				 *const ends[] = { ".wacz", NULL };
	if (!pd_read_is_zip(head))
		return false;
	for (int i = 0; parts[i] && head.n > 64; i++)
		if (memcmp(head.p + 30, parts[i], strlen(parts[i])) == 0)
			return true;
	return ends_like(label, ends);
}

#ifdef PD_WITHOUT_libarchive
static const bool reads_zip = false;
#else
static const bool reads_zip = true;
#endif

static void add_advice(const struct foreign *f, const char *label, bool from_stdin, bool twice, struct pd_span head,
		       struct pd_buf *out)
{
	pd_buf_clear(out);
	if (f->magic[0] == 'P' && reads_zip)
		pd_buf_add_z(out, "zip is read but not written, except WACZ; unpack it and give the folder");
	else if (f->unpack && twice)
		pd_buf_printf(out, "%s is not supported; unpack it first: %s -d %s", f->name, f->unpack, label);
	else if (f->unpack)
		pd_buf_printf(out, "%s is not supported; try: %s -dc%s%s | pagededup fp", f->name, f->unpack, from_stdin ? "" : " ",
			      from_stdin ? "" : label);
	else if (f->magic[0] == 'P' && pd_read_is_wacz(label, head))
		pd_buf_add_z(out, "WACZ (zip) is not supported; unpack it and give archive/*.warc.gz");
	else
		pd_buf_printf(out, "%s is not supported; unpack it and give the folder", f->name);
}

int pd_read_source_foreign(const char *path, const char *label, struct pd_buf *reason)
{
	char bytes[PD_READ_HEAD];
	FILE *file = fopen(path, "re");
	if (!file)
		return PD_ERR_SYSTEM;
	struct pd_span head = pd_span(bytes, fread(bytes, 1, sizeof bytes, file));
	bool wacz = reads_zip && pd_read_is_wacz(label, head);
	const struct foreign *f = wacz || pd_read_member_codec(head) ? NULL : find_foreign(head);
	int error = ferror(file) ? errno : 0;
	fclose(file);
	if (f)
		add_advice(f, label, false, true, head, reason);
	errno = error;
	return error ? PD_ERR_SYSTEM : !f ? 0 : f->magic[0] == 'P' && reads_zip ? 2 : 1;
}

bool pd_read_source_refuse(struct pd_read_source *s)
{
	static const char *const dumps[] = { ".wacz",	   ".warc.xz", ".warc.bz2", ".arc.xz",	 ".arc.bz2", ".wet.xz", ".jsonl.xz",
					     ".jsonl.bz2", ".tar.xz",  ".tar.bz2",  ".warc.zip", ".warc.lz", NULL };
	struct pd_span head = pd_read_input_peek(&s->in, PD_READ_HEAD);
	const struct foreign *f = find_foreign(head);
	if (!f || (s->found && !ends_like(s->label, dumps)))
		return false;
	add_advice(f, s->label, s->in.fd == 0, s->twice, head, &s->reason);
	pd_read_sink_tell_whole(s->sink, s->label, s->reason.p);
	return true;
}

bool pd_read_source_misnamed(struct pd_read_source *s, struct pd_span head)
{
	static const char *const packed[] = { ".gz", ".zst", ".lz4", ".xz", ".bz2" };
	static const char *const names[][2] = {
		{ ".warc", "a WARC" }, { ".wet", "a WARC" }, { ".wat", "a WARC" }, { ".arc", "an ARC" }
	};
	struct pd_span label = pd_span_z(s->label);
	const char *kind = NULL;
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
		if (pd_span_iends(label, packed[i])) {
			label.n -= strlen(packed[i]);
			break;
		}
	for (size_t i = 0; i < sizeof names / sizeof *names && !kind; i++)
		kind = pd_span_iends(label, names[i][0]) ? names[i][1] : NULL;
	head = pd_span_trim(head);
	if (!kind || !head.n)
		return false;
	pd_buf_clear(&s->reason);
	pd_buf_printf(&s->reason, "not %s file, although it is named like one", kind);
	if (pd_sniff_is_text(head)) {
		size_t n = 0;
		while (n < head.n && n < 40 && head.p[n] >= ' ' && head.p[n] <= '~')
			n++;
		pd_buf_printf(&s->reason, "; it begins with: %.*s", (int)n, head.p);
	}
	pd_read_sink_tell_whole(s->sink, s->label, s->reason.p);
	return true;
}
