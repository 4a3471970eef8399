/*
 * ctl_secret - keys and bodies from files and standard input, never from the command line.
 */
#ifndef CMD_CTL_SECRET_H
#define CMD_CTL_SECRET_H

#include "base/buffer.h"
#include "cmd/ctl.h"

/* Reads all of @path ("-": standard input) into @data, up to its bound. */
enum ctl_exit secret_read_file(struct ctl *ctl, const char *path, struct buffer *data);

/* Reads a key, 64 hex characters and perhaps white space behind them, from --key-file. */
enum ctl_exit secret_read_key(struct ctl *ctl, const char *path, char secret[KEY_SECRET_SIZE]);

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
enum ctl_exit secret_find_signing(struct ctl *ctl, const char *casino_id, struct signing *signing);

#endif
