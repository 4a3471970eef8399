/*
 * address - makes the addresses of the console's own pages. What a dealer can choose goes into the
 * query, percent-encoded: web servers do not pass every path on.
 */
#ifndef CONSOLE_HTML_ADDRESS_H
#define CONSOLE_HTML_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_MAX 4096

struct page_address {
	char text[ADDRESS_MAX];
	size_t len;
	bool query; /* a parameter was added */
};

/* Begins with the base path of the mount, and @path: "/bets". A path that does not fit is cut. */
void address_begin(struct page_address *address, const char *base_path, const char *path);
/* Adds "/17" to the path. */
void address_number(struct page_address *address, uint64_t number);
/* Adds a parameter; does nothing if @value is "". Leaves out a parameter that does not fit. */
void address_add(struct page_address *address, const char *name, const char *value);
void address_add_number(struct page_address *address, const char *name, uint64_t number);

/*
 * Returns true if @text, which a browser sent back, is an address of this mount: it begins with the
 * base path and a slash, and has only characters that address_add() writes.
 */
bool address_is_own(const char *text, const char *base_path);

#endif
