/*
 * ctl - declarations that the commands of creditbridgectl share.
 *
 * A command is a row of the table in cmd/ctl/commands.c: name, synopsis, help, options, function. args.c
 * parses the command line into struct ctl with argp before it calls the function.
 */
#ifndef CMD_CTL_COMMON_CTL_H
#define CMD_CTL_COMMON_CTL_H

#include "admin/filter.h"
#include "admin/session.h"

#include <argp.h>
#include <stdbool.h>

/* All options of all commands. An option without an argument is "" when it is given. */
enum ctl_option {
	OPTION_JSON,
	OPTION_CONFIG,
	OPTION_CELL,
	OPTION_USER,
	OPTION_REASON,
	OPTION_LIMIT,
	OPTION_KEY_FILE,
	OPTION_OPERATION_ID,
	OPTION_AMOUNT,
	OPTION_CASINO,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_TRANSACTION,
	OPTION_BODY,
	OPTION_REFERENCE,
	OPTION_GAME,
	OPTION_STATE,
	OPTION_KIND,
	OPTION_ALL,
	OPTION_YES,
	OPTION_UNRECONCILED,
	OPTION_DRY_RUN,
	OPTION_ACCEPT_CLOCK,
	OPTION_MOVED,
	OPTION_COPIED,
	OPTION_WHOLE,
	OPTION_LOGS,
	OPTION_OLD,
	OPTION_DATE,
	OPTION_COMPARE,
	OPTION_SHAPE,
	OPTION_COMPLETE,
	OPTION_WITH_KEYS,
	OPTION_OFFLINE,
	OPTION_SQL,
	OPTION_TAP,
	OPTION_JUNIT,
	OPTION_CASE,
	OPTION_RESTART_COMMAND,
	OPTION_PLATFORM_URL,
	OPTION_CONSOLE_URL,
	OPTION_FOR,
	OPTION_SEAL,
	OPTION_AFTER,
	OPTION_OWN,
	OPTION_REVISION,
	OPTION_ALLOW_SHORTFALL,
	OPTION_ID,
	OPTION_TZ,
	OPTION_PROBLEMS,
	OPTION_JOIN,
	OPTION_ADDRESS,
	OPTION_KEEP,
	OPTION_LOGIN,
	OPTION_ROLE,
	OPTION_PING,
	OPTION_NO_LOOKUP,
	OPTION_NO_PROOF,
	OPTION_LISTEN,
	OPTION_CLIENT,
	OPTION_ERROR,
	OPTION_WHY,
	OPTION_TO,
	OPTION_ABORT,
#define DEALER_SETTING(option, name, ...) OPTION_##option,
#include "cmd/ctl/common/dealer_settings.def"
#undef DEALER_SETTING
	OPTION_COUNT
};
/* The key of an option in argp. No option has a short form. */
#define OPTION_KEY(option) (0x100 + (int)(option))

#define CTL_ARGS_MAX   256
#define CTL_AFTER_SIZE EXTERNAL_ID_SIZE

struct ctl_command;
struct output_walk;
struct ctl_cells;

struct ctl {
	const struct ctl_command *command;
	const char *options[OPTION_COUNT]; /* NULL: not given */
	const char *args[CTL_ARGS_MAX];
	unsigned int arg_count;
	/* "-5" or "-0.50" among the arguments: an amount, not an option; "" if there was none */
	char negative[MONEY_TEXT_MAX];
	bool json;
	uint64_t limit; /* rows that the command's list prints; 0: all */
	/* With several cells, the name of the one that the session asks; NULL: there is one. */
	const char *cell;
	struct ctl_cells *cells; /* all of them, if the command runs in one; NULL: there is one */
	struct output_walk
		*walk; /* the output of a command that asks several cells; NULL: of one */
	struct session session;
};

/*
 * Runs a command whose arguments and options were already counted. Returns the exit code. The
 * function reports its failure before it returns (ctl_fail() and the like).
 */
typedef enum outcome ctl_run(struct ctl *ctl);

struct ctl_command {
	const char *name;     /* one word, or two: "dealer add" */
	const char *synopsis; /* its arguments, in the format of argp's args_doc; "" for none */
	const char *help;     /* one line */
	const char *json;     /* what --json prints */
	const struct argp_option *options; /* NULL: only the global ones */
	unsigned int args_min;
	unsigned int args_max;
	bool negative; /* takes an amount that may begin with '-' */
	ctl_run *run;
};

/*
 * Reports "creditbridgectl: ID: DETAIL" on standard error, and with --json an object
 * {"error":{"id","detail"}} on standard output. Returns @code.
 */
