/*
 * commands - the table of creditbridgectl's commands.
 */
#include "cmd/ctl/commands.h"

#include "cmd/ctl/callbacks/callback.h"
#include "cmd/ctl/callbacks/owed.h"

#include "cmd/ctl/command_options.def"

#define PLAYER_JSON                                                                                \
	"{\"player_id\",\"casino_id\",\"user_id\",\"currency\",\"created\",\"suspended\","         \
	"\"balance\"}"
#define DEALER_JSON                                                                                \
	"{\"casino_id\",\"currency\",\"mode\",...,\"keys\":[{\"key_id\",\"created_ms\"}]}"
#define KEY_JSON "{\"casino_id\",\"key_id\",\"key\"}"

#define OPERATOR_JSON                                                                              \
	"{\"operator\":{\"name\",\"login\",\"role\",\"suspended\",\"locked_until_ms\","            \
	"\"signed_in_ms\",...}}"
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
		"{\"verdict\": ok, attention or failure,\"problems\":[{\"level\",\"found\","
		"\"remedy\"}],\"version\",\"installation\",\"pid\",\"halted\",\"last_transaction_id\","
		"\"ledger_number\",...,"
		"\"store\":[{\"name\",\"unit\",\"value\"}],\"callbacks\":{\"due\",\"sending\",\"held\",\"parked\",\"overdue_ms\"},"
		"\"dealers_without_url\":[...],\"shared_keys\":[...]}",
		NULL, 0, 0, false, ctl_status},
	{"cluster status", "", "Show which host's ledger is active, and which stand by",
		"{\"member\" (this host),\"role\" (active, standby, silent, none),\"active\",\"holder\","
		"\"address\",\"installation\",\"epoch\",\"turn\",\"members\":[{\"name\",\"role\","
		"\"version\",\"address\",\"seen_ms_ago\",\"ahead_ms\"}]}",
		NULL, 0, 0, false, ctl_cluster_status},
	{"cell list", "", "List the cells, and whether each can be asked",
		"{\"cells\":[{\"cell\",\"configuration\",\"ledger_number\",\"state\" (serving, halted, "
		"unreachable),\"why\",\"dealers\"}]}",
		NULL, 0, 0, false, ctl_cell_list},
	{"schema", "", "Show the version of the data of a stopped ledger",
		"{\"state_directory\",\"schema\",\"program_schema\",\"data\": none, older, current "
		"or newer,\"store\": berkeleydb or postgresql}; with --sql {\"sql\"}",
		schema_options, 0, 0, false, ctl_schema},
	{"metrics", "", "Print the figures that Prometheus reads at /metrics",
		"{\"metrics\"}: the text", NULL, 0, 0, false, ctl_metrics},
	{"resume", "", "Start the ledger again after it halted on a disk error",
		"{\"resumed\":true}", reason_options, 0, 0, false, ctl_resume},
	{"dealer add", "CASINO", "Add a dealer and show its first key", KEY_JSON,
		dealer_add_options, 1, 1, false, ctl_dealer_add},
	{"dealer list", "", "List all dealers", "{\"dealers\":[{...}]}", NULL, 0, 0, false,
		ctl_dealer_list},
	{"dealer show", "CASINO", "Show a dealer with its keys, its sums and its breaker",
		DEALER_JSON
		", \"total\" and \"breaker\":{\"state\",\"since_ms\",\"next_ms\" (of the next test call),"
		"\"started_ms\" (of the engine),\"opened\" (since then),\"openings\":[{\"opened_ms\","
		"\"closed_ms\",\"tests\"}],\"last_error\":{\"time_ms\",\"class\",\"http_status\",\"note\","
		"\"event\"} or null}",
		NULL, 1, 1, false, ctl_dealer_show},
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
	{"dealer move", "CASINO", "Move a dealer with all its rows to another cell",
		"{\"casino_id\",\"from\",\"to\",\"state\" (moved or aborted),\"rows\" (copied and deleted by "
		"this call),\"held\" (the callbacks),\"kinds\":[{\"kind\",\"count\",\"amount\",\"sha256\"}] (compared by this call)}",
		move_options, 1, 1, false, ctl_dealer_move},
	{"dealer ping", "CASINO", "Ask a dealer's server for a player's balance",
		"{\"casino_id\",\"asked_user_id\",\"url\",\"ok\",\"class\",\"http_status\",\"ms\","
		"\"dealer_error_id\",\"dealer_error_detail\",\"has_balance\",\"balance\","
		"\"currency\",\"user_id\",\"note\",\"answer_length\",\"answer_type\",\"answer\"}, and \"error\":{\"id\",\"detail\"} unless ok",
		ping_options, 1, 1, false, ctl_dealer_ping},
	{"dealer test", "CASINO", "Test a dealer's server with the cases of its specification",
		"{\"casino_id\",\"user_id\",\"url\",\"first_id\",\"last_id\",\"passed\",\"failed\","
		"\"not_judged\",\"skipped\",\"not_run\",\"balance_before\",\"balance_after\",\"difference\","
		"\"cases\":[{\"name\",\"group\",\"result\",\"cause\",\"rule\",\"needs\",\"expected\",\"came\",\"why\","
		"\"has_money\",\"before\",\"after\",\"moved\",\"calls\",\"ms\"}]}, "
		"\"warning\" if there is one, and \"error\":{\"id\",\"detail\"} unless all passed; with --dry-run "
		"{\"cases\":[{\"name\",\"group\",\"rule\",\"needs\",\"expected\"}]}",
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
	{"operator add", "NAME", "Add an operator of the web console and show the code secret",
		"{\"operator\":{...},\"otpauth\"}", operator_options, 1, 1, false,
		ctl_operator_add},
	{"operator set", "NAME", "Change login or role of an operator; the sessions end",
		OPERATOR_JSON, operator_options, 1, 1, false, ctl_operator_set},
	{"operator list", "", "List the operators of the web console", "{\"operators\":[{...}]}",
		NULL, 0, 0, false, ctl_operator_list},
	{"operator suspend", "NAME", "Refuse sign-in of an operator, and end the sessions",
		OPERATOR_JSON, reason_options, 1, 1, false, ctl_operator_suspend},
	{"operator resume", "NAME", "End the suspension of an operator", OPERATOR_JSON,
		reason_options, 1, 1, false, ctl_operator_resume},
	{"operator unlock", "NAME", "End the lock of an operator after wrong codes", OPERATOR_JSON,
		reason_options, 1, 1, false, ctl_operator_unlock},
	{"operator new-code", "NAME", "Give an operator a new code secret and show it",
		"{\"operator\":{...},\"otpauth\"}", reason_options, 1, 1, false,
		ctl_operator_new_code},
	{"operator sign-out", "NAME", "End the sessions of an operator", OPERATOR_JSON,
		reason_options, 1, 1, false, ctl_operator_sign_out},
	{"player add", "CASINO USER", "Register a player", PLAYER_JSON, reason_options, 2, 2, false,
		ctl_player_add},
	{"player list", "CASINO", "List the players of a dealer", "{\"players\":[{...}]}",
		list_options, 1, 1, false, ctl_player_list},
	{"player show", "CASINO USER\nPLAYER_ID", "Show a player and the balance",
		"{\"casino_id\",\"user_id\",\"player_id\",\"balance\",\"entry_seq\","
		"\"entry_transaction_id\",\"suspended\",\"created_ms\",\"credit_at\" (platform or dealer)}",
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
		"{\"casino_id\",\"user_id\",\"request\":{...},\"entry\":{...} or null," STORY_JSON
		"}",
		transfer_show_options, 0, 2, false, ctl_transfer_show},
	{"transfer list", "", "List movements, the newest first", "{\"transfers\":[{...}]}",
		transfer_list_options, 0, 0, false, ctl_transfer_list},
	{"follow", "", "Print transactions as lines of JSON, and go on with new ones",
		"the same lines as without it: {\"casino_id\",\"transaction_id\",\"kind\",\"state\","
		"\"timestamp\",\"user_id\",\"player_id\",...}; see creditbridge-protocol(7)",
		follow_options, 0, 0, false, ctl_follow},
	{"bet show", "TRANSACTION_ID\nPLAYER_ID|CASINO/USER GAME [N]\nCASINO USER GAME [N]",
		"Show a bet with its round and its callbacks",
		"{\"bet\":{...},\"answer\":{\"code\",\"id\",\"detail\"},\"round\":{...},"
		"\"callbacks\":[{...}],\"movements\":[{...}]," STORY_JSON
		"}; for the transaction id of a result, that of "
		"round show",
		NULL, 1, 4, false, ctl_bet_show},
	{"bet list", "", "List bets, the newest first",
		"{\"bets\":[{\"player_id\",\"game_id\",\"number\",\"transaction_id\",...,"
		"\"user_id\",\"debt\",\"owed\"}]}, without user_bet; debt and owed as in bet show",
		bet_list_options, 0, 0, false, ctl_bet_list},
	{"round show", "TRANSACTION_ID\nPLAYER_ID|CASINO/USER GAME\nCASINO USER GAME",
		"Show a round with its bets and callbacks",
		"{\"round\":{...},\"bets\":[{...}],\"callbacks\":[{...}],\"movements\":[{...}]," STORY_JSON
		"}",
		NULL, 1, 3, false, ctl_round_show},
	{"round correct", "PLAYER_ID|CASINO/USER GAME RESULT [PAYOUT]",
		"Give a settled round another result, and move the difference",
		"{\"dry_run\",\"casino_id\",\"user_id\",\"game_id\",\"mode\",\"previous_result\","
		"\"previous_payout_amount\",\"result\",\"payout_amount\",\"revision\",\"delta\","
		"\"shortfall\",\"transaction_id\",\"webhook_id\",\"effect\",\"operation_id\","
		"\"replay\"}",
		correct_options, 3, 4, false, ctl_round_correct},
	{"owed", "", "List what is owed: by which side, since when, why, and the next step",
		"{\"owed\":[{\"webhook_id\" (empty: what a correction could not take back),\"kind\","
		"\"state\",\"since_ms\",\"casino_id\",\"player_id\",\"user_id\",\"game_id\"," STORY_JSON_MEMBERS
		"}],\"dealers\":[{\"casino_id\",\"currency\",\"payouts\",\"refunds\",\"shortfall\"}]}",
		owed_options, 0, 0, false, ctl_owed},
	{"callback list", "", "List callbacks, the newest first",
		"{\"callbacks\":[" CALLBACK_ROW_JSON "]}; with --shape {\"shape\":[{\"casino_id\","
		"\"state\",\"total\",\"up_to_1m\",\"up_to_5m\",\"up_to_15m\",\"up_to_1h\","
		"\"up_to_4h\",\"up_to_1d\",\"over_1d\"}]}",
		callback_list_options, 0, 0, false, ctl_callback_list},
	{"callback show", "EVENT", "Show a callback with every attempt and the exact body",
		"{\"webhook_id\",\"url\" (by the dealer's present settings),... as in callback list,\"tries\":[{\"number\","
		"\"time_ms\",\"ended\",\"class\",\"http_status\",\"ms\",\"dealer_error_id\","
		"\"note\",\"next_ms\",...}],\"answers\" (to attempts that were no success):[{\"number\","
		"\"length\",\"content_type\",\"text\" (its beginning),...}],\"body\" (text, byte for "
		"byte as it is sent; null: not stored any more)}",
		NULL, 1, 1, false, ctl_callback_show},
	{"callback retry", OPERATE_ARGS, "Send due or parked callbacks now", OPERATE_JSON,
		asking_options, 1, CTL_ARGS_MAX, false, ctl_callback_retry},
	{"callback hold", OPERATE_ARGS,
		"Hold callbacks that are due or parked until they are released", OPERATE_JSON,
		operate_options, 1, CTL_ARGS_MAX, false, ctl_callback_hold},
	{"callback release", OPERATE_ARGS, "Let held callbacks be sent", OPERATE_JSON,
		operate_options, 1, CTL_ARGS_MAX, false, ctl_callback_release},
	{"callback cancel", OPERATE_ARGS, "Cancel callbacks that were settled by other means",
		OPERATE_JSON, asking_options, 1, CTL_ARGS_MAX, false, ctl_callback_cancel},
	{"callback replay", "",
		"Send again those parked callbacks of a dealer that a filter selects",
		"{\"casino_id\",\"callbacks\",\"kinds\":[{\"kind\",\"callbacks\",\"amount\"}],"
		"\"held\",\"adjusted\",\"parked_later\",\"first_event\",\"last_event\",\"more\",\"breaker\","
		"\"replay\" (null: none was started)}. --casino is required; at most 10000 at once",
		callback_replay_options, 0, 0, false, ctl_callback_replay},
	{"replay list", "", "List replays of callbacks, the newest first",
		"{\"replays\":[{...}]} as in replay show", replay_list_options, 0, 0, false,
		ctl_replay_list},
	{"replay show", "REPLAY", "Show how far a replay is",
		"{\"id\",\"casino_id\",\"player_id\",\"game_id\",\"first_event\",\"last_event\","
		"\"time_ms\",\"by\",\"reason\",\"state\" (running, done, stopped, failed),\"ended_ms\","
		"\"stopped_by\",\"expected\",\"made_due\",\"left_out\",\"parked_later\",\"delivered\","
		"\"parked_again\",\"withdrawn\",\"on_its_way\",\"progress\"}",
		NULL, 1, 1, false, ctl_replay_show},
	{"replay stop", "REPLAY", "Stop a replay; what is due already is sent all the same",
		"the object of replay show", reason_options, 1, 1, false, ctl_replay_stop},
	{"release", "[CASINO]",
		"Show what a restore or `dealer hold` keeps back for whole dealers, and release it",
		"{\"callbacks\":[{\"webhook_id\",\"created_ms\",\"casino_id\",\"user_id\","
		"\"game_id\",\"amount\",\"transaction_id\",\"attempts\",\"bet\"}],"
		"\"dealers\":[{\"casino_id\",\"callbacks_held_ms\",\"restored_ms\",\"restored_to_ms\","
		"\"callbacks\",\"released\",\"error\":{\"id\",\"detail\"} of one that failed}],"
		"\"released\" (all of them)}. Of all dealers, or of one; nothing is released without --yes or an "
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
		"\"counts\":{...},\"sha256\",\"last_transaction_id\",\"last_ms\",\"raised_by\",\"first_id\",\"ledger_number\","
		"\"keys_missing\":{\"dealers\":[...],\"clients\":[...]},\"revived\":[...] (as of "
		"restore)}. The state must be absent, empty "
		"or just initialised; FILE '-' is standard input",
		import_options, 1, 1, false, ctl_import},
	{"report days", "CASINO", "List the sums of a dealer's days, the oldest first",
		"{\"days\":[{\"casino_id\",\"currency\",\"date\",\"complete\" (all rows were counted),\"over\",\"transfers_in\","
		"\"transferred_in\",\"transfers_out\",\"transferred_out\",\"adjustments\",\"adjusted\","
		"\"bets\",\"staked\",\"payouts\",\"paid\",\"corrections\",\"corrected\","
		"\"bets_refunded\",\"refunded\",\"bets_rejected\",\"rejected\",\"cancellations\","
		"\"cancelled\",\"profit\",\"callbacks\",\"callbacks_success\",\"callbacks_refused\","
		"\"callbacks_unknown\",\"callbacks_not_sent\",\"callbacks_waiting\"}]}",
		report_days_options, 1, 1, false, ctl_report_days},
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
		"\"rounds\",\"bets\",\"callbacks\",\"sums\",\"days\",\"dealers\":[{...}],\"problem_count\","
		"\"problems\":[...],\"not_compared\":[...],\"shared_keys\":[...]}",
		NULL, 0, 0, false, ctl_check},
	{"backup", "DIR", "Copy everything to a directory, while the ledger serves",
		"{\"directory\",\"stage\",\"added\" (to the backup that was there),\"bytes\","
		"\"tables\",\"logs\",\"begun_ms\",\"ended_ms\",\"complete_to_ms\",...}",
		backup_options, 1, 1, false, ctl_backup},
	{"restore", "DIR", "Make a backup the state of a ledger that does not run",
		"{\"state_directory\",\"dry_run\",\"proved\",\"installation\",\"complete_to_ms\",\"tables\","
		"\"logs\",\"rolled_forward\",\"unreadable\",\"last_transaction_id\",\"last_ms\","
		"\"raised_by\",\"first_id\",\"ledger_number\",\"revived\":[{\"kind\",\"id\",\"suspended\",\"removed\",\"keys\"}],"
		"\"changed\":[{\"time_ms\",\"action\",\"object\",\"in_force\",\"detail\","
		"\"reason\"}],...}; changed only with --old or --logs",
		restore_options, 1, 1, false, ctl_restore},
	{"adopt", "", "State whether a state was copied or moved, so that a ledger may serve it",
		"{\"state_directory\",\"installation\",\"copied\",\"last_transaction_id\",\"last_ms\","
		"\"raised_by\",\"first_id\",\"ledger_number\",\"revived\":[...] (as of restore; only with --copied)}",
		adopt_options, 0, 0, false, ctl_adopt},
	{"doctor", "[KEYFILE...]", "Check this installation for faults; change nothing",
		"{\"ok\",\"failed\",\"warnings\",\"passed\",\"not_looked_at\",\"not_shown\","
		"\"findings\":[{\"result\" (PASS, WARN, FAIL, SKIP),\"check\",\"purpose\","
		"\"about\",\"found\",\"remedy\"}]}. Exit status 1 if a finding is FAIL. KEYFILEs are "
		"files or folders with secrets, such as keys and backups, that no other user may read",
		doctor_options, 0, CTL_ARGS_MAX, false, ctl_doctor},
	{"job", "", "Do one job of the web console, which standard input asks for",
		"the answer is that of link/jobs.h, also without --json: the console reads it",
		job_options, 0, 0, false, ctl_job},
	{"member add", "NAME", "Make key and certificate of a host of the cell",
		"{\"member\",\"address\",\"expires_ms\",\"serial\",\"state\",\"directory\"}",
		member_options, 1, 1, false, ctl_member_add},
	{"member list", "", "List the hosts of the cell and their certificates",
		"{\"members\":[{\"member\",\"address\",\"expires_ms\",\"serial\",\"state\" (valid, "
		"expired, replaced, removed)}]}",
		member_list_options, 0, 0, false, ctl_member_list},
	{"member renew", "NAME", "Make a new key and certificate of a host of the cell",
		"as member add", member_options, 1, 1, false, ctl_member_renew},
	{"member remove", "NAME", "Refuse the certificates of a host of the cell",
		"{\"member\",\"removed\"}", NULL, 1, 1, false, ctl_member_remove},
	{"demo", "", "Show a bet of a seamless wallet, with a dealer and a game server of its own",
		"{\"casino_id\",\"client_id\",\"user_id\",\"player_id\",\"game_id\","
		"\"transaction_id\",\"state\",\"kept\"}",
		demo_options, 0, 0, false, ctl_demo},
	{"audit", "", "List the actions of operators, the newest first", "{\"audit\":[{...}]}",
		audit_options, 0, 0, false, ctl_audit},
	{"sign", "CASINO [BODYFILE]\n--key-file=FILE [BODYFILE]",
		"Print the x-casino-signature of a body",
		"{\"signature\"}. The body is BODYFILE or standard input", sign_options, 0, 2,
		false, ctl_sign},
	{"request",
		"CASINO METHOD PATH\nCASINO transfer-in|transfer-out|transfer-inquire|balance|"
		"stat|result-inquire",
		"Make a signed call as the dealer would",
		"{\"status\",\"headers\":{...},\"request_transaction_id\",\"body\"}",
		request_options, 2, 3, false, ctl_request},
	{"refused list", "", "List calls that were answered 4xx, the newest first",
		"{\"refused\":[{\"time_ms\",\"code\",\"id\",\"detail\",\"why\",\"operation\","
		"\"proved\" (the signature was valid),\"casino_id\",\"user_id\","
		"\"request_transaction_id\",\"amount\" (as sent),\"request_id\",\"address\",...}]}",
		refused_list_options, 0, 0, false, ctl_refused_list},
	{"explain", "REQUEST_ID\n-\n--casino=CASINO --reference=ID|--user=USER",
		"Explain why a call was answered 4xx, and what each side owes after it",
		"{\"request_id\",\"time_ms\",\"serve\" (wallet, platform),\"operation\",\"method\","
		"\"path\",\"caller_id\",\"code\",\"id\",\"detail\",\"body_bytes\","
		"\"body_bytes_kept\",\"matches\" (requests of this id),\"findings\":[{\"cause\","
		"\"rule\",\"found\",\"remedy\"}],\"owed\",\"next\"}, the cause of the answer "
		"first. '-' reads the id "
		"from standard input. The bodies of the last 1,000 calls answered 400, 401 or "
		"user_not_found are in the ledger's memory only",
		explain_options, 0, 1, false, ctl_explain},
	{"completion", "", "Print the completion for bash", "{\"script\"}: the text", NULL, 0, 0,
		false, ctl_completion},
	{NULL, NULL, NULL, NULL, NULL, 0, 0, false, NULL},
};
