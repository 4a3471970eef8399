#include "base/secrecy.h"

#include <sys/prctl.h>

void secrecy_begin(void)
{
	/* RLIMIT_CORE would not do: a core_pattern that is a pipe does not heed it. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
