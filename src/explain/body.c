/*
 * explain_body - explains why a body was not accepted: its clock, its JSON or its fields.
 */
#include "explain/explain.h"

#include "base/text.h"
#include "wire/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUT_KEY_MAX 64

/* ---- the clock */

/* The unit of a timestamp that is CLOCK_UNIT. */
static const char *unit_of(int64_t timestamp, int64_t time_ms)
{
	if (timestamp < time_ms)
		return "seconds";
	/* These two differ by 1,000: 30 times the time in microseconds lies between them. */
	return timestamp / 30000 < time_ms ? "microseconds" : "nanoseconds";
}

void explain_clock(const struct explain_case *explain, struct explanation *explanation)
{
	const int64_t half_ms = 30 * 60 * 1000;
	struct inspect_member member;
	int64_t off_ms, halves;
	enum refused_form form;
	const char *side;

	inspect_member(explain->request.body, "request_timestamp", &member);
	if (member.type != INSPECT_INTEGER)
		return;
	/* Its difference from the time here may not fit into 64 bits. */
	if (member.integer < 0) {
		explain_add(explanation, CAUSE_CLOCK_BEHIND,
			"request_timestamp %" PRId64 " is before 1970", member.integer);
		return;
	}
	form = refused_clock(member.integer, explain->request.time_ms);
	off_ms = member.integer - explain->request.time_ms;
	side = off_ms < 0 ? "behind" : "ahead of";
	halves = (llabs(off_ms) + half_ms / 2) / half_ms;
	if (form == REFUSED_FORM_CLOCK_UNIT)
		explain_add(explanation, CAUSE_CLOCK_UNIT,
			"request_timestamp %" PRId64 " is the time in %s", member.integer,
			unit_of(member.integer, explain->request.time_ms));
	else if (form == REFUSED_FORM_CLOCK_ZONE)
		explain_add(explanation, CAUSE_CLOCK_ZONE,
			"request_timestamp is %" PRId64 " s %s the time here: close to %" PRId64
			".%d hours, as a time zone would make it",
			(int64_t)llabs(off_ms) / 1000, side, halves / 2, halves % 2 ? 5 : 0);
	else
		explain_add(explanation,
			form == REFUSED_FORM_CLOCK_BEHIND ? CAUSE_CLOCK_BEHIND : CAUSE_CLOCK_AHEAD,
			"request_timestamp is %" PRId64 ".%03d s %s the time here; at most %" PRId64
			" s are accepted",
			(int64_t)llabs(off_ms) / 1000, (int)(llabs(off_ms) % 1000), side,
			explain->window_ms / 1000);
}

/* ---- the JSON */

static const struct {
	enum explain_cause cause;
	const char *found; /* continues "the body "; the text or position of the fault follows */
} faults[INSPECT_FAULT_COUNT] = {
	[INSPECT_EMPTY] = {CAUSE_BODY_EMPTY, "is empty"},
	[INSPECT_GZIP] = {CAUSE_BODY_COMPRESSED, "is compressed (gzip)"},
	[INSPECT_UTF16] = {CAUSE_BODY_UTF16, "is in UTF-16"},
	[INSPECT_BOM] = {CAUSE_BODY_BOM, "begins with a byte order mark"},
	[INSPECT_FORM] = {CAUSE_BODY_FORM, "is a form (name=value), not JSON"},
	[INSPECT_MULTIPART] = {CAUSE_BODY_FORM, "is a multipart form, not JSON"},
	[INSPECT_PRINTED] = {CAUSE_BODY_SYNTAX, "is a printed or serialised PHP array"},
	[INSPECT_QUOTED] = {CAUSE_BODY_QUOTED, "is a JSON string that holds JSON"},
	[INSPECT_NOT_OBJECT] = {CAUSE_BODY_NOT_OBJECT, "is JSON, but not an object"},
	[INSPECT_NOT_UTF8] = {CAUSE_BODY_NOT_UTF8, "has bytes that are not UTF-8"},
	[INSPECT_ZERO] = {CAUSE_BODY_SYNTAX, "has a byte that is zero"},
	[INSPECT_TWICE] = {CAUSE_BODY_KEY_TWICE, "has a key twice:"},
	[INSPECT_DEEP] = {CAUSE_BODY_NESTED, "is nested deeper than 16"},
	[INSPECT_CUT] = {CAUSE_BODY_SYNTAX, "ends too early: something is not closed"},
	[INSPECT_COMMA] = {CAUSE_BODY_SYNTAX, "has a comma before a closing bracket"},
	[INSPECT_SINGLE] = {CAUSE_BODY_SYNTAX,
		"has ' where JSON has \", as a printed Python dict has"},
	[INSPECT_WORD] = {CAUSE_BODY_SYNTAX, "has a word that JSON does not know:"},
	[INSPECT_SYNTAX] = {CAUSE_BODY_SYNTAX, "is not valid JSON"},
};

