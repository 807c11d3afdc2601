/* SPDX-License-Identifier: MIT
 *
 * URLs: parsing (tests/shell/url.sh runs the cases of the standard's tests, if they are available), the forms that
 * count as one URL, and parameters that do not matter.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "url/canonical.c" /* for its functions that are not exported */
#include "url/host.h"

/* --- reading --- */

static const struct {
	const char *url, *base, *want; /* NULL: none */
} parsed[] = {
	{ "http://Example.COM", NULL, "http://example.com/" },
	{ "  http://a.org/b c \n", NULL, "http://a.org/b%20c" },
	{ "ht\ntp://a.org/\tx", NULL, "http://a.org/x" },
	{ "http:\\\\a.org\\b", NULL, "http://a.org/b" },
	{ "http:a.org", NULL, "http://a.org/" },
	{ "https://u:p@a.org:443/", NULL, "https://u:p@a.org/" },
	{ "http://a@b@c/", NULL, "http://a%40b@c/" },
	{ "http://a.org:0080/", NULL, "http://a.org/" },
	{ "http://a.org:65536/", NULL, NULL },
	{ "http://a.org:8x/", NULL, NULL },
	{ "http://@/x", NULL, NULL },
	{ "http:///", NULL, NULL },
	{ "http://a b/", NULL, NULL },
	{ "http://a%00b/", NULL, NULL },
	{ "http://%41.org/", NULL, "http://a.org/" },
	{ "http://b\xc3\xbc"
	  "cher.ch/",
	  NULL, "http://xn--bcher-kva.ch/" },
	{ "http://fa\xc3\x9f.de/", NULL, "http://xn--fa-hia.de/" },
	{ "http://a\xff.org/", NULL, NULL },
	{ "http://0x7f.1/", NULL, "http://127.0.0.1/" },
	{ "http://1.2.3.256/", NULL, NULL },
	{ "http://1.2.3.4.5/", NULL, NULL },
	{ "http://[1:0:0:2::]/", NULL, "http://[1:0:0:2::]/" },
	{ "http://[0:0:0:1::]/", NULL, "http://[0:0:0:1::]/" },
	{ "http://[::1.2.3.4]/", NULL, "http://[::102:304]/" },
	{ "http://[1:2:3]/", NULL, NULL },
	{ "http://[::1", NULL, NULL },
	{ "http://a/b/../../c/./d/%2e%2E/e/..", NULL, "http://a/c/" },
	{ "http://a//b//../c", NULL, "http://a//b/c" },
	{ "http://a?b#c?d#e", NULL, "http://a/?b#c?d#e" },
	{ "http://a/?'\"", NULL, "http://a/?%27%22" },
	{ "x://a/?'", NULL, "x://a/?'" },
	{ "http://a/\xff\xe4\xbd\xa0", NULL, "http://a/%FF%E4%BD%A0" },
	{ "mailto:a b@c ?d", NULL, "mailto:a b@c%20?d" },
	{ "x:/.//y", NULL, "x:/.//y" },
	{ "file:///C|/../x", NULL, "file:///C:/x" },
	{ "file://localhost/x", NULL, "file:///x" },
	{ "a.org/x", NULL, NULL },
	{ "", NULL, NULL },
	{ "", "http://a/b?c#d", "http://a/b?c" },
	{ "x", "http://a/b/c?d", "http://a/b/x" },
	{ "?x", "http://a/b/c?d", "http://a/b/c?x" },
	{ "#x", "http://a/b/c?d", "http://a/b/c?d#x" },
	{ "/x", "http://a:81/b/c", "http://a:81/x" },
	{ "//b", "https://a/", "https://b/" },
	{ "\\\\b/c", "https://a/", "https://b/c" },
	{ "http:x", "http://a/b/c", "http://a/b/x" },
	{ "https:x", "http://a/b/c", "https://x/" },
	{ "../../../x", "http://a/b/c/d", "http://a/x" },
	{ "#x", "mailto:a", "mailto:a#x" },
	{ "x", "mailto:a", NULL },
	{ "..", "x:/.//y/z", "x:/.//" },
	{ "y", "file:///C:/a/b", "file:///C:/a/y" },
	{ "/..", "file:///C:/a/b", "file:///C:/" },
	{ "D:/y", "file:///C:/a/b", "d:/y" },
};

