/* SPDX-License-Identifier: MIT
 *
 * HTML that browsers read and libxml2 alone does not.  For any input the output is XHTML that an XML parser reads,
 * in time linear in the page.
 */
#include <check.h>
#include <dirent.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "page/blocks.h"
#include "page/tokens.h"
#include "page/tree.h"
#include "html_events.h"

static struct pd_html *new_html(void)
{
	struct pd_html_options o = PD_HTML_DEFAULTS;
	o.keep_xhtml = true;
	return pd_html_new(&o);
}

/* The XHTML, without the root that every page has. */
static struct pd_span inside(const struct pd_blocks *b)
{
	struct pd_span s = pd_buf_span(&b->xhtml);
	static const char head[] = "<html>", tail[] = "</html>";
	ck_assert_msg(pd_span_istarts(s, "<html") && s.n >= strlen(head) + strlen(tail), "no root: '%s'", pd_buf_z(&b->xhtml));
	if (pd_span_istarts(s, head))
		s = pd_span(s.p + strlen(head), s.n - strlen(head) - strlen(tail));
	return s;
}

static const struct {
	const char *name, *html, *want;
} quirks[] = {
	{ "nothing", "", "" },
	{ "only white space", " \n ", "" },
	{ "text alone", "a", "<body><p>a</p></body>" },
	{ "comment <!-->", "<p>a<!-->b</p>", "<body><p>ab</p></body>" },
	{ "comment <!--->", "<p>a<!--->b</p>", "<body><p>ab</p></body>" },
	{ "comment --!>", "<p>a<!-- x --!>b<!-- -->c</p>", "<body><p>abc</p></body>" },
	{ "comment with dashes and a tag", "<p>a<!-- -- > <b> --->b</p>", "<body><p>ab</p></body>" },
	{ "comment that does not end", "<p>a<!-- b</p>", "<body><p>a</p></body>" },
	{ "declarations and instructions", "<!DOCTYPE html><?xml x?><p>a<![if !IE]>b<![endif]>c</ >d</p>",
	  "<body><p>abcd</p></body>" },
	{ "no semicolon", "<p>&copy 2020 &ampx &notit; &frac12;", "<body><p>\u00a9 2020 &amp;x \u00acit; \u00bd</p></body>" },
	{ "no such reference", "<p>&nosuch; & &; &#; &#x; &#xg &thetasym",
	  "<body><p>&amp;nosuch; &amp; &amp;; &amp;#; "
	  "&amp;#x; &amp;#xg &amp;thetasym</p></body>" },
	{ "windows-1252 numbers", "<p>&#128;&#x93;a&#148;&#150&#159;", "<body><p>\u20ac\u201ca\u201d\u2013\u0178</p></body>" },
	{ "numbers that are not characters", "<p>&#0;&#xD800;&#x110000;&#99999999999999999999;&#xFFFF;&#1;a",
	  "<body><p>\ufffd\ufffd\ufffd\ufffd\ufffda</p></body>" },
	{ "later names", "<p>&apos;&hellip;&nbsp;&AMP;&lpar;", "<body><p>'\u2026\u00a0&amp;(</p></body>" },
	{ "references that are markup", "<p>&lt;b&gt; &#60;i&#62; &quot;", "<body><p>&lt;b&gt; &lt;i&gt; &quot;</p></body>" },
	{ "references in values", "<p title='&copy=1&copy;&copy &quot;&lt;&#128;&amp;amp;'>",
	  "<body><p title=\"&amp;copy=1\u00a9\u00a9 &quot;&lt;\u20ac&amp;amp;\"></p></body>" },
	{ "title holds text", "<title>a <b>c</b> &amp; <!-- d --></title><p>e",
	  "<head><title>a &lt;b&gt;c&lt;/b&gt; &amp; &lt;!-- d --&gt;</title></head><body><p>e</p></body>" },
	{ "textarea holds text", "<textarea>a<p>b</textarea>c", "<body><textarea>a&lt;p&gt;b</textarea>c</body>" },
	{ "a title that does not end", "<title>a<p>b", "<head><title>a</title></head><body><p>b</p></body>" },
	{ "a textarea that does not end", "<textarea>a<p>b", "<body><textarea>a</textarea><p>b</p></body>" },
	{ "text after the end", "<body><p>a</p></body></html>b<p>c</p>", "<body><p>a</p><p>b</p><p>c</p></body>" },
	{ "a second page", "<html><body><div>a</div></body></html><html><body><div>b</div></body></html>",
	  "<body><div>a</div><div>b</div></body>" },
	{ "a second body", "<body>a<body class=x>b</body>c", "<body>abc</body>" },
	{ "ignored subtrees",
	  "<p>a<script>'</p>'<b></script>b<style>p{}</style><noscript><p>c</noscript>d"
	  "<svg><g><path d=x /></g><text>e</text></svg><iframe>f</iframe><template><p>g</p></template>h</p>",
	  "<body><p>abdh</p></body>" },
	{ "islands that nest", "<p>a<svg><svg/><SVG x='<'></svg>b</svg>c<template><template>d</template><li></p>e</template>f",
	  "<body><p>acf</p></body>" },
	{ "an island that does not end", "<div>a<svg>b</div>c", "<body><div>a</div>c</body>" },
	{ "script that does not end", "<p>a<script>b<p>c", "<body><p>a</p></body>" },
	{ "script with another end", "<p>a<script>'</scripty>'</SCRIPT >b", "<body><p>ab</p></body>" },
	{ "empty script", "<p>a<script src=x />b", "<body><p>ab</p></body>" },
	{ "noscript that does not end", "<p>a<noscript>b", "<body><p>ab</p></body>" },
	{ "CDATA", "<p>a<![CDATA[b]]>c", "<body><p>ac</p></body>" },
	{ "tags that are not HTML", "<p>a<foo:bar x=y>b<my-tag>c</foo:bar>d", "<body><p>abcd</p></body>" },
	{ "void elements", "<p>a<br>b<img src=x>c<wbr>d<source>e</br>f</img>",
	  "<body><p>a<br />b<img src=\"x\" />c<wbr />d<source />e<br />f</p></body>" },
	{ "unclosed tags", "<ul><li>a<li><b>b</ul><p>c<p>d<table><tr><td>e",
	  "<body><ul><li>a</li><li><b>b</b></li></ul><p>c</p><p>d</p><table><tr><td>e</td></tr></table></body>" },
	{ "an angle that begins no tag", "<p>1 < 2 <3 << a<=b", "<body><p>1 &lt; 2 &lt;3 &lt;&lt; a&lt;=b</p></body>" },
	{ "attributes of all kinds", "<p A=1 b='2' c=\"3\" d e=f/g a=4 h = i>x",
	  "<body><p a=\"1\" b=\"2\" c=\"3\" d=\"\" e=\"f/g\" h=\"i\">x</p></body>" },
	{ "names that XML has not", "<p @click='a > b' [x]=1 1a=2 xmlns=3 x:y=4 \"=5 -b=6 ok=7>x",
	  "<body><p ok=\"7\">x</p></body>" },
	{ "a value with tags in it", "<p a='<b>\">'>x", "<body><p a=\"&lt;b&gt;&quot;&gt;\">x</p></body>" },
	{ "a quote that does not end", "<p a=\"b>c</p><p>d", "<body><p a=\"b\">c</p><p>d</p></body>" },
	{ "a tag that does not end", "<p>a<p b=c", "<body><p>a</p></body>" },
	{ "a byte order mark", "\ufeff<html lang=x><p>a", "<html lang=\"x\"><body><p>a</p></body></html>" },
	{ "controls and noncharacters",
	  "<p a='\x01\ufffe'>a\x02\x0c"
	  "b\uffff\ufffd",
	  "<body><p a=\"\">a b\ufffd</p></body>" },
	{ "a table without rows", "<table>a<td>b</table>", "<body><table>a<td>b</td></table></body>" },
};

