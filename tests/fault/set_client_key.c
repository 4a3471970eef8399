/*
 * set_client_key DIRECTORY CLIENT - gives a client, which is there, a key that is read from standard
 * input, as an older program did that took a key of another client or dealer; in the data in DIRECTORY
 * (a state's db/). The ledger must not be running.
 */
#include "base/text.h"
#include "set_row.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct client client = {.keys_issued = 1, .created_ms = 1};
	char secret[KEY_SECRET_SIZE] = "";

	if (argc != 3 || fread(secret, 1, KEY_SECRET_SIZE - 1, stdin) != KEY_SECRET_SIZE - 1) {
		fprintf(stderr, "usage: set_client_key DIRECTORY CLIENT < KEY\n");
		return 2;
	}
	text_copy(client.client_id, sizeof(client.client_id), argv[2]);
	text_copy(client.keys[0].key_id, KEY_ID_SIZE, "k1");
	text_copy(client.keys[0].secret, KEY_SECRET_SIZE, secret);
	client.keys[0].created_ms = 1;
	return set_row(argv[1], RECORD_CLIENT, &client, true);
}
