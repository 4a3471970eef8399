/*
 * fuzz_keys - the reference dealer's file of keys (dealer/keys.h): a key counts only as a line.
 */
#include "fuzz_file.h"

#include "dealer/keys.h"

#include <ctype.h>

/* True: a line of @text is @key, and nothing but what is blank follows it there. */
static bool is_line(const char *text, const char *key)
{
	const size_t len = strlen(key);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
		if (strncmp(text, key, len) == 0 && (!text[len] || strchr(" \t\r\n", text[len])))
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char secrets[DEALER_KEY_SLOTS][KEY_SECRET_SIZE], why[256] = "";
	struct bytes in = {data, (uint32_t)size};
	bool good = keys_read(fuzz_file(data, size), secrets, why, sizeof(why));
	char *text = fuzz_text(in);

	must(good || why[0]);
	must(!good || secrets[0][0]);
	for (unsigned int i = 0; good && i < DEALER_KEY_SLOTS; i++) {
		if (!secrets[i][0])
			continue;
		must(strlen(secrets[i]) == KEY_SECRET_SIZE - 1);
		for (const char *c = secrets[i]; *c; c++)
			must(isxdigit((unsigned char)*c));
		must(strlen(text) != size || is_line(text, secrets[i]));
	}
	free(text);
	return 0;
}
