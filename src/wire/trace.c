#include "wire/trace.h"

#include "base/buffer.h"
#include "base/log.h"
#include "wire/render.h"

#include <string.h>

/* Room in a line beside the other members. */
#define TEXT_MAX 1536

/*
 * Writes at most @len bytes of @body with quotes. Returns false if it does not fit or memory is
 * exhausted.
 */
static bool quote_body(struct buffer *text, struct bytes body, uint32_t len)
{
	buffer_reset(text);
	return render_text(text, (const char *)body.data, len) && buffer_append(text, "", 1);
}

void trace_body(const struct trace_of *of, struct bytes body)
{
	uint32_t len = body.len < TRACE_BODY_MAX ? body.len : TRACE_BODY_MAX;
	struct buffer text;

	if (!log_shows(LOG_LEVEL_DEBUG))
		return;
	buffer_init(&text, TEXT_MAX);
	while (!quote_body(&text, body, len) && len)
		len /= 2;
	if (!text.failed)
		log_line(LOG_LEVEL_DEBUG, "body", "request_id=%s%s%s of=%s bytes=%u body=%s",
			of->request_id ? of->request_id : "-", of->webhook_id ? " webhook_id=" : "",
			of->webhook_id ? of->webhook_id : "", of->what, (unsigned int)body.len,
			(const char *)text.data);
	buffer_free(&text);
}
