/* refused_request - headers and body of a refused call, as the ledger has them in memory. */
#ifndef CONSOLE_SECTIONS_REFUSED_REQUEST_H
#define CONSOLE_SECTIONS_REFUSED_REQUEST_H

#include "base/buffer.h"
#include "console/common/page.h"

/* Bytes of a body that are written in hex. */
#define REFUSED_HEX_MAX 4096

/*
 * Writes the headers and the body of the newest refused call with this request id, folded, or why they are not there.
 * Appends both to @copied, as text: the body in hex. No signature is shown: the ledger does not send it to the console.
 */
enum outcome refused_request_write(struct page *page, const char *request_id,
	struct buffer *copied);

/* Appends @bytes, at most REFUSED_HEX_MAX, as lines of an offset, 16 bytes in hex, and the same bytes as text. */
void refused_request_hex(struct buffer *out, struct bytes bytes);

#endif
