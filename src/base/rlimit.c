#include "base/rlimit.h"

rlim_t rlimit_raise_files(rlim_t wanted)
{
	struct rlimit limit;
	rlim_t before;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	before = limit.rlim_cur;
	if (before >= wanted)
		return before;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? before : limit.rlim_cur;
}
