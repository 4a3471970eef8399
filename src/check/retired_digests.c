/*
 * check_retired_digests - compares the rows of retired keys with the audit, from which they follow.
 */
#include "check/check.h"

#include "admin/list.h"
#include "domain/retired_digest.h"

#include <inttypes.h>
#include <string.h>

/* Looks up each key that the row of the audit retires. Adds their number to *@count. */
static enum outcome find_keys(struct check *check, const struct audit *audit, uint64_t *count)
{
	struct retired_digest made, stored;
	enum outcome code = OUTCOME_DONE;
	bool found;

	for (uint32_t number = 1; code == OUTCOME_DONE && retired_digest_of(audit, number, &made);
		number++) {
		memset(&stored, 0, sizeof(stored));
		stored.audit_seq = made.audit_seq;
		stored.number = made.number;
		code = list_fetch(check->session, RECORD_RETIRED_DIGEST, &stored, &found, NULL);
		if (code != OUTCOME_DONE)
			break;
		if (!found || memcmp(&made, &stored, sizeof(made)) != 0)
			proof_problem(&check->proof,
				"audit %" PRIu64 ": the retired key of %s has %s", audit->seq,
				made.owner, found ? "another row" : "no row");
		(*count)++;
	}
	return code;
}

enum outcome check_walk_retired_digests(struct check *check)
{
	struct retired_digest row;
	struct audit audit;
	struct list list;
	uint64_t count = 0;
	enum outcome code = OUTCOME_DONE;

	/* If the role may not see the audit, the command reports it (session.lacked_role). */
	if (!check_may_list(check, RECORD_AUDIT))
		return OUTCOME_DONE;
	list_open(&list, check->session, RECORD_AUDIT, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &audit) && audit.seq <= check->audit)
		code = find_keys(check, &audit, &count);
	code = list_end(&list, code);
	if (code != OUTCOME_DONE)
		return code;
	list_open(&list, check->session, RECORD_RETIRED_DIGEST, false, 0, NULL);
	while (list_next(&list, &row) && row.audit_seq <= check->audit)
		count--;
	code = list_end(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && count)
		proof_problem(&check->proof,
			"there are retired keys that no row of the audit retires");
	return code;
}
