/*
 * doctor - declarations shared by the checks of an installation.
 *
 * Each check is a row of the table in checks.c. A check runs in its own process with a deadline.
 * If it hangs (on a dead file system or a name server) or crashes, it does not affect the others.
 * All checks run at the same time. No check changes anything: it signs no call, sends nothing to
 * a dealer and writes no named file.
 *
 * Each cause is reported once. If another check reports the cause, a check that cannot run
 * reports SKIP and names that check.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "admin/session.h"

#include <sys/types.h>

enum doctor_result {
	DOCTOR_PASS,
	DOCTOR_WARN, /* it works, but not for long or not in all cases */
	DOCTOR_FAIL, /* it does not work, or is accessible to users that must not have access */
	DOCTOR_SKIP, /* the check could not be made; @found contains the reason */
	DOCTOR_RESULT_COUNT
};

/*
 * A result of a check. A check that examines several things has several. No text contains control
 * characters.
 */
struct finding {
	enum doctor_result result;
	char check[32];
	char purpose[96]; /* the purpose of the check */
	char about[160];  /* the object to which it applies, if there are several; "": all */
	char found[480];
	char remedy[320]; /* one line; "": no action is needed */
};

/* Maximum findings stored for one check. Further ones are only counted, by result. */
#define DOCTOR_FINDINGS_MAX 32
struct doctor_sheet {
	uint32_t count;
	uint32_t dropped[DOCTOR_RESULT_COUNT];
	struct finding findings[DOCTOR_FINDINGS_MAX];
};

struct doctor_check;

/* Information about the installation from the command line. NULL: not given. */
struct doctor_options {
	const char *config;           /* the configuration file */
	const char *url;              /* of the wallet's mount, as dealers use it */
	const char *platform_url;     /* of the platform's mount */
	const char *console_url;      /* of the web console */
	bool no_lookup;               /* ask no name server about dealers' hosts */
	const char *user;             /* of the web server */
	const char *const *key_files; /* files that may contain keys */
	unsigned int key_file_count;
};

/* The input of a check. */
struct doctor {
	const struct doctor_options *options;
	struct session *session; /* of the check's own process */
	const struct doctor_check *check;
	struct doctor_sheet *sheet;
	struct settings *settings; /* filled by the first check, read by the others */
	bool *settings_loaded;
	char about[160]; /* of the next findings */
};

typedef void doctor_look(struct doctor *doctor);

enum doctor_need {
	NEEDS_SETTINGS = 1,     /* the configuration was read */
	NEEDS_URL = 2,          /* --url was given */
	NEEDS_PLATFORM = 4,     /* --platform-url was given */
	NEEDS_SERVERS = 8,      /* the store is PostgreSQL; otherwise the check has no finding */
	NEEDS_CONSOLE = 16,     /* there is a web console; otherwise the check has no finding */
	NEEDS_CONSOLE_URL = 32, /* --console-url was given */
	/* a web console is set up, or its socket is there; otherwise the check has no finding */
	NEEDS_CONSOLE_ENABLED = 64,
	NEEDS_CELLS = 128, /* there are several cells; otherwise the check has no finding */
	/* those without which a check has no finding */
	NEEDS_OF_USE = NEEDS_SERVERS | NEEDS_CONSOLE | NEEDS_CONSOLE_ENABLED | NEEDS_CELLS,
};

struct doctor_check {
	const char *name;
	doctor_look *look;
	const char *purpose;
	unsigned int needs; /* enum doctor_need, or-ed; if one is not met, the result is SKIP */
	uint32_t deadline_ms;
};

/* The first one reads the configuration. */
extern const struct doctor_check doctor_checks[];
extern const unsigned int doctor_check_count;

/*
 * Runs the first of @checks, then all others at the same time. Writes the findings of each to its
 * sheet. @sheets, @settings and @settings_loaded must be isolated_memory().
 */
void doctor_run(const struct doctor_options *options, struct session *session,
	struct doctor_sheet *sheets, struct settings *settings, bool *settings_loaded);

/* Returns how many findings of @sheet were only counted. */
uint32_t doctor_dropped(const struct doctor_sheet *sheet);