START_TEST(test_parse)
{
	struct pd_url u = { 0 }, base = { 0 };
	const char *want = parsed[_i].want;
	ck_assert(!parsed[_i].base || pd_url_parse(pd_span_z(parsed[_i].base), NULL, &base));
	/* Buffers are warm the second time. */
	for (int i = 0; i < 2; i++) {
		bool good = pd_url_parse(pd_span_z(parsed[_i].url), parsed[_i].base ? &base : NULL, &u);
		ck_assert_msg(good == !!want, "%s: %s", parsed[_i].url, good ? u.href.p : u.why);
		ck_assert_msg(!good || !strcmp(u.href.p, want), "%s: %s, not %s", parsed[_i].url, u.href.p, want);
	}
	pd_url_release(&u);
	pd_url_release(&base);
}

START_TEST(test_parts)
{
	struct pd_url u = { 0 };
	ck_assert(pd_url_parse(pd_span_z("https://user:pw@h.example:8080/p/q?a=b#f"), NULL, &u));
	ck_assert(u.scheme == PD_URL_HTTPS && u.has_host && !u.opaque);
	ck_assert(pd_span_is(pd_url_host_of(&u), "h.example"));
	ck_assert(pd_span_is(pd_url_port(&u), "8080"));
	ck_assert(pd_span_is(pd_url_path(&u), "/p/q"));
	ck_assert(pd_span_is(pd_url_part(&u, u.query, u.fragment), "?a=b"));
	ck_assert(pd_span_is(pd_url_part(&u, u.fragment, (uint32_t)u.href.n), "#f"));
	ck_assert(pd_span_is(pd_url_part(&u, u.user, u.host), "user:pw@"));
	char *big = pd_alloc(PD_URL_MAX + 1);
	memset(big, 'a', PD_URL_MAX + 1);
	memcpy(big, "http://a/", 9);
	ck_assert(pd_url_parse(pd_span(big, PD_URL_MAX), NULL, &u));
	ck_assert(!pd_url_parse(pd_span(big, PD_URL_MAX + 1), NULL, &u));
	free(big);
	pd_url_release(&u);
}

/* --- forms --- */

static const struct {
	const char *url, *canonical, *loose;
} forms[] = {
	{ "HTTP://u:p@www.A.org.:80//x//../%7e%2f%c3?#f", "http://www.a.org/x/~%2F%C3", "http://a.org/x/~%2F%C3" },
	{ "https://a.org/", "https://a.org/", "http://a.org/" },
	{ "https://a.org:81/X/", "https://a.org:81/X/", "https://a.org:81/x" },
	{ "http://a.org/?b=2&a=1&&a=0&c=", "http://a.org/?a=1&a=0&b=2&c", "http://a.org/?a=1&a=0&b=2&c" },
	{ "http://a.org/?=1", "http://a.org/?=1", "http://a.org/?=1" },
	{ "http://a.org/?=", "http://a.org/", "http://a.org/" },
	{ "http://a.org/100%", "http://a.org/100%25", "http://a.org/100%25" },
	{ "http://a.org/%2541", "http://a.org/%2541", "http://a.org/%2541" },
	{ "http://a.org/x?y={[|]}", "http://a.org/x?y=%7B%5B%7C%5D%7D", "http://a.org/x?y=%7B%5B%7C%5D%7D" },
	{ "http://a.org/a?utm_source=x&SID=0123456789abcdef0123456789ABCDEF&sid=7",
	  "http://a.org/a?SID=0123456789abcdef0123456789ABCDEF&sid=7&utm_source=x", "http://a.org/a?sid=7" },
	{ "http://a.org/(S(4hqa0555fwsecu455xqckv45))/m;jsessionid=1", "http://a.org/(S(4hqa0555fwsecu455xqckv45))/m;jsessionid=1",
	  "http://a.org/m" },
	{ "http://a.org/(S(4hqa0555fwsecu455xqckv4))/m", "http://a.org/(S(4hqa0555fwsecu455xqckv4))/m",
	  "http://a.org/(s(4hqa0555fwsecu455xqckv4))/m" },
	{ "http://a.org/b/;jsessionid=1/a.;jsessionid=1", "http://a.org/b/;jsessionid=1/a.;jsessionid=1", "http://a.org/b/a." },
	{ "http://a.org/b/..;jsessionid=1/c", "http://a.org/b/..;jsessionid=1/c", "http://a.org/b/..;jsessionid=1/c" },
	{ "http://a.org/b/%2e;jsessionid=1/c", "http://a.org/b/.;jsessionid=1/c", "http://a.org/b/.;jsessionid=1/c" },
	{ "http://a.org/b/.%2E;jsessionid=1/c", "http://a.org/b/..;jsessionid=1/c", "http://a.org/b/..;jsessionid=1/c" },
	{ "http://www.com/", "http://www.com/", "http://www.com/" },
	{ "http://www12.com/", "http://www12.com/", "http://www12.com/" },
	{ "http://./x", "http://./x", "http://./x" },
	{ "mailto:A%2db", "mailto:A-b", "mailto:A-b" },
};

