#include "fake_ledger.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 32

/* A connection and the received bytes that are not parsed yet. */
struct fake_client {
	int fd;
	struct buffer in;
};

static void must(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	abort();
}

void fake_lock(struct fake_ledger *fake)
{
	must(pthread_mutex_lock(&fake->mutex) == 0, "lock");
}

void fake_unlock(struct fake_ledger *fake)
{
	must(pthread_mutex_unlock(&fake->mutex) == 0, "unlock");
}

static void answer_keyring(struct fake_ledger *fake, const struct keyring_cmd *cmd,
	struct keyring_result *result, struct buffer *rows)
{
	bool is_dealers = cmd->of == KEYRING_DEALERS;
	const struct keyring_entry *entries = is_dealers ? fake->dealers : fake->clients;
	uint32_t i = 0, count = is_dealers ? fake->dealer_count : fake->client_count;

	if (fake->restless)
		fake->generation++;
	result->generation = fake->generation;
	result->unchanged = cmd->generation == fake->generation;
	if (result->unchanged) {
		fake->unchanged++;
		return;
	}
	while (cmd->after[0] && i < count && strcmp(entries[i++].caller_id, cmd->after) != 0)
		;
	for (; i < count && result->count < fake->page; i++, result->count++)
		pack_record(rows, keyring_entry_fields, &entries[i]);
	result->more = i < count;
	result->entries = (struct bytes){rows->data, (uint32_t)rows->len};
}

/* Copies the data to which @record points, including its groups. */
static void keep(struct arena *arena, const struct field *table, void *record)
{
	must(arena_keep_bytes(arena, table, record), "keep");
	for (; table->name; table++) {
		for (uint32_t i = 0; table->type == FIELD_GROUP && i < table->count; i++)
			keep(arena, table->sub,
				(uint8_t *)record + table->offset + (size_t)i * table->size);
	}
}

/* The offsets of each command's members. */
static const struct {
	size_t result, cmd;
} places[COMMAND_COUNT] = {
#define COMMAND(name, lower, socket, access, limited)                                              \
	{offsetof(struct fake_results, lower), offsetof(struct fake_cmds, lower)},
#include "link/commands.def"
#undef COMMAND
};

/* Executes @request and appends the answer's frame to @out. */
static void answer(struct fake_ledger *fake, const struct frame_request *request,
	struct buffer *out)
{
	const struct command_info *info = &command_infos[request->command];
	struct frame_answer head = {.command = request->command, .tag = request->tag};
	struct bytes payload = request->payload;
	void *result = (char *)&fake->results + places[request->command].result;
	void *cmd = (char *)&fake->cmds + places[request->command].cmd;
	struct buffer rows;
	size_t start;

	buffer_init(&rows, FRAME_MAX);
	must(unpack_record(&payload, info->cmd_fields, cmd), "unpack");
	keep(&fake->kept, info->cmd_fields, cmd);
	if (fake->prepare)
		fake->prepare(fake, (enum command)request->command);
	if (request->command == COMMAND_KEYRING) {
		memset(result, 0, info->result_size);
		answer_keyring(fake, cmd, result, &rows);
	}
	switch (fake->acts[request->command]) {
	case FAKE_BUSY:
		head.outcome = FRAME_BUSY;
		break;
	case FAKE_FORBIDDEN:
		head.outcome = FRAME_FORBIDDEN;
		break;
	case FAKE_FAULT:
		head.outcome = FRAME_FAULT;
		break;
	default:
		head.outcome = FRAME_DONE;
	}
	head.generation = fake->generation;
	start = frame_open_answer(out, &head);
	if (head.outcome == FRAME_DONE)
		must(pack_record(out, info->result_fields, result), "pack");
	frame_close(out, start);
	buffer_free(&rows);
}

/*
 * Answers the first frame in the received data and sets @size to its bytes. Returns false if the
 * connection must end.
 */
static bool client_answer(struct fake_ledger *fake, struct fake_client *client,
	struct frame_request request, size_t size)
{
	struct buffer out;
	enum fake_act act;
	bool goes_on = true;

	buffer_init(&out, FRAME_MAX);
	fake_lock(fake);
	act = fake->acts[request.command];
	fake->calls[request.command]++;
	text_copy(fake->request_ids[request.command], FRAME_REQUEST_ID_SIZE, request.request_id);
	answer(fake, &request, &out);
	fake_unlock(fake);
	buffer_consume(&client->in, size);
	if (act == FAKE_SLOW)
		clock_sleep_ms(fake->slow_ms);
	if (act == FAKE_CUT)
		goes_on = false;
	else if (act != FAKE_SILENT)
		goes_on = send(client->fd, out.data, out.len, MSG_NOSIGNAL) == (ssize_t)out.len;
	buffer_free(&out);
	return goes_on;
}

