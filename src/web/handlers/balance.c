/* A3: the credit that a player holds on the platform. */
#include "web/handlers/handlers.h"

#include "base/text.h"

#include <string.h>

/* The answer of A3 (contract, "Group A: what the dealer calls"). */
static const struct field balance_answer_fields[] = {
	FIELD(FIELD_STR, balance_result, user_id),
	FIELD(FIELD_STR, balance_result, player_id),
	FIELD(FIELD_MONEY, balance_result, balance),
	FIELD(FIELD_STR, balance_result, currency),
	FIELD(FIELD_MONEY, balance_result, staked),
	FIELD_END,
};

void handle_balance(struct web_request *web)
{
	const struct balance_body *body = &web->body.balance;
	struct balance_cmd cmd = {.casino_id = ""};
	struct balance_result result;
	enum status status;

	if (!web_request_is_fresh(web, body->request_timestamp))
		return;
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), web->caller->caller_id);
	text_copy(cmd.user_id, sizeof(cmd.user_id), body->user_id);
	memset(&result, 0, sizeof(result));
	status = link_call(web->link, COMMAND_BALANCE, &cmd, &result, web->deadline_ms);
	web_request_answer(web, status, CALL_READS, &result.verdict, balance_answer_fields,
		&result);
}
