/*
 * peer_alone CONFIG CELL: runs the peer of src/peer on a host without a ledger. It makes edge.sock and admin.sock.
 *
 * The role comes by lines on standard input: "unknown", "active", or "standby ADDRESS [MEMBER]". After each
 * line it prints "set". A line "counts" prints the counts. It starts the peer again when that was killed, and
 * ends at the end of its input.
 *
 * peer_alone --issue DIRECTORY NAME SECONDS: makes a certificate as creditbridgectl member add would have done
 * so many seconds ago.
 */
#include "base/clock.h"
#include "base/settings.h"
#include "base/text.h"
#include "ledger/daemon/sockets.h"
#include "peer/members.h"
#include "peer/peer.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct settings settings;
static struct sockets sockets = {-1, -1, -1, NULL, {(gid_t)-1, (gid_t)-1}, -1};
static struct relay_board *board;
static const char *cell;
static int listener = -1;
static pid_t peer;

static void start_peer(void)
{
	fflush(stdout);
	peer = fork();
	if (peer == 0)
		_exit(peer_process.run(&settings, &sockets, listener, cell, board));
	printf("peer %d\n", (int)peer);
	fflush(stdout);
}

static void print_counts(void)
{
	const struct relay_counts *counts = relay_board_counts(board);

	printf("counts {\"inward\":%" PRIu64 ",\"outward\":%" PRIu64 ",\"inward_open\":%" PRIu64
	       ",\"outward_open\":%" PRIu64 ",\"failed\":%" PRIu64,
		counts->inward, counts->outward, counts->inward_open, counts->outward_open,
		counts->failed);
	for (int i = 0; i < RELAY_REFUSAL_COUNT; i++)
		printf(",\"%s\":%" PRIu64, relay_refusal_names[i], counts->refused[i]);
	printf("}\n");
}

static void obey(char *line)
{
	struct relay_view view = {.role = RELAY_UNKNOWN};
	char *word = strtok(line, " \n");
	const char *address, *member;

	if (word && strcmp(word, "counts") == 0) {
		print_counts();
		fflush(stdout);
		return;
	}
	if (word && strcmp(word, "active") == 0)
		view.role = RELAY_ACTIVE;
	if (word && strcmp(word, "standby") == 0) {
		view.role = RELAY_STANDBY;
		address = strtok(NULL, " \n");
		member = strtok(NULL, " \n");
		text_copy(view.address, sizeof(view.address), address ? address : "");
		text_copy(view.member, sizeof(view.member), member ? member : "");
	}
	relay_board_set(board, &view);
	printf("set\n");
	fflush(stdout);
}

static int issue_old(const char *directory, const char *name, const char *seconds)
{
	struct cell_member made;
	char why[512] = "";

	if (members_issue(directory, name, NULL, false, clock_wall_ms() / 1000 - atol(seconds),
		    &made, why, sizeof(why)) == STATUS_OK)
		return 0;
	fprintf(stderr, "%s\n", why);
	return 1;
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char why[512] = "", line[256];
	int status;

	if (argc == 5 && strcmp(argv[1], "--issue") == 0)
		return issue_old(argv[2], argv[3], argv[4]);
	if (argc != 3 || settings_load(&settings, argv[1], stderr) != STATUS_OK)
		return 2;
	cell = argv[2];
	settings_open_log(&settings, "peer");
	signal(SIGPIPE, SIG_IGN);
	if (sockets_open(&settings, &sockets, why, sizeof(why)) != STATUS_OK) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	board = relay_board_new();
	if (!board || peer_process.prepare(&settings, &listener, why, sizeof(why)) != STATUS_OK) {
		fprintf(stderr, "%s\n", why);
		return 78;
	}
	setvbuf(stdin, NULL, _IONBF, 0);
	start_peer();
	for (;;) {
		if (waitpid(peer, &status, WNOHANG) == peer) {
			if (!WIFSIGNALED(status))
				return 1;
			start_peer();
		}
		if (poll(&input, 1, 10) <= 0)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			break;
		obey(line);
	}
	kill(peer, SIGTERM);
	waitpid(peer, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
