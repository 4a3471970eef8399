#include "base/no_dump.h"

#include <sys/prctl.h>

void no_dump_begin(void)
{
	/* RLIMIT_CORE is not sufficient: the kernel ignores it when core_pattern is a pipe. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
