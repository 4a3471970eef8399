#include "check/prove.h"

#include "base/text.h"
#include "check/check.h"

enum outcome check_prove(struct session *session, int64_t newest_ms, struct check_found *found,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure)
{
	struct check check;
	enum outcome code = check_open(&check, session, newest_ms, progress, progress_closure);

	*found = (struct check_found){.passes = check.passes};
	if (code == OUTCOME_DONE) {
		found->problems = check.proof.problems;
		if (found->problems)
			text_copy(found->first, sizeof(found->first), check.shown[0]);
		code = check.unsettled && !found->problems ? OUTCOME_BUSY : OUTCOME_DONE;
	}
	check_close(&check);
	return code;
}
