#include "explain/explain.h"

#include <stdarg.h>
#include <stdio.h>

void explain_add(struct explanation *explanation, enum explain_cause cause, const char *format, ...)
{
	struct explain_finding *finding = &explanation->findings[explanation->count];
	va_list args;

	if (explanation->count == EXPLAIN_FINDINGS_MAX)
		return;
	explanation->count++;
	finding->cause = cause;
	va_start(args, format);
	vsnprintf(finding->found, sizeof(finding->found), format, args);
	va_end(args);
}

void explain_request(const struct explain_case *explain, struct explanation *explanation)
{
	const struct refused_request *request = &explain->request;
	const char *detail = request->detail;

	explanation->count = 0;
	if (explain->from_disk) {
		explain_kept(explain, explanation);
	} else if (request->refusal == REFUSAL_INVALID_SIGNATURE) {
		explain_signature(explain, explanation);
		explain_encoding(explain, explanation);
	} else if (request->refusal == REFUSAL_STALE_REQUEST) {
		explain_clock(explain, explanation);
	} else if (request->refusal == REFUSAL_USER_NOT_FOUND) {
		explain_player(explain, explanation);
	} else if (refusal_info(request->refusal)->code == 400) {
		explain_body(explain, explanation);
	}
	if (!explanation->count)
		explain_answer(explain, explanation);
	if (!explanation->count)
		explain_add(explanation, CAUSE_REQUEST_REFUSED, "it was refused: %s",
			detail[0] ? detail : refusal_info(request->refusal)->detail);
	if (explain->suspended)
		explain_add(explanation, CAUSE_CALLER_SUSPENDED,
			"the dealer is suspended; the "
			"platform's operator can resume it");
}