START_TEST(quirk)
{
	struct pd_html *h = new_html();
	struct pd_blocks b = { 0 };
	pd_html_parse(h, pd_span_z(quirks[_i].html), false, &b);
	struct pd_span got = inside(&b);
	ck_assert_msg(pd_span_is(got, quirks[_i].want), "%s: '%.*s', not '%s'", quirks[_i].name, (int)got.n, got.p,
		      quirks[_i].want);
	pd_html_free(h);
	pd_blocks_release(&b);
}
END_TEST

/* NUL bytes do not end a page. */
START_TEST(nul)
{
	static const char page[] = "<p cla\0ss=x>a\0b</p>\0<script>\0</script>c";
	struct pd_html *h = new_html();
	struct pd_blocks b = { 0 };
	pd_html_parse(h, pd_span(page, sizeof(page) - 1), false, &b);
	ck_assert_str_eq(pd_buf_z(&b.xhtml), "<html><body><p>ab</p>c</body></html>");
	pd_html_free(h);
	pd_blocks_release(&b);
}
END_TEST

/* Texts that the parser skips are returned in their place: more texts than letters, some long, some in skipped
 * elements, with values in between. */
START_TEST(held)
{
	struct pd_html *h = new_html();
	struct pd_buf page = { 0 }, want = { 0 };
	struct pd_blocks b = { 0 };
	pd_buf_add_z(&page, "<title>none</title>");
	pd_buf_add_z(&want, "<html><head><title>none</title></head><body>");
	for (int i = 0; i < 300; i++) {
		pd_buf_printf(&page, "<P ID=%d Class='c&amp;%d' id=x>t%d &lt; <x-y a=%d>%d</x-y><svg a=%d>left out %d</svg>", i, i,
			      i, i, i, i, i);
		pd_buf_printf(&page, "<b> </b>&#%d;<a href=\"?a=1&lt=%d\">< %0*d</a>", 200 + i, i, i * 10, i);
		pd_buf_printf(&want, "<p id=\"%d\" class=\"c&amp;%d\">t%d &lt; %d<b> </b>", i, i, i, i);
		pd_buf_add_utf8(&want, 200 + (uint32_t)i);
		pd_buf_printf(&want, "<a href=\"?a=1&amp;lt=%d\">&lt; %0*d</a></p>", i, i * 10, i);
	}
	pd_buf_add_z(&want, "</body></html>");
	pd_html_parse(h, pd_buf_span(&page), false, &b);
	ck_assert_str_eq(pd_buf_z(&b.xhtml), pd_buf_z(&want));
	pd_html_free(h);
	pd_blocks_release(&b);
	pd_buf_release(&page);
	pd_buf_release(&want);
}
END_TEST

