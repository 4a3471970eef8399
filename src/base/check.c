#include "base/check.h"

#include "base/log.h"

#include <stdlib.h>

void check_failed(const char *condition, const char *file, int line, const char *function)
{
	char quoted[LOG_QUOTED_MAX];

	log_line(LOG_LEVEL_ERROR, "check_failed", "condition=\"%s\" where=%s:%d function=%s",
		log_quote(quoted, condition), file, line, function);
	abort();
}
