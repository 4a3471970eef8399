/* dealer_breaker - the part of `dealer show` about the dealer's breaker. */
#ifndef CMD_CTL_DEALERS_DEALER_BREAKER_H
#define CMD_CTL_DEALERS_DEALER_BREAKER_H

#include "admin/breaker.h"
#include "cmd/ctl/common/output.h"

struct dealer_breaker {
	struct dealer_state_result state;
	struct attempt attempt; /* of the last error; all 0 if it is not kept */
};

/* Fetches the breaker of the dealer @casino_id, and its last error. */
enum outcome dealer_breaker_fetch(struct ctl *ctl, const char *casino_id,
	struct dealer_breaker *breaker);
/* Prints it; nothing for a dealer that has had no callback, and nothing with --json. */
enum outcome dealer_breaker_print(struct ctl *ctl, const char *casino_id,
	const struct dealer_breaker *breaker);
/* Appends the member "breaker". */
void dealer_breaker_json(struct output_json *json, const struct dealer_breaker *breaker);

#endif
