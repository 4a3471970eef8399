#include "domain/near_id.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

#define WHITE " \t\r\n\v\f"

struct bytes near_id_trim(const char *id)
{
	size_t len;

	id += strspn(id, WHITE);
	len = strlen(id);
	while (len && strchr(WHITE, id[len - 1]))
		len--;
	return (struct bytes){(const uint8_t *)id, (uint32_t)len};
}

bool near_id_is(const char *one, const char *other)
{
	const struct bytes a = near_id_trim(one), b = near_id_trim(other);

	return a.len == b.len &&
		strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

void near_id_forms(const char *sent, char ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE])
{
	const struct bytes bare = near_id_trim(sent);

	for (unsigned int i = 0; i < NEAR_ID_FORMS; i++)
		text_copy_len(ids[i], EXTERNAL_ID_SIZE, (const char *)bare.data, bare.len);
	for (char *c = ids[1]; *c; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	}
}
