/*
 * hall - where followers meet their leader (web/leader.h): a socket in the abstract namespace.
 */
#ifndef WEB_HALL_H
#define WEB_HALL_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define HALL_PATIENCE_MS 5000

struct hall_name {
	struct sockaddr_un address;
	socklen_t len;
};

/* What either side says, a byte. */
enum hall_word {
	HALL_NOTHING = 0, /* the other end is gone, or not of this program's kind */
	HALL_FOLLOW = 'f', /* I follow, or I lead, as was agreed so far */
	HALL_LEAVE = 'l',  /* I serve by myself from now on: my socket is mine */
};

/* The name for @mount, a text of any length, among the processes that the caller's parent started. */
bool hall_name(struct hall_name *name, const char *mount);

/* Becomes the leader. -1: errno tells; EADDRINUSE: there is one. The socket does not block. */
int hall_open(const struct hall_name *name);

/*
 * Hands @listen_fd over to the leader, waits for his word that he has it, and says that it follows.
 * Returns the connection, which does not block, and is closed when he is gone. -1: errno tells;
 * EAGAIN: he says nothing for HALL_PATIENCE_MS, or too many wait for him; EPERM: he is not of the
 * caller's user and group; EINTR: @signal_fd can be read. Then the socket is the caller's alone.
 */
int hall_enter(const struct hall_name *name, int listen_fd, int signal_fd);

/* False: the other end is not of this process's user and group, as they are in effect. */
bool hall_is_own_kind(int fd);

/*
 * The leader's side of it: the listening socket that comes with a follower's first word. -1: none.
 * Until he has said the second he may give up, and serve from that socket by himself.
 */
int hall_receive(int fd);

/* The words, on a connection that does not block. */
bool hall_say(int fd, enum hall_word word);
enum hall_word hall_hear(int fd);

#endif