/* Reads from @client and answers. Returns false if the connection has ended. */
static bool client_serve(struct fake_ledger *fake, struct fake_client *client)
{
	struct frame_request request;
	size_t size;
	ssize_t got;
	bool goes_on = true;

	must(buffer_reserve(&client->in, 4096) != NULL, "reserve");
	got = recv(client->fd, client->in.data + client->in.len, 4096, 0);
	if (got <= 0)
		return false;
	client->in.len += (size_t)got;
	while (goes_on &&
		frame_get_request((struct bytes){client->in.data, (uint32_t)client->in.len},
			&request, &size) == FRAME_COMPLETE)
		goes_on = client_answer(fake, client, request, size);
	return goes_on;
}

static void client_greet(struct fake_ledger *fake, struct fake_client *client)
{
	struct buffer out;

	client->fd = accept(fake->listen_fd, NULL, NULL);
	must(client->fd >= 0, "accept");
	buffer_init(&client->in, FRAME_MAX);
	buffer_init(&out, GREETING_SIZE);
	fake_lock(fake);
	greeting_put(&out, command_protocol() ^ fake->protocol_xor, fake->generation);
	fake_unlock(fake);
	/*
	 * A client that reached its deadline has closed the connection; the next read detects
	 * that.
	 */
	must(send(client->fd, out.data, out.len, MSG_NOSIGNAL) == (ssize_t)out.len ||
			errno == EPIPE,
		"greet");
	buffer_free(&out);
}

static void *fake_main(void *context)
{
	struct fake_ledger *fake = context;
	struct fake_client clients[CLIENTS_MAX];
	struct pollfd fds[CLIENTS_MAX + 1];
	nfds_t count = 0;
	bool stopping = false;

	while (!stopping) {
		for (nfds_t i = 0; i < count; i++)
			fds[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
		fds[count] = (struct pollfd){.fd = fake->listen_fd, .events = POLLIN};
		poll(fds, count + 1, 10);
		for (nfds_t i = count; i-- > 0;) {
			if (!fds[i].revents || client_serve(fake, &clients[i]))
				continue;
			close(clients[i].fd);
			buffer_free(&clients[i].in);
			clients[i] = clients[count - 1];
			fds[i].revents = 0;
			fds[count - 1] = fds[count];
			count--;
		}
		if (fds[count].revents && count < CLIENTS_MAX)
			client_greet(fake, &clients[count++]);
		fake_lock(fake);
		stopping = fake->stopping;
		fake_unlock(fake);
	}
	while (count--) {
		close(clients[count].fd);
		buffer_free(&clients[count].in);
	}
	return NULL;
}

void fake_init(struct fake_ledger *fake)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(fake, 0, sizeof(*fake));
	arena_init(&fake->kept);
	must(pthread_mutex_init(&fake->mutex, NULL) == 0, "mutex");
	text_copy(fake->directory, sizeof(fake->directory), "/tmp/fake-ledger-XXXXXX");
	must(mkdtemp(fake->directory) != NULL, "mkdtemp");
	snprintf(fake->path, sizeof(fake->path), "%s/edge.sock", fake->directory);
	text_copy(address.sun_path, sizeof(address.sun_path), fake->path);
	fake->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(bind(fake->listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
	must(listen(fake->listen_fd, 16) == 0, "listen");
	fake->generation = 7;
	fake->page = FAKE_DEALERS_MAX;
}

void fake_start(struct fake_ledger *fake)
{
	must(pthread_create(&fake->thread, NULL, fake_main, fake) == 0, "thread");
}

void fake_stop(struct fake_ledger *fake)
{
	fake_lock(fake);
	fake->stopping = true;
	fake_unlock(fake);
	pthread_join(fake->thread, NULL);
	close(fake->listen_fd);
	unlink(fake->path);
	rmdir(fake->directory);
	arena_free(&fake->kept);
}

static struct keyring_entry *fill(struct keyring_entry *entry, const char *id, const char *first,
	const char *second)
{
	const char *secrets[DEALER_KEYS_MAX] = {first, second};

	memset(entry, 0, sizeof(*entry));
	text_copy(entry->caller_id, sizeof(entry->caller_id), id);
	for (size_t i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!secrets[i][0])
			continue;
		snprintf(entry->keys[i].key_id, sizeof(entry->keys[i].key_id), "k%zu", i + 1);
		text_copy(entry->keys[i].secret, sizeof(entry->keys[i].secret), secrets[i]);
	}
	return entry;
}

struct keyring_entry *fake_add_dealer(struct fake_ledger *fake, const char *casino_id,
	const char *first, const char *second)
{
	struct keyring_entry *entry =
		fill(&fake->dealers[fake->dealer_count++], casino_id, first, second);

	entry->decimals = 2;
	return entry;
}

struct keyring_entry *fake_add_client(struct fake_ledger *fake, const char *client_id,
	const char *first, const char *second)
{
	struct keyring_entry *entry =
		fill(&fake->clients[fake->client_count++], client_id, first, second);

	entry->decimals = MONEY_DECIMALS_MAX;
	return entry;
}
