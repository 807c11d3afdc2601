/* SPDX-License-Identifier: MIT
 *
 * Hosts that are one site: evidence for and against it, in every order of the pages.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "url/alias.c" /* for its functions that are not exported */

/* A text of 200 words, `other` of them different between the subjects, and links to the host. */
static void source(struct pd_buf *out, const char *host, int subject, int other)
{
	pd_buf_clear(out);
	pd_buf_printf(out, "<a href=\"http://%s/\">home</a> ", host);
	for (int i = 0; i < 200; i++)
		pd_buf_printf(out, "<p>word%d%s ", i, i < other ? (char[]){ (char)('a' + subject), 0 } : "");
}

struct page {
	const char *host, *path, *address;
	int subject, other;
};

enum { PAGES_MAX = 8 };

/* Which hosts (a.org, b.org, …) have which site, as "ab|c": by each of `both`, `ip`, `pages`. */
static const struct {
	const char *name;
	struct page page[PAGES_MAX];
	const char *both, *ip, *pages;
} rows[] = {
	{ "one address, equal pages", { { "a", "/", "1", 0, 0 }, { "b", "/", "1", 0, 0 } }, "ab", "ab", "ab" },
	{ "one address, other pages", { { "a", "/", "1", 0, 60 }, { "b", "/", "1", 1, 60 } }, "a|b", "ab", "a|b" },
	{ "two addresses, equal pages", { { "a", "/", "1", 0, 0 }, { "b", "/", "2", 0, 0 } }, "a|b", "a|b", "ab" },
	{ "no address, equal pages", { { "a", "/", "", 0, 0 }, { "b", "/", "", 0, 0 } }, "a|b", "a|b", "ab" },
	{ "a word differs: alike", { { "a", "/", "1", 0, 1 }, { "b", "/", "1", 1, 1 } }, "ab", "ab", "ab" },
	{ "a tenth differs: not", { { "a", "/", "1", 0, 20 }, { "b", "/", "1", 1, 20 } }, "a|b", "ab", "a|b" },
	{ "the nearest have other paths", { { "a", "/", "1", 0, 0 }, { "b", "/index.php", "1", 0, 0 } }, "ab", "ab", "ab" },
	{ "the nearest counts",
	  { { "a", "/x/y", "1", 0, 0 }, { "b", "/x/y", "1", 0, 0 }, { "b", "/", "1", 1, 60 } },
	  "a|b",
	  "ab",
	  "a|b" },
	{ "half of the others differ",
	  { { "a", "/", "1", 0, 0 }, { "b", "/", "1", 0, 0 }, { "a", "/x", "1", 0, 60 }, { "b", "/x", "1", 1, 60 } },
	  "a|b",
	  "ab",
	  "a|b" },
	{ "fewer do",
	  { { "a", "/", "1", 0, 0 },
	    { "b", "/", "1", 0, 0 },
	    { "a", "/x", "1", 0, 60 },
	    { "b", "/x", "1", 1, 60 },
	    { "a", "/y", "1", 2, 60 },
	    { "b", "/y", "1", 2, 60 } },
	  "ab",
	  "ab",
	  "ab" },
	{ "only the first two pages are looked at",
	  { { "a", "/", "1", 0, 0 },
	    { "b", "/", "1", 0, 0 },
	    { "a", "/x", "1", 3, 60 },
	    { "b", "/x", "1", 3, 60 },
	    { "a", "/x/z", "1", 0, 60 },
	    { "b", "/x/z", "1", 1, 60 },
	    { "a", "/x/w", "1", 0, 60 },
	    { "b", "/x/w", "1", 1, 60 } },
	  "ab",
	  "ab",
	  "ab" },
	{ "an address of several shared",
	  { { "a", "/", "1", 0, 0 }, { "a", "/", "2", 0, 0 }, { "b", "/", "2", 0, 0 } },
	  "ab",
	  "ab",
	  "ab" },
	{ "a chain",
	  { { "a", "/", "1", 0, 0 }, { "b", "/", "1", 0, 0 }, { "b", "/", "2", 0, 0 }, { "c", "/", "2", 0, 0 } },
	  "abc",
	  "abc",
	  "abc" },
	{ "www at one address", { { "a", "/x", "1", 0, 60 }, { "www.a", "/y", "1", 1, 60 } }, "aw", "aw", "a|w" },
	{ "www elsewhere", { { "a", "/x", "1", 0, 60 }, { "www.a", "/y", "2", 1, 60 } }, "a|w", "a|w", "a|w" },
};