/* Returns true, after adding a finding, if the body is not a JSON object. */
static bool tell_json(const struct explain_case *explain, struct explanation *explanation)
{
	struct inspection inspection;
	char place[64] = "";

	inspect_body(explain->request.body, &inspection);
	if (inspection.fault == INSPECT_FINE)
		return false;
	/* A Content-Encoding header caused this; the header itself is not stored. */
	if (inspection.fault != INSPECT_GZIP &&
		strstr(explain->request.detail, "Content-Encoding")) {
		explain_add(explanation, CAUSE_BODY_COMPRESSED, "%s", explain->request.detail);
		return true;
	}
	if (inspection.line)
		snprintf(place, sizeof(place), " (line %u, column %u)", inspection.line,
			inspection.column);
	explain_add(explanation, faults[inspection.fault].cause, "the body %s%s%s%s",
		faults[inspection.fault].found, inspection.text[0] ? " " : "", inspection.text,
		place);
	return true;
}

/* ---- the fields */

static void tell_absent(const char *key, const struct inspect_member *member,
	struct explanation *explanation)
{
	if (member->similar[0])
		explain_add(explanation, CAUSE_FIELD_MISSPELT, "%s is not there, but '%s' is", key,
			member->similar);
	else
		explain_add(explanation, CAUSE_FIELD_ABSENT, "%s is not there", key);
}

/* Describes the value, for use after the rule. */
static void tell_value(const char *key, const char *rule, const struct inspect_member *member,
	enum explain_cause cause, struct explanation *explanation)
{
	bool is_short = member->type == INSPECT_INTEGER || member->type == INSPECT_REAL ||
		member->type == INSPECT_BOOL;

	explain_add(explanation, cause, "%s %s; it is %s%s%s", key, rule,
		inspect_type_names[member->type], is_short ? ": " : "",
		is_short ? member->text : "");
}

/* Explains a detail such as "amount: must be a number": names the field and the rule. */
static bool tell_field(const struct explain_case *explain, struct explanation *explanation)
{
	const char *detail = explain->request.detail, *colon = strstr(detail, ": ");
	size_t len = colon ? (size_t)(colon - detail) : 0;
	struct inspect_member member;
	char key[CUT_KEY_MAX];
	bool is_type;

	if (!len || !text_copy_len(key, sizeof(key), detail, len) || !text_is_name(key, len))
		return false;
	inspect_member(explain->request.body, key, &member);
	is_type = strncmp(colon, ": must be a", 11) == 0 && !strstr(colon, "above");
	if (member.type == INSPECT_ABSENT)
		tell_absent(key, &member, explanation);
	else if (explain->request.refusal == REFUSAL_INVALID_AMOUNT)
		tell_value(key, colon + 2, &member, CAUSE_AMOUNT_VALUE, explanation);
	else
		tell_value(key, colon + 2, &member,
			is_type && !strstr(colon, " bytes ") && !strstr(colon, " from ")
				? CAUSE_FIELD_TYPE
				: CAUSE_FIELD_VALUE,
			explanation);
	return true;
}

void explain_encoding(const struct explain_case *explain, struct explanation *explanation)
{
	struct inspection inspection;
	bool unexplained = false;

	for (unsigned int i = 0; i < explanation->count; i++)
		unexplained |= explanation->findings[i].cause == CAUSE_SIGNATURE_UNEXPLAINED;
	inspect_body(explain->request.body, &inspection);
	if (unexplained && explain->request.body_len && inspect_remedies[inspection.fault])
		explain_add(explanation, faults[inspection.fault].cause, "the body %s",
			faults[inspection.fault].found);
}

void explain_body(const struct explain_case *explain, struct explanation *explanation)
{
	const struct refused_request *request = &explain->request;

	if (request->body_broken) {
		explain_add(explanation, CAUSE_BODY_CUT,
			"body length does not match Content-Length: %u bytes arrived",
			(unsigned int)request->body_len);
		return;
	}
	if (request->body.len < request->body_len || tell_json(explain, explanation) ||
		tell_field(explain, explanation))
		return;
	if (request->refusal == REFUSAL_INVALID_AMOUNT) {
		struct inspect_member member;

		inspect_member(request->body, "amount", &member);
		if (member.type == INSPECT_ABSENT)
			inspect_member(request->body, "bet_amount", &member);
		explain_add(explanation, CAUSE_AMOUNT_VALUE, "%s%s%s",
			request->detail[0] ? request->detail : "the amount was refused",
			member.text[0] ? "; it is " : "", member.text);
	}
}
