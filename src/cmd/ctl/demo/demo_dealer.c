#include "cmd/ctl/demo/demo_dealer.h"

#include "base/clock.h"
#include "base/text.h"
#include "dealer/serve.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MAX         8192 /* request line and header lines */
#define VARIABLE_MAX     64
#define BACKLOG          8
#define STATUS_PREFIX    "Status: "
#define TEMPORARY_PREFIX "creditbridge-demo"

struct demo_dealer {
	char directory[256]; /* "": not made */
	char key_file[272];
	char url[64];
	struct reference_dealer dealer;
	struct fcgi_program program;
	void *worker;
	uint8_t *body; /* of one request: body_max + 1 bytes */
	int listener;  /* -1: none */
	int wake[2];   /* closing wake[1] ends the thread */
	pthread_t thread;
	bool running;
	pthread_mutex_t mutex; /* of the members below */
	struct demo_exchange exchanges[DEMO_EXCHANGES_MAX];
	unsigned int first;
	unsigned int count;
};

/* One connection. */
struct arrival {
	int fd;
	int64_t until_ms; /* boot time */
	char head[HEAD_MAX + 1];
	size_t len;  /* bytes received into @head */
	size_t used; /* of them, those that were parsed */
	size_t left; /* bytes of the body that were not read yet: the source ends with them */
};

/* Waits for bytes, and returns the number that was received; 0 at the end or too late. */
static size_t receive_some(struct arrival *arrival, void *to, size_t size)
{
	struct pollfd waited = {.fd = arrival->fd, .events = POLLIN};
	int64_t left_ms = arrival->until_ms - clock_boot_ms();
	ssize_t got = -1;

	if (size && left_ms > 0 && poll(&waited, 1, (int)left_ms) > 0)
		got = recv(arrival->fd, to, size, 0);
	return got > 0 ? (size_t)got : 0;
}

/* The body: first what arrived together with the head. A struct http_source. */
static size_t read_source(void *context, void *to, size_t len)
{
	struct arrival *arrival = context;
	size_t done = arrival->len - arrival->used, got;

	if (len > arrival->left)
		len = arrival->left;
	if (done > len)
		done = len;
	memcpy(to, arrival->head + arrival->used, done);
	arrival->used += done;
	while (done < len && (got = receive_some(arrival, (char *)to + done, len - done)) > 0)
		done += got;
	arrival->left -= done;
	return done;
}

/* Receives the head and ends it with a NUL. Returns false if none arrives. */
static bool receive_head(struct arrival *arrival)
{
	char *end = NULL;

	while (!end && arrival->len < HEAD_MAX) {
		size_t got = receive_some(arrival, arrival->head + arrival->len,
			HEAD_MAX - arrival->len);

		if (!got)
			return false;
		arrival->len += got;
		arrival->head[arrival->len] = '\0';
		end = strstr(arrival->head, "\r\n\r\n");
	}
	if (!end)
		return false;
	end[2] = '\0';
	arrival->used = (size_t)(end - arrival->head) + 4;
	return true;
}

/* Adds the header "Name: value" as the variable that a web server makes of it. */
static void add_line(struct http_request *request, char *line)
{
	static const char content[] = "CONTENT_";
	char name[VARIABLE_MAX] = "HTTP_";
	char *value = strchr(line, ':');
	size_t len = 5;
	const char *found = name;

	if (!value || (size_t)(value - line) >= sizeof(name) - len)
		return;
	*value++ = '\0';
	while (*line) {
		name[len++] = (char)(*line == '-' ? '_' : toupper((unsigned char)*line));
		line++;
	}
	name[len] = '\0';
	if (strncmp(name + 5, content, sizeof(content) - 1) == 0)
		found = name + 5;
	while (*value == ' ' || *value == '\t')
		value++;
	http_request_variable(request, found, strlen(found), value);
}

/* Reads the request line and the headers. Returns false for anything else. */
static bool parse_head(struct arrival *arrival, struct http_request *request)
{
	char *rest = arrival->head, *line = strsep(&rest, "\r");
	char *method = strsep(&line, " "), *path = line ? strsep(&line, " ") : NULL;

	if (!path || path[0] != '/' || !line || strncmp(line, "HTTP/1.", 7) != 0)
		return false;
	http_request_variable(request, "REQUEST_METHOD", strlen("REQUEST_METHOD"), method);
	http_request_variable(request, "PATH_INFO", strlen("PATH_INFO"), path);
	while (rest && (line = strsep(&rest, "\r")) != NULL) {
		if (*line == '\n')
			line++;
		if (*line)
			add_line(request, line);
	}
	http_request_route(request);
	if (request->content_length.value)
		arrival->left = strtoul(request->content_length.value, NULL, 10);
	return true;
}

