/*
 * issue - makes keys and certificates: the CA of a cell, and those of its members (GnuTLS).
 *
 * Keys are of ECDSA on P-256. A certificate is for both sides of a connection, and names one member.
 */
#ifndef PEER_ISSUE_H
#define PEER_ISSUE_H

#include "base/status.h"
#include "peer/tls.h"

#include <stddef.h>
#include <stdint.h>

#define ISSUE_PEM_MAX   4096
#define ISSUE_CA_DAYS   3650
#define ISSUE_DAYS      397
#define ISSUE_EARLIER_S 3600 /* valid before now: the clocks of the hosts differ */

/* A certificate and its key as PEM text. Clear the key after use. */
struct issued {
	char certificate[ISSUE_PEM_MAX];
	char key[ISSUE_PEM_MAX];
	char serial[TLS_SERIAL_SIZE];
	int64_t expires_s; /* Unix time */
};

/*
 * Make the CA of a cell, and the certificate of @member by that CA. @now_s is Unix time. Return false with the
 * library's reason in @why.
 */
bool issue_ca(int64_t now_s, struct issued *ca, char *why, size_t why_size);
bool issue_member(const struct issued *ca, const char *member, int64_t now_s, struct issued *made,
	char *why, size_t why_size);

/* Reads the end of the certificate in the PEM @text. Returns false if it is none. */
bool issue_expiry(const char *text, int64_t *expires_s);

#endif
