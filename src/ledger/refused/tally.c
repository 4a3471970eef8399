/* tally - counts refused calls by their cause. */
#include "base/pack.h"
#include "ledger/refused/refused_log.h"

void tally_count(struct refused_tally *tally, const struct refused_call *call)
{
	const enum refused_form form = refused_call_form(call);
	const unsigned int at = form ? REFUSED_WHY_COUNT + form : call->why;
	struct refused_cause *cause = &tally->causes[call->refusal * REFUSED_CAUSES_EACH + at];

	cause->refusal = call->refusal;
	cause->why = call->why;
	cause->form = form;
	cause->calls++;
	cause->proved += call->proved;
	if (call->time_ms > cause->newest_ms)
		cause->newest_ms = call->time_ms;
}

bool tally_pack(const struct refused_tally *tally, struct buffer *out)
{
	for (unsigned int i = 0; i < REFUSED_CAUSES_MAX; i++) {
		if (tally->causes[i].calls &&
			!pack_record(out, refused_cause_fields, &tally->causes[i]))
			return false;
	}
	return true;
}