static void check_xml(struct pd_html *h, struct pd_span html, bool plain, const char *name)
{
	struct pd_blocks b = { 0 };
	pd_html_parse(h, html, plain, &b);
	xmlDocPtr doc = xmlReadMemory(b.xhtml.p, (int)b.xhtml.n, NULL, "UTF-8",
				      XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET | XML_PARSE_HUGE);
	const xmlError *e = doc ? NULL : xmlGetLastError();
	ck_assert_msg(doc != NULL, "%s: %s", name, e ? e->message : "no document");
	xmlFreeDoc(doc);
	for (size_t i = 0; i < b.n_blocks; i++)
		ck_assert_msg(b.blocks[i].markup_at + b.blocks[i].markup_n <= b.xhtml.n, "%s: markup", name);
	pd_blocks_release(&b);
}

static const struct {
	const char *name, *piece;
	unsigned times;
} nasty[] = {
	{ "nothing", "", 1 },
	{ "angles", "<", 100000 },
	{ "open tags", "<div>", 100000 },
	{ "open inline tags", "<b><i>", 100000 },
	{ "a mixture", "<p><a><b><table><td>x", 20000 },
	{ "end tags", "</p></div></b></html>", 20000 },
	{ "crossed tags", "<b><i></b></i>", 50000 },
	{ "roots", "<html><head><body></body></html>x", 20000 },
	{ "comments", "<!--><!--->", 50000 },
	{ "attributes", "<p a=1 b=\"2\" a='3' <c> d=\"<>&'\" \x01=\x01 xmlns:x=y x:z=1 ]]>]]>", 2000 },
	{ "quotes", "<a href='\"><a href=\"'>", 20000 },
	{ "references", "&&#128;&copy&lt&#0;&#xFFFE;&quot", 20000 },
	{ "raw text", "<title><textarea><xmp></title></textarea></xmp><script>", 5000 },
	{ "wide", "\u4e2d\ufffe\uffff\u00a0\xc2\x85\u2028\U0001F600\U0010FFFF", 10000 },
	{ "controls", "\x01\x02\x1f\x7f\r\r\n\t<p\x01>", 10000 },
	{ "no UTF-8", "\xff\xc0\x80\xed\xa0\x80\xf8<p a=\xe4\xb8>\xe4", 10000 },
	{ "instructions", "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]>&a;<![CDATA[x]]>", 5000 },
	{ "frames", "<frameset><frame><noframes>x</noframes></frameset>", 5000 },
	{ "pictures", "<svg><math><svg/></math><foreignObject><div>x", 5000 },
};

