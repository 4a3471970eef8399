/*
 * words - parses the arguments of the command line, and asks the operator for confirmation.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/names.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

enum outcome ctl_operation(struct ctl *ctl)
{
	const char *id = ctl->options[OPTION_OPERATION_ID];

	if (!ctl->session.operator.reason[0])
		return ctl_usage(ctl, "--reason must be given");
	if (id &&
		(!text_is_name(id, OPERATION_ID_SIZE - 1) ||
			!text_copy(ctl->session.operator.operation_id, OPERATION_ID_SIZE, id)))
		return ctl_usage(ctl, "--operation-id takes 1 to %d of [A-Za-z0-9_.-]",
			OPERATION_ID_SIZE - 1);
	return OUTCOME_DONE;
}

enum outcome ctl_list_limit(struct ctl *ctl, uint64_t standard, uint64_t *limit)
{
	enum outcome code = ctl_limit(ctl, standard, limit);

	if (code == OUTCOME_DONE && *limit < UINT64_MAX)
		ctl->limit = (*limit)++;
	return code;
}

/* Returns the name of the option on the command line. */
static const char *option_name(const struct ctl *ctl, enum ctl_option option)
{
	const struct argp_option *row = ctl->command->options;

	while (row->key != OPTION_KEY(option) && row->name)
		row++;
	return row->name ? row->name : "";
}

bool ctl_has_option(const struct ctl *ctl, enum ctl_option option)
{
	return ctl->command->options && option_name(ctl, option)[0];
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

/* Reads --since and --until. @dealer: that of --casino, or NULL */
static enum outcome read_range(struct ctl *ctl, const struct dealer *dealer, struct filter *filter)
{
	enum outcome code;

	filter->since_ms = INT64_MIN;
	filter->until_ms = INT64_MAX;
	code = times_read(ctl, OPTION_SINCE, dealer, false, &filter->since_ms);
	if (code == OUTCOME_DONE)
		code = times_read(ctl, OPTION_UNTIL, dealer, true, &filter->until_ms);
	return code;
}

/* Reads the number of --after: a transaction id, or an event such as betting-17. */
static enum outcome read_after(struct ctl *ctl, struct filter *filter)
{
	const char *text = ctl->options[OPTION_AFTER], *dash = text ? strrchr(text, '-') : NULL;

	if (!text ||
		(text_unsigned(dash ? dash + 1 : text, UINT64_MAX, &filter->after) &&
			filter->after))
		return OUTCOME_DONE;
	return ctl_usage(ctl, "--after takes the id of the last row of the list before; not '%s'",
		text);
}

void ctl_casino_user(const struct ctl *ctl, char word[CASINO_ID_SIZE], const char **casino,
	const char **user)
{
	const char *slash;

	*casino = ctl->options[OPTION_CASINO];
	*user = ctl->options[OPTION_USER];
	slash = *user && !*casino ? strchr(*user, '/') : NULL;
	if (slash && text_copy_len(word, CASINO_ID_SIZE, *user, (size_t)(slash - *user))) {
		*casino = word;
		*user = slash + 1;
	}
}

/* Reads --casino and --user. */
static enum outcome read_names(struct ctl *ctl, struct filter *filter, struct dealer *dealer)
{
	const char *casino, *user;
	char word[CASINO_ID_SIZE];
	struct player player;
	enum outcome code = OUTCOME_DONE;

	memset(&player, 0, sizeof(player));
	ctl_casino_user(ctl, word, &casino, &user);
	if (user && !casino)
		return ctl_usage(ctl, "--user goes with --casino, or is CASINO/USER");
	if (casino)
		code = names_dealer(&ctl->session, casino, dealer);
	if (code == OUTCOME_DONE && casino)
		memcpy(filter->casino_id, dealer->casino_id, sizeof(filter->casino_id));
	if (code == OUTCOME_DONE && user)
		code = names_player(&ctl->session, casino, user, &player);
	if (code == OUTCOME_DONE && user) {
		memcpy(filter->user_id, player.user_id, sizeof(filter->user_id));
		memcpy(filter->player_id, player.player_id, sizeof(filter->player_id));
	}
	return code;
}

enum outcome ctl_filter(struct ctl *ctl, uint64_t standard, struct filter *filter)
{
	const char *game = ctl->options[OPTION_GAME];
	struct dealer dealer = {.casino_id = ""};
	enum outcome code;

	memset(filter, 0, sizeof(*filter));
	code = ctl_list_limit(ctl, standard, &filter->limit);
	if (code == OUTCOME_DONE)
		code = read_after(ctl, filter);
	if (code == OUTCOME_DONE && game)
		code = names_read_external_id(&ctl->session, "a game id", game, filter->game_id);
	if (code == OUTCOME_DONE)
		code = read_names(ctl, filter, &dealer);
	if (code == OUTCOME_DONE)
		code = read_range(ctl, dealer.casino_id[0] ? &dealer : NULL, filter);
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
