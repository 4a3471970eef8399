/*
 * fuzz_console - what a browser sends to the console (queries, forms, cookies), and the builder of pages.
 *
 * The first byte chooses the target. What was read is well-formed UTF-8 without NUL, and comes back
 * when it is encoded again. A document has no character of markup but those that the builder writes,
 * and its text, with the references resolved, is the text that was given.
 */
#include "fuzz.h"

#include "base/text.h"
#include "console/html/address.h"
#include "console/html/html.h"
#include "console/html/params.h"

static void check_params(struct bytes in)
{
	static struct params params, again;
	struct page_address address;

	if (!params_read(&params, (const char *)in.data, in.len)) {
		must(params.count == 0);
		return;
	}
	must(params.count <= PARAMS_MAX);
	for (unsigned int i = 0; i < params.count; i++) {
		const char *value = params.list[i].value;
		uint32_t code;

		for (size_t at = 0, size; value[at]; at += size) {
			size = text_utf8_len(value + at, strlen(value + at), &code);
			must(size > 0);
		}
		address_begin(&address, "", "/x");
		address_add(&address, "v", value);
		must(address.len == strlen(address.text));
		if (!address.query)
			continue;
		must(address_is_own(address.text, ""));
		must(params_read(&again, address.text + 3, address.len - 3));
		must(strcmp(params_get(&again, "v"), value) == 0);
	}
}

static void check_cookie(struct bytes in)
{
	char header[4096], value[65];

	if (in.len >= sizeof(header))
		return;
	memcpy(header, in.data, in.len);
	header[in.len] = '\0';
	if (cookie_get(header, "creditbridge", value, sizeof(value))) {
		must(strlen(value) < sizeof(value));
		must(!strpbrk(value, "; \t\"\\,\r\n<>"));
		must(strstr(header, value) != NULL);
	} else {
		must(value[0] == '\0');
	}
	address_is_own(header, "/console");
}

/* Resolves the six references that the builder writes. Returns the length. */
static size_t resolve(const char *from, size_t len, char *to)
{
	static const struct {
		const char *reference;
		char byte;
	} references[] = {
		{"&amp;", '&'},
		{"&lt;", '<'},
		{"&gt;", '>'},
		{"&quot;", '"'},
		{"&#39;", '\''},
		{"&#96;", '`'},
	};
	size_t out = 0;

	for (size_t at = 0; at < len;) {
		size_t taken = 1;

		must(!strchr("<>\"'`", from[at]) || !from[at]);
		to[out] = from[at];
		for (size_t i = 0;
			from[at] == '&' && i < sizeof(references) / sizeof(references[0]); i++) {
			size_t size = strlen(references[i].reference);

			if (len - at >= size &&
				memcmp(from + at, references[i].reference, size) == 0) {
				to[out] = references[i].byte;
				taken = size;
			}
		}
		must(from[at] != '&' || taken > 1);
		at += taken;
		out++;
	}
	return out;
}

static void check_html(struct bytes in)
{
	static const char before[] = "<!DOCTYPE html>\n<p title=\"";
	static char text[8192], resolved[65536];
	struct buffer out;
	struct html html;
	const char *begin, *end;
	size_t len;
	bool plain = true;

	if (in.len >= sizeof(text))
		return;
	memcpy(text, in.data, in.len);
	text[in.len] = '\0';
	buffer_init(&out, 1024 * 1024);
	html_begin(&html, &out);
	html_open(&html, "p");
	html_attribute(&html, "title", text);
	html_foreign(&html, text);
	html_end(&html);
	must(!out.failed && buffer_append(&out, "", 1));
	must(memcmp(out.data, before, sizeof(before) - 1) == 0);
	begin = (const char *)out.data + sizeof(before) - 1;
	end = strchr(begin, '"');
	must(end != NULL);
	len = resolve(begin, (size_t)(end - begin), resolved);
	for (const char *at = text; *at; at++)
		plain = plain && *at >= ' ' && *at <= '~';
	must(!plain || (len == strlen(text) && memcmp(resolved, text, len) == 0));
	must(strncmp(end, "\"><bdi>", 7) == 0);
	must(strlen(end) >= 7 + (size_t)(end - begin));
	must(memcmp(end + 7, begin, (size_t)(end - begin)) == 0);
	must(strcmp(end + 7 + (end - begin), "</bdi></p>") == 0);
	buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size};

	switch (fuzz_byte(&in) % 3) {
	case 0:
		check_params(in);
		break;
	case 1:
		check_cookie(in);
		break;
	default:
		check_html(in);
		break;
	}
	return 0;
}
