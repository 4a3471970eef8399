#include "domain/retired_digest.h"

#include "base/text.h"

#include <string.h>

const struct field retired_digest_fields[] = {
	FIELD(FIELD_U64, retired_digest, audit_seq),
	FIELD(FIELD_U32, retired_digest, number),
	FIELD(FIELD_BOOL, retired_digest, of_client),
	FIELD(FIELD_STR, retired_digest, owner),
	FIELD(FIELD_STR, retired_digest, digest),
	FIELD_END,
};

static bool retires_keys(const struct audit *audit)
{
	static const char *const actions[] = {"dealer key-retire", "client key-retire",
		"client remove", RETIRED_DIGEST_MOVED};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(audit->action, actions[i]) == 0)
			return true;
	}
	return false;
}

/* The second word of an audit's object: "dealer demo k1". */
static void owner_of(const char *object, struct retired_digest *key)
{
	const char *owner = strchr(object, ' ');

	if (owner)
		text_copy_len(key->owner, sizeof(key->owner), owner + 1, strcspn(owner + 1, " "));
}

bool retired_digest_of(const struct audit *audit, uint32_t number, struct retired_digest *key)
{
	const size_t len = sizeof(key->digest) - 1;
	const char *at = retires_keys(audit) ? audit->detail : "";
	uint32_t found = 0;

	memset(key, 0, sizeof(*key));
	while (found < number && (at = strstr(at, RETIRED_DIGEST_MARK))) {
		at += sizeof(RETIRED_DIGEST_MARK) - 1;
		found += strspn(at, "0123456789abcdef") == len;
	}
	if (!at || !number || found < number)
		return false;
	key->audit_seq = audit->seq;
	key->number = number;
	key->of_client = strncmp(audit->object, "client ", 7) == 0;
	owner_of(audit->object, key);
	text_copy_len(key->digest, sizeof(key->digest), at, len);
	return true;
}
