/*
 * status - how the machine failed.
 *
 * A status tells that the machine could not do its work: disk, socket, memory, configuration. It is
 * returned, logged once where it is detected and ends as a 5xx or an exit code. The wallet's own
 * "no" is a refusal (domain/refusal.h); neither ever travels as the other.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

enum status {
	STATUS_OK = 0,
	STATUS_NOMEM,       /* memory is exhausted */
	STATUS_IO,          /* a read or write failed (EIO and unexpected errors) */
	STATUS_FULL,        /* the disk is full; nothing was changed */
	STATUS_CORRUPT,     /* stored data does not decode */
	STATUS_NOT_SENT,    /* the ledger was not reached: it did not see this call */
	STATUS_UNKNOWN,     /* the call may have reached the ledger; no answer in time */
	STATUS_BUSY,        /* the ledger answered that it is overloaded or halted: nothing done */
	STATUS_FORBIDDEN,   /* this socket may not carry this command */
	STATUS_PROTOCOL,    /* the peer speaks another protocol version, or garbage */
	STATUS_FAULT,       /* the ledger met a bug of its own in this command: nothing done */
	STATUS_CONFIG,      /* the configuration or the state directory is not usable */
	STATUS_NOT_FOUND,   /* a file or directory is not there */
};

/* Returns a short English text for @status, never NULL. */
const char *status_text(enum status status);

/*
 * What @error, of errno, says of a call that a program makes to set itself up. STATUS_NOMEM: memory,
 * buffers, descriptors or processes are used up, or a signal came between. STATUS_FULL, STATUS_IO: the
 * disk is full, or failed. STATUS_CONFIG: anything else, which will be so the next time.
 */
enum status status_of_errno(int error);

/*
 * The exit code of a program that @status kept from starting. EX_CONFIG: an operator must look
 * (STATUS_CONFIG, STATUS_NOT_FOUND, STATUS_IO). EX_TEMPFAIL: whoever supervises it is to start it again.
 */
int status_exit_code(enum status status);

#endif
