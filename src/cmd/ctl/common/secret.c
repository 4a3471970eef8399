#include "cmd/ctl/common/secret.h"

#include "cmd/ctl/common/output.h"
#include "wire/signature.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Returns the name of @path for messages. */
static const char *file_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum outcome secret_read_file(struct ctl *ctl, const char *path, struct buffer *data)
{
	bool own = strcmp(path, "-") != 0;
	FILE *file = own ? fopen(path, "re") : stdin;
	enum outcome code = OUTCOME_DONE;
	char part[4096];
	size_t got;

	if (!file)
		return ctl_fail(ctl, OUTCOME_FAILED, "failed", "cannot read %s: %s", path,
			strerror(errno));
	while ((got = fread(part, 1, sizeof(part), file)) > 0)
		buffer_append(data, part, got);
	if (ferror(file))
		code = ctl_fail(ctl, OUTCOME_FAILED, "failed", "cannot read %s: %s",
			file_name(path), strerror(errno));
	else if (data->failed)
		code = ctl_fail(ctl, OUTCOME_FAILED, "failed", "%s holds more than %zu bytes",
			file_name(path), data->max);
	explicit_bzero(part, sizeof(part));
	if (own)
		fclose(file);
	return code;
}

enum outcome secret_read_key(struct ctl *ctl, const char *path, char secret[KEY_SECRET_SIZE])
{
	struct buffer data;
	enum outcome code;
	size_t len;

	memset(secret, 0, KEY_SECRET_SIZE);
	buffer_init(&data, 256);
	code = secret_read_file(ctl, path, &data);
	if (code != OUTCOME_DONE)
		goto out;
	len = data.len;
	while (len && memchr(" \t\r\n", data.data[len - 1], 4))
		len--;
	if (len == KEY_SECRET_SIZE - 1)
		memcpy(secret, data.data, len);
	if (strspn(secret, "0123456789abcdefABCDEF") != KEY_SECRET_SIZE - 1) {
		memset(secret, 0, KEY_SECRET_SIZE);
		code = ctl_fail(ctl, OUTCOME_FAILED, "bad_key",
			"%s does not hold a key: 64 hex characters", file_name(path));
	}
out:
	if (data.data)
		explicit_bzero(data.data, data.cap);
	buffer_free(&data);
	return code;
}

enum outcome secret_new_key(struct ctl *ctl, char secret[KEY_SECRET_SIZE])
{
	if (ctl->options[OPTION_KEY_FILE])
		return secret_read_key(ctl, ctl->options[OPTION_KEY_FILE], secret);
	if (!signature_new_secret(secret))
		return session_no_random(&ctl->session);
	return OUTCOME_DONE;
}

enum outcome secret_print_key(struct ctl *ctl, const char *what, const char *member,
	const char *owner, const char *key_id, const char *secret, const char *warning)
{
	const char *path = ctl->options[OPTION_KEY_FILE];
	struct output_json json;

	if (!ctl->json && path)
		printf("key %s of %s %s was taken from %s\n", key_id, what, owner, file_name(path));
	else if (!ctl->json)
		printf("key %s of %s %s, shown this once:\n%s\n", key_id, what, owner, secret);
	output_json_open(&json, ctl);
	output_json_string(&json, member, owner);
	output_json_string(&json, "key_id", key_id);
	output_json_string(&json, "key", secret);
	if (warning) {
		ctl_tell(NULL, "%s", warning);
		output_json_string(&json, "warning", warning);
	}
	return output_json_close(&json);
}

enum outcome secret_print_confirmed(struct ctl *ctl, const char *what, const char *id_name,
	const char *id)
{
	struct output_json json;

	if (!ctl->json)
		printf("the keys of %s %s are confirmed\n", what, id);
	output_json_open(&json, ctl);
	output_json_string(&json, id_name, id);
	output_json_bool(&json, "confirmed", true);
	return output_json_close(&json);
}

enum outcome secret_print_done(struct ctl *ctl, const char *what, const char *member,
	const char *owner, const char *key_id, const char *done)
{
	struct output_json json;

	if (!ctl->json)
		printf("key %s of %s %s %s\n", key_id, what, owner, done);
	output_json_open(&json, ctl);
	output_json_string(&json, member, owner);
	output_json_string(&json, "key_id", key_id);
	return output_json_close(&json);
}

/* Finds @text among @names. Returns false after a usage error. */
static bool find_name(struct ctl *ctl, enum ctl_option option, const char *const *names,
	unsigned int count, unsigned int *found)
{
	const char *text = ctl->options[option];

	*found = 0;
	for (unsigned int i = 0; text && i < count; i++) {
		if (strcmp(names[i], text) == 0) {
			*found = i;
			return true;
		}
	}
	if (text)
		ctl_usage(ctl, "--%s does not take '%s'; see --help",
			option == OPTION_ALGORITHM ? "algorithm" : "encoding", text);
	return !text;
}

static enum outcome signing_from_file(struct ctl *ctl, struct signing *signing)
{
	unsigned int algorithm, encoding;

	if (!find_name(ctl, OPTION_ALGORITHM, signature_algorithm_names, SIGNATURE_ALGORITHM_COUNT,
		    &algorithm) ||
		!find_name(ctl, OPTION_ENCODING, signature_encoding_names, SIGNATURE_ENCODING_COUNT,
			&encoding))
		return OUTCOME_USAGE;
	signing->algorithm = algorithm;
	signing->encoding = encoding;
	return secret_read_key(ctl, ctl->options[OPTION_KEY_FILE], signing->secret);
}

enum outcome secret_find_signing(struct ctl *ctl, const char *casino_id, struct signing *signing)
{
	memset(signing, 0, sizeof(*signing));
	if (ctl->options[OPTION_KEY_FILE])
		return signing_from_file(ctl, signing);
	if (ctl->options[OPTION_ALGORITHM] || ctl->options[OPTION_ENCODING])
		return ctl_usage(ctl, "--algorithm and --encoding go with --key-file");
	return keys_find_signing(&ctl->session, casino_id, signing);
}
