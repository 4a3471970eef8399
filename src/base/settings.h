/*
 * settings - reads /etc/creditbridge/creditbridge.conf with libconfuse.
 *
 * Every option has a default. The reader refuses with "FILE:LINE: message" an unknown option, an
 * option set twice, a wrong type, a value out of range, and two options that conflict. Dealers,
 * keys and players are rows of the ledger, not configuration. The table of options is in
 * settings_options.c.
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include "base/log.h"
#include "base/network.h"
#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

#define SETTINGS_PATH_MAX     4096
#define SETTINGS_NETWORKS_MAX 32
#define SETTINGS_WHY_MAX      320
/*
 * The socket in the socket directory by which cooperating workers find each other (fcgi/handoff.h).
 */
#define SETTINGS_TOGETHER     "together"
#define SETTINGS_DEFAULT_FILE "/etc/creditbridge/creditbridge.conf"
/* The preset of console_front_file; without this file there is no web console. */
#define SETTINGS_DEFAULT_FRONT "/etc/creditbridge/console-front"

/* A socket directory with its NUL: the path of a socket has at most 107 bytes, and the longest name is "/admin.sock". */
#define SETTINGS_SOCKETS_SIZE 97
#define SETTINGS_HOSTS_MAX    512

/* The other cells that a file may list. */
#define SETTINGS_CELLS_MAX 15

/* A cell's name, and the path of its file, each with its NUL. */
#define SETTINGS_CELL_NAME_SIZE 16
#define SETTINGS_CELL_PATH_SIZE 256

