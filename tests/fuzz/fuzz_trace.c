/*
 * fuzz_trace - a body in the log (wire/trace.h): one line, that nothing in the body can break.
 */
#include "fuzz.h"

#include "base/log.h"
#include "base/text.h"
#include "wire/trace.h"

#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>

/* Writes the body with standard error led to a file. Returns the line. */
static char *traced(const struct trace_of *of, struct bytes body)
{
	static int fd = -1, errors = -1;
	off_t len;
	char *line;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		errors = dup(STDERR_FILENO);
		must(fd >= 0 && errors >= 0);
		log_open("fuzz", false, LOG_LEVEL_DEBUG);
	}
	must(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	must(dup2(fd, STDERR_FILENO) >= 0);
	trace_body(of, body);
	must(dup2(errors, STDERR_FILENO) >= 0);
	len = lseek(fd, 0, SEEK_CUR);
	line = calloc(1, (size_t)len + 1);
	must(line && pread(fd, line, (size_t)len, 0) == len);
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes body = {data, (uint32_t)size};
	const struct trace_of of = {.request_id = fuzz_byte(&body) & 1 ? "r-1" : NULL,
		.webhook_id = fuzz_byte(&body) & 1 ? "betting-17" : NULL,
		.what = "request"};
	char *line = traced(&of, body), *text;
	json_t *json;

	must(line[0]);
	text = strchr(line, '\n');
	must(text && !text[1]);
	*text = '\0';
	must(text_is_utf8_clean(line, strlen(line)));
	text = strstr(line, " body=");
	must(text);
	/* A string of JSON to its end: it closes no quote early. */
	json = json_loads(text + 6, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	must(json_is_string(json));
	must(json_string_length(json) <= TRACE_BODY_MAX);
	must(body.len == 0 || json_string_length(json) > 0);
	json_decref(json);
	free(line);
	return 0;
}