static void make(struct pd_canonical *c, const char *url, struct pd_buf *out)
{
	struct pd_url u = { 0 };
	ck_assert_msg(pd_url_parse(pd_span_z(url), NULL, &u), "%s: %s", url, u.why);
	pd_canonical_make(c, &u, out);
	pd_url_release(&u);
}

START_TEST(test_form)
{
	struct pd_params generally_known = { 0 };
	struct pd_canonical c = { .form = PD_FORM_CANONICAL }, l = { .form = PD_FORM_LOOSE, .params = &generally_known };
	struct pd_buf out = { 0 }, again = { 0 };
	pd_params_open(&generally_known, NULL, true, NULL, NULL);
	make(&c, forms[_i].url, &out);
	ck_assert_str_eq(out.p, forms[_i].canonical);
	make(&c, out.p, &again);
	ck_assert_str_eq(again.p, out.p);
	make(&l, forms[_i].url, &out);
	ck_assert_str_eq(out.p, forms[_i].loose);
	make(&l, out.p, &again);
	ck_assert_str_eq(again.p, out.p);
	pd_params_release(&generally_known);
	pd_canonical_release(&c);
	pd_canonical_release(&l);
	pd_buf_release(&out);
	pd_buf_release(&again);
}

START_TEST(test_fragment)
{
	struct pd_canonical c = { .form = PD_FORM_CANONICAL, .keep_fragment = true };
	struct pd_buf out = { 0 };
	make(&c, "http://a.org/?#!/%7ex", &out);
	ck_assert_str_eq(out.p, "http://a.org/#!/~x");
	make(&c, "http://a.org/#", &out);
	ck_assert_str_eq(out.p, "http://a.org/");
	pd_canonical_release(&c);
	pd_buf_release(&out);
}

/* --- parameters --- */

START_TEST(test_named)
{
	struct pd_params p = { 0 };
	struct pd_err e;
	struct pd_canonical c = { .form = PD_FORM_CANONICAL, .params = &p };
	struct pd_buf out = { 0 };
	ck_assert(!params_name(&p, pd_span_z("Sort, utm_*"), &e));
	make(&c, "http://a.org/?sort=1&SORT=2&sorted=3&UTM_x&utm=4&utm_=5", &out);
	ck_assert_str_eq(out.p, "http://a.org/?sorted=3&utm=4");
	ck_assert_int_eq(params_name(&p, pd_span_z("a,,b"), &e), PD_ERR_USAGE);
	ck_assert_int_eq(params_name(&p, pd_span_z("a*b"), &e), PD_ERR_USAGE);
	ck_assert_int_eq(params_name(&p, pd_span_z("*"), &e), PD_ERR_USAGE);
	pd_params_release(&p);
	pd_canonical_release(&c);
	pd_buf_release(&out);
}

static void lesson(struct pd_params_lesson *l, const char *url, const char *text)
{
	params_lesson_add(l, pd_span_z("h"), pd_span_z(url), pd_span_z(text));
}

