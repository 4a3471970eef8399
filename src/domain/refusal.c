#include "domain/refusal.h"

static const struct refusal_info infos[REFUSAL_COUNT] = {
#define REFUSAL(name, id, code, retryable, detail) {id, code, retryable, detail},
#include "domain/refusal.def"
#undef REFUSAL
};

const char *const refusal_ids[REFUSAL_COUNT] = {
#define REFUSAL(name, id, code, retryable, detail) id,
#include "domain/refusal.def"
#undef REFUSAL
};

const struct refusal_info *refusal_info(enum refusal refusal)
{
	if ((unsigned int)refusal >= REFUSAL_COUNT)
		refusal = REFUSAL_INTERNAL_ERROR;
	return &infos[refusal];
}
