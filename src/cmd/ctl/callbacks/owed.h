/*
 * owed - prints a story (domain/story.h) and the debts.
 */
#ifndef CMD_CTL_CALLBACKS_OWED_H
#define CMD_CTL_CALLBACKS_OWED_H

#include "cmd/ctl/common/output.h"
#include "domain/story.h"

#define STORY_JSON_MEMBERS                                                                         \
	"\"debt\" (none, dealer, dealer_perhaps, dealer_platform, player_dealer, "                 \
	"player_platform),\"owed\",\"happened\",\"owes\",\"next\""
#define STORY_JSON "\"story\":{" STORY_JSON_MEMBERS "}"

/* Prints the sentences for people, and adds the member "story" to @json. */
void owed_print_story(struct ctl *ctl, const struct story *story, struct output_json *json);

/*
 * For people, prints one line for each dealer with a debt, each beginning with @prefix. Adds the
 * member "owed" to @json: the list of the same sums. Reports failures.
 */
enum outcome owed_print_sums(struct ctl *ctl, const char *prefix, struct output_json *json);

#endif
