#include "base/status.h"

#include <errno.h>
#include <sysexits.h>

const char *status_text(enum status status)
{
	switch (status) {
	case STATUS_OK:
		return "done";
	case STATUS_NOMEM:
		return "out of memory";
	case STATUS_IO:
		return "input/output error";
	case STATUS_FULL:
		return "disk full";
	case STATUS_CORRUPT:
		return "stored data is damaged";
	case STATUS_NOT_SENT:
		return "the ledger is not reachable";
	case STATUS_UNKNOWN:
		return "the ledger did not answer in time; the outcome is unknown";
	case STATUS_BUSY:
		return "the ledger is busy or halted";
	case STATUS_FORBIDDEN:
		return "this socket does not carry this command";
	case STATUS_PROTOCOL:
		return "the ledger speaks another protocol version";
	case STATUS_FAULT:
		return "the ledger met an internal error";
	case STATUS_CONFIG:
		return "configuration is not usable";
	case STATUS_NOT_FOUND:
		return "not found";
	}
	return "unknown status";
}

enum status status_of_errno(int error)
{
	switch (error) {
	case ENOMEM:
	case ENOBUFS:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
	case EINTR:
		return STATUS_NOMEM;
	case ENOSPC:
	case EDQUOT:
		return STATUS_FULL;
	case EIO:
		return STATUS_IO;
	default:
		return STATUS_CONFIG;
	}
}

int status_exit_code(enum status status)
{
	return status == STATUS_CONFIG || status == STATUS_NOT_FOUND || status == STATUS_IO
		? EX_CONFIG
		: EX_TEMPFAIL;
}
