/*
 * desk_operator - an operator of the web console: the login, the role, and the one-time codes.
 */
#ifndef DOMAIN_DESK_OPERATOR_H
#define DOMAIN_DESK_OPERATOR_H

#include "base/field.h"
#include "domain/role.h"

#include <stdint.h>

#define DESK_NAME_SIZE    33  /* [A-Za-z0-9_.-]{1,32}; the audit shows it */
#define DESK_LOGIN_SIZE   129 /* name of the web server's user: 1 to 128 bytes UTF-8 */
#define DESK_ADDRESS_SIZE 46  /* of a browser: IPv4 or IPv6 as text */
#define DESK_SECRET_SIZE  33  /* 160 bits as 32 base32 characters */
#define DESK_WRONG_MAX                                                                             \
	5 /* wrong codes in CODES_WRONG_MS (ledger/rows/codes.h) that lock the name */
#define DESK_OPERATORS_MAX 256

/* The time of a wrong code. */
struct wrong_code {
	int64_t time_ms; /* 0: none */
};

struct desk_operator {
	char name[DESK_NAME_SIZE];
	char login[DESK_LOGIN_SIZE]; /* unique */
	enum role role;              /* READ to ADMIN */
	bool suspended;
	char secret[DESK_SECRET_SIZE]; /* of the one-time codes (RFC 6238); "": none, no sign-in */
	/* 30-second step of the last code that was accepted: only a later one is accepted */
	uint64_t last_step;
	struct wrong_code wrong[DESK_WRONG_MAX - 1]; /* the newest wrong codes, the oldest first */
	uint32_t locks;                              /* in succession; the next one lasts longer */
	int64_t locked_until_ms;                     /* 0: never locked */
	uint32_t epoch; /* rises when all sessions of the operator end */
	int64_t created_ms;
	int64_t signed_in_ms; /* of the last sign-in; 0: never */
};

extern const struct field desk_operator_fields[];

#endif