/* s and u never change a page, u compared with its absence; q does; e always gives the same text, for any page; v
 * has one value; one group too few teaches nothing; f changes the page when it is absent. */
START_TEST(test_learn)
{
	struct pd_params_lesson *l = pd_zalloc(sizeof *l);
	struct pd_buf out = { 0 };
	for (int page = 0; page < 3; page++)
		for (int s = 0; s < 2; s++) {
			char url[64], text[8];
			snprintf(url, sizeof url, "http://h/%d?p=%d&s=%d", page, page, page + s);
			snprintf(text, sizeof text, "t%d", page);
			lesson(l, url, text);
			snprintf(url, sizeof url, "http://h/e%d?e=%d", page, page + s);
			lesson(l, url, "no such page");
			snprintf(url, sizeof url, "http://h/x?q=%d", page);
			lesson(l, url, text);
			snprintf(url, sizeof url, "http://h/y%d?two=%d", page % 2, page + s);
			lesson(l, url, page % 2 ? "y1" : "y0");
			snprintf(url, sizeof url, s ? "http://h/u%d?u=%d" : "http://h/u%d", page, page);
			lesson(l, url, text);
			snprintf(url, sizeof url, s ? "http://h/v%d?v=1" : "http://h/v%d", page);
			lesson(l, url, text);
			snprintf(url, sizeof url, s ? "http://h/f%d?f=%d" : "http://h/f%d", page, page);
			lesson(l, url, s ? "framed" : text);
		}
	struct pd_params_counts n = { 0 };
	params_lesson_write(l, 3, &n, &out);
	ck_assert_str_eq(out.p, "# pagededup params 1 | least=3 end=total\n#host\tname\tsame\tdifferent\ttexts\tvalues\tlearnt\n"
				"h\te\t3\t0\t1\t4\t0\nh\tf\t0\t3\t0\t0\t0\nh\tq\t0\t1\t0\t0\t0\nh\ts\t3\t0\t3\t4\t1\n"
				"h\ttwo\t2\t0\t2\t4\t0\nh\tu\t3\t0\t3\t3\t1\nh\tv\t3\t0\t3\t1\t0\n# total rows=7\n");
	ck_assert_uint_eq(n.parameters, 7);
	ck_assert_uint_eq(n.learnt, 2);
	pd_buf_clear(&out);
	n.learnt = 0;
	params_lesson_write(l, 2, &n, &out);
	ck_assert_uint_eq(n.learnt, 3);
	params_lesson_free(l);
	pd_buf_release(&out);
}

/* --- registered domains --- */

static const struct {
	const char *host, *domain;
	bool listed;
} domains[] = {
	{ "news.bbc.co.uk", "bbc.co.uk", true },
	{ "bbc.co.uk", "bbc.co.uk", true },
	{ "co.uk", "co.uk", true },
	{ "uk", "uk", false },
	{ "a.b.example.org", "example.org", true },
	{ "index.html", "index.html", false },
	{ "localhost", "localhost", false },
	{ "192.168.0.1", "192.168.0.1", false },
	{ "[::1]", "[::1]", false },
	{ "a.xn--p1ai", "a.xn--p1ai", true },
	{ "", "", false },
};

START_TEST(test_domain)
{
	struct pd_buf out = { 0 };
	pd_domain_of(pd_span_z(domains[_i].host), &out);
	ck_assert_str_eq(pd_buf_z(&out), domains[_i].domain);
	ck_assert_msg(pd_domain_listed(pd_span_z(domains[_i].host), &out) == domains[_i].listed, "%s", domains[_i].host);
	pd_buf_release(&out);
}

int main(void)
{
	Suite *s = suite_create("url");
	TCase *t = tcase_create("url");
	tcase_add_loop_test(t, test_parse, 0, sizeof parsed / sizeof *parsed);
	tcase_add_test(t, test_parts);
	tcase_add_loop_test(t, test_form, 0, sizeof forms / sizeof *forms);
	tcase_add_test(t, test_fragment);
	tcase_add_test(t, test_named);
	tcase_add_test(t, test_learn);
	tcase_add_loop_test(t, test_domain, 0, sizeof domains / sizeof *domains);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
