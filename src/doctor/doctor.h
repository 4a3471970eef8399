/*
 * doctor - checks of an installation: what they share.
 *
 * A check is a row of the table in checks.c. Each looks in a process of its own and has a
 * deadline, so that one that hangs (on a dead file system, on a name server) or crashes takes
 * nothing else with it; all of them look at the same time. None changes anything: no call is
 * signed, nothing is sent to a dealer, no file with a name is written.
 *
 * One cause is to be found once: a check that cannot look because of what another one finds says
 * SKIP and names that one.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "admin/session.h"

#include <sys/types.h>

enum doctor_result {
	DOCTOR_PASS,
	DOCTOR_WARN, /* it works, but will not for long, or not for everything */
	DOCTOR_FAIL, /* something does not work, or is open to those it should not be */
	DOCTOR_SKIP, /* it could not be looked at, and @found says why */
	DOCTOR_RESULT_COUNT
};

/* What a check came to; several when it looks at several things. No text has control characters. */
struct finding {
	enum doctor_result result;
	char check[32];
	char purpose[96]; /* what the check is for */
	char about[160];  /* the one of several that it is about; "": all */
	char found[480];
	char remedy[320]; /* one line; "": there is nothing to be done */
};

/* Findings of one check; more are only counted, by result. */
#define DOCTOR_FINDINGS_MAX 32
struct doctor_sheet {
	uint32_t count;
	uint32_t dropped[DOCTOR_RESULT_COUNT];
	struct finding findings[DOCTOR_FINDINGS_MAX];
};

struct doctor_check;

/* What a person says about the installation; what is NULL was not said. */
struct doctor_options {
	const char *config;       /* the configuration's file */
	const char *url;          /* of the wallet's mount, as dealers call it */
	const char *platform_url; /* of the platform's mount */
	const char *user;         /* of the web server */
	const char *const *key_files; /* files that may hold keys */
	unsigned int key_file_count;
};

/* What a check is given. */
struct doctor {
	const struct doctor_options *options;
	struct session *session; /* of the check's own process */
	const struct doctor_check *check;
	struct doctor_sheet *sheet;
	struct settings *settings; /* to be filled by the first check, read by the others */
	bool *settings_loaded;
	char about[160]; /* of the findings to come */
};

typedef void doctor_look(struct doctor *doctor);

enum doctor_need {
	NEEDS_SETTINGS = 1, /* the configuration could be read */
	NEEDS_URL = 2,      /* --url was given */
	NEEDS_PLATFORM = 4, /* --platform-url was given */
};

struct doctor_check {
	const char *name;
	doctor_look *look;
	const char *purpose;
	unsigned int needs; /* enum doctor_need, or-ed; unless they are met it is a SKIP */
	uint32_t deadline_ms;
};

/* The first one reads the configuration. */
extern const struct doctor_check doctor_checks[];
extern const unsigned int doctor_check_count;

/*
 * Runs @checks, the first one before the others, and writes the findings of each to its sheet.
 * @sheets, @settings and @settings_loaded are apart_memory().
 */
void doctor_run(const struct doctor_options *options, struct session *session,
	struct doctor_sheet *sheets, struct settings *settings,
	bool *settings_loaded);

/* How many findings of @sheet are only counted. */
uint32_t doctor_dropped(const struct doctor_sheet *sheet);

/* What the findings to come are about. */
void doctor_about(struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a finding. What comes from outside may stand in it: control characters become '?'. */
void doctor_add(struct doctor *doctor, enum doctor_result result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define doctor_pass(doctor, ...) doctor_add((doctor), DOCTOR_PASS, __VA_ARGS__)
#define doctor_warn(doctor, ...) doctor_add((doctor), DOCTOR_WARN, __VA_ARGS__)
#define doctor_fail(doctor, ...) doctor_add((doctor), DOCTOR_FAIL, __VA_ARGS__)
#define doctor_skip(doctor, ...) doctor_add((doctor), DOCTOR_SKIP, __VA_ARGS__)

/* What to do about the finding last added. Every WARN and FAIL has a remedy. */
void doctor_remedy(struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Tells of a file or directory that could not be looked at, by errno @error: SKIP when whoever
 * calls may not, else FAIL with what @remedy says.
 */
void doctor_unseen(struct doctor *doctor, const char *path, int error, const char *remedy);

/* The configuration's file. */
const char *doctor_config(const struct doctor *doctor);

/* Writes DIRECTORY/NAME. */
#define DOCTOR_PATH_MAX (SETTINGS_PATH_MAX + 64)
void doctor_path(char path[DOCTOR_PATH_MAX], const char *directory, const char *name);

/*
 * Asks the ledger over admin.sock. False: it does not answer, which is a finding of the check
 * "ledger" and here a SKIP.
 */
bool doctor_ask(struct doctor *doctor, struct link *link, enum command command, const void *cmd,
	void *result);

/* False: it does not, which the checks "ledger" and "halted" tell of. */
bool doctor_ledger_serves(const struct doctor *doctor);

/* The process that STATE/lock names and that is a ledger; 0: none. */
pid_t doctor_ledger_pid(const struct doctor *doctor);

/* The functions of the table. */
doctor_look doctor_configuration, doctor_configuration_file, doctor_configuration_access,
	doctor_configuration_in_use, doctor_settings, doctor_callback_networks;
doctor_look doctor_caller, doctor_state_directory, doctor_state_files, doctor_key_files;
doctor_look doctor_file_system, doctor_disk_space, doctor_disk_ballast, doctor_disk_sync,
	doctor_halted;
doctor_look doctor_socket_directory, doctor_sockets, doctor_socket_access;
doctor_look doctor_ledger, doctor_engine, doctor_descriptors, doctor_sweeper, doctor_callbacks;
doctor_look doctor_programs, doctor_workers, doctor_cron, doctor_log, doctor_clock;
doctor_look doctor_dealers, doctor_keys;
doctor_look doctor_wallet_mount, doctor_wallet_get_body, doctor_wallet_paths, doctor_platform_mount,
	doctor_platform_paths, doctor_platform_private, doctor_clock_skew;

#endif
