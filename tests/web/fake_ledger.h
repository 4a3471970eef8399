/*
 * fake_ledger - a thread that acts as the ledger on a real Unix socket, for tests of code that
 * uses link/client.h. Change its members only between two calls, under fake_lock().
 */
#ifndef TESTS_WEB_FAKE_LEDGER_H
#define TESTS_WEB_FAKE_LEDGER_H

#include "base/arena.h"
#include "link/commands.h"
#include "link/frame.h"

#include <pthread.h>

#define FAKE_DEALERS_MAX 64

/* The results and the commands of every type, as separate members. */
struct fake_results {
#define COMMAND(name, lower, socket, access, limited) struct lower##_result lower;
#include "link/commands.def"
#undef COMMAND
};
struct fake_cmds {
#define COMMAND(name, lower, socket, access, limited) struct lower##_cmd lower;
#include "link/commands.def"
#undef COMMAND
};

/* How a command is handled. */
enum fake_act {
	FAKE_ANSWER,
	FAKE_SILENT, /* received, never answered */
	FAKE_CUT,    /* received, then the connection is closed */
	FAKE_SLOW,   /* answered after slow_ms */
	FAKE_BUSY,
	FAKE_FORBIDDEN,
	FAKE_FAULT,
};

struct fake_ledger {
	char directory[64];
	char path[96];
	int listen_fd;
	pthread_t thread;
	pthread_mutex_t mutex;
	bool stopping;

	uint64_t protocol_xor; /* if not 0, greets with another protocol version */
	uint64_t generation;
	struct keyring_entry dealers[FAKE_DEALERS_MAX]; /* in the order of the answers */
	uint32_t dealer_count;
	struct keyring_entry clients[FAKE_DEALERS_MAX];
	uint32_t client_count;
	uint32_t page; /* entries in one answer */
	bool restless; /* every KEYRING answer has a new generation */
	enum fake_act acts[COMMAND_COUNT];
	unsigned int slow_ms;
	struct fake_results results; /* the results to return; KEYRING's is computed */
	/*
	 * If not NULL: the thread calls it, with the lock held, before it answers a command from
	 * results.
	 */
	void (*prepare)(struct fake_ledger *fake, enum command command);

	unsigned int calls[COMMAND_COUNT];
	char request_ids[COMMAND_COUNT][FRAME_REQUEST_ID_SIZE]; /* of the last call */
	unsigned int unchanged; /* KEYRING answers without entries */
	struct fake_cmds cmds;  /* the last of each command */
	struct arena kept;      /* owns the data to which they point */
};

/* Creates the directory and the socket; fake_start() begins to answer. Aborts on failure. */
void fake_init(struct fake_ledger *fake);
void fake_start(struct fake_ledger *fake);
/* Ends the thread and removes the files. */
void fake_stop(struct fake_ledger *fake);

void fake_lock(struct fake_ledger *fake);
void fake_unlock(struct fake_ledger *fake);

/* Adds a dealer with the active keys @first and @second (64 characters; "": none). */
struct keyring_entry *fake_add_dealer(struct fake_ledger *fake, const char *casino_id,
	const char *first, const char *second);
/* As fake_add_dealer(), for a client of group C. */
struct keyring_entry *fake_add_client(struct fake_ledger *fake, const char *client_id,
	const char *first, const char *second);

#endif