struct settings {
	char state_directory[SETTINGS_PATH_MAX];  /* the ledger's data */
	char socket_directory[SETTINGS_PATH_MAX]; /* holds edge.sock and admin.sock */
	char socket_group[64];                    /* group of edge.sock; "": the ledger's own */
	char read_group[64];    /* group whose members may list and show; "": none */
	char support_group[64]; /* group whose members may also help callers (link/roles.h) */
	/* The web console. There is none, and no desk.sock, if this is "" or the file does not exist. */
	char console_front_file[512]; /* the front secrets, readable by the ledger */
	char console_group
		[64]; /* group that may open desk.sock, and jobs.sock of job --listen; "": none */
	uint32_t console_idle_s;
	uint32_t console_session_s;
	uint32_t console_code_fresh_s;
	uint32_t console_page_rate;   /* pages a second of one operator, on average */
	char console_audit_views[16]; /* "no" or "yes": views of pages are rows of the audit */
	uint32_t desk_share;          /* percent of the ledger's time, beside other commands */
	char base_path[256]; /* URL prefix of the service on the web server; see text_base_path() */
	char log_target[16]; /* "syslog" or "stderr" */
	enum log_level log_level;
	/* allowed difference of request_timestamp; 0: any (contract, "Request timestamp") */
	uint32_t request_window_s;
	uint32_t ledger_deadline_ms;     /* a worker repeats an unanswered command for this time */
	uint32_t ledger_connections_max; /* further ones get service_unavailable */
	uint32_t ledger_queue_max;       /* queued commands; further ones are refused immediately */
	/* a small batch of many clients waits this long for more; 0: never */
	uint32_t ledger_gather_us;
	char store[16]; /* "berkeleydb" or "postgresql" */
	char postgresql_hosts
		[SETTINGS_HOSTS_MAX]; /* HOST[:PORT] or socket directories, by commas */
	char postgresql_database[64];
	char postgresql_user[64];
	char postgresql_schema[64];
	char postgresql_options[512];    /* more of a connection string of libpq */
	char postgresql_durability[16];  /* "quorum" or "local" */
	uint32_t postgresql_trip_ms;     /* the longest round trip before its outcome is in doubt */
	uint32_t postgresql_patience_ms; /* how long a batch looks for a server */
	char cell_name[SETTINGS_CELL_NAME_SIZE]; /* the name of this file's cell; "": none */
	/* The configuration files of the other cells (base/cells.h). */
	char cells[SETTINGS_CELLS_MAX][SETTINGS_CELL_PATH_SIZE];
	uint32_t cell_count;
	char cell_member[64]; /* the name of this host among the hosts of its cell; "": none */
	char cell_listen[64]; /* address and port for the other hosts' peers; "": no peer */
	char cell_tls_directory[SETTINGS_PATH_MAX]; /* certificates and keys of the cell */
	uint32_t cell_takeover_ms;   /* a ledger that stands still for this time is replaced */
	uint32_t cell_read_lease_ms; /* an answer is vouched for by a commit that is not older */
	uint32_t ledger_cache_mib;   /* page cache of the store */
	uint32_t checkpoint_kib;     /* checkpoint after this much log, or ... */
	uint32_t checkpoint_interval_ms; /* ... after this time */
	uint32_t log_keep_mib;  /* size of logs before the last checkpoint kept for roll-forward */
	uint32_t ledger_number; /* remainder of each new id by 16 (ledger/rows/life.h) */
	uint32_t replay_rate;   /* callbacks that a replay makes due, a second and dealer */
	/* age at which bodies of delivered and settled rows are deleted; 0: never */
	uint32_t retention_days;
	uint32_t retention_pause_s;  /* before the first pass and between passes */
	uint32_t refused_keep_days;  /* refused calls on disk; 0: no limit of age */
	uint32_t refused_keep_mib;   /* their size on disk; 0: none are kept there */
	uint32_t disk_low_water_mib; /* with less free space, writes are refused */
	uint32_t disk_ballast_mib;   /* file deleted when recovery finds no free space */
	/* Callbacks (contract, "Attempts" and "Leases"). Tests use shorter times. */
	uint32_t callback_timeout_ms;         /* limit of the whole call, of which ... */
	uint32_t callback_connect_timeout_ms; /* ... look-up, connection and TLS may use this */
	uint32_t callback_lease_ms; /* of an attempt; at least callback_timeout_ms + 1500 */
	/* wait after a betting's lease before its sender is disconnected */
	uint32_t callback_owner_patience_ms;
	uint32_t result_second_attempt_ms; /* betting-result: after the first one failed */
	uint32_t result_third_attempt_ms;  /* after the second one failed */
	uint32_t refund_backoff_ms;        /* betting-refund: after the first, then doubled ... */
	uint32_t refund_backoff_max_ms;    /* ... up to this */
	uint32_t refund_give_up_s;         /* parked this long after it was first due */
	uint32_t breaker_open_ms;          /* then one call is permitted */
	char callback_keep_answers[16];    /* "failed" or "none": answers that were no success */
	uint32_t sweep_concurrency; /* maximum of concurrent attempts of creditbridge-sweep */
	uint32_t sweep_overdue_s;   /* without a sweeper for this time /readyz answers 503 */
	/* Networks that are not public but permitted (contract, "Group B: callbacks"). */
	struct network callback_networks[SETTINGS_NETWORKS_MAX];
	uint32_t callback_network_count;
};

/*
 * Returns the name of option @number, counted from 0, or NULL after the last. Sets *@preset to its
 * default as a file would contain it. For code that lists every option: the sample file's test and
 * the documentation.
 */
const char *settings_option(unsigned int number, const char **preset);

/* Sets every option to its default. */
void settings_defaults(struct settings *settings);

/*
 * Reads @path; options that the file does not set keep their defaults. On failure @settings is
 * unchanged and one line is written to @errors, without control characters. The line names the
 * file, the number of the line if one is wrong, and the reason. Returns STATUS_CONFIG if the file
 * is wrong and STATUS_NOT_FOUND if it does not exist. Another status, from status_of_errno(), means
 * that a later attempt may succeed.
 *
 * A child process reads the file (base/isolated.h), because libconfuse ends its process when memory
 * is exhausted. The result is then STATUS_NOMEM.
 */
enum status settings_load(struct settings *settings, const char *path, FILE *errors);

/*
 * Like settings_load(), but in this process, which libconfuse may end. For tests that search for
 * its faults. @why gets the error line without the name of the file, or "" for STATUS_OK. Not for
 * use by two threads at once: the scanner of libconfuse has global state.
 */
enum status settings_read(struct settings *settings, const char *path, char why[SETTINGS_WHY_MAX]);

/* Opens the log with the target and level of @settings. @program must stay valid. */
void settings_open_log(const struct settings *settings, const char *program);

#endif
