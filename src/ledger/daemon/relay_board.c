#include "ledger/daemon/relay_board.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

struct relay_board {
	/* Odd while the engine writes @view. */
	_Atomic uint32_t version;
	struct relay_view view;
	int fd;
	pid_t owner;
	struct relay_counts counts;
};

const char *const relay_refusal_names[RELAY_REFUSAL_COUNT] = {
	[RELAY_REFUSED_TLS] = "tls",
	[RELAY_REFUSED_CERT] = "certificate",
	[RELAY_REFUSED_EXPIRED] = "expired",
	[RELAY_REFUSED_REMOVED] = "removed",
	[RELAY_REFUSED_HELLO] = "hello",
	[RELAY_REFUSED_DEADLINE] = "deadline",
	[RELAY_REFUSED_NOT_ACTIVE] = "not_active",
	[RELAY_REFUSED_FULL] = "full",
};

struct relay_board *relay_board_new(void)
{
	struct relay_board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int error;

	if (board == MAP_FAILED)
		return NULL;
	board->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	board->owner = getpid();
	if (board->fd >= 0)
		return board;
	error = errno;
	munmap(board, sizeof(*board));
	errno = error;
	return NULL;
}

void relay_board_set(struct relay_board *board, const struct relay_view *view)
{
	const uint64_t one = 1;
	/* A writer that was killed in the middle left an odd number. */
	const uint32_t version = atomic_load(&board->version) | 1;

	atomic_store(&board->version, version);
	atomic_thread_fence(memory_order_seq_cst);
	board->view = *view;
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store(&board->version, version + 1);
	/* It fails only if the counter is full: then it is readable in any case. */
	if (write(board->fd, &one, sizeof(one)) < 0)
		return;
}

void relay_board_get(const struct relay_board *board, struct relay_view *view)
{
	const struct relay_view unknown = {.role = RELAY_UNKNOWN};
	uint32_t before;

	/* The engine copies 132 bytes; if it is stopped meanwhile, nothing is known. */
	for (unsigned int i = 0; i < 1000; i++) {
		before = atomic_load(&board->version);
		atomic_thread_fence(memory_order_seq_cst);
		*view = board->view;
		atomic_thread_fence(memory_order_seq_cst);
		if (!(before & 1) && atomic_load(&board->version) == before)
			return;
	}
	*view = unknown;
}

int relay_board_fd(const struct relay_board *board)
{
	return board->fd;
}

struct relay_counts *relay_board_counts(struct relay_board *board)
{
	return &board->counts;
}

pid_t relay_board_owner(const struct relay_board *board)
{
	return board->owner;
}
