#include "cmd/ctl/meant.h"

#include "base/near.h"
#include "base/text.h"
#include "cmd/ctl/commands.h"

#include <stdio.h>
#include <string.h>

static void write_hint(const struct near *near, const char *before, char text[MEANT_SIZE])
{
	text[0] = '\0';
	if (near->best[0])
		snprintf(text, MEANT_SIZE, " Did you mean '%s%s'?", before, near->best);
}

void meant_command(const char *first, const char *second, char text[MEANT_SIZE])
{
	char given[2 * NEAR_WORD_MAX], word[NEAR_WORD_MAX];
	struct near near;
	int len = snprintf(given, sizeof(given), "%s%s%s", first, second ? " " : "",
		second ? second : "");

	text[0] = '\0';
	if (len < 0 || (size_t)len >= sizeof(given))
		return;
	near_begin(&near, given);
	for (const struct ctl_command *c = ctl_commands; c->name; c++)
		near_offer(&near, c->name);
	if (!near.best[0]) {
		/* The second word may be an argument: only the first is compared. */
		near_begin(&near, first);
		for (const struct ctl_command *c = ctl_commands; c->name; c++) {
			if (text_copy_len(word, sizeof(word), c->name, strcspn(c->name, " ")))
				near_offer(&near, word);
		}
		if (near.distance == 0)
			near.best[0] = '\0';
	}
	write_hint(&near, "", text);
}

static const char *const everywhere[] = {"help", "usage", "version", NULL};

/*
 * Finds the option @name of @len bytes, or one that begins with it. Returns true if there is one;
 * *takes is set to whether it needs an argument.
 */
static bool find_option(const struct argp_option *const *tables, const char *name, size_t len,
	bool *takes)
{
	*takes = false;
	for (size_t i = 0; everywhere[i]; i++) {
		if (strncmp(everywhere[i], name, len) == 0)
			return true;
	}
	for (; *tables; tables++) {
		for (const struct argp_option *row = *tables; row->name || row->key; row++) {
			if (!row->name || strncmp(row->name, name, len) != 0)
				continue;
			*takes = row->arg && !(row->flags & OPTION_ARG_OPTIONAL);
			return true;
		}
	}
	return false;
}

static void offer_options(struct near *near, const struct argp_option *const *tables)
{
	for (size_t i = 0; everywhere[i]; i++)
		near_offer(near, everywhere[i]);
	for (; *tables; tables++) {
		for (const struct argp_option *row = *tables; row->name || row->key; row++) {
			if (row->name)
				near_offer(near, row->name);
		}
	}
}

const char *meant_option(int argc, char **argv, const struct argp_option *const *tables,
	char text[MEANT_SIZE])
{
	char given[NEAR_WORD_MAX + 1];
	struct near near;
	bool takes;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *name = argv[i] + 2;
		size_t len;

		if (strncmp(argv[i], "--", 2) != 0)
			continue;
		len = strcspn(name, "=");
		if (find_option(tables, name, len, &takes)) {
			i += takes && !name[len];
			continue;
		}
		if (!text_copy_len(given, sizeof(given), name, len))
			return NULL;
		near_begin(&near, given);
		offer_options(&near, tables);
		write_hint(&near, "--", text);
		return text[0] ? argv[i] : NULL;
	}
	return NULL;
}

/* Returns true if @word has the form of a player id. */
static bool is_player_id(const char *word)
{
	return strlen(word) == PLAYER_ID_SIZE - 1 &&
		strspn(word, PLAYER_ID_CHARACTERS) == PLAYER_ID_SIZE - 1;
}

static void split_player(struct ctl *ctl)
{
	static char casino[CASINO_ID_SIZE];
	const char *slash = ctl->arg_count ? strchr(ctl->args[0], '/') : NULL;

	/* A casino id has no slash, so the first one ends it. */
	if (!slash || ctl->arg_count == CTL_ARGS_MAX ||
		!text_copy_len(casino, sizeof(casino), ctl->args[0],
			(size_t)(slash - ctl->args[0])))
		return;
	memmove(&ctl->args[2], &ctl->args[1], (ctl->arg_count - 1) * sizeof(ctl->args[0]));
	ctl->args[0] = casino;
	ctl->args[1] = slash + 1;
	ctl->arg_count++;
}

static void join_player(struct ctl *ctl)
{
	static char player[CASINO_ID_SIZE + EXTERNAL_ID_SIZE];
	int len;

	if (ctl->arg_count < 3 || strchr(ctl->args[0], '/') || is_player_id(ctl->args[0]))
		return;
	len = snprintf(player, sizeof(player), "%s/%s", ctl->args[0], ctl->args[1]);
	if (len < 0 || (size_t)len >= sizeof(player))
		return;
	ctl->args[0] = player;
	ctl->arg_count--;
	memmove(&ctl->args[1], &ctl->args[2], (ctl->arg_count - 1) * sizeof(ctl->args[0]));
}

bool meant_player(struct ctl *ctl)
{
	const char *synopsis = ctl->command->synopsis;

	if (strstr(synopsis, "CASINO USER GAME")) {
		join_player(ctl);
		/* args_max counts CASINO USER as two. */
		return ctl->arg_count < ctl->command->args_max;
	}
	if (strncmp(synopsis, "CASINO USER", 11) == 0 ||
		strncmp(synopsis, "CASINO REFERENCE", 16) == 0)
		split_player(ctl);
	return ctl->arg_count <= ctl->command->args_max;
}
