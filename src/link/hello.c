#include "link/hello.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HELLO_FORM  "CBP1"
#define HELLO_WORDS 7

static const char *const socket_words[] =
	{[SOCKET_EDGE] = "edge", [SOCKET_ADMIN] = "admin", [SOCKET_DESK] = "desk"};
#define SOCKET_WORDS (sizeof(socket_words) / sizeof(socket_words[0]))

size_t hello_put(char line[HELLO_MAX], const struct hello *hello)
{
	int len;

	if (!text_is_name(hello->cell, HELLO_CELL_SIZE - 1) ||
		!text_is_name(hello->member, HELLO_MEMBER_SIZE - 1) ||
		(size_t)hello->socket >= SOCKET_WORDS || (size_t)hello->role >= ROLE_COUNT)
		return 0;
	len = snprintf(line, HELLO_MAX, HELLO_FORM " %s %s %s %s %" PRIu32 " %" PRIu32 "\n",
		hello->cell, hello->member, socket_words[hello->socket], role_names[hello->role],
		hello->uid, hello->login_uid);
	return len > 0 && len < HELLO_MAX ? (size_t)len : 0;
}

/* Cuts @line at its blanks. Returns false unless it has HELLO_WORDS words; one may be empty. */
static bool split_words(char *line, char *words[HELLO_WORDS])
{
	char *rest = line;

	for (unsigned int i = 0; i < HELLO_WORDS; i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i])
			return false;
	}
	return !rest;
}

static bool read_socket_word(const char *word, enum command_socket *socket)
{
	for (size_t i = 0; i < SOCKET_WORDS; i++) {
		if (strcmp(word, socket_words[i]) == 0) {
			*socket = (enum command_socket)i;
			return true;
		}
	}
	return false;
}

static bool read_role_word(const char *word, enum role *role)
{
	for (size_t i = 0; i < ROLE_COUNT; i++) {
		if (strcmp(word, role_names[i]) == 0) {
			*role = (enum role)i;
			return true;
		}
	}
	return false;
}

/* A number in its only spelling: without leading zeros. */
static bool read_uid(const char *word, uint32_t *uid)
{
	uint64_t number;

	if ((word[0] == '0' && word[1]) || !text_unsigned(word, UINT32_MAX, &number))
		return false;
	*uid = (uint32_t)number;
	return true;
}

static bool read_line(char *line, struct hello *hello)
{
	char *words[HELLO_WORDS];

	return split_words(line, words) && strcmp(words[0], HELLO_FORM) == 0 &&
		text_is_name(words[1], HELLO_CELL_SIZE - 1) &&
		text_copy(hello->cell, sizeof(hello->cell), words[1]) &&
		text_is_name(words[2], HELLO_MEMBER_SIZE - 1) &&
		text_copy(hello->member, sizeof(hello->member), words[2]) &&
		read_socket_word(words[3], &hello->socket) &&
		read_role_word(words[4], &hello->role) && read_uid(words[5], &hello->uid) &&
		read_uid(words[6], &hello->login_uid);
}

enum frame_read hello_get(struct bytes in, struct hello *hello, size_t *size)
{
	const size_t seen = in.len < HELLO_MAX ? in.len : HELLO_MAX;
	const uint8_t *end = seen ? memchr(in.data, '\n', seen) : NULL;
	char line[HELLO_MAX];
	size_t len;

	if (!end)
		return seen < HELLO_MAX ? FRAME_INCOMPLETE : FRAME_GARBAGE;
	len = (size_t)(end - in.data);
	if (memchr(in.data, 0, len))
		return FRAME_GARBAGE;
	memcpy(line, in.data, len);
	line[len] = 0;
	memset(hello, 0, sizeof(*hello));
	*size = len + 1;
	return read_line(line, hello) ? FRAME_COMPLETE : FRAME_GARBAGE;
}
