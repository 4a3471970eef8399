/*
 * ctl_commands - the table of creditbridgectl's commands.
 */
#include "cmd/ctl.h"

#define OPTION(option, name, argument, help)                                                       \
	{                                                                                          \
		name, OPTION_KEY(OPTION_##option), argument, 0, help, 0                            \
	}
#define OPTIONS_END                                                                                \
	{                                                                                          \
		NULL, 0, NULL, 0, NULL, 0                                                          \
	}
#define REASON_OPTION OPTION(REASON, "reason", "TEXT", "Why, for the audit")
#define KEY_FILE_OPTION                                                                            \
	OPTION(KEY_FILE, "key-file", "FILE", "Take the key from FILE ('-': standard input)")
#define LIMIT_OPTION(standard)                                                                     \
	OPTION(LIMIT, "limit", "N", "At most N rows; 0 is all (default " standard ")")
#define TIME_HELP " (YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS] in UTC, or Unix ms)"

static const struct argp_option init_options[] = {
	OPTION(USER, "user", "NAME", "As root: whom the data shall belong to (default: the caller)"),
	OPTIONS_END,
};
static const struct argp_option reason_options[] = {REASON_OPTION, OPTIONS_END};
static const struct argp_option audit_options[] = {LIMIT_OPTION("50"), OPTIONS_END};
static const struct argp_option list_options[] = {LIMIT_OPTION("100"), OPTIONS_END};
static const struct argp_option ledger_options[] = {LIMIT_OPTION("0"), OPTIONS_END};
static const struct argp_option key_add_options[] = {KEY_FILE_OPTION, REASON_OPTION, OPTIONS_END};

/* "?ARGUMENT" in dealer_settings.def: the argument may be left out. */
#define SETTING_ARGUMENT(argument) ((argument)[0] == '?' ? &(argument)[1] : (argument))
#define SETTING_FLAGS(argument)    ((argument)[0] == '?' ? OPTION_ARG_OPTIONAL : 0)
#define DEALER_SETTING(option, name, argument, help, ...)                                          \
	{name, OPTION_KEY(OPTION_##option), SETTING_ARGUMENT(argument), SETTING_FLAGS(argument),   \
		help, 0},
static const struct argp_option dealer_add_options[] = {
#include "cmd/dealer_settings.def"
	KEY_FILE_OPTION, REASON_OPTION, OPTIONS_END,
};
static const struct argp_option dealer_set_options[] = {
#include "cmd/dealer_settings.def"
	REASON_OPTION, OPTIONS_END,
};
#undef DEALER_SETTING

static const struct argp_option adjust_options[] = {
	REASON_OPTION,
	OPTION(OPERATION_ID, "operation-id", "ID",
		"Repeat the adjustment with this id: it is made once"),
	OPTIONS_END,
};
static const struct argp_option transfer_show_options[] = {
	OPTION(TRANSACTION, "transaction", "ID", "Find it by its transaction id"),
	OPTIONS_END,
};
static const struct argp_option transfer_list_options[] = {
	OPTION(CASINO, "casino", "CASINO", "Only this dealer's"),
	OPTION(USER, "user", "USER", "Only this player's (with --casino)"),
	OPTION(SINCE, "since", "TIME", "Not before TIME" TIME_HELP),
	OPTION(UNTIL, "until", "TIME", "Before TIME"),
	LIMIT_OPTION("50"),
	OPTIONS_END,
};
static const struct argp_option sign_options[] = {
	OPTION(KEY_FILE, "key-file", "FILE", "Sign with the key in FILE, without the ledger"),
	OPTION(ALGORITHM, "algorithm", "NAME", "With --key-file: hmac-sha256 (default), ..."),
	OPTION(ENCODING, "encoding", "NAME", "With --key-file: hex (default) or base64"),
	OPTIONS_END,
};
static const struct argp_option request_options[] = {
	OPTION(BODY, "body", "JSON|@FILE|-", "The body, a file, or standard input"),
	OPTION(URL, "url", "URL", "Base URL (default http://127.0.0.1 and base_path)"),
	OPTION(USER, "user", "USER", "user_id of a named operation"),
	OPTION(AMOUNT, "amount", "AMOUNT", "amount of transfer-in and transfer-out"),
	OPTION(REFERENCE, "reference", "ID", "request_transaction_id (default: a random one)"),
	OPTION(KEY_FILE, "key-file", "FILE", "Sign with the key in FILE, without the ledger"),
	OPTION(ALGORITHM, "algorithm", "NAME", "With --key-file: hmac-sha256 (default), ..."),
	OPTION(ENCODING, "encoding", "NAME", "With --key-file: hex (default) or base64"),
	OPTIONS_END,
};

#define PLAYER_JSON                                                                                \
	"{\"player_id\",\"casino_id\",\"user_id\",\"currency\",\"created\",\"suspended\","         \
	"\"balance\"}"
#define DEALER_JSON "{\"casino_id\",\"currency\",\"mode\",...,\"keys\":[{\"key_id\",\"created_ms\"}]}"
#define KEY_JSON    "{\"casino_id\",\"key_id\",\"key\"}"

const struct ctl_command ctl_commands[] = {
	{"init", "", "Create the state directory of the configuration",
		"{\"state_directory\",\"installation\"}", init_options, 0, 0, false, ctl_init},
	{"status", "", "Show how the ledger is doing",
		"{\"version\",\"installation\",\"pid\",\"halted\",\"last_transaction_id\",...}", NULL, 0,
		0, false, ctl_status},
	{"resume", "", "Start the ledger again after it halted on a disk error",
		"{\"resumed\":true}", reason_options, 0, 0, false, ctl_resume},
	{"dealer add", "CASINO", "Add a dealer and show its first key", KEY_JSON,
		dealer_add_options, 1, 1, false, ctl_dealer_add},
	{"dealer list", "", "List all dealers", "{\"dealers\":[{...}]}", NULL, 0, 0, false,
		ctl_dealer_list},
	{"dealer show", "CASINO", "Show a dealer with its keys and sums",
		DEALER_JSON " and \"total\"", NULL, 1, 1, false, ctl_dealer_show},
	{"dealer set", "CASINO", "Change settings of a dealer", DEALER_JSON, dealer_set_options, 1,
		1, false, ctl_dealer_set},
	{"dealer suspend", "CASINO", "Refuse transfers and new players of a dealer",
		"{\"casino_id\",\"suspended\"}", reason_options, 1, 1, false, ctl_dealer_suspend},
	{"dealer resume", "CASINO", "End the suspension of a dealer",
		"{\"casino_id\",\"suspended\"}", reason_options, 1, 1, false, ctl_dealer_resume},
	{"dealer key-add", "CASINO", "Give a dealer a second key and show it", KEY_JSON,
		key_add_options, 1, 1, false, ctl_dealer_key_add},
	{"dealer key-use", "CASINO KEYID", "Sign callbacks with this key from now on",
		"{\"casino_id\",\"key_id\"}", reason_options, 2, 2, false, ctl_dealer_key_use},
	{"dealer key-retire", "CASINO KEYID", "Take a key from a dealer, for good",
		"{\"casino_id\",\"key_id\"}", reason_options, 2, 2, false, ctl_dealer_key_retire},
	{"player add", "CASINO USER", "Register a player", PLAYER_JSON, reason_options, 2, 2, false,
		ctl_player_add},
	{"player list", "CASINO", "List the players of a dealer", "{\"players\":[{...}]}",
		list_options, 1, 1, false, ctl_player_list},
	{"player show", "CASINO USER\nPLAYER_ID", "Show a player and the balance",
		"{\"casino_id\",\"user_id\",\"player_id\",\"balance\",\"entry_seq\",\"suspended\","
		"\"created_ms\"}",
		NULL, 1, 2, false, ctl_player_show},
	{"player suspend", "CASINO USER", "Refuse transfers of a player", PLAYER_JSON,
		reason_options, 2, 2, false, ctl_player_suspend},
	{"player resume", "CASINO USER", "End the suspension of a player", PLAYER_JSON,
		reason_options, 2, 2, false, ctl_player_resume},
	{"player ledger", "CASINO USER\nPLAYER_ID",
		"List the movements of a player, the newest first", "{\"entries\":[{...}]}",
		ledger_options, 1, 2, false, ctl_player_ledger},
	{"player adjust", "CASINO USER AMOUNT", "Move credit of a player by hand, in or (-) out",
		"{\"player_id\",\"amount\",\"before_balance\",\"current_balance\","
		"\"transaction_id\",\"operation_id\",\"replay\"}",
		adjust_options, 3, 3, true, ctl_player_adjust},
	{"transfer show", "CASINO REFERENCE\n--transaction=ID", "Find the movement of a dealer's reference",
		"{\"casino_id\",\"user_id\",\"request\":{...},\"entry\":{...} or null}",
		transfer_show_options, 0, 2, false, ctl_transfer_show},
	{"transfer list", "", "List movements, the newest first", "{\"transfers\":[{...}]}",
		transfer_list_options, 0, 0, false, ctl_transfer_list},
	{"check", "", "Prove that every balance is the sum of its movements",
		"{\"ok\",\"as_of\",\"players\",\"entries\",\"requests\",\"transactions\","
		"\"dealers\":[{...}],\"problem_count\",\"problems\":[...]}",
		NULL, 0, 0, false, ctl_check},
	{"audit", "", "List what operators did, the newest first", "{\"audit\":[{...}]}",
		audit_options, 0, 0, false, ctl_audit},
	{"sign", "CASINO [BODYFILE]\n--key-file=FILE [BODYFILE]",
		"Print the x-casino-signature of a body",
		"{\"signature\"}. The body is BODYFILE or standard input", sign_options, 0, 2, false, ctl_sign},
	{"request", "CASINO METHOD PATH\nCASINO transfer-in|transfer-out|balance",
		"Make a signed call as the dealer would",
		"{\"status\",\"headers\":{...},\"request_transaction_id\",\"body\"}",
		request_options, 2, 3, false, ctl_request},
	{NULL, NULL, NULL, NULL, NULL, 0, 0, false, NULL},
};