START_TEST(well_formed)
{
	struct pd_html *h = new_html();
	struct pd_buf page = { 0 };
	for (unsigned i = 0; i < nasty[_i].times; i++)
		pd_buf_add_z(&page, nasty[_i].piece);
	check_xml(h, pd_buf_span(&page), false, nasty[_i].name);
	check_xml(h, pd_buf_span(&page), true, nasty[_i].name);
	pd_html_free(h);
	pd_buf_release(&page);
}
END_TEST

static void check_file(struct pd_html *h, const char *path)
{
	char piece[4096];
	size_t n;
	struct pd_buf page = { 0 };
	FILE *f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "%s cannot be opened", path);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		pd_buf_add(&page, piece, n);
	fclose(f);
	check_xml(h, pd_buf_span(&page), false, path);
	pd_buf_release(&page);
}

static int check_folder(struct pd_html *h, const char *corpora, const char *folder)
{
	char path[2048];
	int files = 0;
	struct dirent *e;
	snprintf(path, sizeof(path), "%s/robustness/%s", corpora, folder);
	DIR *d = opendir(path);
	ck_assert_msg(d != NULL, "%s cannot be opened", path);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/robustness/%s/%s", corpora, folder, e->d_name);
		check_file(h, path);
		files++;
	}
	closedir(d);
	return files;
}

START_TEST(corpora)
{
	const char *top = getenv("PAGEDEDUP_CORPORA");
	if (!top)
		return;
	struct pd_html *h = new_html();
	ck_assert_int_gt(check_folder(h, top, "html-fuzz-seeds"), 0);
	ck_assert_int_gt(check_folder(h, top, "libxml2-html/test/HTML"), 0);
	pd_html_free(h);
}
END_TEST

/* Pages on which an element that looks balanced might not be balanced. */
static const char *const unbalanced[] = {
	"<div><p>a<div>b</div></p></div>c",
	"<p>a<p>b</p></p>c",
	"<ul><li>a<li>b</ul><ul><li>c</li></ul>",
	"<b><p>a</b>b</p>c",
	"<table><tr><td>a<tr><td>b</table>c",
	"<a>b<a>c</a></a>d",
	"<div><span></div></span>a",
	"</p>a</div>b",
	"<div>a</p>b</div>c",
	"<div><body class=x>a</body></div>b",
	"<div><html lang=y>a</html>b</div>c",
	"<p>a<head><title>b</title></head>c</p>d",
	"<form><div><form>a</form></div>b</form>c",
	"<select><option>a<option>b</select><option>c</option>",
	"<div/>a</div>b<p/>c",
	"<svg><div>a</div>b",
	"<object><p>a</p></object><object><p>b",
	"<title>a</title><div><title>b</title></div>c",
	"<div hidden><p>a</p></div>b",
	"<dl><dt>a<dd>b<dt>c</dl>d",
	"<h1><h2>a</h2></h1><h2>b</h2>",
	"<button><button>a</button></button>b",
	"a<div>b</div>",
	"<frameset><frame src=a></frameset><noframes><p>b</p></noframes>",
	"<div><iframe src=a></iframe><p>b</p></div>",
	"<noscript><div>a</div></noscript><div><noscript><p>b</p></noscript></div>",
	"<div><base href=a><meta name=b><link rel=c></div>d",
	"<textarea><p>a</p></textarea><div><textarea>b</div>c",
	"<plaintext>a</plaintext><p>b</p>",
	" <div> </div> \n<div>\n a </div> ",
	"</body><div>a</div></html><div>b</div>",
	"<head><div>a</div></head>b",
	"<p><table><tr><td>a</td></tr></table></p>b",
};

