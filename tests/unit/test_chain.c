/* SPDX-License-Identifier: MIT
 *
 * Pages on which an extractor for articles finds nothing, or the wrong text: a page with text keeps it, by the named
 * step of the chain.
 */
#include <check.h>

#include "term/dict.h"
#include "topic/topic.h"
#include "topic_fixture.h"

#define MENU \
	"<div class=menu><ul><li><a href=/a>Home</a></li><li><a href=/b>About us</a></li><li><a " \
	"href=/c>Contact</a></li></ul></div>"
#define LONG_FOOT \
	"<footer><p>The publisher is not liable for what other sites say, and keeps no record of who reads which page " \
	"of this site, unless the law asks for it.</p><p>All prices hold until the end of the month, as long as stocks last, " \
	"and without what the post takes for carrying the goods to you.</p></footer>"
#define LINK(n) "<li><a href=/p" n ">An account of the journey, part " n "</a></li>"
#define LINKS \
	LINK("one") \
	LINK("two") \
	LINK("three") \
	LINK("four") \
	LINK("five") \
	LINK("six") \
	LINK("seven") \
	LINK("eight") LINK("nine") LINK("ten") LINK("eleven") LINK("twelve") LINK("thirteen") LINK("fourteen") LINK("fifteen")
#define GOODS(n) "<div class=product><a href=/g" n ">Kettle " n "</a><span>29.90</span></div>"
#define CELLS(n) "<tr><td>Station " n "</td><td>12.4</td><td>1,013</td><td>west</td></tr>"
#define SAID(n) \
	"<div class=comment><b>reader" n "</b><p>I crossed that bridge every day for years, and never once did I see " \
	"anybody look after it, says reader " n ".</p></div>"
#define POST(n) \
	"<div class=post><div class=user>user" n "</div><div class=body>The pump of mine made the same noise, and a new seal " \
	"of rubber was all that it took, post " n ".</div></div>"
#define COOKIES \
	"<div class=cookie-wall><h2>Your privacy</h2><p>We and our partners store information on your device, such as " \
	"cookies, and read it, to show you advertisements that fit, and to measure them.</p><p>You can accept that, or refuse " \
	"it, or choose " \
	"for each purpose, and change your mind at any time in the settings of this site.</p></div>"
#define NOTE "<p>The library is closed on Monday, for repairs of the roof, and opens again on Tuesday at nine.</p>"
#define SHOWN "<p>The valve leaks when it is cold, and nobody here knows why that is so.</p>"
#define UNSEEN \
	SHOWN "<p>Tighten the nut first, then warm the pipe with a cloth, and wait for an hour before you try it again.</p>" \
	      "<p>If that does not help, the seal must be changed: they cost little, and any plumber has some of them in the " \
	      "van.</p>" \
	      "<p>Mine lasted for ten years after that, and it would have lasted longer had we not moved to another house " \
	      "then.</p>" \
	      "<p>Thanks, that was it, the nut was loose indeed, and the pipe is dry now, although it is colder than it was " \
	      "then.</p>"

