#include "check/prove.h"

#include "base/text.h"
#include "check/check.h"

enum outcome check_prove(struct session *session, struct check_found *found,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure)
{
	struct check check;
	enum outcome code = check_open(&check, session, progress, progress_closure);

	*found = (struct check_found){.problems = 0};
	if (code == OUTCOME_DONE) {
		found->problems = check.proof.problems;
		if (found->problems)
			text_copy(found->first, sizeof(found->first), check.shown[0]);
		code = check.unsettled && !found->problems ? OUTCOME_BUSY : OUTCOME_DONE;
	}
	check_close(&check);
	return code;
}