static void check_events(struct pd_span page, const char *name)
{
	static const enum pd_saxer_want wants[] = { 0, PD_SAXER_ALL_ATTRIBUTES, PD_SAXER_LINKS };
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		struct events *balanced = events_new(wants[i]), *entire = events_new(wants[i] | PD_SAXER_ENTIRE);
		for (int unfold = 0; unfold < 2; unfold++) {
			size_t at = events_differ(balanced, entire, page, unfold);
			ck_assert_msg(at == SIZE_MAX, "%s: other events where libxml2 gets all elements, from byte %zu:\n%s\n---%s",
				      name, at, pd_buf_z(&balanced->log), pd_buf_z(&entire->log));
			ck_assert_int_eq(entire->begun, (size_t)unfold + 1);
		}
		events_free(balanced);
		events_free(entire);
	}
}

START_TEST(balanced_or_not)
{
	check_events(pd_span_z(unbalanced[_i]), unbalanced[_i]);
}
END_TEST

/* Each tag in each other, closed and not. */
START_TEST(balanced_pairs)
{
	struct events *balanced = events_new(0), *entire = events_new(PD_SAXER_ENTIRE);
	struct pd_buf page = { 0 };
	for (int outer = 1; outer < PD_TAG_COUNT; outer++)
		for (int inner = 1; inner < PD_TAG_COUNT; inner++) {
			const char *a = pd_tag_name((enum pd_tag)outer), *b = pd_tag_name((enum pd_tag)inner);
			pd_buf_clear(&page);
			pd_buf_printf(&page, "<div>c<%s>d<%s>e</%s>f</%s>g</div><p>h<%s>i<%s>j</%s>k", a, b, b, a, a, b, a);
			ck_assert_msg(events_differ(balanced, entire, pd_buf_span(&page), false) == SIZE_MAX, "%s", page.p);
		}
	pd_buf_release(&page);
	events_free(balanced);
	events_free(entire);
}
END_TEST

START_TEST(balanced_soup)
{
	struct events *balanced = events_new(PD_SAXER_LINKS), *entire = events_new(PD_SAXER_LINKS | PD_SAXER_ENTIRE);
	struct pd_random random = { 7 };
	struct pd_buf bytes = { 0 }, page = { 0 };
	for (int round = 0; round < 2000; round++) {
		pd_buf_clear(&bytes);
		for (uint32_t i = 20 + pd_random_below(&random, 400); i; i--)
			pd_buf_add_c(&bytes, (char)pd_random_below(&random, 256));
		tag_soup(pd_buf_span(&bytes), &page);
		ck_assert_msg(events_differ(balanced, entire, pd_buf_span(&page), round & 1) == SIZE_MAX, "%s", page.p);
	}
	pd_buf_release(&bytes);
	pd_buf_release(&page);
	events_free(balanced);
	events_free(entire);
}
END_TEST

/* Deeper than libxml2's stack is kept: the page comes again, with all elements for it. */
START_TEST(balanced_deep)
{
	struct events *balanced = events_new(0), *entire = events_new(PD_SAXER_ENTIRE);
	struct pd_buf page = { 0 };
	static const int depths[] = { 100, 600, 640, 2000 };
	for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
		pd_buf_clear(&page);
		for (int k = 0; k < depths[i]; k++)
			pd_buf_add_z(&page, "<div>a");
		for (int k = 0; k < depths[i]; k++)
			pd_buf_add_z(&page, "b</div>");
		pd_buf_add_z(&page, "<p>c</p></div>d");
		balanced->begun = 0;
		ck_assert_msg(events_differ(balanced, entire, pd_buf_span(&page), false) == SIZE_MAX, "%d divs", depths[i]);
		ck_assert_int_eq(balanced->begun, depths[i] < 638 ? 1 : 2);
	}
	pd_buf_release(&page);
	events_free(balanced);
	events_free(entire);
}
END_TEST

