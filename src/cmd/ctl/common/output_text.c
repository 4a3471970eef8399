#include "cmd/ctl/common/output_text.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_CHAR_MAX TEXT_ESCAPE_MAX

/*
 * Writes to @shown how the first character of @text is shown, or its first byte if that begins no
 * character. Returns the number of bytes of @text that this is. Sets @plain if it is shown
 * unchanged.
 */
static size_t show_char(const char *text, size_t len, char shown[SHOWN_CHAR_MAX], bool *plain)
{
	uint32_t code = 0;
	size_t step = text_utf8_len(text, len, &code);

	*plain = step && !text_is_hidden(code);
	if (!step)
		snprintf(shown, SHOWN_CHAR_MAX, "?");
	else if (*plain)
		snprintf(shown, SHOWN_CHAR_MAX, "%.*s", (int)step, text);
	else
		text_escape(code, shown);
	return step ? step : 1;
}

const char *output_shown(const char *text, char shown[OUTPUT_SHOWN_MAX])
{
	size_t used = 0, left = strlen(text), step;
	bool plain, all_plain = true;
	char one[SHOWN_CHAR_MAX];

	for (const char *rest = text; left; rest += step, left -= step) {
		step = show_char(rest, left, one, &plain);
		all_plain = all_plain && plain;
		if (used + strlen(one) >= OUTPUT_SHOWN_MAX)
			break;
		memcpy(shown + used, one, strlen(one));
		used += strlen(one);
	}
	shown[used] = '\0';
	return all_plain ? text : shown;
}

void output_foreign(const void *text, size_t len)
{
	const char *rest = text;
	char one[SHOWN_CHAR_MAX];
	size_t step;
	bool plain;

	if (!isatty(STDOUT_FILENO)) {
		fwrite(text, 1, len, stdout);
		return;
	}
	for (; len; rest += step, len -= step) {
		step = show_char(rest, len, one, &plain);
		if (*rest == '\n' || *rest == '\t')
			putchar(*rest);
		else
			fputs(one, stdout);
	}
}
