/*
 * demo - implements `demo`: makes a seamless dealer and a game server of its own, places a bet,
 * settles it, and shows each call and what the ledger has of it.
 */
#include "cmd/ctl/demo/demo.h"

#include "admin/keys.h"
#include "admin/list.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ctl/bets/game.h"
#include "cmd/ctl/common/output.h"
#include "domain/callback.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LOOPBACK     "127.0.0.0/8"
#define LOOPBACK_URL "http://127.0.0.1:"
#define BIT(member)  (UINT32_C(1) << (member))

void demo_say(const struct demo *demo, const char *format, ...)
{
	va_list arguments;
	char text[4096];

	if (demo->ctl->json)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	output_foreign(text, strlen(text));
	putchar('\n');
	/* A failure is reported on standard error, after what went before it. */
	fflush(stdout);
}

/* ---- what the demonstration needs in the ledger */

/* Executes a command of an operator: its struct begins with the operator. Each has its own id. */
static enum outcome do_operation(struct demo *demo, enum command command, void *cmd, void *result)
{
	struct session *session = &demo->ctl->session;
	struct operator* operator= cmd;

	*operator= session->operator;
	if (!signature_random_id(operator->operation_id, sizeof(operator->operation_id)))
		return session_no_random(session);
	return session_do(session, command, cmd, result, NULL);
}

/* Refuses a dealer that this command did not make. */
static enum outcome check_dealer(struct demo *demo)
{
	const struct dealer *dealer = &demo->dealer;
	const char *wrong = NULL;

	if (dealer->mode != WALLET_SEAMLESS || !dealer->allow_http || dealer->decimals != 2 ||
		strcmp(dealer->currency, DEMO_CURRENCY) != 0)
		wrong = "has other settings than this command makes";
	else if (dealer->url[0] && strncmp(dealer->url, LOOPBACK_URL, strlen(LOOPBACK_URL)) != 0)
		wrong = "has a server of its own";
	else if (dealer->callbacks_held_ms)
		wrong = "is held: creditbridgectl release " DEMO_CASINO;
	if (!wrong)
		return OUTCOME_DONE;
	return ctl_fail(demo->ctl, OUTCOME_FAILED, "already_exists",
		"dealer " DEMO_CASINO " %s; nothing was done", wrong);
}

/* Without the dealer of an earlier run, a game server of that name is not of this command. */
static enum outcome check_no_client(struct demo *demo)
{
	struct client client = {.client_id = DEMO_CLIENT};
	bool found = false;
	enum outcome code = list_fetch(&demo->ctl->session, RECORD_CLIENT, &client, &found, NULL);

	if (code != OUTCOME_DONE || !found || client.removed)
		return code;
	return ctl_fail(demo->ctl, OUTCOME_FAILED, "already_exists",
		"there is a game server " DEMO_CLIENT
		" that this command did not make; nothing was done");
}

/* Stores the dealer's URL and whether it is suspended. */
static enum outcome put_dealer(struct demo *demo, const char *url, bool suspended)
{
	struct dealer_put_cmd cmd = {.mask = BIT(DEALER_URL) | BIT(DEALER_SUSPENDED),
		.dealer = demo->dealer};
	struct dealer_put_result result;
	enum outcome code;

	memset(cmd.dealer.keys, 0, sizeof(cmd.dealer.keys));
	text_copy(cmd.dealer.url, sizeof(cmd.dealer.url), url);
	cmd.dealer.suspended = suspended;
	code = do_operation(demo, COMMAND_DEALER_PUT, &cmd, &result);
	if (code == OUTCOME_DONE)
		demo->dealer = result.dealer;
	return code;
}

/* Makes the dealer, suspended and without a URL. */
static enum outcome make_dealer(struct demo *demo)
{
	struct dealer_put_cmd cmd = {.create = true,
		.mask = BIT(DEALER_SUSPENDED) | BIT(DEALER_ALLOW_HTTP),
		.dealer = {.casino_id = DEMO_CASINO,
			.currency = DEMO_CURRENCY,
			.mode = WALLET_SEAMLESS,
			.decimals = 2,
			.suspended = true,
			.allow_http = true,
			.max_inflight = 20}};
	struct dealer_put_result result;
	enum outcome code;

	if (!signature_new_secret(cmd.dealer.keys[0].secret))
		return session_no_random(&demo->ctl->session);
	code = do_operation(demo, COMMAND_DEALER_PUT, &cmd, &result);
	explicit_bzero(&cmd, sizeof(cmd));
	if (code == OUTCOME_DONE)
		demo->dealer = result.dealer;
	return code;
}

/* Finds or makes the dealer, and gets its key. */
static enum outcome prepare_dealer(struct demo *demo)
{
	struct session *session = &demo->ctl->session;
	struct signing signing = {.secret = ""};
	enum outcome code;
	bool found = false;

