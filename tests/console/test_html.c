#include "suites.h"

#include "console/html/html.h"

#include <string.h>

static struct buffer out;
static struct html html;

static void begin(void)
{
	buffer_init(&out, 65536);
	html_begin(&html, &out);
}

/* Ends the document and compares it, without the doctype. */
static void end_is(const char *wanted)
{
	static const char doctype[] = "<!DOCTYPE html>\n";

	html_end(&html);
	ck_assert(!out.failed);
	buffer_append(&out, "", 1);
	ck_assert(strncmp((const char *)out.data, doctype, sizeof(doctype) - 1) == 0);
	ck_assert_str_eq((const char *)out.data + sizeof(doctype) - 1, wanted);
	buffer_free(&out);
}

START_TEST(text_is_escaped)
{
	begin();
	html_open(&html, "p");
	html_attribute(&html, "title", "a\"b'c<d>&`");
	html_text(&html, "</p><script>alert(\"1\")</script>&amp;'`");
	end_is("<p title=\"a&quot;b&#39;c&lt;d&gt;&amp;&#96;\">&lt;/p&gt;&lt;script&gt;"
	       "alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;&#39;&#96;</p>");
}
END_TEST

START_TEST(stack_closes_what_was_opened)
{
	begin();
	html_open(&html, "div");
	html_open(&html, "input");
	html_flag(&html, "hidden");
	html_close(&html);
	html_open(&html, "b");
	html_text(&html, "x");
	end_is("<div><input hidden><b>x</b></div>");
}
END_TEST

START_TEST(closing_too_often_is_harmless)
{
	begin();
	html_open(&html, "b");
	html_close(&html);
	html_close(&html);
	end_is("<b></b>");
}
END_TEST

START_TEST(hidden_characters_are_shown)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"al\xe2\x80\xaeice", "al\\u{202E}ice"}, /* right-to-left override */
		{"al\xe2\x80\x8bice", "al\\u{200B}ice"}, /* zero width */
		{"a\nb\x1b", "a\\u{A}b\\u{1B}"},         /* controls */
		{"\xc2\xa0", "\\u{A0}"},                 /* a space that is none */
		{"\xef\xbb\xbf", "\\u{FEFF}"},           /* byte order mark */
		{"\xf3\xa0\x81\x81", "\\u{E0041}"},      /* a tag */
		{"\xef\xbf\xbe", "\\u{FFFE}"},           /* no character of HTML */
		{"\xff"
		 "a",
			"\\x{FF}a"}, /* ill-formed */
		{"\xc3\xa9 \xe6\x97\xa5", "\xc3\xa9 \xe6\x97\xa5"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		html_text(&html, cases[i].text);
		end_is(cases[i].shown);
	}
}
END_TEST

START_TEST(exact_values_come_back)
{
	begin();
	html_open(&html, "input");
	html_exact(&html, "value", "a\xe2\x80\xae\n\t\"\x01\xef\xbf\xbe\xff");
	end_is("<input value=\"a\xe2\x80\xae&#10;&#9;&quot;"
	       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\">");
}
END_TEST

START_TEST(foreign_text_is_isolated)
{
	begin();
	html_foreign(&html, "<b>");
	end_is("<bdi>&lt;b&gt;</bdi>");
}
END_TEST

START_TEST(lines_stay)
{
	begin();
	html_lines(&html, "a\n\tb\r<", 6);
	end_is("a\n\tb\\u{D}&lt;");
}
END_TEST

START_TEST(misuse_fails_the_document)
{
	begin();
	html_open(&html, "p");
	html_text(&html, "x");
	html_attribute(&html, "title", "too late");
	ck_assert(out.failed);
	buffer_free(&out);
	begin();
	for (unsigned int i = 0; i < HTML_DEPTH_MAX; i++)
		html_open(&html, "b");
	ck_assert(!out.failed);
	html_open(&html, "b");
	ck_assert(out.failed);
	buffer_free(&out);
}
END_TEST

Suite *html_suite(void)
{
	const TTest *const tests[] = {text_is_escaped, stack_closes_what_was_opened,
		closing_too_often_is_harmless, hidden_characters_are_shown, exact_values_come_back,
		foreign_text_is_isolated, lines_stay, misuse_fails_the_document, NULL};

	return suite_make("html", tests, 10);
}
