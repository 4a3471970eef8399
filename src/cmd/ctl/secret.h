/*
 * secret - keys and bodies from files and standard input, never from the command line.
 */
#ifndef CMD_CTL_SECRET_H
#define CMD_CTL_SECRET_H

#include "base/buffer.h"
#include "cmd/ctl/ctl.h"

/* Reads all of @path ("-": standard input) into @data, up to its bound. */
enum outcome secret_read_file(struct ctl *ctl, const char *path, struct buffer *data);

/* Reads a key, 64 hex characters and perhaps white space behind them, from --key-file. */
enum outcome secret_read_key(struct ctl *ctl, const char *path, char secret[KEY_SECRET_SIZE]);

/* A new key: made here, or from --key-file. */
enum outcome secret_new_key(struct ctl *ctl, char secret[KEY_SECRET_SIZE]);

/*
 * Tells the new key @key_id of @what ("dealer") @owner, once; with --json as @member, "key_id",
 * "key". Without, one that the caller brought is not shown. A @warning is printed to standard error,
 * or is the member "warning"; NULL: none.
 */
enum outcome secret_print_key(struct ctl *ctl, const char *what, const char *member,
	const char *owner, const char *key_id, const char *secret, const char *warning);

/* Tells that the key @key_id of @what @owner @done ("is retired"); the JSON is without "key". */
enum outcome secret_print_done(struct ctl *ctl, const char *what, const char *member,
	const char *owner, const char *key_id, const char *done);

/* What signs a dealer's calls. */
struct signing {
	enum signature_algorithm algorithm;
	enum signature_encoding encoding;
	char secret[KEY_SECRET_SIZE];
};

/*
 * The signing key of @casino_id, from the ledger; or, when --key-file is given, that key with
 * --algorithm and --encoding, without asking the ledger.
 */
enum outcome secret_find_signing(struct ctl *ctl, const char *casino_id, struct signing *signing);

/* Prints that the keys of @what (dealer, client), called @id, are confirmed. */
enum outcome secret_print_confirmed(struct ctl *ctl, const char *what, const char *id_name,
	const char *id);

#endif
