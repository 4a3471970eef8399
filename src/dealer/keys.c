#include "dealer/keys.h"

#include "base/log.h"
#include "base/text.h"
#include "wire/signature.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 128
#define KEY_DIGITS "0123456789abcdefABCDEF"

bool keys_read(const char *path, char secrets[DEALER_KEY_SLOTS][KEY_SECRET_SIZE], char *why,
	size_t why_size)
{
	FILE *file = fopen(path, "re");
	const char *wrong = NULL;
	unsigned int count = 0;
	bool begins, ends = true;
	char line[LINE_BYTES];

	memset(secrets, 0, (size_t)DEALER_KEY_SLOTS * KEY_SECRET_SIZE);
	if (!file) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		return false;
	}
	while (!wrong && fgets(line, sizeof(line), file)) {
		begins = ends;
		ends = strchr(line, '\n') != NULL;
		if (!begins)
			continue; /* the rest of a line longer than any key */
		line[strcspn(line, " \t\r\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (strlen(line) != KEY_SECRET_SIZE - 1 || strspn(line, KEY_DIGITS) != strlen(line))
			wrong = "a key has 64 hex characters";
		else if (count == DEALER_KEY_SLOTS)
			wrong = "has too many keys";
		else
			text_copy(secrets[count++], KEY_SECRET_SIZE, line);
	}
	explicit_bzero(line, sizeof(line));
	fclose(file);
	if (!wrong && !count)
		wrong = "holds no key";
	if (wrong)
		snprintf(why, why_size, "%s: %s", path, wrong);
	return !wrong;
}

bool keys_signed(const char *path, const struct http_request *request)
{
	char secrets[DEALER_KEY_SLOTS][KEY_SECRET_SIZE];
	const char *text = http_header_is_single(&request->headers[DEALER_SIGNATURE])
		? request->headers[DEALER_SIGNATURE].value
		: "";
	char why[256];
	struct signature given;
	bool readable = signature_read(text, &given) && given.algorithm == HMAC_SHA256;
	bool usable = keys_read(path, secrets, why, sizeof(why));
	bool good = false;

	if (!usable)
		log_line(LOG_LEVEL_ERROR, "keys", "error=\"%s\"", why);
	/* Try every slot, so that the duration reveals nothing. */
	for (unsigned int i = 0; i < DEALER_KEY_SLOTS; i++)
		good |= readable &&
			signature_verify(&given, secrets[i], request->body, request->body_len);
	explicit_bzero(secrets, sizeof(secrets));
	return usable && good;
}
