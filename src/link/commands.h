/*
 * commands - the requests that the ledger accepts, and their results.
 *
 * One table (commands.def) names every command, the socket that may carry it, and its request and
 * result structs. The codec uses the field tables. Every result begins with a verdict.
 */
#ifndef LINK_COMMANDS_H
#define LINK_COMMANDS_H

#include "link/admin_commands.h"
#include "link/batch_commands.h"
#include "link/desk_commands.h"
#include "link/edge_commands.h"
#include "link/feed_commands.h"
#include "link/metrics_commands.h"
#include "link/move_commands.h"
#include "link/refused_calls.h"
#include "link/refused_commands.h"
#include "link/replay_commands.h"

enum command {
#define COMMAND(name, lower, socket, access, limited) COMMAND_##name,
#include "link/commands.def"
#undef COMMAND
	COMMAND_COUNT
};

enum command_socket { SOCKET_EDGE, SOCKET_ADMIN, SOCKET_DESK, SOCKET_NONE };
enum command_access { ACCESS_READ, ACCESS_WRITE, ACCESS_CONTROL };

struct command_info {
	const char *name;
	enum command_socket socket;
	enum command_access access;
	bool limited;
	uint32_t cmd_size;
	const struct field *cmd_fields;
	uint32_t result_size;
	const struct field *result_fields;
};

extern const struct command_info command_infos[COMMAND_COUNT];

#define COMMAND(name, lower, socket, access, limited)                                              \
	extern const struct field lower##_cmd_fields[];                                            \
	extern const struct field lower##_result_fields[];
#include "link/commands.def"
#undef COMMAND

/* Any command, any result: for buffers that hold one of them. */
union any_cmd {
#define COMMAND(name, lower, socket, access, limited) struct lower##_cmd lower;
#include "link/commands.def"
#undef COMMAND
};
union any_result {
	struct verdict verdict;
#define COMMAND(name, lower, socket, access, limited) struct lower##_result lower;
#include "link/commands.def"
#undef COMMAND
};

/*
 * Returns the protocol version in the greeting: equal in two builds only if they have the same
 * commands with the same fields.
 */
uint64_t command_protocol(void);

#endif
