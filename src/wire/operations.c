#include "wire/operations.h"

#include "wire/bodies.h"

#include <string.h>

const char *const serve_group_names[SERVE_GROUP_COUNT] = {
	[SERVE_WALLET] = "wallet",
	[SERVE_PLATFORM] = "platform",
};

const struct http_operation http_operations[OPERATION_COUNT] = {
#define OPERATION(NAME, name_, path_, methods_, group_, body_)                                     \
	{.number = OPERATION_##NAME,                                                               \
		.name = (name_),                                                                   \
		.path = (path_),                                                                   \
		.methods = (methods_),                                                             \
		.group = (group_),                                                                 \
		.body = (body_)},
#include "wire/operations.def"
#undef OPERATION
};

size_t http_operation_body_max(const struct http_operation *operation)
{
	return operation->number == OPERATION_RESULTS_BATCH ? BODY_BATCH_MAX : BODY_MAX;
}

const struct http_operation *http_operation_find(enum serve_group group, const char *name)
{
	for (unsigned int i = 0; i < OPERATION_COUNT; i++) {
		if (http_operations[i].path && http_operations[i].group == group &&
			strcmp(http_operations[i].name, name) == 0)
			return &http_operations[i];
	}
	return NULL;
}