	text_copy(demo->dealer.casino_id, sizeof(demo->dealer.casino_id), DEMO_CASINO);
	code = list_fetch(session, RECORD_DEALER, &demo->dealer, &found, NULL);
	if (code == OUTCOME_DONE)
		code = found ? check_dealer(demo) : check_no_client(demo);
	if (code == OUTCOME_DONE && !found)
		code = make_dealer(demo);
	if (code == OUTCOME_DONE)
		code = keys_find_signing(session, DEMO_CASINO, &signing);
	if (code == OUTCOME_DONE && signing.algorithm != HMAC_SHA256)
		code = ctl_fail(demo->ctl, OUTCOME_FAILED, "already_exists",
			"dealer " DEMO_CASINO " signs with another algorithm; nothing was done");
	memcpy(demo->dealer_secret, signing.secret, sizeof(demo->dealer_secret));
	explicit_bzero(&signing, sizeof(signing));
	return code;
}

static enum outcome prepare_player(struct demo *demo)
{
	struct player_put_cmd cmd = {.casino_id = DEMO_CASINO, .user_id = DEMO_USER};
	struct player_put_result result;
	enum outcome code;

	if (!signature_random_id(cmd.player_id, sizeof(cmd.player_id)))
		return session_no_random(&demo->ctl->session);
	code = do_operation(demo, COMMAND_PLAYER_PUT, &cmd, &result);
	if (code != OUTCOME_DONE)
		return code;
	text_copy(demo->player.casino_id, sizeof(demo->player.casino_id), DEMO_CASINO);
	text_copy(demo->player.user_id, sizeof(demo->player.user_id), DEMO_USER);
	memcpy(demo->player.player_id, result.player_id, sizeof(demo->player.player_id));
	return OUTCOME_DONE;
}

/* Gets the key of the game server that an earlier run left with --keep. */
static enum outcome find_client_key(struct demo *demo)
{
	struct keyring keyring = {.entries = NULL};
	enum outcome code = keys_fetch(&demo->ctl->session, KEYRING_CLIENTS, &keyring);
	const struct keyring_entry *entry =
		code == OUTCOME_DONE ? keyring_find(&keyring, DEMO_CLIENT) : NULL;

	for (unsigned int i = 0; entry && i < DEALER_KEYS_MAX; i++) {
		if (entry->keys[i].secret[0])
			text_copy(demo->client_secret, sizeof(demo->client_secret),
				entry->keys[i].secret);
	}
	keyring_free(&keyring);
	return code;
}

/* Makes the game server, or uses the one of an earlier run. */
static enum outcome prepare_client(struct demo *demo)
{
	struct client_put_cmd cmd = {.client_id = DEMO_CLIENT};
	struct client_put_result result;
	struct client client = {.client_id = DEMO_CLIENT};
	bool found = false;
	enum outcome code = list_fetch(&demo->ctl->session, RECORD_CLIENT, &client, &found, NULL);

	if (code != OUTCOME_DONE)
		return code;
	demo->client_used = true;
	if (found && !client.removed)
		return find_client_key(demo);
	if (!signature_new_secret(cmd.secret))
		return session_no_random(&demo->ctl->session);
	code = do_operation(demo, COMMAND_CLIENT_PUT, &cmd, &result);
	memcpy(demo->client_secret, cmd.secret, sizeof(demo->client_secret));
	explicit_bzero(&cmd, sizeof(cmd));
	return code;
}

/* Permits callbacks to the loopback: the workers must by their settings, this process just does. */
static enum outcome permit_loopback(struct demo *demo)
{
	struct settings *settings = &demo->ctl->session.settings;
	static const uint8_t mapped[NETWORK_ADDRESS_SIZE] =
		{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
	bool permitted = false;

	for (uint32_t i = 0; i < settings->callback_network_count; i++)
		permitted |= network_contains(&settings->callback_networks[i], mapped);
	if (!permitted && demo->platform_url)
		return ctl_fail(demo->ctl, OUTCOME_CONFIG, "loopback_forbidden",
			"callback_networks does not permit 127.0.0.1, where the demo dealer "
			"listens: add " LOOPBACK " to it for the time of the demonstration and "
			"reload the web server, or leave out --platform-url");
	if (!permitted && network_parse(LOOPBACK, &settings->callback_networks[0]))
		settings->callback_network_count = 1;
	return OUTCOME_DONE;
}

/* ---- the demonstration */

static enum outcome prepare_demo(struct demo *demo)
{
	char why[512];
	enum outcome code = session_settings(&demo->ctl->session);

	if (code == OUTCOME_DONE)
		code = permit_loopback(demo);
	if (code == OUTCOME_DONE)
		code = prepare_dealer(demo);
	if (code == OUTCOME_DONE)
		code = prepare_client(demo);
	if (code != OUTCOME_DONE)
		return code;
	snprintf(demo->game_id, sizeof(demo->game_id), "demo-%" PRId64, clock_wall_ms());
	demo->server = demo_dealer_start(demo->dealer_secret, DEMO_CURRENCY, DEMO_OPENING, why,
		sizeof(why));
	if (!demo->server)
		return ctl_fail(demo->ctl, OUTCOME_FAILED, "failed", "%s", why);
	demo->dealer_used = true;
	code = put_dealer(demo, demo_dealer_url(demo->server), false);
	/* A suspended dealer gets no new player. */
	return code == OUTCOME_DONE ? prepare_player(demo) : code;
}

static enum outcome play_round(struct demo *demo)
{
	enum outcome code;

