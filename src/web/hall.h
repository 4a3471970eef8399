/*
 * hall - where followers meet their leader (web/leader.h): a socket in the abstract namespace.
 */
#ifndef WEB_HALL_H
#define WEB_HALL_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define HALL_PATIENCE_S 5

struct hall_name {
	struct sockaddr_un address;
	socklen_t len;
};

/* The name for @mount, a text of any length, among the processes that the caller's parent started. */
bool hall_name(struct hall_name *name, const char *mount);

/* Becomes the leader. -1: errno tells; EADDRINUSE: there is one. The socket does not block. */
int hall_open(const struct hall_name *name);

/*
 * Hands @listen_fd over to the leader, waits for his word that he has it, and says that it follows.
 * Returns the connection, which is closed when he is gone. -1: errno tells; EAGAIN: he says nothing
 * for HALL_PATIENCE_S; EPERM: he is not of the caller's user and group. Then the socket is the
 * caller's alone.
 */
int hall_enter(const struct hall_name *name, int listen_fd);

/*
 * The leader's side of it, on a connection that does not block: the listening socket that comes by
 * @fd (-1: none, or from somebody else), and the words. Until the follower's was heard he may give
 * up, and serve from that socket by himself.
 */
int hall_receive(int fd);
bool hall_say(int fd);
bool hall_heard(int fd);

#endif
