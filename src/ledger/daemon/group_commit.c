#include "ledger/daemon/group_commit.h"

bool gather_is_single(uint32_t *several, bool again)
{
	bool single = !*several;

	if (again)
		*several = GATHER_SEVERAL;
	else if (!single)
		--*several;
	return single;
}

bool gather_wants(const struct gather *gather, const struct slot *slots, uint32_t count,
	uint32_t singles)
{
	if (singles < count || gather->rest || gather->mean < GATHER_COMPANY || count >= GATHER_ENOUGH)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (command_infos[slots[i].command].access == ACCESS_WRITE)
			return true;
	}
	return false;
}

void gather_learn(struct gather *gather, uint32_t count, bool waited)
{
	if (!count)
		return;
	gather->mean += GATHER_UNIT / 16 * count - gather->mean / 16;
	if (gather->rest)
		gather->rest--;
	if (!waited || ++gather->tries < GATHER_TRIES || gather->mean >= GATHER_WORTH)
		return;
	gather->tries = 0;
	gather->rest = GATHER_REST;
}
