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

const char *near_id_edit(const char *one, const char *other)
{
	static const char character[] = "one character";
	static const char exchanged[] = "the order of two characters";
	const size_t a = strlen(one), b = strlen(other);
	size_t same = 0;

	if (a < NEAR_ID_EDIT_MIN || b < NEAR_ID_EDIT_MIN || a > b + 1 || b > a + 1 ||
		strcmp(one, other) == 0)
		return NULL;
	while (one[same] && one[same] == other[same])
		same++;
	if (a > b)
		return strcmp(one + same + 1, other + same) == 0 ? character : NULL;
	if (a < b)
		return strcmp(one + same, other + same + 1) == 0 ? character : NULL;
	if (strcmp(one + same + 1, other + same + 1) == 0)
		return character;
	return one[same + 1] && one[same] == other[same + 1] && one[same + 1] == other[same] &&
			strcmp(one + same + 2, other + same + 2) == 0
		? exchanged
		: NULL;
}