	demo_say(demo,
		"1. Dealer " DEMO_CASINO " listens at %s. Its player " DEMO_USER
		" has 1000.00 " DEMO_CURRENCY " there.\n"
		"   Game server " DEMO_CLIENT " %s%s.",
		demo_dealer_url(demo->server),
		demo->platform_url ? "calls the platform at "
				   : "is played by this command, which gives the ledger what a "
				     "worker gives it",
		demo->platform_url ? demo->platform_url : "");
	demo_say(demo, "2. The game server asks for the balance; the platform asks the dealer.");
	code = demo_balance(demo, DEMO_OPENING);
	if (code == OUTCOME_DONE) {
		demo_say(demo, "3. The player bets 10.00 in game %s; the dealer takes the stake.",
			demo->game_id);
		code = demo_bet(demo);
	}
	if (code == OUTCOME_DONE) {
		demo_say(demo,
			"   The bet is accepted: transaction %" PRIu64 ".\n"
			"4. The bet wins; the dealer pays 25.00, which includes the stake.",
			demo->bet.transaction_id);
		code = demo_result(demo);
	}
	if (code == OUTCOME_DONE) {
		demo_say(demo,
			"   The round is settled, and the dealer has confirmed it.\n"
			"5. The balance is now 1000.00 - 10.00 + 25.00 = 1015.00.");
		code = demo_balance(demo, DEMO_OPENING - DEMO_STAKE + DEMO_PAYOUT);
	}
	return code;
}

/* Shows the bet as `bet show` does. */
static enum outcome show_bet(struct demo *demo)
{
	struct game_key key = {.number = 1};

	if (demo->ctl->json)
		return OUTCOME_DONE;
	memcpy(key.player_id, demo->player.player_id, sizeof(key.player_id));
	text_copy(key.game_id, sizeof(key.game_id), demo->game_id);
	demo_say(demo, "6. creditbridgectl bet show %" PRIu64 " prints:\n",
		demo->bet.transaction_id);
	return game_show_bet(demo->ctl, &key);
}

/* Suspends the dealer and removes the game server. */
static enum outcome clean_up(struct demo *demo)
{
	struct client_put_cmd cmd = {.client_id = DEMO_CLIENT, .remove = true};
	struct client_put_result result;
	enum outcome code = OUTCOME_DONE, removed = OUTCOME_DONE;

	if (demo->dealer_used)
		code = put_dealer(demo, "", true);
	if (demo->client_used)
		removed = do_operation(demo, COMMAND_CLIENT_PUT, &cmd, &result);
	return code == OUTCOME_DONE ? removed : code;
}

static enum outcome print_demo(struct demo *demo, bool keep)
{
	struct output_json json;

	demo_say(demo, "\n%s",
		keep ? "The dealer and the game server stay as they are; the dealer's server is stopped."
		     : "Dealer " DEMO_CASINO " is suspended, game server " DEMO_CLIENT
		       " is removed, the dealer's server is stopped.");
	output_json_open(&json, demo->ctl);
	output_json_string(&json, "casino_id", DEMO_CASINO);
	output_json_string(&json, "client_id", DEMO_CLIENT);
	output_json_string(&json, "user_id", DEMO_USER);
	output_json_string(&json, "player_id", demo->player.player_id);
	output_json_string(&json, "game_id", demo->game_id);
	output_json_number(&json, "transaction_id", demo->bet.transaction_id);
	output_json_string(&json, "state", bet_state_names[demo->bet.state]);
	output_json_bool(&json, "kept", keep);
	return output_json_close(&json);
}

enum outcome ctl_demo(struct ctl *ctl)
{
	struct demo demo = {.ctl = ctl, .platform_url = ctl->options[OPTION_PLATFORM_URL]};
	const bool keep = ctl->options[OPTION_KEEP];
	sigset_t stops, before;
	enum outcome code, cleaned = OUTCOME_DONE;

	text_copy(ctl->session.operator.reason, REASON_SIZE, "creditbridgectl demo");
	/* Every wait has a deadline, so the command cleans up before it obeys a signal. */
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, &before);
	signal(SIGPIPE, SIG_IGN);
	/* The dealer logs each call; they are printed in another form. */
	log_open("creditbridgectl", false, LOG_LEVEL_ERROR);
	code = prepare_demo(&demo);
	if (code == OUTCOME_DONE)
		code = play_round(&demo);
	if (code == OUTCOME_DONE)
		code = show_bet(&demo);
	if (!keep)
		cleaned = clean_up(&demo);
	demo_dealer_stop(demo.server);
	explicit_bzero(demo.dealer_secret, sizeof(demo.dealer_secret));
	explicit_bzero(demo.client_secret, sizeof(demo.client_secret));
	if (code == OUTCOME_DONE)
		code = cleaned;
	if (code == OUTCOME_DONE)
		code = print_demo(&demo, keep);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}
