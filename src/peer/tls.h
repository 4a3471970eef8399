/*
 * tls - sessions of TLS 1.3 between the hosts of a cell. Both sides show a certificate of the cell's CA.
 *
 * The names that a system trusts are not used. A certificate names one member (its common name). All
 * functions are for one thread, and none blocks.
 */
#ifndef PEER_TLS_H
#define PEER_TLS_H

#include "base/status.h"
#include "ledger/daemon/relay_board.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Files of settings.cell_tls_directory, besides MEMBER.pem and MEMBER-key.pem. */
#define TLS_CA      "ca.pem"
#define TLS_REMOVED "removed" /* lines "NAME SERIAL": certificates that are refused */

#define TLS_SERIAL_SIZE 41 /* 20 bytes in hex */
#define TLS_WHY_SIZE    160

/* A host's certificate and key, and the certificates that it trusts. References are counted,
 * because a session keeps the identity with which it began. */
struct tls_identity;

/*
 * Reads the files of @member in @directory. Returns STATUS_CONFIG with a reason and the remedy in @why if one
 * is missing, unusable, or a key that others may read.
 */
enum status tls_identity_load(const char *directory, const char *member,
	struct tls_identity **identity, char *why, size_t why_size);
void tls_identity_drop(struct tls_identity *identity);
/* Returns true if the certificate with @serial is in the list of removed ones. */
bool tls_identity_refuses(const struct tls_identity *identity, const char *serial);

struct tls;
enum tls_step { TLS_READY, TLS_WANTS_READ, TLS_WANTS_WRITE, TLS_FAILED };

/* Begins a session on the connected socket @fd, which the caller closes later. NULL: no memory. */
struct tls *tls_begin(struct tls_identity *identity, int fd, bool server);
void tls_end(struct tls *tls);
/* Announces that nothing more is written, unless that would block. Returns true. */
void tls_say_end(struct tls *tls);

/* Continues the handshake. TLS_FAILED: see tls_refusal(). */
enum tls_step tls_handshake(struct tls *tls);
/* Why it failed, with the library's words in @why. */
enum relay_refusal tls_refusal(const struct tls *tls, char why[TLS_WHY_SIZE]);
/* After the handshake: the name and the serial number of the other side's certificate. */
const char *tls_member(const struct tls *tls);
const char *tls_serial(const struct tls *tls);

/* As struct pump_end wants them; the context is a struct tls. */
ssize_t tls_read(void *tls, void *to, size_t size);
ssize_t tls_write(void *tls, const void *from, size_t size);
/* Returns true if tls_read() has bytes that the socket does not announce. */
bool tls_has_more(const struct tls *tls);

#endif
