#include "console/html/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				 "0123456789-._~";

static void append_text(struct page_address *address, const char *text)
{
	size_t len = strlen(text);

	if (address->len + len >= sizeof(address->text))
		len = sizeof(address->text) - 1 - address->len;
	memcpy(address->text + address->len, text, len);
	address->len += len;
	address->text[address->len] = '\0';
}

void address_begin(struct page_address *address, const char *base_path, const char *path)
{
	address->len = 0;
	address->query = false;
	address->text[0] = '\0';
	append_text(address, base_path);
	append_text(address, path);
}

void address_number(struct page_address *address, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "/%" PRIu64, number);
	append_text(address, text);
}

void address_add(struct page_address *address, const char *name, const char *value)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t at = address->len;

	if (!value[0] || at + strlen(name) + 3 * strlen(value) + 3 > sizeof(address->text))
		return;
	append_text(address, address->query ? "&" : "?");
	append_text(address, name);
	append_text(address, "=");
	at = address->len;
	for (; *value; value++) {
		if (strchr(unreserved, *value)) {
			address->text[at++] = *value;
			continue;
		}
		address->text[at++] = '%';
		address->text[at++] = digits[(uint8_t)*value >> 4];
		address->text[at++] = digits[(uint8_t)*value & 15];
	}
	address->text[at] = '\0';
	address->len = at;
	address->query = true;
}

void address_add_number(struct page_address *address, const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	address_add(address, name, text);
}

bool address_is_own(const char *text, const char *base_path)
{
	size_t len = strlen(base_path);

	if (strncmp(text, base_path, len) != 0 || text[len] != '/' || text[len + 1] == '/')
		return false;
	for (; *text; text++) {
		if (!strchr(unreserved, *text) && !strchr("/?&=%", *text))
			return false;
	}
	return true;
}