/* Sets the object of the next findings. */
void doctor_about(struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a finding. The text may contain external data: control characters are replaced by '?'. */
void doctor_add(struct doctor *doctor, enum doctor_result result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define doctor_pass(doctor, ...) doctor_add((doctor), DOCTOR_PASS, __VA_ARGS__)
#define doctor_warn(doctor, ...) doctor_add((doctor), DOCTOR_WARN, __VA_ARGS__)
#define doctor_fail(doctor, ...) doctor_add((doctor), DOCTOR_FAIL, __VA_ARGS__)
#define doctor_skip(doctor, ...) doctor_add((doctor), DOCTOR_SKIP, __VA_ARGS__)

/* Sets the remedy of the last finding. Every WARN and FAIL has a remedy. */
void doctor_remedy(struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds a finding for a file or directory that could not be examined because of errno @error. The
 * result is SKIP if the caller lacks permission, otherwise FAIL with @remedy.
 */
void doctor_unseen(struct doctor *doctor, const char *path, int error, const char *remedy);

/* Returns the path of the configuration file. */
const char *doctor_config(const struct doctor *doctor);

/* Writes DIRECTORY/NAME. */
#define DOCTOR_PATH_MAX (SETTINGS_PATH_MAX + 64)
void doctor_path(char path[DOCTOR_PATH_MAX], const char *directory, const char *name);

/*
 * Sends a command to the ledger over admin.sock. If the ledger does not answer, adds a SKIP and
 * returns false; the check "ledger" reports the failure.
 */
bool doctor_ask(struct doctor *doctor, struct link *link, enum command command, const void *cmd,
	void *result);

/*
 * Prepares the lists of src/admin for this process, which has its own link. Returns false after a
 * finding.
 */
bool doctor_open_lists(struct doctor *doctor);
struct list;
/* Closes the list. Returns false after a finding that not all rows were read. */
bool doctor_close_list(struct doctor *doctor, struct list *list);

/* Returns true if a web console is set up: the file of the front secret is there, or another one is set. */
bool doctor_console_used(const struct settings *settings);
/*
 * As doctor_console_used(), or if no front secret is named, but the console's socket is there. @config: the file of
 * @settings; NULL: the installed one.
 */
bool doctor_console_enabled(const char *config, const struct settings *settings);

/* Returns false if the ledger does not serve; the checks "ledger" and "halted" report that. */
bool doctor_ledger_serves(const struct doctor *doctor);

/* Returns the owner of the state, which is the ledger's user; the caller if there is no state. */
uid_t doctor_ledger_uid(const struct doctor *doctor);

/* Returns the process that STATE/lock names, if it is a ledger; 0 otherwise. */
pid_t doctor_ledger_pid(const struct doctor *doctor);

/* The functions in the table of checks. */
doctor_look doctor_configuration, doctor_configuration_file, doctor_configuration_access,
	doctor_configuration_in_use, doctor_settings, doctor_callback_networks;
doctor_look doctor_caller, doctor_state_directory, doctor_state_files, doctor_key_files;
doctor_look doctor_file_system, doctor_disk_space, doctor_disk_ballast, doctor_disk_sync,
	doctor_halted;
doctor_look doctor_store_servers, doctor_store_quorum, doctor_store_settings, doctor_store_lag,
	doctor_store_roles, doctor_store_space;
doctor_look doctor_socket_directory, doctor_sockets, doctor_socket_access;
doctor_look doctor_ledger, doctor_engine, doctor_ledger_number, doctor_descriptors;
doctor_look doctor_sweeper, doctor_callbacks;
doctor_look doctor_programs, doctor_workers, doctor_cron, doctor_log, doctor_clock;
doctor_look doctor_dealers, doctor_keys, doctor_cell_certificate, doctor_cells, doctor_moves;
doctor_look doctor_console_front, doctor_console_sockets, doctor_console_process,
	doctor_console_operators, doctor_console_apache, doctor_console_mount;

/*
 * Part of doctor_dealers: warns of dealers by the callbacks that their answers ended. Returns false
 * if the ledger does not return its metrics.
 */
bool doctor_dealer_answers(struct doctor *doctor);

doctor_look doctor_wallet_mount, doctor_wallet_get_body, doctor_wallet_paths, doctor_platform_mount,
	doctor_platform_paths, doctor_platform_private, doctor_clock_skew;

#endif
