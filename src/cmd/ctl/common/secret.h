/*
 * secret - reads keys and bodies from files and standard input, never from the command line.
 */
#ifndef CMD_CTL_COMMON_SECRET_H
#define CMD_CTL_COMMON_SECRET_H

#include "admin/keys.h"
#include "base/buffer.h"
#include "cmd/ctl/common/ctl.h"

/* Reads the whole file @path ("-": standard input) into @data, up to its maximum size. */
enum outcome secret_read_file(struct ctl *ctl, const char *path, struct buffer *data);

/* Reads a key from --key-file: 64 hexadecimal characters, optionally followed by white space. */
enum outcome secret_read_key(struct ctl *ctl, const char *path, char secret[KEY_SECRET_SIZE]);

/* Generates a new key, or reads it from --key-file. */
enum outcome secret_new_key(struct ctl *ctl, char secret[KEY_SECRET_SIZE]);

/*
 * Prints the new key @key_id of @what ("dealer") @owner once. With --json the members are
 * @member, "key_id" and "key". Without --json, a key from --key-file is not shown. A @warning is
 * printed on standard error, or is the member "warning"; NULL: none.
 */
enum outcome secret_print_key(struct ctl *ctl, const char *what, const char *member,
	const char *owner, const char *key_id, const char *secret, const char *warning);

/* Prints that the key @key_id of @what @owner @done ("is retired"). The JSON has no "key". */
enum outcome secret_print_done(struct ctl *ctl, const char *what, const char *member,
	const char *owner, const char *key_id, const char *done);

/*
 * Gets the signing key of @casino_id from the ledger. With --key-file, uses that key with
 * --algorithm and --encoding and does not ask the ledger.
 */
enum outcome secret_find_signing(struct ctl *ctl, const char *casino_id, struct signing *signing);

/* Prints that the keys of the @what (dealer or client) named @id are confirmed. */
enum outcome secret_print_confirmed(struct ctl *ctl, const char *what, const char *id_name,
	const char *id);

#endif
