/* SPDX-License-Identifier: MIT
 *
 * The method `abstract` (Tianwang's first: Li Xiaoming, Yan Hongfei, Wang Jimin, "Search Engines", 2005): MD5 of the first 512
 * bytes of what a visitor sees, in the charset of that time's pages, cut back to a whole character.  What is seen is all text
 * outside scripts, styles and hidden elements, not the main text alone; each run of white space in it is one space, so that
 * layout does not count, and letters are as they stand.
 */
#include <stdlib.h>

#include "sign/sign.h"
#include "text/text.h"

enum { SIZE, CHARSET };
enum { CHARSET_GB18030, CHARSET_UTF8 };

struct abstract {
	size_t size;
	struct pd_text_encoder *encoder;
	struct pd_buf plain, bytes;
};

static void abstract_close(void *state)
{
	struct abstract *a = state;
	pd_text_encoder_free(a->encoder);
	pd_buf_release(&a->plain);
	pd_buf_release(&a->bytes);
	free(a);
}

static int abstract_open(void **state, const struct pd_method_open *with, struct pd_err *e)
{
	struct abstract *a = pd_zalloc(sizeof *a);
	a->size = (size_t)with->value[SIZE];
	int status = pd_text_encoder_new(&a->encoder, (int)with->value[CHARSET] == CHARSET_UTF8 ? "UTF-8" : "GB18030", e);
	if (status)
		abstract_close(a);
	else
		*state = a;
	return status;
}

/* No more of the text than can be needed: no character takes more bytes in UTF-8 than four times what it takes elsewhere. */
static void collapse(struct abstract *a, struct pd_span text)
{
	pd_buf_clear(&a->plain);
	for (size_t i = 0; i < text.n && a->plain.n < 4 * a->size; i++) {
		bool space = pd_ascii_space(text.p[i]);
		if (!space)
			pd_buf_add_c(&a->plain, text.p[i]);
		else if (a->plain.n && a->plain.p[a->plain.n - 1] != ' ')
			pd_buf_add_c(&a->plain, ' ');
	}
	while (a->plain.n && a->plain.p[a->plain.n - 1] == ' ')
		a->plain.n--;
}

static void abstract_sign(void *state, const struct pd_sign_page *in, struct pd_signature *out)
{
	struct abstract *a = state;
	collapse(a, pd_sign_visible(in));
	out->present = a->plain.n > 0;
	if (!out->present)
		return;
	pd_text_encode(a->encoder, pd_buf_span(&a->plain), a->size, &a->bytes);
	pd_md5_hex(pd_buf_span(&a->bytes), &out->column);
}

static const struct pd_method_param abstract_params[] = {
	[SIZE] = { .name = "size", .normal = 512, .paper = 512, .least = 8, .most = 1 << 20, .whole = true, .help = "bytes of the abstract" },
	[CHARSET] = { .name = "charset", .choices = "gb18030,utf-8", .normal = CHARSET_GB18030, .paper = CHARSET_GB18030,
		      .help = "in which they are counted" },
	{ .name = NULL },
};

const struct pd_method pd_abstract_method = {
	.name = "abstract",
	.kind = PD_SIGN_KEY,
	.summary = "pages whose visible text begins with the same 512 bytes",
	.params = abstract_params,
	.open = abstract_open,
	.close = abstract_close,
	.sign = abstract_sign,
};
