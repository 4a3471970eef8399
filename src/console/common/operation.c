#include "console/common/operation.h"

#include "base/text.h"
#include "wire/signature.h"

#include <string.h>

bool operation_input(struct page *page, const char *name)
{
	char id[OPERATION_ID_SIZE];

	if (!signature_random_id(id, sizeof(id)))
		return false;
	page_hidden(page, name, id);
	return true;
}

bool operation_id_read(const struct page *page, const char *name, char id[OPERATION_ID_SIZE])
{
	const char *given = params_get(&page->form, name);

	return strlen(given) == OPERATION_ID_SIZE - 1 &&
		text_is_name(given, OPERATION_ID_SIZE - 1) &&
		text_copy(id, OPERATION_ID_SIZE, given);
}

bool operation_read(const struct page *page, const char *name, struct operator* operator)
{
	const char *reason = params_get(&page->form, "reason");

	return operation_id_read(page, name, operator->operation_id) && reason[0] &&
		text_is_utf8_clean(reason, strlen(reason)) &&
		text_copy(operator->reason, sizeof(operator->reason), reason);
}
