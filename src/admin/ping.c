/*
 * ping - requests a player's balance from a dealer's server, as a game server's call would.
 */
#include "admin/ping.h"

#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "callback/granted.h"
#include "callback/ping_link.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum outcome ping_find(struct session *session, const char *casino_id, const char *user_id,
	struct dealer *dealer, struct player *player)
{
	struct list list;
	enum outcome code = names_dealer(session, casino_id, dealer);
	bool found;

	if (code != OUTCOME_DONE)
		return code;
	if (dealer->mode != WALLET_SEAMLESS)
		return session_fail(session, OUTCOME_FAILED, "not_seamless",
			"dealer %s has a transfer wallet: it takes no callbacks",
			dealer->casino_id);
	if (!dealer->url[0])
		return session_fail(session, OUTCOME_FAILED, "no_url",
			"dealer %s has no URL: creditbridgectl dealer set %s --url URL",
			dealer->casino_id, dealer->casino_id);
	if (user_id)
		return names_player(session, dealer->casino_id, user_id, player);
	memset(player, 0, sizeof(*player));
	memcpy(player->casino_id, dealer->casino_id, sizeof(player->casino_id));
	list_open(&list, session, RECORD_PLAYER, false, 1, player);
	list.page = 1;
	found = list_next(&list, player);
	code = list_end(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && !found)
		return session_fail(session, OUTCOME_FAILED, "no_player",
			"dealer %s has no player to ask for: creditbridgectl player add %s USER",
			dealer->casino_id, dealer->casino_id);
	return code;
}

/* Returns false if no process without rights serves here: nothing was sent. */
static bool send_apart(const struct session *session, const struct callback_grant *grant,
	const char *casino_id, struct callback_outcome *outcome)
{
	struct callback_inquiry inquiry = {.asked_ms = session->link.asked_ms, .grant = *grant};
	bool sent;

	text_copy(inquiry.casino_id, sizeof(inquiry.casino_id), casino_id);
	sent = ping_link_ask(&session->settings, &inquiry, outcome);
	explicit_bzero(&inquiry, sizeof(inquiry));
	return sent;
}

static bool send_inquiry(const struct session *session, const struct callback_request *request,
	struct callback_outcome *outcome)
{
	const struct sender_options options = sender_options_of(&session->settings);
	struct sender *sender = sender_new(&options);

	if (!sender)
		return false;
	/* A dealer that closes the connection must not end the process. */
	signal(SIGPIPE, SIG_IGN);
	callback_send(sender, request, outcome);
	sender_free(sender);
	return true;
}

static void judge_answer(struct ping *ping, const char *user_id, const char *currency)
{
	static const struct {
		const char *id;
		const char *words;
		enum outcome code;
	} errors[CALLBACK_CLASS_COUNT] = {
		[CALLBACK_UNKNOWN] = {"dealer_timeout",
			"the dealer gave no answer that can be used", OUTCOME_FAILED},
		[CALLBACK_SUCCESS] = {"dealer_bad_answer",
			"the answer does not hold this player's user_id, balance and currency",
			OUTCOME_FAILED},
		[CALLBACK_REFUSED] = {"dealer_refused", "the dealer refused the call",
			OUTCOME_FAILED},
		[CALLBACK_NOT_SENT] = {"dealer_unreachable", "nothing was sent",
			OUTCOME_UNREACHABLE},
	};
	const struct callback_outcome *outcome = &ping->outcome;
	const char *note = outcome->class == CALLBACK_REFUSED && outcome->dealer_error_id[0]
		? outcome->dealer_error_id
		: outcome->note;

	ping->error_id = "";
	ping->error_detail[0] = '\0';
	ping->code = OUTCOME_DONE;
	if (callback_balance_ok(outcome, user_id, currency))
		return;
	ping->error_id = errors[outcome->class].id;
	ping->code = errors[outcome->class].code;
	if (outcome->class == CALLBACK_UNKNOWN && !outcome->http_status)
		ping->code = OUTCOME_UNREACHABLE;
	snprintf(ping->error_detail, sizeof(ping->error_detail), "%s%s%s",
		errors[outcome->class].words, note[0] ? ": " : "", note);
}

/* Returns the permit to the ledger. Otherwise it is released when its lease expires. */
static void end_inquiry(struct session *session, const struct callback_end_cmd *cmd,
	struct failure *failure)
{
	struct callback_end_result result;

	session_try(session, COMMAND_CALLBACK_END, cmd, &result, failure);
}

enum outcome ping_ask(struct session *session, const struct player *player, struct ping *ping)
{
	struct player_balance_cmd cmd = {.player = {.player_id = ""}};
	struct player_balance_result result;
	struct callback_grant *grant = &result.send;
	struct granted granted;
	struct callback_request request;
	struct failure failure;
	enum outcome code;
	bool sent;

	memcpy(cmd.player.player_id, player->player_id, sizeof(cmd.player.player_id));
	code = session_try(session, COMMAND_PLAYER_BALANCE, &cmd, &result, &failure);
	if (code == OUTCOME_FAILED && result.verdict.refusal == REFUSAL_DEALER_BUSY)
		code = OUTCOME_BUSY;
	if (code != OUTCOME_DONE)
		return failure.id[0] ? session_fail(session, code, failure.id, "%s", failure.detail)
				     : code;
	if (!grant->event)
		return session_fail(session, OUTCOME_FAILED, "not_seamless",
			"the mode of the dealer's wallet was changed meanwhile: repeat this");
	callback_target_url(&grant->target, ping->url);
	ping->event = grant->event;
	ping->target = grant->target;
	request = granted_request(&granted, grant, session->link.asked_ms, player->casino_id,
		session->settings.callback_timeout_ms);
	sent = send_apart(session, grant, player->casino_id, &ping->outcome) ||
		send_inquiry(session, &request, &ping->outcome);
	explicit_bzero(grant->target.keys, sizeof(grant->target.keys));
	if (!sent)
		return session_no_memory(session);
	granted.end.outcome = ping->outcome;
	granted.end.is_look = true;
	end_inquiry(session, &granted.end, &ping->end_failure);
	judge_answer(ping, result.user_id, result.currency);
	return OUTCOME_DONE;
}
