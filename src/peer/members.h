/*
 * members - the files of settings.cell_tls_directory, which say which hosts belong to the cell.
 *
 *     DIR/               0700, of the ledger's user
 *     DIR/ca.pem         the cell's CA; on every host
 *     DIR/ca-key.pem     its key; only on the host where members are added
 *     DIR/NAME.pem       the certificate of a member ...
 *     DIR/NAME-key.pem   ... and its key; on that member's host
 *     DIR/members        lines "NAME SERIAL EXPIRES ADDRESS" of all certificates that were made, the newest last
 *     DIR/removed        lines "NAME SERIAL" of those that are refused; on every host
 *
 * All files have mode 0600. They change by a rename, so that a running peer reads the old or the new one.
 */
#ifndef PEER_MEMBERS_H
#define PEER_MEMBERS_H

#include "base/status.h"
#include "peer/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMBERS_MAX 512 /* lines of the list */

/* A certificate of the list. */
struct cell_member {
	char name[HELLO_MEMBER_SIZE];
	char serial[TLS_SERIAL_SIZE];
	int64_t expires_s;
	char address[RELAY_ADDRESS_SIZE]; /* "-": not stated */
	bool removed;                     /* refused */
	bool replaced;                    /* there is a newer one of this name; both are valid */
};

/* The functions that change something are for the owner of the directory; root may read. */

/* All functions return a failed system call as status_of_errno() maps it, with a reason in @why. */

/*
 * Makes key and certificate of @name, and before that the CA if the directory has none. @renew: the member
 * exists; its earlier certificate stays valid until it expires. @address may be NULL: as before. Returns
 * STATUS_CONFIG if the member exists (or not, with @renew), or if the CA's key is on another host.
 */
enum status members_issue(const char *directory, const char *name, const char *address, bool renew,
	int64_t now_s, struct cell_member *made, char *why, size_t why_size);

/* Adds all certificates of @name to the list of refused ones. STATUS_NOT_FOUND: there are none. */
enum status members_remove(const char *directory, const char *name, char *why, size_t why_size);

/* Reads the list into @members. Without a file *count is 0. */
enum status members_read(const char *directory, struct cell_member members[MEMBERS_MAX],
	unsigned int *count, char *why, size_t why_size);

/* Reads the end of the certificate NAME.pem, or of the CA if @name is NULL. STATUS_NOT_FOUND: no file. */
enum status members_expiry(const char *directory, const char *name, int64_t *expires_s, char *why,
	size_t why_size);

#endif
