/*
 * settings - /etc/creditbridge/creditbridge.conf, read by libconfuse.
 *
 * Every option has a default; an unknown option, one set twice, a wrong type, a value out of range
 * or two that do not go together are refused with "FILE:LINE: message". Dealers, keys and players
 * are not configuration: they live in the ledger. The table of options is in settings_options.c.
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include "base/log.h"
#include "base/network.h"
#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

#define SETTINGS_PATH_MAX 4096
#define SETTINGS_NETWORKS_MAX 32
#define SETTINGS_WHY_MAX 320
/* In the socket directory: where workers meet that serve together (fcgi/handoff.h). */
#define SETTINGS_TOGETHER "together"
#define SETTINGS_DEFAULT_FILE "/etc/creditbridge/creditbridge.conf"

struct settings {
	char state_directory[SETTINGS_PATH_MAX];  /* the ledger's data */
	char socket_directory[SETTINGS_PATH_MAX]; /* holds edge.sock and admin.sock */
	char socket_group[64];  /* group of edge.sock; "": the ledger's own */
	char base_path[256];    /* prefix the web server mounts the service at; as text_base_path() */
	char log_target[16];    /* "syslog" or "stderr" */
	enum log_level log_level;
	uint32_t request_window_s;       /* request_timestamp may differ this much; 0: any (api.md A 6) */
	uint32_t ledger_deadline_ms;     /* a worker repeats an unanswered command this long */
	uint32_t ledger_connections_max; /* more are told that the service is unavailable */
	uint32_t ledger_queue_max;       /* commands waiting; more are refused at once */
	uint32_t ledger_gather_us;       /* a small batch of a crowd waits so long for more; 0: never */
	uint32_t ledger_cache_mib;       /* Berkeley DB's page cache */
	uint32_t checkpoint_kib;         /* checkpoint after this much log, or ... */
	uint32_t checkpoint_interval_ms; /* ... after this time */
	uint32_t log_keep_mib;           /* logs older than the last checkpoint kept for roll-forward */
	uint32_t retention_days; /* bodies of what is delivered and settled are dropped then; 0: never */
	uint32_t retention_pause_s;      /* before the first pass, and between two */
	uint32_t disk_low_water_mib;     /* below this much free space writes are refused */
	uint32_t disk_ballast_mib;       /* file given up when recovery finds no space */
	/* Callbacks (api.md, B; Bet states). Tests shorten these. */
	uint32_t callback_timeout_ms;         /* of the whole call, of which ... */
	uint32_t callback_connect_timeout_ms; /* ... name, connection and TLS may take this */
	uint32_t callback_lease_ms; /* of an attempt; at least callback_timeout_ms + 1500 */
	uint32_t callback_owner_patience_ms; /* after its lease a betting's sender is cut off */
	uint32_t result_second_attempt_ms;   /* betting-result: after the first one failed */
	uint32_t result_third_attempt_ms;    /* after the second one failed */
	uint32_t refund_backoff_ms;     /* betting-refund: after the first, then doubled ... */
	uint32_t refund_backoff_max_ms; /* ... up to this */
	uint32_t refund_give_up_s;      /* parked so long after it was first due */
	uint32_t breaker_open_ms;       /* then one call is let through */
	uint32_t sweep_concurrency;     /* attempts that creditbridge-sweep has under way */
	uint32_t sweep_overdue_s;       /* without a sweeper for so long /readyz answers 503 */
	/* Networks that are not public and that callbacks may be sent to all the same (api.md, B). */
	struct network callback_networks[SETTINGS_NETWORKS_MAX];
	uint32_t callback_network_count;
};

/*
 * The name of option @number, counted from 0, and its default as a file would give it; NULL: there
 * are no more. For what must list every option: the sample file's test, documentation.
 */
const char *settings_option(unsigned int number, const char **preset);

/* Sets every option to its default. */
void settings_defaults(struct settings *settings);

/*
 * Reads @path over the defaults. Otherwise @settings is untouched, and one line was written to
 * @errors, without control characters whatever the file holds: the file, which line of it where it is
 * one, the reason. STATUS_CONFIG: the file is wrong. STATUS_NOT_FOUND: there is none. Another status, of
 * status_of_errno(): it may be read later.
 *
 * It is read in a process of its own (base/apart.h), which libconfuse ends when it finds no memory:
 * that is STATUS_NOMEM.
 */
enum status settings_load(struct settings *settings, const char *path, FILE *errors);

/*
 * settings_load() in this process, which libconfuse may end: for what looks for faults in it. What
 * was to follow the file's name in the line is in @why, "" for STATUS_OK. Not for use by two threads
 * at once: libconfuse's scanner is not.
 */
enum status settings_read(struct settings *settings, const char *path, char why[SETTINGS_WHY_MAX]);

/* Opens the log where and at the level that @settings say. @program must stay valid. */
void settings_open_log(const struct settings *settings, const char *program);

#endif