/* The sites as a word: hosts by their first letters. */
static void run(const struct page *page, int n, bool backwards, enum pd_alias_by by, struct pd_buf *out)
{
	struct pd_alias_options o = PD_ALIAS_DEFAULTS;
	struct pd_buf text = { 0 }, host = { 0 }, table = { 0 };
	struct pd_span rest, line, name, site, before = { 0 };
	o.by = by;
	o.first = 3;
	struct pd_aliases *a = aliases_new(&o);
	for (int i = 0; i < n; i++) {
		const struct page *p = &page[backwards ? n - 1 - i : i];
		pd_buf_clear(&host);
		pd_buf_printf(&host, "%s.org", p->host);
		source(&text, host.p, p->subject, p->other);
		aliases_page(a, pd_buf_span(&host), pd_span_z(p->path), pd_span_z(p->address), pd_buf_span(&text));
	}
	aliases_write(a, &table);
	rest = pd_buf_span(&table);
	pd_buf_clear(out);
	while (pd_span_split(&rest, '\n', &line)) {
		if (!line.n || line.p[0] == '#')
			continue;
		pd_span_split(&line, '\t', &name);
		pd_span_split(&line, '\t', &site);
		if (before.n && !pd_span_eq(site, before))
			pd_buf_add_c(out, '|');
		pd_buf_add_c(out, name.p[0]);
		before = site;
	}
	aliases_free(a);
	pd_buf_release(&text);
	pd_buf_release(&host);
	pd_buf_release(&table);
}

START_TEST(test_sites)
{
	struct pd_buf out = { 0 };
	int n = 0;
	while (n < PAGES_MAX && rows[_i].page[n].host)
		n++;
	for (int by = 0; by < 3; by++)
		for (int backwards = 0; backwards < 2; backwards++) {
			const char *want = by == PD_ALIAS_BOTH ? rows[_i].both : by == PD_ALIAS_IP ? rows[_i].ip : rows[_i].pages;
			run(rows[_i].page, n, backwards, (enum pd_alias_by)by, &out);
			ck_assert_msg(!strcmp(pd_buf_z(&out), want), "%s, by %s: %s, not %s", rows[_i].name, pd_alias_by_names[by],
				      out.p, want);
		}
	pd_buf_release(&out);
}

static struct pd_aliases_counts many(int n, int subjects, const char *text, struct pd_buf *table)
{
	struct pd_alias_options o = PD_ALIAS_DEFAULTS;
	struct pd_aliases *a = aliases_new(&o);
	struct pd_buf host = { 0 }, page = { 0 };
	for (int i = 0; i < n; i++) {
		pd_buf_clear(&host);
		pd_buf_printf(&host, "h%06d.org", i * 7919 % n);
		source(&page, host.p, 0, 0);
		pd_buf_printf(&page, "subject %d", i * 7919 % n % subjects);
		aliases_page(a, pd_buf_span(&host), pd_span_z("/"), pd_span_z("1"), text ? pd_span_z(text) : pd_buf_span(&page));
	}
	struct pd_aliases_counts c = aliases_write(a, table);
	aliases_free(a);
	pd_buf_release(&host);
	pd_buf_release(&page);
	return c;
}

/* Very many hosts at one address: in no time, and a page that says nothing makes them no site. */
START_TEST(test_many)
{
	struct pd_buf table = { 0 };
	struct pd_aliases_counts c = many(5000, 1, NULL, &table);
	ck_assert_uint_eq(c.hosts, 5000);
	ck_assert_uint_eq(c.sites, 1);
	pd_buf_clear(&table);
	c = many(2000, 1, "<h1>It works!</h1>", &table);
	ck_assert_uint_eq(c.sites, 2000);
	pd_buf_release(&table);
}

/* Addresses from elsewhere; hosts without a page have no row. */
START_TEST(test_given)
{
	struct pd_alias_options o = PD_ALIAS_DEFAULTS;
	struct pd_buf table = { 0 }, text = { 0 };
	struct pd_aliases *a = aliases_new(&o);
	const char *hosts[] = { "a.org", "b.org" };
	for (int i = 0; i < 2; i++) {
		source(&text, hosts[i], 0, 0);
		add_address(a, host_of(a, pd_span_z(hosts[i])), pd_span_z("10.0.0.2"));
		add_address(a, host_of(a, pd_span_z(hosts[i])), pd_span_z("10.0.0.1"));
		aliases_page(a, pd_span_z(hosts[i]), pd_span_z("/"), pd_span("", 0), pd_buf_span(&text));
	}
	aliases_page(a, pd_span_z("b.org"), pd_span_z("/2"), pd_span("", 0), pd_buf_span(&text));
	add_address(a, host_of(a, pd_span_z("c.org")), pd_span_z("10.0.0.1"));
	aliases_write(a, &table);
	ck_assert_str_eq(
		table.p,
		"# pagededup sites 1 | by=both first=5 similar=0.95 end=total\n#host\tsite\tpages\taddresses\tby\tvia\tsimilarity\n"
		"a.org\tb.org\t1\t10.0.0.1,10.0.0.2\t-\t-\t-\nb.org\tb.org\t2\t10.0.0.1,10.0.0.2\tboth\ta.org\t1.000\n# total "
		"rows=2\n");
	aliases_free(a);
	pd_buf_release(&table);
	pd_buf_release(&text);
}

int main(void)
{
	Suite *s = suite_create("alias");
	TCase *t = tcase_create("alias");
	tcase_add_loop_test(t, test_sites, 0, sizeof rows / sizeof *rows);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_given);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
