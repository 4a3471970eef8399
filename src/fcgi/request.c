#include "fcgi/request.h"

#include <string.h>
#include <strings.h>

#define VARIABLE(name, member)                                                                     \
	{                                                                                          \
		name, sizeof(name) - 1, offsetof(struct http_request, member)                      \
	}
static const struct {
	const char *name;
	size_t len;
	size_t offset;
} variables[] = {
	VARIABLE("REQUEST_METHOD", method),
	VARIABLE("SCRIPT_NAME", script_name),
	VARIABLE("PATH_INFO", path_info),
	VARIABLE("QUERY_STRING", query_string),
	VARIABLE("REMOTE_ADDR", remote_address),
	VARIABLE("CONTENT_TYPE", content_type),
	VARIABLE("HTTP_CONTENT_ENCODING", content_encoding),
	VARIABLE("CONTENT_LENGTH", content_length),
	VARIABLE("HTTP_TRANSFER_ENCODING", transfer_encoding),
};

void http_request_begin(struct http_request *request, const struct http_format *format)
{
	memset(request, 0, sizeof(*request));
	request->format = format;
}

/* Returns the variable called @name, of @len bytes, or NULL if the request does not keep it. */
static struct http_variable *variable_find(struct http_request *request, const char *name,
	size_t len)
{
	const struct http_format *format = request->format;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (variables[i].len == len && memcmp(variables[i].name, name, len) == 0)
			return (void *)((char *)request + variables[i].offset);
	}
	for (unsigned int i = 0; i < format->header_count; i++) {
		if (strncmp(format->headers[i], name, len) == 0 && !format->headers[i][len])
			return &request->headers[i];
	}
	return NULL;
}

void http_request_variable(struct http_request *request, const char *name, size_t len,
	const char *value)
{
	struct http_variable *variable = variable_find(request, name, len);

	if (variable && variable->count++ == 0)
		variable->value = value;
}

static const char *text_of(const struct http_variable *variable)
{
	return variable->value ? variable->value : "";
}

void http_request_route(struct http_request *request)
{
	const char *parts[] = {text_of(&request->script_name), text_of(&request->path_info)};
	size_t first = strlen(parts[0]), second = strlen(parts[1]);

	if (first + second >= sizeof(request->path))
		return;
	memcpy(request->path, parts[0], first);
	memcpy(request->path + first, parts[1], second + 1);
}

/* How the length of the body is known. */
enum length {
	LENGTH_KNOWN,
	LENGTH_OPEN, /* the body ends where the source ends */
	LENGTH_GARBAGE,
};

static enum length length_parse(const struct http_request *request, size_t *length)
{
	const char *text = text_of(&request->content_length);

	*length = 0;
	if (request->content_length.count > 1)
		return LENGTH_GARBAGE;
	if (*text == '\0')
		return strcasecmp(text_of(&request->transfer_encoding), "chunked") == 0
			? LENGTH_OPEN
			: LENGTH_KNOWN;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return LENGTH_GARBAGE;
		/* Above the limit the exact number does not matter. */
		if (*length <= request->format->body_max)
			*length = *length * 10 + (size_t)(*text - '0');
	}
	return LENGTH_KNOWN;
}

/* Reads to the end, until @taken bytes have become HTTP_DRAIN_MAX at most. */
static bool source_drain(const struct http_source *source, size_t taken)
{
	char trash[4096];

	while (taken < HTTP_DRAIN_MAX) {
		if (source->read(source->context, trash, sizeof(trash)) < sizeof(trash))
			return true;
		taken += sizeof(trash);
	}
	return false;
}

bool http_body_read(struct http_request *request, uint8_t *store, const struct http_source *source)
{
	const size_t body_max = request->format->body_max;
	size_t length, want;
	enum length kind = length_parse(request, &length);

	want = kind == LENGTH_OPEN || length > body_max ? body_max + 1 : length;
	if (kind == LENGTH_GARBAGE)
		want = 0;
	request->body = store;
	request->body_len = want ? source->read(source->context, store, want) : 0;
	request->body_state = HTTP_BODY_WHOLE;
	if (kind == LENGTH_GARBAGE)
		request->body_state = HTTP_BODY_BROKEN;
	else if (length > body_max || request->body_len > body_max)
		request->body_state = HTTP_BODY_TOO_LARGE;
	else if (kind == LENGTH_KNOWN && request->body_len < want)
		request->body_state = HTTP_BODY_BROKEN;
	return request->body_len < want || source_drain(source, request->body_len);
}

bool http_header_is_single(const struct http_variable *header)
{
	if (header->count != 1 || header->value[0] == '\0')
		return false;
	for (const char *at = header->value; *at; at++) {
		if ((unsigned char)*at <= ' ' || *at == 0x7f || *at == ',')
			return false;
	}
	return true;
}

bool http_request_hurries(const struct http_request *request)
{
	return request->hurries && request->hurries(request->hurries_context);
}
