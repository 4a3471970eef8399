/*
 * handoff - where followers meet their leader (fcgi/shared_listener.h): a socket in a directory that only workers may
 * enter.
 *
 * The ledger makes that directory below the socket directory, mode 1770, of the group of edge.sock: the
 * group that an installed worker has by its setgid bit. So no other local user, and no other program of
 * the web server's user, can take a name there. A lock on the directory is held while a name is taken or
 * given up. The name of a leader that was killed is taken by the next one.
 */
#ifndef FCGI_HANDOFF_H
#define FCGI_HANDOFF_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define HANDOFF_PATIENCE_MS 5000
/* Characters of the name of a socket's file: a socket's path is short. */
#define HANDOFF_FILE_CHARS 16

struct handoff_name {
	char directory[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct sockaddr_un address;
	dev_t device; /* of the socket of handoff_open() ... */
	ino_t inode;
};

/* What either side says, a byte. */
enum handoff_message {
	HANDOFF_NONE = 0, /* the other end is gone, or not of this program's kind */
	HANDOFF_FOLLOW = 'f', /* I follow, or I lead, as was agreed so far */
	HANDOFF_LEAVE = 'l',  /* I serve by myself from now on: my socket is mine */
};

/*
 * The name in @directory for @mount, a text of any length, among the processes that the caller's parent
 * started. False: errno tells; ENAMETOOLONG: @directory is too long for a socket's path.
 */
bool handoff_name(struct handoff_name *name, const char *directory, const char *file);

/*
 * Becomes the leader. -1: errno tells; EADDRINUSE: there is one, or with @take_over false one that was
 * killed left the name, which handoff_register() tells by ECONNREFUSED; EPERM: others may write to the
 * directory; EWOULDBLOCK: others have it locked. The socket does not block.
 */
int handoff_open(struct handoff_name *name, bool take_over);
/* Gives the name up, and closes the socket of handoff_open(). */
void handoff_close(const struct handoff_name *name, int fd);

/*
 * Hands @listen_fd over to the leader, waits for his word that he has it, and says that it follows.
 * Returns the connection, which does not block, and is closed when he is gone. -1: errno tells;
 * EAGAIN: he says nothing for @patience_ms, or too many wait for him; EPERM: he is not of the
 * caller's user and group; EINTR: @signal_fd can be read. Then the socket is the caller's alone.
 */
int handoff_register(const struct handoff_name *name, int listen_fd, int signal_fd, int patience_ms);

/* False: the other end is not of this process's user and group, as they are in effect. */
bool handoff_peer_is_own(int fd);

/*
 * The leader's side of it: the listening socket that comes with a follower's first word. -1: none.
 * Until he has said the second he may give up, and serve from that socket by himself.
 */
int handoff_receive_socket(int fd);

/* The words, on a connection that does not block. */
bool handoff_send(int fd, enum handoff_message word);
enum handoff_message handoff_receive(int fd);

#endif
