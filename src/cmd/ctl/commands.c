/*
 * commands - the table of creditbridgectl's commands.
 */
#include "cmd/ctl/ctl.h"

#include "cmd/ctl/callback.h"

#define OPTION(option, name, argument, help)                                                       \
	{                                                                                          \
		name, OPTION_KEY(OPTION_##option), argument, 0, help, 0                            \
	}
#define OPTIONS_END                                                                                \
	{                                                                                          \
		NULL, 0, NULL, 0, NULL, 0                                                          \
	}
#define REASON_OPTION OPTION(REASON, "reason", "TEXT", "The reason, for the audit")
#define KEY_FILE_OPTION                                                                            \
	OPTION(KEY_FILE, "key-file", "FILE", "Take the key from FILE ('-': standard input)")
#define LIMIT_OPTION(standard)                                                                     \
	OPTION(LIMIT, "limit", "N", "At most N rows; 0 is all (default " standard ")")
#define TIME_HELP " (YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS] in UTC, or Unix ms)"

static const struct argp_option init_options[] = {
	OPTION(USER, "user", "NAME", "As root: the owner of the data (default: the caller)"),
	OPTIONS_END,
};
static const struct argp_option reason_options[] = {REASON_OPTION, OPTIONS_END};
static const struct argp_option audit_options[] = {LIMIT_OPTION("50"), OPTIONS_END};
static const struct argp_option list_options[] = {LIMIT_OPTION("100"), OPTIONS_END};
static const struct argp_option ledger_options[] = {LIMIT_OPTION("0"), OPTIONS_END};
static const struct argp_option key_add_options[] = {KEY_FILE_OPTION, REASON_OPTION, OPTIONS_END};

/* "?ARGUMENT" in dealer_settings.def marks an optional argument. */
#define SETTING_ARGUMENT(argument) ((argument)[0] == '?' ? &(argument)[1] : (argument))
#define SETTING_FLAGS(argument)    ((argument)[0] == '?' ? OPTION_ARG_OPTIONAL : 0)
#define DEALER_SETTING(option, name, argument, help, ...)                                          \
	{name, OPTION_KEY(OPTION_##option), SETTING_ARGUMENT(argument), SETTING_FLAGS(argument),   \
		help, 0},
static const struct argp_option dealer_add_options[] = {
#include "cmd/ctl/dealer_settings.def"
	KEY_FILE_OPTION,
	REASON_OPTION,
	OPTIONS_END,
};
static const struct argp_option dealer_set_options[] = {
#include "cmd/ctl/dealer_settings.def"
	REASON_OPTION,
	OPTIONS_END,
};
#undef DEALER_SETTING

static const struct argp_option adjust_options[] = {
	REASON_OPTION,
	OPTION(OPERATION_ID, "operation-id", "ID",
		"Repeat the adjustment that has this id; it is made once"),
	OPTIONS_END,
};
static const struct argp_option transfer_show_options[] = {
	OPTION(TRANSACTION, "transaction", "ID", "Find the movement by its transaction id"),
	OPTIONS_END,
};
static const struct argp_option transfer_list_options[] = {
	OPTION(CASINO, "casino", "CASINO", "Only those of this dealer"),
	OPTION(USER, "user", "USER", "Only those of this player (with --casino)"),
	OPTION(SINCE, "since", "TIME", "Not before TIME" TIME_HELP),
	OPTION(UNTIL, "until", "TIME", "Before TIME"),
	LIMIT_OPTION("50"),
	OPTIONS_END,
};
#define LIST_OPTIONS                                                                               \
	OPTION(CASINO, "casino", "CASINO", "Only those of this dealer"),                           \
		OPTION(USER, "user", "USER", "Only those of this player (with --casino)"),         \
		OPTION(GAME, "game", "GAME", "Only those of this game"),                           \
		OPTION(SINCE, "since", "TIME", "Not before TIME" TIME_HELP),                       \
		OPTION(UNTIL, "until", "TIME", "Before TIME")
static const struct argp_option bet_list_options[] = {
	LIST_OPTIONS,
	OPTION(STATE, "state", "STATE,...",
		"Only in these states: pending, accepted, rejected, "
		"refunding, refunded, settled"),
	LIMIT_OPTION("50"),
	OPTIONS_END,
};
static const struct argp_option callback_list_options[] = {
	LIST_OPTIONS,
	OPTION(STATE, "state", "STATE,...",
		"Only in these states: due, sending, delivered, "
		"parked, held, cancelled, failed"),
	OPTION(KIND, "kind", "KIND,...",
		"Only these kinds: betting, betting-result, "
		"betting-refund"),
	OPTION(SHAPE, "shape", NULL,
		"Count the waiting callbacks by dealer, state (due, parked "
		"or held) and age, instead of listing them"),
	LIMIT_OPTION("50"),
	OPTIONS_END,
};
static const struct argp_option export_options[] = {
	OPTION(WITH_KEYS, "with-keys", NULL,
		"Include the keys of dealers and game servers: "
		"a reader of the file can sign as each of them"),
	OPTION(OFFLINE, "offline", NULL, "Read the state of a ledger that does not run"),
	OPTIONS_END,
};
#define ACCEPT_CLOCK_OPTION                                                                        \
	OPTION(ACCEPT_CLOCK, "accept-clock", NULL,                                                 \
		"Begin the ids although the clock of this host is "                                \
		"before the newest row, which was written with a wrong clock")
static const struct argp_option import_options[] = {
	OPTION(USER, "user", "NAME",
		"As root: the owner of the state (default: the owner of "
		"the state directory, or the caller)"),
	OPTION(DRY_RUN, "dry-run", NULL, "Only check the file"),
	ACCEPT_CLOCK_OPTION,
	OPTIONS_END,
};
static const struct argp_option recon_options[] = {
	OPTION(DATE, "date", "YYYY-MM-DD", "The day, in the dealer's utc_offset"),
	OPTION(COMPARE, "compare", NULL, "Print the differences of two files of a day"),
	OPTION(KIND, "kind", "KIND,...", "Only these records: movement, bet, callback"),
	OPTION(LIMIT, "limit", "N",
		"With --compare: list at most N differences; 0 is all "
		"(default 1000)"),
	OPTIONS_END,
};
static const struct argp_option reconcile_options[] = {
	OPTION(SINCE, "since", "TIME",
		"Look for rows that the dealer lacks since TIME" TIME_HELP
		" (default: the oldest time_ms of FILE, or else the time up to which the restored data "
		"are complete)"),
	OPTION(COMPLETE, "complete", NULL,
		"FILE has all actions of the dealer up to now, although "
		"its newest row is older than the restored data"),
	OPTIONS_END,
};
#define OPERATE_OPTIONS                                                                            \
	OPTION(REASON, "reason", "TEXT", "The reason, for the audit; required"),                   \
		OPTION(DRY_RUN, "dry-run", NULL, "Print what would be done, and do nothing")
static const struct argp_option operate_options[] = {OPERATE_OPTIONS, OPTIONS_END};
static const struct argp_option asking_options[] = {
	OPERATE_OPTIONS,
	OPTION(YES, "yes", NULL, "Do not ask; required without a terminal"),
	OPTIONS_END,
};
static const struct argp_option release_options[] = {
	OPTION(YES, "yes", NULL, "Release them without asking"),
	OPTION(UNRECONCILED, "unreconciled", NULL,
		"Release although a dealer's file was not compared "
		"since the restore; results and refunds of earlier rounds are held one by one"),
	LIMIT_OPTION("100"),
	REASON_OPTION,
	OPTIONS_END,
};
static const struct argp_option sweep_options[] = {
	OPTION(FOR, "for", "TIME",
		"Continue for TIME, such as 55s, and look for due callbacks each "
		"second (default: stop when none is due)"),
	OPTION(DRY_RUN, "dry-run", NULL,
		"Print the callbacks that would be sent first; send nothing"),
	OPTIONS_END,
};
static const struct argp_option test_options[] = {
	OPTION(USER, "user", "USER", "Use the credit of this player; required"),
	OPTION(TAP, "tap", NULL, "Report as TAP (Test Anything Protocol)"),
	OPTION(JUNIT, "junit", "FILE", "Also write a report in JUnit's XML to FILE"),
	OPTION(DRY_RUN, "dry-run", NULL, "Print the cases, and send nothing"),
	OPTION(YES, "yes", NULL, "Do not ask; required when standard input is no terminal"),
	REASON_OPTION,
	OPTIONS_END,
};
static const struct argp_option backup_options[] = {
	OPTION(WHOLE, "whole", NULL, "Copy everything, even if adding the log would be enough"),
	REASON_OPTION,
	OPTIONS_END,
};
static const struct argp_option restore_options[] = {
	OPTION(LOGS, "logs", "DIR",
		"Roll forward by the logs in DIR, which is db/ of the state from "
		"which the backup was made"),
	OPTION(OLD, "old", "STATE",
		"List the changes that operators made after the backup, from the "
		"audit of the old state (default: that of --logs)"),
	OPTION(USER, "user", "NAME",
		"As root: the owner of the data (default: the owner of "
		"the state directory, or of the backup)"),
	OPTION(DRY_RUN, "dry-run", NULL, "Check the backup, and restore nothing"),
	ACCEPT_CLOCK_OPTION,
	REASON_OPTION,
	OPTIONS_END,
};
static const struct argp_option adopt_options[] = {
	OPTION(MOVED, "moved", NULL,
		"This state is the only one, and no other one ran since it was moved"),
	OPTION(COPIED, "copied", NULL,
		"This state is a copy or an older state, or another one ran since"),
	OPTION(USER, "user", "NAME",
		"As root: the owner of the data (default: the owner of "
		"the state directory)"),
	ACCEPT_CLOCK_OPTION,
	REASON_OPTION,
	OPTIONS_END,
};
static const struct argp_option ping_options[] = {
	OPTION(USER, "user", "USER", "Ask for this player (default: the dealer's first)"),
	OPTIONS_END,
};
static const struct argp_option client_remove_options[] = {
	OPTION(YES, "yes", NULL, "Remove it although its rounds are open"),
	REASON_OPTION,
	OPTIONS_END,
};
static const struct argp_option client_list_options[] = {
	OPTION(ALL, "all", NULL, "Include removed ones"),
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
	OPTION(URL, "url", "URL",
		"Base URL (default http://127.0.0.1 and base_path, or /creditbridge)"),
	OPTION(USER, "user", "USER", "The user_id of a named operation"),
	OPTION(AMOUNT, "amount", "AMOUNT", "The amount of transfer-in and transfer-out"),
	OPTION(REFERENCE, "reference", "ID", "The request_transaction_id (default: a random one)"),
	OPTION(GAME, "game", "GAME", "The game_id of result-inquire"),
	OPTION(KEY_FILE, "key-file", "FILE", "Sign with the key in FILE, without the ledger"),
	OPTION(ALGORITHM, "algorithm", "NAME", "With --key-file: hmac-sha256 (default), ..."),
	OPTION(ENCODING, "encoding", "NAME", "With --key-file: hex (default) or base64"),
	OPTIONS_END,
};
static const struct argp_option explain_options[] = {
	OPTION(KEY_FILE, "key-file", "FILE",
		"Also try the key in FILE, such as one that was retired "
		"long ago, or that the dealer claims to use ('-': standard input)"),
	OPTIONS_END,
};
static const struct argp_option doctor_options[] = {
	OPTION(URL, "url", "URL",
		"The URL at which dealers call the wallet's mount, with its prefix"),
	OPTION(PLATFORM_URL, "platform-url", "URL",
		"The URL at which game servers call the platform's mount"),
	OPTION(USER, "worker-user", "NAME",
		"The user of the workers (default: that of the running ones, or www-data)"),
	OPTIONS_END,
};

#define PLAYER_JSON                                                                                \
	"{\"player_id\",\"casino_id\",\"user_id\",\"currency\",\"created\",\"suspended\","         \
	"\"balance\"}"
#define DEALER_JSON                                                                                \
	"{\"casino_id\",\"currency\",\"mode\",...,\"keys\":[{\"key_id\",\"created_ms\"}]}"
#define KEY_JSON "{\"casino_id\",\"key_id\",\"key\"}"

#define CLIENT_KEY_JSON "{\"client_id\",\"key_id\",\"key\"}"
/* EVENT is a number or a webhook-id such as betting-17. "-" reads events from standard input. */
#define OPERATE_ARGS "EVENT...\n-"
#define OPERATE_JSON                                                                               \
	"{\"action\",\"dry_run\",\"callbacks\":[{\"event\",\"kind\",\"casino_id\",\"state\","      \
	"\"attempts\",\"done\",\"error\":{\"id\",\"detail\"} or null}],\"done\",\"not_done\"}. "   \
	"EVENT is a number, or a webhook-id such as betting-17; '-' reads them from standard "     \
	"input; at most 10000 at once"

const struct ctl_command ctl_commands[] = {
	{"init", "", "Create the state directory of the configuration",
		"{\"state_directory\",\"installation\"}", init_options, 0, 0, false, ctl_init},
	{"status", "", "Show the state of the ledger",
		"{\"version\",\"installation\",\"pid\",\"halted\",\"last_transaction_id\",...,"
		"\"callbacks\":{\"due\",\"sending\",\"held\",\"parked\",\"overdue_ms\"},"
		"\"dealers_without_url\":[...],\"shared_keys\":[...]}",
		NULL, 0, 0, false, ctl_status},
	{"schema", "", "Show the version of the data of a stopped ledger",
		"{\"state_directory\",\"schema\",\"program_schema\",\"data\": none, older, current "
		"or newer}",
		NULL, 0, 0, false, ctl_schema},
	{"metrics", "", "Print the figures that Prometheus reads at /metrics",
		"{\"metrics\"}: the text", NULL, 0, 0, false, ctl_metrics},
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
	{"dealer suspend", "CASINO", "Refuse transfers, new players and new bets of a dealer",
		"{\"casino_id\",\"suspended\"}", reason_options, 1, 1, false, ctl_dealer_suspend},
	{"dealer resume", "CASINO", "End the suspension of a dealer",
		"{\"casino_id\",\"suspended\"}", reason_options, 1, 1, false, ctl_dealer_resume},
	{"dealer hold", "CASINO", "Send no callback to a dealer until `release`",
		"{\"casino_id\",\"callbacks_held_ms\"}. Bets of its players are refused meanwhile",
		reason_options, 1, 1, false, ctl_dealer_hold},
	{"dealer key-confirm", "CASINO",
		"Record that the keys that a restore brought back are right",
		"{\"casino_id\",\"confirmed\"}", reason_options, 1, 1, false,
		ctl_dealer_key_confirm},
	{"dealer key-add", "CASINO", "Give a dealer a second key and show it", KEY_JSON,
		key_add_options, 1, 1, false, ctl_dealer_key_add},
	{"dealer key-use", "CASINO KEYID", "Sign callbacks with this key from now on",
		"{\"casino_id\",\"key_id\"}", reason_options, 2, 2, false, ctl_dealer_key_use},
	{"dealer key-retire", "CASINO KEYID", "Retire a key of a dealer for ever",
		"{\"casino_id\",\"key_id\"}", reason_options, 2, 2, false, ctl_dealer_key_retire},
	{"dealer ping", "CASINO", "Ask a dealer's server for a player's balance",
		"{\"casino_id\",\"asked_user_id\",\"url\",\"ok\",\"class\",\"http_status\",\"ms\","
		"\"dealer_error_id\",\"dealer_error_detail\",\"has_balance\",\"balance\","
		"\"currency\",\"user_id\",\"note\"}, and \"error\":{\"id\",\"detail\"} unless ok",
		ping_options, 1, 1, false, ctl_dealer_ping},
	{"dealer test", "CASINO", "Test a dealer's server with the cases of its specification",
		"{\"casino_id\",\"user_id\",\"url\",\"first_id\",\"last_id\",\"passed\",\"failed\","
		"\"skipped\",\"not_run\",\"balance_before\",\"balance_after\",\"difference\","
		"\"cases\":[{\"name\",\"group\",\"result\",\"rule\",\"expected\",\"came\",\"why\","
		"\"has_money\",\"before\",\"after\",\"moved\",\"calls\",\"ms\"}]}, and "
		"\"error\":{\"id\",\"detail\"} unless all passed; with --dry-run "
		"{\"cases\":[{\"name\",\"group\",\"rule\",\"expected\"}]}",
		test_options, 1, 1, false, ctl_dealer_test},
	{"client add", "CLIENT", "Add a game server and show its first key", CLIENT_KEY_JSON,
		key_add_options, 1, 1, false, ctl_client_add},
	{"client list", "", "List the game servers",
		"{\"clients\":[{\"client_id\",\"removed\",\"keys_issued\","
		"\"keys\":[{\"key_id\",\"created_ms\"}],\"created_ms\"}]}",
		client_list_options, 0, 0, false, ctl_client_list},
	{"client key-add", "CLIENT", "Give a game server a second key and show it", CLIENT_KEY_JSON,
		key_add_options, 1, 1, false, ctl_client_key_add},
	{"client key-use", "CLIENT KEYID", "Record with which key a game server signs now",
		"{\"client_id\",\"key_id\"}", reason_options, 2, 2, false, ctl_client_key_use},
	{"client key-retire", "CLIENT KEYID", "Retire a key of a game server for ever",
		"{\"client_id\",\"key_id\"}", reason_options, 2, 2, false, ctl_client_key_retire},
	{"client key-confirm", "CLIENT",
		"Record that the keys that a restore brought back are right",
		"{\"client_id\",\"confirmed\"}", reason_options, 1, 1, false,
		ctl_client_key_confirm},
	{"client remove", "CLIENT", "Remove a game server and its keys",
		"{\"client_id\",\"removed\"}. Bets of open rounds can only be settled by a client of "
		"this name. If the same name is added again, it can settle them",
		client_remove_options, 1, 1, false, ctl_client_remove},
	{"player add", "CASINO USER", "Register a player", PLAYER_JSON, reason_options, 2, 2, false,
		ctl_player_add},
	{"player list", "CASINO", "List the players of a dealer", "{\"players\":[{...}]}",
		list_options, 1, 1, false, ctl_player_list},
	{"player show", "CASINO USER\nPLAYER_ID", "Show a player and the balance",
		"{\"casino_id\",\"user_id\",\"player_id\",\"balance\",\"entry_seq\","
		"\"entry_transaction_id\",\"suspended\",\"created_ms\"}",
		NULL, 1, 2, false, ctl_player_show},
	{"player suspend", "CASINO USER", "Refuse transfers and bets of a player", PLAYER_JSON,
		reason_options, 2, 2, false, ctl_player_suspend},
	{"player resume", "CASINO USER", "End the suspension of a player", PLAYER_JSON,
		reason_options, 2, 2, false, ctl_player_resume},
	{"player ledger", "CASINO USER\nPLAYER_ID",
		"List the movements of a player, the newest first", "{\"entries\":[{...}]}",
		ledger_options, 1, 2, false, ctl_player_ledger},
	{"player adjust", "CASINO USER AMOUNT", "Move credit of a player by hand, in or out (-)",
		"{\"player_id\",\"amount\",\"before_balance\",\"current_balance\","
		"\"transaction_id\",\"operation_id\",\"replay\"}",
		adjust_options, 3, 3, true, ctl_player_adjust},
	{"transfer show", "CASINO REFERENCE\n--transaction=ID",
		"Find the movement of a dealer's reference",
		"{\"casino_id\",\"user_id\",\"request\":{...},\"entry\":{...} or null}",
		transfer_show_options, 0, 2, false, ctl_transfer_show},
	{"transfer list", "", "List movements, the newest first", "{\"transfers\":[{...}]}",
		transfer_list_options, 0, 0, false, ctl_transfer_list},
	{"bet show", "TRANSACTION_ID\nPLAYER_ID|CASINO/USER GAME [N]",
		"Show a bet with its round and its callbacks",
		"{\"bet\":{...},\"answer\":{\"code\",\"id\",\"detail\"},\"round\":{...},"
		"\"callbacks\":[{...}],\"movements\":[{...}]}; for the transaction id of a result, that of "
		"round show",
		NULL, 1, 3, false, ctl_bet_show},
	{"bet list", "", "List bets, the newest first",
		"{\"bets\":[{\"player_id\",\"game_id\",\"number\",\"transaction_id\",...,"
		"\"user_id\"}]}, without user_bet",
		bet_list_options, 0, 0, false, ctl_bet_list},
	{"round show", "TRANSACTION_ID\nPLAYER_ID|CASINO/USER GAME",
		"Show a round with its bets and callbacks",
		"{\"round\":{...},\"bets\":[{...}],\"callbacks\":[{...}],\"movements\":[{...}]}",
		NULL, 1, 2, false, ctl_round_show},
	{"callback list", "", "List callbacks, the newest first",
		"{\"callbacks\":[" CALLBACK_ROW_JSON "]}; with --shape {\"shape\":[{\"casino_id\","
		"\"state\",\"total\",\"up_to_1m\",\"up_to_5m\",\"up_to_15m\",\"up_to_1h\","
		"\"up_to_4h\",\"up_to_1d\",\"over_1d\"}]}",
		callback_list_options, 0, 0, false, ctl_callback_list},
	{"callback show", "EVENT", "Show a callback with every attempt and the exact body",
		"{\"webhook_id\",\"url\" (by the dealer's present settings),... as in callback list,\"tries\":[{\"number\","
		"\"time_ms\",\"ended\",\"class\",\"http_status\",\"ms\",\"dealer_error_id\","
		"\"note\",\"next_ms\",...}],\"body\" (text, byte for byte as it is sent; null: not "
		"stored any more)}",
		NULL, 1, 1, false, ctl_callback_show},
	{"callback retry", OPERATE_ARGS, "Send callbacks that are due or parked now", OPERATE_JSON,
		asking_options, 1, CTL_ARGS_MAX, false, ctl_callback_retry},
	{"callback hold", OPERATE_ARGS,
		"Hold callbacks that are due or parked until they are released", OPERATE_JSON,
		operate_options, 1, CTL_ARGS_MAX, false, ctl_callback_hold},
	{"callback release", OPERATE_ARGS, "Let held callbacks be sent", OPERATE_JSON,
		operate_options, 1, CTL_ARGS_MAX, false, ctl_callback_release},
	{"callback cancel", OPERATE_ARGS, "Cancel callbacks that were settled by other means",
		OPERATE_JSON, asking_options, 1, CTL_ARGS_MAX, false, ctl_callback_cancel},
	{"release", "[CASINO]",
		"Show the callbacks that a restore or `dealer hold` holds, and release them",
		"{\"callbacks\":[{\"webhook_id\",\"created_ms\",\"casino_id\",\"user_id\","
		"\"game_id\",\"amount\",\"transaction_id\",\"attempts\",\"bet\"}],"
		"\"dealers\":[{\"casino_id\",\"callbacks_held_ms\",\"restored_ms\",\"restored_to_ms\","
		"\"callbacks\",\"released\"}],"
		"\"released\"}. Of all dealers, or of one; nothing is released without --yes or an "
		"answer on the terminal",
		release_options, 0, 1, false, ctl_release},
	{"sweep", "", "Send the callbacks that are due, as creditbridge-sweep does from cron",
		"the object of creditbridge-sweep, whose exit status this is: the summary; with "
		"--dry-run the callbacks that would be sent first; {\"already_running\":true}",
		sweep_options, 0, 0, false, ctl_sweep},
	{"export", "[FILE]", "Write all data of the ledger, as lines of JSON",
		"of FILE {\"file\",\"format\",\"version\",\"schema\",\"program\",\"installation\","
		"\"created_ms\",\"keys\",\"last_transaction_id\",\"last_event\",\"rows\","
		"\"counts\":{...},\"sha256\",\"last_ms\"}",
		export_options, 0, 1, false, ctl_export},
	{"import", "FILE", "Make an export the state of a ledger that does not run",
		"{\"state_directory\",\"dry_run\",\"installation\",\"export\":{...},\"rows\","
		"\"counts\":{...},\"sha256\",\"last_transaction_id\",\"last_ms\",\"raised_by\",\"first_id\","
		"\"keys_missing\":{\"dealers\":[...],\"clients\":[...]},\"revived\":[...] (as of "
		"restore)}. The state must be absent, empty "
		"or just initialised; FILE '-' is standard input",
		import_options, 1, 1, false, ctl_import},
	{"recon", "CASINO --date=D [FILE]\n--compare OUR THEIR",
		"Write a dealer's day as CSV, or compare two such files",
		"of FILE {\"file\",\"casino_id\",\"date\",\"from_ms\",\"until_ms\",\"complete\" (the day "
		"was over),\"movements\",\"bets\",\"callbacks\",\"sha256\"}; with --compare "
		"{\"differences\":[{\"finding\",\"record\",\"id\",\"our_amount\",\"their_amount\","
		"\"our_state\",\"their_state\"}],\"our\":{\"file\",\"rows\"},\"their\":{...},"
		"\"compared\",\"states_compared\",\"missing_here\",\"missing_there\","
		"\"amount_differs\",\"state_differs\",\"ok\"}",
		recon_options, 1, 2, false, ctl_recon},
	{"reconcile", "CASINO FILE",
		"Compare a dealer's file after a restore, and propose commands",
		"{\"casino_id\",\"differences\":[{\"record\",\"id\",\"user_id\",\"game_id\","
		"\"our_amount\",\"their_amount\",\"our_state\",\"their_state\",\"remedy\",\"command\","
		"\"why\"}],\"rows\",\"open\",\"ok\",\"covers\",\"noted\"}; remedy is none, add_player, adjust, cancel, retry, "
		"release, sweep, repeat or ask_dealer",
		reconcile_options, 2, 2, false, ctl_reconcile},
	{"check", "", "Prove that every balance is the sum of its movements, and every row valid",
		"{\"ok\",\"as_of\",\"players\",\"entries\",\"requests\",\"transactions\","
		"\"rounds\",\"bets\",\"callbacks\",\"sums\",\"dealers\":[{...}],\"problem_count\","
		"\"problems\":[...],\"shared_keys\":[...]}",
		NULL, 0, 0, false, ctl_check},
	{"backup", "DIR", "Copy everything to a directory, while the ledger serves",
		"{\"directory\",\"stage\",\"added\" (to the backup that was there),\"bytes\","
		"\"tables\",\"logs\",\"begun_ms\",\"ended_ms\",\"complete_to_ms\",...}",
		backup_options, 1, 1, false, ctl_backup},
	{"restore", "DIR", "Make a backup the state of a ledger that does not run",
		"{\"state_directory\",\"dry_run\",\"installation\",\"complete_to_ms\",\"tables\","
		"\"logs\",\"rolled_forward\",\"unreadable\",\"last_transaction_id\",\"last_ms\","
		"\"raised_by\",\"first_id\",\"revived\":[{\"kind\",\"id\",\"suspended\",\"removed\",\"keys\"}],"
		"\"changed\":[{\"time_ms\",\"action\",\"object\",\"in_force\",\"detail\","
		"\"reason\"}],...}; changed only with --old or --logs",
		restore_options, 1, 1, false, ctl_restore},
	{"adopt", "", "State whether a state was copied or moved, so that a ledger may serve it",
		"{\"state_directory\",\"installation\",\"copied\",\"last_transaction_id\",\"last_ms\","
		"\"raised_by\",\"first_id\"}",
		adopt_options, 0, 0, false, ctl_adopt},
	{"doctor", "[KEYFILE...]", "Check this installation for faults; change nothing",
		"{\"ok\",\"failed\",\"warnings\",\"passed\",\"not_looked_at\",\"not_shown\","
		"\"findings\":[{\"result\" (PASS, WARN, FAIL, SKIP),\"check\",\"purpose\","
		"\"about\",\"found\",\"remedy\"}]}. Exit status 1 if a finding is FAIL. KEYFILEs are "
		"files or folders with secrets, such as keys and backups, that no other user may read",
		doctor_options, 0, CTL_ARGS_MAX, false, ctl_doctor},
	{"audit", "", "List the actions of operators, the newest first", "{\"audit\":[{...}]}",
		audit_options, 0, 0, false, ctl_audit},
	{"sign", "CASINO [BODYFILE]\n--key-file=FILE [BODYFILE]",
		"Print the x-casino-signature of a body",
		"{\"signature\"}. The body is BODYFILE or standard input", sign_options, 0, 2,
		false, ctl_sign},
	{"request",
		"CASINO METHOD PATH\nCASINO transfer-in|transfer-out|balance|stat|"
		"result-inquire",
		"Make a signed call as the dealer would",
		"{\"status\",\"headers\":{...},\"request_transaction_id\",\"body\"}",
		request_options, 2, 3, false, ctl_request},
	{"explain", "REQUEST_ID\n-",
		"Explain why a recent request was answered 400, 401 or "
		"user_not_found",
		"{\"request_id\",\"time_ms\",\"serve\" (wallet, platform),\"operation\",\"method\","
		"\"path\",\"caller_id\",\"code\",\"id\",\"detail\",\"body_bytes\","
		"\"body_bytes_kept\",\"matches\" (requests of this id),\"findings\":[{\"cause\","
		"\"rule\",\"found\",\"remedy\"}]}, the cause of the answer first. '-' reads the id "
		"from standard input. The last 1,000 are kept, in the ledger's memory only",
		explain_options, 1, 1, false, ctl_explain},
	{"completion", "", "Print the completion for bash", "{\"script\"}: the text", NULL, 0, 0,
		false, ctl_completion},
	{NULL, NULL, NULL, NULL, NULL, 0, 0, false, NULL},
};
