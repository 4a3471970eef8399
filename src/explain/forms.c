/*
 * explain_forms - generates the bodies that may have been signed in place of the received one.
 */
#include "explain/explain.h"

#include "base/buffer.h"
#include "wire/rewrite.h"

#include <stdio.h>
#include <string.h>

/* Maximum length of a body in another form. */
#define FORM_MAX (8 * REFUSED_BODY_MAX)

struct guess {
	const struct refused_request *request;
	explain_try *try;
	void *context;
};

static bool try_guessed_body(const struct guess *guess, struct bytes body, enum explain_cause cause,
	const char *what)
{
	return guess->try(guess->context, body, cause, what);
}

/* Tries @before, then the body without its first @skip and last @cut bytes, then @after. */
static bool try_edges(const struct guess *guess, struct buffer *form, const char *before,
	uint32_t skip, uint32_t cut, const char *after, const char *what)
{
	const struct bytes sent = guess->request->body;

	buffer_reset(form);
	buffer_append_str(form, before);
	if (skip + cut < sent.len)
		buffer_append(form, sent.data + skip, sent.len - skip - cut);
	buffer_append_str(form, after);
	return !form->failed &&
		try_guessed_body(guess, (struct bytes){form->data, (uint32_t)form->len},
			CAUSE_BODY_LINE_END, what);
}

static uint32_t space_at_end(struct bytes body)
{
	uint32_t n = 0;

	while (n < body.len && strchr(" \t\r\n", body.data[body.len - 1 - n]) &&
		body.data[body.len - 1 - n])
		n++;
	return n;
}

static uint32_t space_at_head(struct bytes body)
{
	uint32_t n = 0;

	while (n < body.len && body.data[n] && strchr(" \t\r\n", body.data[n]))
		n++;
	return n;
}

static bool try_line_ends(const struct guess *guess, struct buffer *form)
{
	const struct bytes sent = guess->request->body;
	uint32_t end = space_at_end(sent), head = space_at_head(sent);
	bool bom = sent.len >= 3 && memcmp(sent.data, "\xef\xbb\xbf", 3) == 0;

	return try_edges(guess, form, "", 0, 0, "\n", "that with a line end after it") ||
		try_edges(guess, form, "", 0, 0, "\r\n", "that with CR and LF after it") ||
		(end &&
			try_edges(guess, form, "", 0, end, "",
				"that without the line end or space after it")) ||
		(end &&
			try_edges(guess, form, "", 0, end, "\n",
				"that with a single LF after it")) ||
		((end || head) &&
			try_edges(guess, form, "", head, end, "",
				"that without the space around it")) ||
		(bom &&
			try_edges(guess, form, "", 3, 0, "",
				"that without the byte order mark before it")) ||
		try_edges(guess, form, "\xef\xbb\xbf", 0, 0, "",
			"that with a byte order mark before it");
}

/* Tries CR LF for LF, or LF for CR LF. */
static bool try_carriage_returns(const struct guess *guess, struct buffer *form)
{
	const struct bytes sent = guess->request->body;
	bool has = sent.len && memchr(sent.data, '\r', sent.len);

	buffer_reset(form);
	for (uint32_t i = 0; i < sent.len; i++) {
		if (sent.data[i] == '\n' && !has)
			buffer_append_str(form, "\r");
		if (sent.data[i] != '\r')
			buffer_append(form, &sent.data[i], 1);
	}
	return try_guessed_body(guess, (struct bytes){form->data, (uint32_t)form->len},
		CAUSE_BODY_LINE_END, has ? "that with LF for CR LF" : "that with CR LF for LF");
}

