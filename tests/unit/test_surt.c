/* SPDX-License-Identifier: MIT
 *
 * URLs in the sort form of web archives.  The expected values follow the rules of the Wayback machine, as
 * its own tools apply them.
 */
#include <check.h>
#include <stdlib.h>

#include "url/surt.h"

static const struct {
	const char *url, *want;
} rows[] = {
	{ "http://www.Example.com/a/B?b=2&a=1#f", "com,example)/a/b?a=1&b=2" },
	{ "https://example.com:8443/x/", "com,example:8443)/x" },
	{ "http://example.com", "com,example)/" },
	{ "http://example.com/?", "com,example)/" },
	{ "http://example.com/a//b/../c", "com,example)/a/c" },
	{ "http://a.org/a/./b/..", "org,a)/a" },
	{ "http://a.org/../x", "org,a)/../x" },
	{ "ftp://www2.a.org/x", "org,a)/x" },
	{ "http://wwww.a.org/", "org,a,wwww)/" },
	{ "http://www.com/", "com)/" },
	{ "http://user:pw@a.org:80/", "org,a)/" },
	{ "https://a.org:443/", "org,a)/" },
	{ "http://a.org:443/", "org,a:443)/" },
	{ "http://A..org./", "org,a)/" },
	{ "HTTP://A.ORG", "org,a)/" },
	{ "http://1.2.3.4/a", "4,3,2,1)/a" },
	{ "http://[::1]/a", "::1)/a" },
	{ "http://a.org/%7Efoo/%20bar%2Fbaz", "org,a)/~foo/%20bar/baz" },
	{ "http://a.org/%2525", "org,a)/%25" },
	{ "https://example.com/%", "com,example)/%25" },
	{ "http://a.org/a+b c", "org,a)/a+b%20c" },
	{ "http://a.org/\xc3\xa9%C3%A9?\xc3\xa9=%E9", "org,a)/%c3%a9%c3%a9?%c3%a9=%e9" },
	{ "http://a.org/x?x=%41%2f%26%20", "org,a)/x?%20&x=a/" },
	{ "http://a.org/x?&&b&a=&", "org,a)/x?&&&a=&b" },
	{ "http://a.org/?a-b=1&a=2", "org,a)/?a=2&a-b=1" },
	{ "http://a.org/x/?q", "org,a)/x?q" },
	{ "http://a.org?q", "org,a)/?q" },
	{ "http://a.org/x?url=http://b.org/y?z=1", "org,a)/x?url=http://b.org/y?z=1" },
	{ "http://a.org/?sid=0123456789abcdef0123456789abcdef&x", "org,a)/?x" },
	{ "http://a.org/?x&sid=0123456789abcdef0123456789abcdef", "org,a)/?&x" },
	{ "http://a.org/?PHPSESSID=0123456789abcdef0123456789abcdef&q=1", "org,a)/?q=1" },
	{ "http://a.org/?ASPSESSIONIDABCDEFGH=abcdefghijklmnopqrstuvwx&y=1", "org,a)/?y=1" },
	{ "http://a.org/?sid=short", "org,a)/?sid=short" },
	{ "http://ex.com/(S(4hqa0555fwsecu455xqckv45))/m.aspx", "com,ex)/m.aspx" },
	{ "dns:Example.COM", "dns:example.com" },
	{ "urn:pageinfo:http://a.org/", "urn:pageinfo:http://a.org" },
	{ "filedesc://x.arc", "filedesc://x.arc" },
	{ "mailto:a b", "mailto:a%20b" },
	{ "  http://a.org/ ", "org,a)/" },
	{ "http://", ")/" },
	{ "http://a\tb.org/", "org,a%09b)/" },
	{ "", "" },
};

START_TEST(test_row)
{
	struct pd_surt s = { 0 };
	struct pd_buf out = { 0 };
	/* Buffers are warm the second time. */
	for (int i = 0; i < 2; i++) {
		pd_buf_clear(&out);
		pd_surt(&s, pd_span_z(rows[_i].url), &out);
	}
	ck_assert_msg(!strcmp(pd_buf_z(&out), rows[_i].want), "%s: %s, not %s", rows[_i].url, pd_buf_z(&out), rows[_i].want);
	pd_surt_release(&s);
	pd_buf_release(&out);
}
END_TEST

/* However many parameters there are, all of them tell pages apart. */
START_TEST(test_many)
{
	struct pd_surt s = { 0 };
	struct pd_buf url = { 0 }, want = { 0 }, out = { 0 };
	pd_buf_add_z(&url, "http://a.org/");
	pd_buf_add_z(&want, "org,a)/");
	for (int i = 0; i < 100000; i++) {
		pd_buf_printf(&url, "%c%05d=x", i ? '&' : '?', 99999 - i);
		pd_buf_printf(&want, "%c%05d=x", i ? '&' : '?', i);
	}
	pd_surt(&s, pd_buf_span(&url), &out);
	ck_assert_uint_eq(out.n, want.n);
	ck_assert(pd_span_eq(pd_buf_span(&out), pd_buf_span(&want)));
	pd_surt_release(&s);
	pd_buf_release(&url);
	pd_buf_release(&want);
	pd_buf_release(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("surt");
	TCase *t = tcase_create("surt");
	tcase_add_loop_test(t, test_row, 0, sizeof rows / sizeof *rows);
	tcase_add_test(t, test_many);
	suite_add_tcase(suite, t);
	SRunner *r = srunner_create(suite);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
