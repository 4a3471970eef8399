/*
 * fuzz_hello - the first line of a connection that another host relays.
 *
 * What is read must be, written again, the same bytes; every beginning of a line is incomplete; a line that is
 * too long is none; and what stands after the line changes nothing.
 */
#include "fuzz.h"

#include "base/text.h"
#include "link/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes in = {data, (uint32_t)size};
	struct hello hello, again;
	char line[HELLO_MAX];
	size_t len = 0, len_again;
	enum frame_read read = hello_get(in, &hello, &len);
	const bool line_ends = size && memchr(data, '\n', size < HELLO_MAX ? size : HELLO_MAX);

	must(read != FRAME_INCOMPLETE || (size < HELLO_MAX && !line_ends));
	must(read == FRAME_INCOMPLETE || line_ends || size >= HELLO_MAX);
	if (read != FRAME_COMPLETE)
		return 0;
	must(len <= size && len <= HELLO_MAX);
	must(text_is_name(hello.cell, HELLO_CELL_SIZE - 1));
	must(text_is_name(hello.member, HELLO_MEMBER_SIZE - 1));
	must(hello.socket == SOCKET_EDGE || hello.socket == SOCKET_ADMIN ||
		hello.socket == SOCKET_DESK);
	must(hello_put(line, &hello) == len);
	must(memcmp(line, data, len) == 0);
	for (uint32_t i = 0; i < len; i++)
		must(hello_get((struct bytes){data, i}, &again, &len_again) == FRAME_INCOMPLETE);
	return 0;
}