static const struct row {
	const char *name, *html, *has, *lacks, *step;
} rows[] = {
	{ "list of links", MENU "<ul>" LINKS "</ul>", "part nine", NULL, "list" },
	{ "list of links with a line of prose",
	  "<body><div class=x><p>These are all parts of the account, in the order in which they were written.</p></div>"
	  "<div class=y><ul>" LINKS "</ul></div>",
	  "part nine", NULL, "list" },
	{ "an article in a box named ad, among comments",
	  "<div class=ad><p>The ferry across the harbour, which stopped last winter, sails again, its captain told "
	  "us.</p><p>It leaves on the hour, every day but Sunday, and takes bicycles, dogs and, if they are small, carts.</p></div>"
	  "<div class=comments>" SAID("a") SAID("b") "</div>",
	  "bicycles", "never once", "no-adverts" },
	{ "goods with prices", "<div class=grid>" GOODS("one") GOODS("two") GOODS("three") GOODS("four") "</div>", "Kettle three",
	  NULL, "list" },
	{ "one product",
	  MENU "<h1>Kettle</h1><div class=price>29.90</div><div class=description>A kettle of steel, for a litre and a half, that "
	       "whistles "
	       "when the water boils, and keeps it warm.</div><table><tr><td>Weight</td><td>900 g</td></tr></table>",
	  "whistles", "About us", "rules" },
	{ "reviews of a product",
	  "<div class=description><p>A kettle of steel, for a litre and a half, that whistles when the water boils, and keeps it "
	  "warm.</p>"
	  "<p>Its handle stays cool, its lid stays shut, and its spout does not drip, which others do.</p>"
	  "<p>It comes with a cleaning cloth, a book of teas, and a bag to carry it in.</p></div>"
	  "<div class=customer-reviews><p>I like it very much, it is the best kettle that I ever had, and the cheapest.</p>"
	  "<p>Mine leaked, but they sent another one, which has not leaked so far, I must say.</p></div>",
	  "spout", "leaked", "rules" },
	{ "only a table", MENU "<table>" CELLS("A") CELLS("B") CELLS("C") CELLS("D") CELLS("E") CELLS("F") "</table>", "Station E",
	  NULL, "rules" },
	{ "nothing but code", "<pre>int main(void)\n{\n\treturn puts(\"hello\") < 0;\n}\n</pre>", "return puts", NULL, "rules" },
	{ "only a list", "<ul><li>flour</li><li>two eggs</li><li>milk</li><li>a pinch of salt</li></ul>", "two eggs", NULL,
	  "rules" },
	{ "nothing but comments", "<div class=comments>" SAID("a") SAID("b") SAID("c") "</div>", "never once", NULL,
	  "no-comments" },
	{ "comments under a line",
	  "<h1>The bridge</h1><p>See the picture.</p><div class=comments>" SAID("a") SAID("b") SAID("c") "</div>", "never once",
	  NULL, "no-comments" },
	{ "a wall of cookies before a short article", COOKIES "<div class=text>" NOTE "</div>", "repairs of the roof", NULL,
	  "rules" },
	{ "a dialog by its maker's name, longer than the article",
	  "<div id=onetrust-consent-sdk>" COOKIES COOKIES COOKIES "</div><div class=text>" NOTE "</div>", "repairs of the roof",
	  "advertisements", "rules" },
	{ "a short article among long chrome",
	  MENU "<aside>" COOKIES "</aside><div class=text><h1>Closed</h1>" NOTE "</div>" LONG_FOOT, "repairs of the roof", "liable",
	  "rules" },
	{ "a thread", MENU "<div class=thread>" POST("one") POST("two") POST("three") "</div>", "post two", "About us", "rules" },
	{ "a thread with comments as answers",
	  "<div itemscope itemtype='https://schema.org/DiscussionForumPosting'><div class=post><p>My pump makes a noise, and "
	  "has done so since the winter, when it was off.</p></div><div itemprop=comment>" POST(
		  "two") "</div><div itemprop=comment>" POST("three") "</div></div>",
	  "post three", NULL, "rules" },
	{ "comments of an article",
	  "<article itemscope itemtype='https://schema.org/Article'><p>My pump makes a noise, and has done so since the winter, "
	  "when it "
	  "was off for some weeks.</p><p>It turned out that a seal of rubber was worn, and had to be replaced by a new one.</p>"
	  "<p>Who has the same pump may look at that seal first, before they call somebody.</p></article>"
	  "<div itemprop=comment>" POST("two") "</div><div itemprop=comment>" POST("three") "</div>",
	  "worn", "post three", "rules" },
	{ "navigation by schema.org",
	  "<div itemtype='http://schema.org/SiteNavigationElement'>" SHOWN "</div><div>" NOTE NOTE NOTE "</div>", "roof", "valve",
	  "rules" },
	{ "a builder's name around everything",
	  "<div class=elementor-widget>" NOTE "</div><div class=elementor-widget><p>Length: 5 miles</p></div>"
	  "<div class=elementor-widget>" NOTE "</div>",
	  "Length", NULL, "rules" },
	{ "folded text is text", "<div>" NOTE "<div class=read-more>" SHOWN SHOWN "</div></div>", "valve", NULL, "rules" },
	{ "text in noscript alone", "<title>Pumps</title><noscript><div class=post>" UNSEEN "</div></noscript><div>Loading</div>",
	  "Tighten the nut", NULL, "rules" },
	{ "noscript beside text", "<div>" UNSEEN "</div><noscript><div>" UNSEEN "<p>Unseen</p>" UNSEEN UNSEEN "</div></noscript>",
	  "Tighten", "Unseen", "rules" },
	{ "论坛",
	  "<div class=menu><a href=/>首页</a> <a href=/x>注册</a></div><div "
	  "class=t_f>楼主：我家的水泵最近总是有噪音，换了密封圈也没有用，请问各位有什么办法？</div>"
	  "<div class=t_f>一楼：先看看进水管有没有漏气，我家上次就是这个问题，拧紧以后就好了。</div><div "
	  "class=t_f>二楼：同意楼上，顶一下。</div>",
	  "同意楼上", "注册", "rules" },
	{ "short, Chinese",
	  "<div id=nav><a href=/>首页</a></div><div "
	  "class=content><p>本馆周一闭馆维修屋顶，周二上午九点重新开放，读者借阅的图书归还日期顺延一天。</p></div>"
	  "<div id=footer>版权所有 某某图书馆 地址：某某路一号 电话：一二三四五六七八</div>",
	  "维修屋顶", "电话", "rules" },
	{ "from right to left",
	  "<html dir=rtl><nav><a href=/>الرئيسية</a></nav><div><p>أغلقت المكتبة أبوابها يوم الاثنين، لإصلاح السقف، وتفتح من جديد "
	  "يوم الثلاثاء في التاسعة.</p>"
	  "<p>وقال المدير إن العمل قد يستغرق أسبوعا، وإن الكتب نقلت إلى مكان آخر.</p></div>",
	  "المدير", "الرئيسية", "rules" },
	{ "Japanese",
	  "<nav><a "
	  "href=/>ホーム</a></nav><div><p>図書館は月曜日、屋根の修理のため休館します。火曜日の九時に再び開きます。</"
	  "p><p>館長によると、作業は一週間ほどかかるそうです。</p></div>",
	  "屋根の修理", "ホーム", "rules" },
	{ "Korean",
	  "<nav><a href=/>홈</a></nav><div><p>도서관은 월요일에 지붕 수리를 위해 문을 닫고, 화요일 아홉 시에 다시 "
	  "엽니다.</p><p>관장은 공사가 일주일쯤 걸릴 것이라고 말했습니다.</p></div>",
	  "지붕 수리", "홈", "rules" },
	{ "Thai",
	  "<nav><a href=/>หน้าแรก</a></nav><div><p>ห้องสมุดปิดวันจันทร์เพื่อซ่อมหลังคา "
	  "และเปิดอีกครั้งวันอังคารเวลาเก้าโมง</p><p>ผู้อำนวยการกล่าวว่างานจะใช้เวลาหนึ่งสัปดาห์</p></div>",
	  "ซ่อมหลังคา", "หน้าแรก", "rules" },
};