/* Random bytes that are valid UTF-8, markup thick among them. */
START_TEST(random_bytes)
{
	static const char signs[] = "<<<>>>/=\"'&;!-#x? \n";
	struct pd_html *h = new_html();
	struct pd_buf page = { 0 };
	uint64_t state = 12345;
	for (int round = 0; round < 2000; round++) {
		char name[32];
		pd_buf_clear(&page);
		for (int i = 0; i < 300; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			unsigned r = (unsigned)(state >> 33);
			if (r % 3 == 0)
				pd_buf_add_c(&page, signs[r / 3 % (sizeof(signs) - 1)]);
			else if (r % 3 == 1)
				pd_buf_add_z(&page, pd_tag_name((enum pd_tag)(r / 3 % PD_TAG_COUNT)));
			else
				pd_buf_add_utf8(&page, r % 2 ? r / 3 % 0x80 : r / 3 % 0x110000);
		}
		snprintf(name, sizeof(name), "round %d", round);
		check_xml(h, pd_buf_span(&page), false, name);
	}
	pd_html_free(h);
	pd_buf_release(&page);
}
END_TEST

static const struct {
	const char *name, *open, *close;
} deep[] = {
	{ "div", "<div>", "</div>" },		{ "inline", "<b>", "</b>" },
	{ "lists", "<ul><li>", "</li></ul>" },	{ "tables", "<table><tr><td>", "</td></tr></table>" },
	{ "ends of others", "<span>", "</b>" }, { "titles", "<h1>", "</h1>" },
	{ "ignored", "<svg>", "</svg>" },	{ "paragraphs", "<p><b>", "</p>" },
};

static double seconds_for(int row, int depth)
{
	struct pd_html *h = new_html();
	struct pd_buf page = { 0 };
	struct pd_blocks b = { 0 };
	for (int i = 0; i < depth; i++)
		pd_buf_add_z(&page, deep[row].open);
	pd_buf_add_z(&page, "text");
	for (int i = 0; i < depth; i++)
		pd_buf_add_z(&page, deep[row].close);
	clock_t start = clock();
	pd_html_parse(h, pd_buf_span(&page), false, &b);
	double s = (double)(clock() - start) / CLOCKS_PER_SEC;
	for (size_t i = 0; i < b.n_boxes; i++)
		ck_assert_msg(b.boxes[i].depth <= PD_DEPTH_MAX, "%s: depth %u", deep[row].name, b.boxes[i].depth);
	pd_html_free(h);
	pd_blocks_release(&b);
	pd_buf_release(&page);
	return s;
}

/* Four times as deep: sixteen times as long would be quadratic. */
START_TEST(depth)
{
	double small = seconds_for(_i, 50000), large = seconds_for(_i, 200000);
	ck_assert_msg(large < .05 || large < 9 * small, "%s: %.3f s at depth 50,000, %.3f s at 200,000", deep[_i].name, small,
		      large);
}
END_TEST

START_TEST(deep_text)
{
	struct pd_html *h = new_html();
	struct pd_buf page = { 0 };
	struct pd_blocks b = { 0 };
	for (int i = 0; i < 100000; i++)
		pd_buf_add_z(&page, "<div>x");
	pd_html_parse(h, pd_buf_span(&page), false, &b);
	ck_assert_uint_eq(b.text.n, 100000);
	pd_html_free(h);
	pd_blocks_release(&b);
	pd_buf_release(&page);
}
END_TEST

START_TEST(bounded_attributes)
{
	struct pd_html *h = new_html();
	struct pd_buf page = { 0 };
	struct pd_blocks b = { 0 };
	pd_buf_add_z(&page, "<p");
	for (int i = 0; i < 300000; i++)
		pd_buf_printf(&page, " a%d=1", i);
	pd_buf_add_z(&page, ">x<div id='");
	for (int i = 0; i < 50000; i++)
		pd_buf_add_z(&page, "\u4e2d");
	pd_buf_add_z(&page, "'>y");
	pd_html_parse(h, pd_buf_span(&page), false, &b);
	ck_assert(strstr(b.xhtml.p, " a63=") && !strstr(b.xhtml.p, " a64="));
	const struct pd_span id = b.boxes[b.n_boxes - 1].ident;
	ck_assert_msg(id.n == PD_ATTR_SIZE_MAX / 3 * 3, "%zu bytes", id.n);
	pd_html_free(h);
	pd_blocks_release(&b);
	pd_buf_release(&page);
}
END_TEST

