/*
 * words - how the words of the command line are read, and the operator is asked.
 */
#include "cmd/ctl/ctl.h"

#include "base/text.h"
#include "cmd/ctl/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum ctl_exit ctl_casino_id(struct ctl *ctl, const char *text, char casino_id[CASINO_ID_SIZE])
{
	memset(casino_id, 0, CASINO_ID_SIZE);
	if (text_is_name(text, CASINO_ID_SIZE - 1) && text_copy(casino_id, CASINO_ID_SIZE, text))
		return CTL_DONE;
	return ctl_usage(ctl, "'%s' is not a casino id: 1 to 64 of [A-Za-z0-9_.-]", text);
}

enum ctl_exit ctl_external_id(struct ctl *ctl, const char *what, const char *text,
	char id[EXTERNAL_ID_SIZE])
{
	memset(id, 0, EXTERNAL_ID_SIZE);
	if (text[0] && text_is_utf8_clean(text, strlen(text)) &&
		text_copy(id, EXTERNAL_ID_SIZE, text))
		return CTL_DONE;
	return ctl_usage(ctl, "%s must be 1 to 128 bytes of UTF-8 without control characters",
		what);
}

bool ctl_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

enum ctl_exit ctl_limit(struct ctl *ctl, uint64_t standard, uint64_t *limit)
{
	const char *text = ctl->options[OPTION_LIMIT];

	*limit = standard;
	if (text && !ctl_number(text, UINT32_MAX, limit))
		return ctl_usage(ctl, "--limit takes a number; 0 is without limit");
	if (*limit == 0)
		*limit = UINT64_MAX;
	return CTL_DONE;
}

bool ctl_time(const char *text, int64_t *time_ms)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
	uint64_t number;

	for (unsigned int i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = {0}, back;
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds;

		if (!end || (*end && strcmp(end, "Z") != 0))
			continue;
		back = tm;
		seconds = timegm(&back);
		/* timegm() turns 31 February into a day of March: that is no date. */
		if (back.tm_mday != tm.tm_mday || back.tm_sec != tm.tm_sec)
			return false;
		*time_ms = (int64_t)seconds * 1000;
		return true;
	}
	if (!ctl_number(text, INT64_MAX, &number))
		return false;
	*time_ms = (int64_t)number;
	return true;
}

/* What the option is called on the command line. */
static const char *option_name(const struct ctl *ctl, enum ctl_option option)
{
	const struct argp_option *row = ctl->command->options;

	while (row->key != OPTION_KEY(option) && row->name)
		row++;
	return row->name ? row->name : "";
}

/* The place of @name, of @len bytes, among @names; @count: it is none. */
static unsigned int find_choice(const char *name, size_t len, const char *const *names,
	unsigned int count)
{
	unsigned int i = 0;

	while (i < count && (strlen(names[i]) != len || strncmp(names[i], name, len) != 0))
		i++;
	return i;
}

enum ctl_exit ctl_choices(struct ctl *ctl, enum ctl_option option, const char *const *names,
	unsigned int count, uint32_t *mask)
{
	const char *text = ctl->options[option];
	char all[256] = "";
	size_t len = 0;

	*mask = text ? 0 : UINT32_MAX;
	while (text) {
		size_t word = strcspn(text, ",");
		unsigned int found = find_choice(text, word, names, count);

		if (found == count)
			break;
		*mask |= UINT32_C(1) << found;
		if (!text[word])
			return CTL_DONE;
		text += word + 1;
	}
	if (!text)
		return CTL_DONE;
	for (unsigned int i = 0; i < count && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s %s", i ? "," : "",
			names[i]);
	return ctl_usage(ctl, "--%s takes one or more of%s, with commas between them; not '%s'",
		option_name(ctl, option), all, ctl->options[option]);
}

bool ctl_can_ask(void)
{
	return isatty(STDIN_FILENO);
}

bool ctl_confirm(struct ctl *ctl, const char *question, enum ctl_exit *code)
{
	char answer[16] = "", shown[OUTPUT_SHOWN_MAX];

	*code = CTL_DONE;
	if (ctl->options[OPTION_YES])
		return true;
	if (!ctl_can_ask()) {
		*code = ctl_usage(ctl, "standard input is no terminal to confirm at: give --yes");
		return false;
	}
	fflush(stdout);
	fprintf(stderr, "%s [y/N] ", output_shown(question, shown));
	if (fgets(answer, sizeof(answer), stdin) &&
		(strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0))
		return true;
	*code = ctl_fail(ctl, CTL_FAILED, "not_confirmed", "nothing was changed: answer y, "
		"or give --yes");
	return false;
}