static bool holds(const char *part)
{
	return pd_span_find(pd_buf_span(&topic.text), pd_span_z(part)) >= 0;
}

START_TEST(chain)
{
	const struct row *r = &rows[_i];
	ck_assert_int_eq(pd_html_parse(html, pd_span_z(r->html), false, &blocks), 0);
	ck_assert_int_eq(pd_topic_find(finder, &blocks, NULL, &topic), 0);
	const char *text = pd_buf_z(&topic.text);
	ck_assert_msg(holds(r->has), "%s: \"%s\" is lost from \"%s\" (%s)", r->name, r->has, text, topic.step);
	ck_assert_msg(!r->lacks || !holds(r->lacks), "%s: \"%s\" is kept in \"%s\"", r->name, r->lacks, text);
	ck_assert_msg(strcmp(topic.step, r->step) == 0, "%s: step %s", r->name, topic.step);
	ck_assert_msg((strcmp(topic.step, "rules") != 0) == !!(topic.flags & PD_TOPIC_FALLBACK), "%s: flags %u", r->name,
		      topic.flags);
	bool whole = strcmp(r->step, "list") == 0 || strcmp(r->step, "page") == 0;
	for (size_t i = 0; i < topic.n_decisions; i++) {
		const struct pd_decision *d = &topic.decisions[i];
		ck_assert_msg(d->rule && d->rule[0], "%s: decision %zu has no name", r->name, i);
		ck_assert_msg(!whole || !d->kept || strcmp(d->rule, r->step) == 0, "%s: kept by %s", r->name, d->rule);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("chain");
	TCase *c = tcase_create("pages");
	tcase_add_unchecked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, chain, 0, sizeof rows / sizeof *rows);
	suite_add_tcase(s, c);
	SRunner *sr = srunner_create(s);
	srunner_set_tap(sr, "-");
	srunner_run_all(sr, CK_SILENT);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
