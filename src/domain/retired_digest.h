/*
 * retired_digest - a key of a dealer or game server that was retired, so that no key is issued twice
 * (ledger/rows/issued_keys.h).
 *
 * The rows follow from the audit, where retiring a key writes its digest. They exist so that a start of the
 * ledger reads a row for each retired key, and not the whole audit, which grows with each replay.
 */
#ifndef DOMAIN_RETIRED_DIGEST_H
#define DOMAIN_RETIRED_DIGEST_H

#include "domain/records.h"

/* Before the digest, in the detail of a row of the audit. */
#define RETIRED_DIGEST_MARK "sha256="

/* The action of the audit that takes over retired keys of a dealer from another cell. */
#define RETIRED_DIGEST_MOVED "dealer key-moved"

/*
 * Writes the key number @number, from 1 on, that @audit retires. Returns false if it retires fewer. A text in
 * the detail that is no digest counts as none.
 */
bool retired_digest_of(const struct audit *audit, uint32_t number, struct retired_digest *key);

#endif
