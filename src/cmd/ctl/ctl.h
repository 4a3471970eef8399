/*
 * ctl - creditbridgectl: what its commands share.
 *
 * A command is a row of the table in commands.c: name, synopsis, help, options, function. The
 * command line is parsed by argp in args.c, before the function is called, into struct ctl.
 */
#ifndef CMD_CTL_CTL_H
#define CMD_CTL_CTL_H

#include "base/settings.h"
#include "link/client.h"

#include <argp.h>
#include <stdbool.h>

/* How creditbridgectl ends; in part those of <sysexits.h>. */
enum ctl_exit {
	CTL_DONE = 0,
	CTL_FAILED = 1,         /* failed, was refused, or a check found something */
	CTL_USAGE = 2,
	CTL_PARTLY = 3,         /* of several things only some were done */
	CTL_UNREACHABLE = 69,   /* no ledger (or server) answers */
	CTL_BUSY = 75,          /* nothing was done; the same command may succeed later */
	CTL_NOT_PERMITTED = 77,
	CTL_CONFIG = 78,        /* the configuration or the state directory is not usable */
};

/* Every option of every command; one without argument is "" when given. */
enum ctl_option {
	OPTION_JSON,
	OPTION_CONFIG,
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
	OPTION_WITH_KEYS,
	OPTION_OFFLINE,
	OPTION_TAP,
	OPTION_JUNIT,
	OPTION_PLATFORM_URL,
	OPTION_FOR,
#define DEALER_SETTING(option, name, ...) OPTION_##option,
#include "cmd/ctl/dealer_settings.def"
#undef DEALER_SETTING
	OPTION_COUNT
};
/* argp's key of an option: none is a character. */
#define OPTION_KEY(option) (0x100 + (int)(option))

#define CTL_ARGS_MAX 256

struct ctl_command;

struct ctl {
	const struct ctl_command *command;
	const char *options[OPTION_COUNT]; /* NULL: not given */
	const char *args[CTL_ARGS_MAX];
	unsigned int arg_count;
	/* "-5" or "-0.50" among the arguments: an amount, no option; "" when there was none */
	char negative[MONEY_TEXT_MAX];
	bool json;
	bool settings_loaded;
	struct settings settings;
	struct operator operator;
	bool connected;
	struct link link;
	/* Answers commands in place of the ledger (cmd/ctl/local.h); NULL: the ledger answers. */
	enum status (*ask)(void *closure, enum command command, const void *cmd, void *result);
	void *ask_closure;
	/* Is given each row that a list reads (cmd/ctl/check.c); NULL: nothing is. */
	void (*row_read)(void *closure, enum record record, const void *row);
	void *row_closure;
};

/*
 * Runs with arguments and options already counted, and returns the exit code; a failure was
 * reported by then (ctl_fail and the like).
 */
typedef enum ctl_exit ctl_run(struct ctl *ctl);

struct ctl_command {
	const char *name;     /* one word, or two: "dealer add" */
	const char *synopsis; /* of the arguments, as argp's args_doc; "" for none */
	const char *help;     /* one line */
	const char *json;     /* what --json prints */
	const struct argp_option *options; /* NULL: only the global ones */
	unsigned int args_min;
	unsigned int args_max;
	bool negative; /* takes an amount that may begin with '-' */
	ctl_run *run;
};

/* Ends with an entry without a name. */
extern const struct ctl_command ctl_commands[];

/*
 * Parses the command line. Ends the process itself for --help, --version and errors of usage (told
 * in JSON, too, when --json is among the words); else ctl->command, options and args are set.
 */
void ctl_parse(struct ctl *ctl, int argc, char **argv);

/* Loads the configuration, once. */
enum ctl_exit ctl_settings(struct ctl *ctl);

/* settings_load(), which writes to @why what is wrong where: FILE:LINE: REASON. */
#define CTL_SETTINGS_WHY 1024
enum status ctl_settings_load(struct settings *settings, const char *path,
	char why[CTL_SETTINGS_WHY]);

/*
 * With the configuration loaded, root becomes the owner of the state directory, which is the user
 * that the ledger runs as. A failure is reported.
 */
enum ctl_exit ctl_drop_root(struct ctl *ctl);

/*
 * Asks the ledger over admin.sock; connects at the first call (after ctl_drop_root()). A failure of the machine and a refusal are reported. @unknown: STATUS_UNKNOWN is
 * told here and not reported, for commands that tell more about it; NULL otherwise.
 */
enum ctl_exit ctl_do(struct ctl *ctl, enum command command, const void *cmd, void *result,
	bool *unknown);

