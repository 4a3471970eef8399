#include "ledger/daemon/group_commit.h"

bool group_commit_is_single(uint32_t *several, bool again)
{
	bool single = !*several;

	if (again)
		*several = GROUP_COMMIT_SEVERAL;
	else if (!single)
		--*several;
	return single;
}

bool group_commit_wants(const struct group_commit *group, const struct slot *slots, uint32_t count,
	uint32_t singles)
{
	if (singles < count || group->rest || group->mean < GROUP_COMMIT_COMPANY ||
		count >= GROUP_COMMIT_ENOUGH)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (command_infos[slots[i].command].access == ACCESS_WRITE)
			return true;
	}
	return false;
}

void group_commit_learn(struct group_commit *group, uint32_t count, bool waited)
{
	if (!count)
		return;
	group->mean += GROUP_COMMIT_UNIT / 16 * count - group->mean / 16;
	if (group->rest)
		group->rest--;
	if (!waited || ++group->tries < GROUP_COMMIT_TRIES || group->mean >= GROUP_COMMIT_WORTH)
		return;
	group->tries = 0;
	group->rest = GROUP_COMMIT_REST;
}
