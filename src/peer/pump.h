/*
 * pump - one direction of a relayed connection: a buffer of fixed size between two ends.
 *
 * When the buffer is full, the pump reads nothing more, so that the source waits.
 */
#ifndef PEER_PUMP_H
#define PEER_PUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Two records of TLS. */
#define PUMP_SIZE (32 * 1024)

/*
 * read() and write() return a number of bytes; 0 from read(): the end of the stream; END_AGAIN: nothing
 * now; END_BROKEN: never again. They do not block. After END_AGAIN, write() gets the same first bytes again.
 */
#define END_AGAIN  (-1)
#define END_BROKEN (-2)
struct pump_end {
	ssize_t (*read)(void *context, void *to, size_t size);
	ssize_t (*write)(void *context, const void *from, size_t size);
	void *context;
};

struct pump {
	uint8_t *data;
	uint32_t start; /* of the bytes that were read and not yet written */
	uint32_t len;
	bool ended; /* the source gives nothing more */
};

/* Returns false if memory is exhausted. */
bool pump_init(struct pump *pump);
/* Clears the bytes, which may hold keys. */
void pump_free(struct pump *pump);

/* Returns how many bytes may be read now. */
size_t pump_room(const struct pump *pump);
/* Appends bytes of this program. Returns false if they do not fit. */
bool pump_put(struct pump *pump, const void *data, size_t len);

/* Reads once, as much as there is room for. Returns false if the source broke. */
bool pump_fill(struct pump *pump, const struct pump_end *source);
/* Writes until the buffer is empty or the sink takes no more. Returns false if the sink broke. */
bool pump_drain(struct pump *pump, const struct pump_end *sink);

#endif