static bool try_url(const struct guess *guess, struct buffer *form)
{
	const struct refused_request *request = guess->request;

	buffer_reset(form);
	buffer_append_str(form, request->path);
	if (try_guessed_body(guess, (struct bytes){form->data, (uint32_t)form->len},
		    CAUSE_URL_SIGNED, "the path"))
		return true;
	if (!request->query.len)
		return false;
	buffer_append_str(form, "?");
	buffer_append(form, request->query.data, request->query.len);
	return try_guessed_body(guess, request->query, CAUSE_URL_SIGNED, "the query") ||
		try_guessed_body(guess, (struct bytes){form->data, (uint32_t)form->len},
			CAUSE_URL_SIGNED, "the path with the query");
}

static bool try_encoded(const struct guess *guess, struct buffer *form)
{
	const struct bytes sent = guess->request->body;

	buffer_reset(form);
	for (uint32_t i = 0; i < sent.len; i++) {
		buffer_append(form, &sent.data[i], 1);
		buffer_append(form, "", 1);
	}
	return try_guessed_body(guess, (struct bytes){form->data, (uint32_t)form->len},
		CAUSE_BODY_ENCODED, "that in UTF-16");
}

/* Tries the same JSON in another notation. */
static bool try_form(const struct guess *guess, const struct rewrite_form *how, struct buffer *form)
{
	char name[REWRITE_NAME_MAX], what[REWRITE_NAME_MAX + 64];
	struct bytes body;

	buffer_reset(form);
	if (!rewrite_json(guess->request->body, how, form))
		return false;
	rewrite_name(how, name);
	snprintf(what, sizeof(what), "the same JSON in other bytes (%s)", name);
	body = (struct bytes){form->data, (uint32_t)form->len};
	if (try_guessed_body(guess, body, CAUSE_BODY_RESERIALISED, what))
		return true;
	if (!buffer_append_str(form, "\n"))
		return false;
	snprintf(what, sizeof(what), "the same JSON in other bytes (%s) and a line end", name);
	body = (struct bytes){form->data, (uint32_t)form->len};
	return try_guessed_body(guess, body, CAUSE_BODY_RESERIALISED, what);
}

static bool has_any_byte(struct bytes body, const char *any, bool beyond_ascii)
{
	for (uint32_t i = 0; i < body.len; i++) {
		if ((beyond_ascii && body.data[i] >= 0x80) ||
			(body.data[i] && strchr(any, body.data[i])))
			return true;
	}
	return false;
}

static bool try_forms(const struct guess *guess, struct buffer *form)
{
	const struct bytes sent = guess->request->body;
	unsigned int slashes = has_any_byte(sent, "/", false) ? 2 : 1;
	unsigned int escapes = has_any_byte(sent, "\\<>&", true) ? ESCAPE_COUNT : 1;
	unsigned int all = NUMBER_COUNT * escapes * slashes * 2 * LAYOUT_COUNT, rest;

	if (!rewrite_may(sent))
		return false;
	for (unsigned int n = 0; n < all; n++) {
		struct rewrite_form how;

		/* Try the most likely forms first: the layout changes fastest. */
		rest = n;
		how.layout = (enum rewrite_layout)(rest % LAYOUT_COUNT);
		rest /= LAYOUT_COUNT;
		how.slashes = rest % slashes;
		rest /= slashes;
		how.escape = (enum rewrite_escape)(rest % escapes);
		rest /= escapes;
		how.sorted = rest % 2;
		how.number = (enum rewrite_number)(rest / 2);
		if (try_form(guess, &how, form))
			return true;
	}
	return false;
}

bool explain_other_bodies(const struct refused_request *request, explain_try *try, void *context)
{
	const struct guess guess = {request, try, context};
	struct buffer form;
	bool found;

	buffer_init(&form, FORM_MAX);
	found = try_guessed_body(&guess, (struct bytes){NULL, 0}, CAUSE_BODY_EMPTY_SIGNED,
			"the empty body") ||
		try_line_ends(&guess, &form) || try_carriage_returns(&guess, &form) ||
		try_url(&guess, &form) || try_encoded(&guess, &form) || try_forms(&guess, &form);
	buffer_free(&form);
	return found;
}