/* What ctl_fail() is given. */
struct ctl_failure {
	const char *id; /* "": there is none */
	char detail[640];
};

/*
 * As ctl_do(), but what the ledger did not do is only told in @failure: for commands that do
 * several things and report on all of them. With no id in it, why nothing could be asked was
 * reported.
 */
enum ctl_exit ctl_try(struct ctl *ctl, enum command command, const void *cmd, void *result,
	struct ctl_failure *failure);

/*
 * Reports "creditbridgectl: ID: DETAIL" on standard error, and with --json an object
 * {"error":{"id","detail"}} on standard output. Returns @code.
 */
enum ctl_exit ctl_fail(struct ctl *ctl, enum ctl_exit code, const char *id, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reports "creditbridgectl: ID: DETAIL" on standard error alone: what is not the whole outcome. */
void ctl_tell(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As ctl_fail(): memory is exhausted. */
enum ctl_exit ctl_no_memory(struct ctl *ctl);

/* With --json, prints the object of ctl_fail(). */
void ctl_fail_json(struct ctl *ctl, const char *id, const char *detail);

/* Reports an error of usage, with a hint to --help. Returns CTL_USAGE. */
enum ctl_exit ctl_usage(struct ctl *ctl, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Copy an argument, refusing (as usage) what cannot be an id: casino_id is [A-Za-z0-9_.-]{1,64},
 * others 1 to 128 bytes of UTF-8 without control characters (api.md, Common rules, Ids).
 */
enum ctl_exit ctl_casino_id(struct ctl *ctl, const char *text, char casino_id[CASINO_ID_SIZE]);
enum ctl_exit ctl_external_id(struct ctl *ctl, const char *what, const char *text,
	char id[EXTERNAL_ID_SIZE]);

/* Reads --limit: a number from 1; 0 and absent stand for all and @standard. */
enum ctl_exit ctl_limit(struct ctl *ctl, uint64_t standard, uint64_t *limit);

/* Reads an unsigned decimal number of at most @max. */
bool ctl_number(const char *text, uint64_t max, uint64_t *number);

/*
 * Reads a time: YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS] (UTC, a closing Z is accepted) or Unix
 * milliseconds.
 */
bool ctl_time(const char *text, int64_t *time_ms);

/*
 * Reads an option that names one or several of @names, separated by commas, into *mask (1 <<
 * place); when it is not given all are set.
 */
enum ctl_exit ctl_choices(struct ctl *ctl, enum ctl_option option, const char *const *names,
	unsigned int count, uint32_t *mask);

/* True: standard input is a terminal. */
bool ctl_can_ask(void);

/*
 * Asks on the terminal whether to go on; --yes answers. False: usage or "not confirmed, so "
 	"nothing was changed: answer yes, or give --yes" was
 * reported, and *code is what to end with.
 */
bool ctl_confirm(struct ctl *ctl, const char *question, enum ctl_exit *code);

/* The functions of the table. */
ctl_run ctl_init, ctl_status, ctl_metrics, ctl_resume, ctl_audit;
ctl_run ctl_dealer_add, ctl_dealer_list, ctl_dealer_show, ctl_dealer_set, ctl_dealer_suspend,
	ctl_dealer_resume, ctl_dealer_key_add, ctl_dealer_key_use, ctl_dealer_key_retire;
ctl_run ctl_dealer_hold, ctl_dealer_key_confirm, ctl_client_key_confirm, ctl_release;
ctl_run ctl_player_add, ctl_player_list, ctl_player_show, ctl_player_suspend, ctl_player_resume,
	ctl_player_ledger, ctl_player_adjust;
ctl_run ctl_transfer_show, ctl_transfer_list;
ctl_run ctl_dealer_ping, ctl_dealer_test;
ctl_run ctl_client_add, ctl_client_list, ctl_client_key_add, ctl_client_key_use,
	ctl_client_key_retire, ctl_client_remove;
ctl_run ctl_bet_show, ctl_bet_list, ctl_round_show;
ctl_run ctl_callback_list, ctl_callback_shape, ctl_callback_show, ctl_callback_retry, ctl_callback_hold,
	ctl_callback_release, ctl_callback_cancel;
ctl_run ctl_recon, ctl_reconcile, ctl_export, ctl_import;
ctl_run ctl_backup, ctl_restore, ctl_adopt, ctl_schema;
ctl_run ctl_sweep, ctl_check, ctl_doctor, ctl_sign, ctl_request, ctl_explain, ctl_completion;

#endif