enum outcome ctl_fail(struct ctl *ctl, enum outcome code, const char *id, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Reports "creditbridgectl: ID: DETAIL" only on standard error. Use it for a failure that is not
 * the outcome of the whole command.
 */
void ctl_tell(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names @cell in the lines of standard error that follow; NULL: none. */
void ctl_name_cell(const char *cell);

/* As ctl_fail(), for exhausted memory. */
enum outcome ctl_no_memory(struct ctl *ctl);

/* Reports a failure of the session, as ctl_fail() does. @ctl is a struct ctl. */
void ctl_report(void *ctl, enum outcome outcome, const struct failure *failure);

/* With --json, prints the object of ctl_fail(). */
void ctl_fail_json(struct ctl *ctl, const char *id, const char *detail);

/* Reports a usage error with a hint to --help. Returns OUTCOME_USAGE. */
enum outcome ctl_usage(struct ctl *ctl, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * For commands that move credit: refuses a missing --reason and a wrong --operation-id as usage errors, and
 * takes the latter as the id of the operation.
 */
enum outcome ctl_operation(struct ctl *ctl);

/*
 * Reads --limit into *limit, which is @standard if the option is absent. 0 means no limit and
 * sets UINT64_MAX.
 */
enum outcome ctl_limit(struct ctl *ctl, uint64_t standard, uint64_t *limit);

/*
 * As ctl_limit(), for a command whose output is a list with a name: sets *limit to one row more, so
 * that the list finds out whether it was cut.
 */
enum outcome ctl_list_limit(struct ctl *ctl, uint64_t standard, uint64_t *limit);

/* Returns true if the command has the option. */
bool ctl_has_option(const struct ctl *ctl, enum ctl_option option);

/*
 * Parses an option that contains one or several of @names, separated by commas. Sets bit (1 <<
 * index) in *mask for each. If the option is absent, all bits are set.
 */
enum outcome ctl_choices(struct ctl *ctl, enum ctl_option option, const char *const *names,
	unsigned int count, uint32_t *mask);

/*
 * Splits --user: without --casino, "CASINO/USER" names both. Sets *casino and *user, or NULL for
 * what is not given. @word holds the casino_id. With --casino the whole text is the user_id, which
 * may contain a slash.
 */
void ctl_casino_user(const struct ctl *ctl, char word[CASINO_ID_SIZE], const char **casino,
	const char **user);

/*
 * Reads --casino, --user, --game, --since, --until and --limit. Refuses an unknown dealer or player,
 * because an empty list would look like a good result. @standard: the limit if none is given.
 */
enum outcome ctl_filter(struct ctl *ctl, uint64_t standard, struct filter *filter);

/* Returns true if standard input is a terminal. */
bool ctl_can_ask(void);

/*
 * Asks @question on the terminal; --yes answers it. Returns false if the user does not agree or
 * cannot be asked: the failure was reported and *code is the exit code.
 */
bool ctl_confirm(struct ctl *ctl, const char *question, enum outcome *code);

/* The functions in the table of commands. */
ctl_run ctl_cell_list;
ctl_run ctl_init, ctl_status, ctl_metrics, ctl_resume, ctl_audit;
ctl_run ctl_dealer_add, ctl_dealer_list, ctl_dealer_show, ctl_dealer_set, ctl_dealer_suspend,
	ctl_dealer_resume, ctl_dealer_key_add, ctl_dealer_key_use, ctl_dealer_key_retire;
ctl_run ctl_dealer_hold, ctl_dealer_key_confirm, ctl_client_key_confirm, ctl_release;
ctl_run ctl_player_add, ctl_player_list, ctl_player_show, ctl_player_suspend, ctl_player_resume,
	ctl_player_ledger, ctl_player_adjust;
ctl_run ctl_transfer_show, ctl_transfer_list, ctl_follow;
ctl_run ctl_dealer_ping, ctl_dealer_test, ctl_dealer_move;
ctl_run ctl_client_add, ctl_client_list, ctl_client_key_add, ctl_client_key_use,
	ctl_client_key_retire, ctl_client_remove;
ctl_run ctl_bet_show, ctl_bet_list, ctl_round_show, ctl_round_correct;
ctl_run ctl_callback_list, ctl_callback_shape, ctl_callback_show, ctl_callback_retry,
	ctl_callback_hold, ctl_callback_release, ctl_callback_cancel, ctl_callback_replay;
ctl_run ctl_replay_list, ctl_replay_show, ctl_replay_stop;
ctl_run ctl_owed;
ctl_run ctl_member_add, ctl_member_list, ctl_member_renew, ctl_member_remove;
ctl_run ctl_report_days;
ctl_run ctl_recon, ctl_reconcile, ctl_export, ctl_import;
ctl_run ctl_backup, ctl_restore, ctl_adopt, ctl_schema;
ctl_run ctl_operator_add, ctl_operator_set, ctl_operator_list, ctl_operator_suspend,
	ctl_operator_resume, ctl_operator_unlock, ctl_operator_new_code, ctl_operator_sign_out;
ctl_run ctl_refused_list, ctl_demo, ctl_job;
ctl_run ctl_cluster_status, ctl_sweep, ctl_check, ctl_doctor, ctl_sign, ctl_request, ctl_explain,
	ctl_completion;

#endif
