#include "tiny_dealer.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 16

/* A connection and the received bytes that are not answered yet. */
struct connection {
	int fd;
	size_t len;
	char *in; /* large enough for head and body together, and a NUL */
};
#define IN_SIZE (sizeof(((struct tiny_dealer *)0)->head) + sizeof(((struct tiny_dealer *)0)->text))

static void must(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	abort();
}

void tiny_lock(struct tiny_dealer *dealer)
{
	must(pthread_mutex_lock(&dealer->mutex) == 0, "lock");
}

void tiny_unlock(struct tiny_dealer *dealer)
{
	must(pthread_mutex_unlock(&dealer->mutex) == 0, "unlock");
}

/* Returns the length of the body that @head announces. */
static size_t body_len(const char *head)
{
	const char *line = strcasestr(head, "\r\ncontent-length:");

	return line ? strtoul(line + 17, NULL, 10) : 0;
}

/* Answers. Returns false if the connection must end. */
static bool answer(struct tiny_dealer *dealer, struct connection *connection)
{
	char out[4096];
	int len = snprintf(out, sizeof(out), "HTTP/1.1 %d Reason\r\nContent-Length: %zu\r\n\r\n%s",
		dealer->status, strlen(dealer->body), dealer->body);

	must(len > 0 && (size_t)len < sizeof(out), "answer");
	return send(connection->fd, out, (size_t)len, MSG_NOSIGNAL) == len;
}

/* Reads more, and answers each complete request. Returns false if the connection has ended. */
static bool connection_serve(struct tiny_dealer *dealer, struct connection *connection)
{
	ssize_t got = recv(connection->fd, connection->in + connection->len,
		IN_SIZE - connection->len, 0);
	char *end;
	size_t head, body;
	enum tiny_act act;
	unsigned int delay_ms;
	bool goes_on;

	if (got <= 0)
		return false;
	connection->len += (size_t)got;
	connection->in[connection->len] = '\0';
	end = strstr(connection->in, "\r\n\r\n");
	if (!end)
		return true;
	head = (size_t)(end - connection->in) + 4;
	body = body_len(connection->in);
	if (connection->len < head + body)
		return true;
	tiny_lock(dealer);
	must(head < sizeof(dealer->head) && body < sizeof(dealer->text), "request");
	dealer->requests++;
	memcpy(dealer->head, connection->in, head);
	dealer->head[head] = '\0';
	memcpy(dealer->text, connection->in + head, body);
	dealer->text[body] = '\0';
	act = dealer->act;
	delay_ms = dealer->delay_ms;
	tiny_unlock(dealer);
	connection->len = 0;
	clock_sleep_ms(delay_ms);
	if (act != TINY_ANSWER)
		return act == TINY_HANG;
	tiny_lock(dealer);
	goes_on = answer(dealer, connection);
	tiny_unlock(dealer);
	return goes_on;
}

static struct connection connection_new(struct tiny_dealer *dealer)
{
	struct connection connection = {.fd = accept(dealer->listen_fd, NULL, NULL)};

	must(connection.fd >= 0, "accept");
	connection.in = malloc(IN_SIZE + 1);
	must(connection.in != NULL, "malloc");
	tiny_lock(dealer);
	dealer->connections++;
	tiny_unlock(dealer);
	return connection;
}

static void *tiny_main(void *context)
{
	struct tiny_dealer *dealer = context;
	struct connection connections[CONNECTIONS_MAX];
	struct pollfd fds[CONNECTIONS_MAX + 1];
	nfds_t count = 0;
	bool stopping = false;

	while (!stopping) {
		for (nfds_t i = 0; i < count; i++)
			fds[i] = (struct pollfd){.fd = connections[i].fd, .events = POLLIN};
		fds[count] = (struct pollfd){.fd = dealer->listen_fd, .events = POLLIN};
		poll(fds, count + 1, 10);
		if (fds[count].revents && count < CONNECTIONS_MAX)
			connections[count++] = connection_new(dealer);
		/* Backwards: the connection that replaces an ended one was already handled. */
		for (nfds_t i = count; i-- > 0;) {
			if (connections[i].fd != fds[i].fd || !fds[i].revents ||
				connection_serve(dealer, &connections[i]))
				continue;
			close(connections[i].fd);
			free(connections[i].in);
			connections[i] = connections[--count];
		}
		tiny_lock(dealer);
		stopping = dealer->stopping;
		tiny_unlock(dealer);
	}
	while (count--) {
		close(connections[count].fd);
		free(connections[count].in);
	}
	return NULL;
}

void tiny_init(struct tiny_dealer *dealer)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	memset(dealer, 0, sizeof(*dealer));
	must(pthread_mutex_init(&dealer->mutex, NULL) == 0, "mutex");
	dealer->status = 200;
	dealer->body = "{}";
	dealer->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(bind(dealer->listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
	must(listen(dealer->listen_fd, 16) == 0, "listen");
	must(getsockname(dealer->listen_fd, (struct sockaddr *)&address, &len) == 0, "name");
	dealer->port = ntohs(address.sin_port);
}

void tiny_start(struct tiny_dealer *dealer)
{
	must(pthread_create(&dealer->thread, NULL, tiny_main, dealer) == 0, "thread");
}

void tiny_stop(struct tiny_dealer *dealer)
{
	tiny_lock(dealer);
	dealer->stopping = true;
	tiny_unlock(dealer);
	pthread_join(dealer->thread, NULL);
	close(dealer->listen_fd);
}
