/*
 * status - failures of the machine.
 *
 * A status reports that the machine could not do its work: disk, socket, memory, configuration. The
 * component that detects the failure logs it once. The caller gets a 5xx response or an exit code.
 * A refusal (domain/refusal.h) is the wallet's own "no". The two are never converted into each
 * other.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

enum status {
	STATUS_OK = 0,
	STATUS_NOMEM,     /* memory is exhausted */
	STATUS_IO,        /* a read or write failed (EIO and unexpected errors) */
	STATUS_FULL,      /* the disk is full; nothing was changed */
	STATUS_CORRUPT,   /* stored data does not decode */
	STATUS_NOT_SENT,  /* the ledger was not reached and did not get this call */
	STATUS_UNKNOWN,   /* the call may have reached the ledger; no answer in time */
	STATUS_BUSY,      /* the ledger is overloaded or halted: nothing done */
	STATUS_FORBIDDEN, /* this socket may not carry this command */
	STATUS_PROTOCOL,  /* the peer speaks another protocol version, or garbage */
	STATUS_FAULT,     /* the ledger found its own bug in this command: nothing done */
	STATUS_CONFIG,    /* the configuration or the state directory is not usable */
	STATUS_NOT_FOUND, /* a file or directory does not exist */
};

/* Returns a short English text for @status, never NULL. */
const char *status_text(enum status status);

/*
 * Returns the status for the errno value @error of a call during a program's start. STATUS_NOMEM:
 * memory, buffers, descriptors or processes are exhausted, or a signal interrupted the call.
 * STATUS_FULL, STATUS_IO: the disk is full or failed. STATUS_CONFIG: any other error, which a
 * repetition would meet again.
 */
enum status status_of_errno(int error);

/*
 * Returns the exit code of a program that cannot start because of @status. EX_CONFIG: an operator
 * must act (STATUS_CONFIG, STATUS_NOT_FOUND, STATUS_IO). EX_TEMPFAIL: the supervisor is to start
 * the program again.
 */
int status_exit_code(enum status status);

#endif
