/*
 * fake_ledger - the ledger's side of a real Unix socket, played by a thread, for tests of what
 * stands on link/client.h. Members may be changed between two calls, under fake_lock().
 */
#ifndef TESTS_UNIT_FAKE_LEDGER_H
#define TESTS_UNIT_FAKE_LEDGER_H

#include "base/arena.h"
#include "link/commands.h"
#include "link/frame.h"

#include <pthread.h>

#define FAKE_DEALERS_MAX 64

/* The results and the commands of every name, side by side. */
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

/* What becomes of a command. */
enum fake_act {
	FAKE_ANSWER,
	FAKE_SILENT,  /* taken, never answered */
	FAKE_CUT,     /* taken, and the connection is cut */
	FAKE_SLOW,    /* answered after slow_ms */
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

	uint64_t protocol_xor; /* not 0: greets with another protocol */
	uint64_t generation;
	struct keyring_entry dealers[FAKE_DEALERS_MAX]; /* in the order the answers have */
	uint32_t dealer_count;
	struct keyring_entry clients[FAKE_DEALERS_MAX];
	uint32_t client_count;
	uint32_t page;          /* entries an answer holds */
	bool restless;          /* every KEYRING answer is of a new generation */
	enum fake_act acts[COMMAND_COUNT];
	unsigned int slow_ms;
	struct fake_results results; /* what is answered; KEYRING's is made */
	/* Not NULL: called by the thread, locked, before a command is answered from results. */
	void (*prepare)(struct fake_ledger *fake, enum command command);

	unsigned int calls[COMMAND_COUNT];
	char request_ids[COMMAND_COUNT][FRAME_REQUEST_ID_SIZE]; /* of the newest call */
	unsigned int unchanged; /* KEYRING answers without entries */
	struct fake_cmds cmds;  /* the newest of each */
	struct arena kept;      /* holds what they point to */
};

/* Makes the directory and the socket; fake_start() begins to answer. Aborts on failure. */
void fake_init(struct fake_ledger *fake);
void fake_start(struct fake_ledger *fake);
/* Ends the thread and removes the files. */
void fake_stop(struct fake_ledger *fake);

void fake_lock(struct fake_ledger *fake);
void fake_unlock(struct fake_ledger *fake);

/* Adds a dealer with the live keys @first and @second (64 characters; "": none). */
struct keyring_entry *fake_add_dealer(struct fake_ledger *fake, const char *casino_id,
	const char *first, const char *second);
/* The same for a client of group C. */
struct keyring_entry *fake_add_client(struct fake_ledger *fake, const char *client_id,
	const char *first, const char *second);

#endif
