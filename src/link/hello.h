/*
 * hello - the first line of a connection that a client's host relays to the active ledger.
 *
 *     CBP1 CELL MEMBER SOCKET ROLE UID LOGIN-UID\n
 *
 * The peer of the client's host sends it over TLS, and the peer of the active host passes it on to
 * the engine on peer.sock. The bytes after it are those of the client. For a client on its own
 * host, the engine learns the same from SO_PEERCRED and the groups. ROLE is a word of role_names;
 * "none" on edge.sock and desk.sock. On desk.sock each frame has the session of its operator
 * (link/desk_commands.h).
 */
#ifndef LINK_HELLO_H
#define LINK_HELLO_H

#include "link/commands.h"
#include "link/frame.h"
#include "link/roles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line, with its end. */
#define HELLO_MAX         192
#define HELLO_CELL_SIZE   64
#define HELLO_MEMBER_SIZE 64

struct hello {
	char cell[HELLO_CELL_SIZE];     /* the id of the installation that all hosts serve */
	char member[HELLO_MEMBER_SIZE]; /* the name of the client's host */
	enum command_socket socket;     /* the local socket that the client connected to */
	enum role role;                 /* of the client of admin.sock, by the groups of its host */
	uint32_t uid;                   /* of the client, on its host */
	uint32_t login_uid;             /* of its login session; UINT32_MAX: none */
};

/* Writes the line, without a NUL. Returns its length, or 0 if a member of @hello is no name. */
size_t hello_put(char line[HELLO_MAX], const struct hello *hello);

/*
 * Reads the line at the beginning of @in. On FRAME_COMPLETE, *size is its length. FRAME_GARBAGE: the
 * line has another form, or there is no end of line in HELLO_MAX bytes. The only accepted spelling is
 * that of hello_put().
 */
enum frame_read hello_get(struct bytes in, struct hello *hello, size_t *size);

#endif
