/*
 * words - parses the arguments of the command line, and asks the operator for confirmation.
 */
#include "cmd/ctl/ctl.h"

#include "admin/names.h"
#include "base/text.h"
#include "cmd/ctl/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum outcome ctl_limit(struct ctl *ctl, uint64_t standard, uint64_t *limit)
{
	const char *text = ctl->options[OPTION_LIMIT];

	*limit = standard;
	if (text && !text_unsigned(text, UINT32_MAX, limit))
		return ctl_usage(ctl, "--limit takes a number; 0 is without limit");
	if (*limit == 0)
		*limit = UINT64_MAX;
	return OUTCOME_DONE;
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
		/* timegm() turns 31 February into a day of March: refuse such a date. */
		if (back.tm_mday != tm.tm_mday || back.tm_sec != tm.tm_sec)
			return false;
		*time_ms = (int64_t)seconds * 1000;
		return true;
	}
	if (!text_unsigned(text, INT64_MAX, &number))
		return false;
	*time_ms = (int64_t)number;
	return true;
}

/* Returns the name of the option on the command line. */
static const char *option_name(const struct ctl *ctl, enum ctl_option option)
{
	const struct argp_option *row = ctl->command->options;

	while (row->key != OPTION_KEY(option) && row->name)
		row++;
	return row->name ? row->name : "";
}

/* Returns the index of @name, of @len bytes, in @names; @count if it is not there. */
static unsigned int find_choice(const char *name, size_t len, const char *const *names,
	unsigned int count)
{
	unsigned int i = 0;

	while (i < count && (strlen(names[i]) != len || strncmp(names[i], name, len) != 0))
		i++;
	return i;
}

enum outcome ctl_choices(struct ctl *ctl, enum ctl_option option, const char *const *names,
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
			return OUTCOME_DONE;
		text += word + 1;
	}
	if (!text)
		return OUTCOME_DONE;
	for (unsigned int i = 0; i < count && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s %s", i ? "," : "",
			names[i]);
	return ctl_usage(ctl, "--%s takes one or more of%s, with commas between them; not '%s'",
		option_name(ctl, option), all, ctl->options[option]);
}

static enum outcome read_range(struct ctl *ctl, struct filter *filter)
{
	const char *since = ctl->options[OPTION_SINCE], *until = ctl->options[OPTION_UNTIL];

	filter->since_ms = INT64_MIN;
	filter->until_ms = INT64_MAX;
	if ((since && !ctl_time(since, &filter->since_ms)) ||
		(until && !ctl_time(until, &filter->until_ms)))
		return ctl_usage(ctl,
			"a time is YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS] (UTC) or Unix "
			"milliseconds");
	return OUTCOME_DONE;
}

enum outcome ctl_filter(struct ctl *ctl, uint64_t standard, struct filter *filter)
{
	const char *casino = ctl->options[OPTION_CASINO], *user = ctl->options[OPTION_USER],
		   *game = ctl->options[OPTION_GAME];
	struct dealer dealer;
	struct player player;
	enum outcome code;

	memset(filter, 0, sizeof(*filter));
	if (user && !casino)
		return ctl_usage(ctl, "--user goes with --casino");
	code = ctl_limit(ctl, standard, &filter->limit);
	if (code == OUTCOME_DONE)
		code = read_range(ctl, filter);
	if (code == OUTCOME_DONE && game)
		code = names_read_external_id(&ctl->session, "a game id", game, filter->game_id);
	if (code == OUTCOME_DONE && casino)
		code = names_dealer(&ctl->session, casino, &dealer);
	if (code == OUTCOME_DONE && user)
		code = names_player(&ctl->session, casino, user, &player);
	if (code == OUTCOME_DONE && casino)
		memcpy(filter->casino_id, dealer.casino_id, sizeof(filter->casino_id));
	if (code == OUTCOME_DONE && user) {
		memcpy(filter->user_id, player.user_id, sizeof(filter->user_id));
		memcpy(filter->player_id, player.player_id, sizeof(filter->player_id));
	}
	return code;
}

bool ctl_can_ask(void)
{
	return isatty(STDIN_FILENO);
}

bool ctl_confirm(struct ctl *ctl, const char *question, enum outcome *code)
{
	char answer[16] = "", shown[OUTPUT_SHOWN_MAX];

	*code = OUTCOME_DONE;
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
	*code = ctl_fail(ctl, OUTCOME_FAILED, "not_confirmed",
		"nothing was changed: answer y, "
		"or give --yes");
	return false;
}