static void send_all(const struct arrival *arrival, const char *text, size_t len)
{
	while (len) {
		struct pollfd waited = {.fd = arrival->fd, .events = POLLOUT};
		int64_t left_ms = arrival->until_ms - clock_boot_ms();
		ssize_t sent = -1;

		if (left_ms > 0 && poll(&waited, 1, (int)left_ms) > 0)
			sent = send(arrival->fd, text, len, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
		text += sent;
		len -= (size_t)sent;
	}
}

/* Sends the answer of a FastCGI program as one of HTTP. */
static void send_reply(const struct arrival *arrival, const struct fcgi_reply *reply)
{
	static const char version[] = "HTTP/1.1 ", closing[] = "Connection: close\r\n";
	const char *head = (const char *)reply->head->data + strlen(STATUS_PREFIX);
	size_t len = reply->head->len - strlen(STATUS_PREFIX);
	const char *end = memchr(head, '\n', len);
	size_t line = end ? (size_t)(end - head) + 1 : len;

	send_all(arrival, version, strlen(version));
	send_all(arrival, head, line);
	send_all(arrival, closing, strlen(closing));
	send_all(arrival, head + line, len - line);
	send_all(arrival, (const char *)reply->body->data, reply->body->len);
}

/* Copies a body, or its beginning and dots. */
static void copy_short(char to[DEMO_SHOWN_SIZE], const void *from, size_t len)
{
	snprintf(to, DEMO_SHOWN_SIZE, "%.*s%s", (int)(len < DEMO_SHOWN_SIZE ? len : 500),
		len ? (const char *)from : "", len < DEMO_SHOWN_SIZE ? "" : " ...");
}

static void keep_exchange(struct demo_dealer *dealer, const struct http_request *request,
	const struct fcgi_reply *reply)
{
	struct demo_exchange *kept;

	pthread_mutex_lock(&dealer->mutex);
	if (dealer->count == DEMO_EXCHANGES_MAX) {
		dealer->first = (dealer->first + 1) % DEMO_EXCHANGES_MAX;
		dealer->count--;
	}
	kept = &dealer->exchanges[(dealer->first + dealer->count++) % DEMO_EXCHANGES_MAX];
	snprintf(kept->path, sizeof(kept->path), "%.63s", request->path);
	copy_short(kept->body, request->body, request->body_len);
	copy_short(kept->answer, reply->body->data, reply->body->len);
	kept->code = atoi((const char *)reply->head->data + strlen(STATUS_PREFIX));
	pthread_mutex_unlock(&dealer->mutex);
}

bool demo_dealer_take(struct demo_dealer *dealer, struct demo_exchange *exchange)
{
	bool found;

	pthread_mutex_lock(&dealer->mutex);
	found = dealer->count > 0;
	if (found) {
		*exchange = dealer->exchanges[dealer->first];
		dealer->first = (dealer->first + 1) % DEMO_EXCHANGES_MAX;
		dealer->count--;
	}
	pthread_mutex_unlock(&dealer->mutex);
	return found;
}

static void serve_connection(struct demo_dealer *dealer, int fd)
{
	struct arrival arrival = {.fd = fd, .until_ms = clock_boot_ms() + DEMO_DEALER_MS};
	const struct http_source source = {.read = read_source, .context = &arrival};
	struct http_request request;
	struct fcgi_reply reply = {.head = NULL};

	http_request_begin(&request, dealer->program.format);
	request.wall_ms = clock_wall_ms();
	request.boot_ms = clock_boot_ms();
	if (!receive_head(&arrival) || !parse_head(&arrival, &request))
		return;
	http_body_read(&request, dealer->body, &source);
	dealer->program.serve(dealer->worker, &request, &reply);
	if (reply.cut || reply.head->len <= strlen(STATUS_PREFIX))
		return;
	/* Before the answer leaves, so that its receiver finds the exchange. */
	keep_exchange(dealer, &request, &reply);
	send_reply(&arrival, &reply);
}

static void *serve_all(void *context)
{
	struct demo_dealer *dealer = context;
	struct pollfd waited[2] = {{.fd = dealer->listener, .events = POLLIN},
		{.fd = dealer->wake[0], .events = POLLIN}};
	int fd;

	while ((poll(waited, 2, -1) > 0 || errno == EINTR) && !waited[1].revents) {
		fd = waited[0].revents ? accept4(dealer->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		serve_connection(dealer, fd);
		close(fd);
	}
	return NULL;
}

/* Writes the key to a file of its own. Returns false with errno set. */
static bool write_key(const struct demo_dealer *dealer, const char *secret)
{
	int fd = open(dealer->key_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool written = fd >= 0 && dprintf(fd, "%s\n", secret) > 0;

	if (fd >= 0)
		written &= close(fd) == 0;
	return written;
}

/* Makes the listener on a free port of 127.0.0.1. Returns false with errno set. */
static bool open_listener(struct demo_dealer *dealer)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);

	dealer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (dealer->listener < 0 ||
		bind(dealer->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(dealer->listener, BACKLOG) < 0 ||
		getsockname(dealer->listener, (struct sockaddr *)&address, &len) < 0 ||
		pipe2(dealer->wake, O_CLOEXEC) < 0)
		return false;
	snprintf(dealer->url, sizeof(dealer->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	return true;
}

/* Makes the temporary directory, the key and the store. */
static bool open_data(struct demo_dealer *dealer, const char *secret, money_t opening_balance,
	char *why, size_t why_size)
{
	const char *parent = getenv("TMPDIR");
	char state[sizeof(dealer->key_file)];

	snprintf(dealer->directory, sizeof(dealer->directory), "%.200s/" TEMPORARY_PREFIX ".XXXXXX",
		parent && parent[0] == '/' ? parent : "/tmp");
	if (!mkdtemp(dealer->directory)) {
		snprintf(why, why_size, "%s: %s", dealer->directory, strerror(errno));
		dealer->directory[0] = '\0';
		return false;
	}
	snprintf(dealer->key_file, sizeof(dealer->key_file), "%s/keys", dealer->directory);
	if (!write_key(dealer, secret)) {
		snprintf(why, why_size, "%s: %s", dealer->key_file, strerror(errno));
		return false;
	}
	snprintf(state, sizeof(state), "%s/state", dealer->directory);
	dealer->dealer.store = dealer_store_open(state, opening_balance, why, why_size);
	return dealer->dealer.store != NULL;
}

struct demo_dealer *demo_dealer_start(const char *secret, const char *currency,
	money_t opening_balance, char *why, size_t why_size)
{
	struct demo_dealer *dealer = calloc(1, sizeof(*dealer));
	bool begun;

	if (!dealer) {
		snprintf(why, why_size, "out of memory");
		return NULL;
	}
	dealer->listener = dealer->wake[0] = dealer->wake[1] = -1;
	pthread_mutex_init(&dealer->mutex, NULL);
	pthread_mutex_init(&dealer->dealer.mutex, NULL);
	dealer->dealer.base_path = "";
	dealer->dealer.currency = currency;
	dealer->dealer.key_file = dealer->key_file;
	dealer->program = dealer_program(&dealer->dealer);
	begun = open_data(dealer, secret, opening_balance, why, why_size);
	if (begun) {
		dealer->worker = dealer->program.open(dealer->program.context);
		dealer->body = malloc(dealer->program.format->body_max + 1);
		errno = ENOMEM;
		begun = dealer->worker && dealer->body && open_listener(dealer);
		if (begun)
			errno = pthread_create(&dealer->thread, NULL, serve_all, dealer);
		dealer->running = begun && !errno;
		begun = dealer->running;
		if (!begun)
			snprintf(why, why_size, "the demo dealer cannot listen on 127.0.0.1: %s",
				strerror(errno));
	}
	if (begun)
		return dealer;
	demo_dealer_stop(dealer);
	return NULL;
}

const char *demo_dealer_url(const struct demo_dealer *dealer)
{
	return dealer->url;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

void demo_dealer_stop(struct demo_dealer *dealer)
{
	if (!dealer)
		return;
	if (dealer->wake[1] >= 0)
		close(dealer->wake[1]);
	if (dealer->running)
		pthread_join(dealer->thread, NULL);
	if (dealer->wake[0] >= 0)
		close(dealer->wake[0]);
	if (dealer->listener >= 0)
		close(dealer->listener);
	if (dealer->worker)
		dealer->program.close(dealer->worker);
	free(dealer->body);
	if (dealer->dealer.store)
		store_close(dealer->dealer.store);
	if (dealer->directory[0])
		nftw(dealer->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	pthread_mutex_destroy(&dealer->dealer.mutex);
	pthread_mutex_destroy(&dealer->mutex);
	free(dealer);
}
