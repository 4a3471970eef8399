#include "store/claim.h"

bool claim_may(struct claim_rule *rule, const struct store_cell *cell, int64_t boot_ms)
{
	if (!rule->seen || rule->epoch != cell->epoch || rule->turn != cell->turn) {
		rule->seen = true;
		rule->epoch = cell->epoch;
		rule->turn = cell->turn;
		rule->since_ms = boot_ms;
	}
	return !cell->holder[0] || (rule->run && cell->run == rule->run) ||
		boot_ms - rule->since_ms >= rule->takeover_ms;
}

void claim_forget(struct claim_rule *rule)
{
	rule->seen = false;
}