START_TEST(tags)
{
	for (unsigned t = 1; t < PD_TAG_COUNT; t++) {
		char loud[16];
		const char *name = pd_tag_name((enum pd_tag)t);
		ck_assert_msg(t == 1 || strcmp(pd_tag_name((enum pd_tag)(t - 1)), name) < 0, "%s is not in its place", name);
		ck_assert_msg(pd_tag_by_name(pd_span_z(name)) == t, "%s is not found", name);
		snprintf(loud, sizeof(loud), "%s", name);
		for (char *p = loud; *p; p++)
			if (*p >= 'a' && *p <= 'z')
				*p = (char)(*p - 32);
		ck_assert_msg(pd_tag_by_name(pd_span_z(loud)) == t, "%s is not found", loud);
	}
}
END_TEST

static const char *const no_tags[] = { "",	   "foo", "di", "divv", "h7",  "blockquotes",
				       "a-b",	   "1",	  "zz", "x",	"o:p", "averyveryverylongnamethatisnotag",
				       "\xc3\xa4", "[",	  "`" };

START_TEST(no_tag)
{
	ck_assert_msg(pd_tag_by_name(pd_span_z(no_tags[_i])) == PD_TAG_NONE, "'%s' is found", no_tags[_i]);
}
END_TEST

static const struct {
	const char *s;
	bool in_value;
	size_t taken;
	uint32_t cp;
} references[] = {
	{ "&amp;", false, 5, '&' },
	{ "&ampx", false, 4, '&' },
	{ "&ampx", true, 0, 0 },
	{ "&amp=", true, 0, 0 },
	{ "&amp ", true, 4, '&' },
	{ "&AMP;", false, 5, '&' },
	{ "&Amp;", false, 0, 0 },
	{ "&notin;", false, 7, 0x2209 },
	{ "&notinx", false, 4, 0xAC },
	{ "&hearts;", false, 8, 0x2665 },
	{ "&hearts ", false, 0, 0 },
	{ "&", false, 0, 0 },
	{ "&x", false, 0, 0 },
	{ "&#", false, 0, 0 },
	{ "&#x", false, 0, 0 },
	{ "&#65", false, 4, 'A' },
	{ "&#65;", false, 5, 'A' },
	{ "&#x41;", false, 6, 'A' },
	{ "&#X4e2D;", false, 8, 0x4E2D },
	{ "&#128;", false, 6, 0x20AC },
	{ "&#159;", true, 6, 0x178 },
	{ "&#129;", false, 6, 0x81 },
	{ "&#160;", false, 6, 0xA0 },
	{ "&#0;", false, 4, 0xFFFD },
	{ "&Aacute", false, 7, 0xC1 },
	{ "&zwnj;", false, 6, 0x200C },
	{ "&ThickSpace;", false, 0, 0 },
};

START_TEST(reference)
{
	uint32_t cp = 0;
	size_t n = pd_reference(pd_span_z(references[_i].s), references[_i].in_value, &cp);
	ck_assert_msg(n == references[_i].taken && (n == 0 || cp == references[_i].cp), "'%s': %zu bytes, U+%04X", references[_i].s,
		      n, cp);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("html");
	TCase *t = tcase_create("html");
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, quirk, 0, sizeof(quirks) / sizeof(quirks[0]));
	tcase_add_test(t, nul);
	tcase_add_test(t, held);
	tcase_add_loop_test(t, well_formed, 0, sizeof(nasty) / sizeof(nasty[0]));
	tcase_add_test(t, corpora);
	tcase_add_loop_test(t, balanced_or_not, 0, sizeof unbalanced / sizeof *unbalanced);
	tcase_add_test(t, balanced_pairs);
	tcase_add_test(t, balanced_soup);
	tcase_add_test(t, balanced_deep);
	tcase_add_test(t, random_bytes);
	tcase_add_loop_test(t, depth, 0, sizeof(deep) / sizeof(deep[0]));
	tcase_add_test(t, deep_text);
	tcase_add_test(t, bounded_attributes);
	tcase_add_test(t, tags);
	tcase_add_loop_test(t, no_tag, 0, sizeof(no_tags) / sizeof(no_tags[0]));
	tcase_add_loop_test(t, reference, 0, sizeof(references) / sizeof(references[0]));
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(suite());
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
