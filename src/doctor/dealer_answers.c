/*
 * doctor_dealer_answers - warns of dealers whose answers ended callbacks by errors: the dealer does
 * not know the bet or the player, or has the message already.
 */
#include "doctor/doctor.h"

#include "admin/metrics.h"
#include "domain/dealer_settings.h"

#include <inttypes.h>

static void judge_answers(struct doctor *doctor, struct dealer_metrics *dealer)
{
	const uint64_t unknown = dealer->unknown_to_dealer;
	const uint64_t refunds =
		*dealer_attempts(dealer, CALLBACK_BETTING_REFUND, CALLBACK_SUCCESS) + unknown;

	doctor_about(doctor, "%s", dealer->casino_id);
	if (dealer_misses_bets(unknown, refunds)) {
		doctor_warn(doctor,
			"%" PRIu64 " of %" PRIu64
			" refunds since the ledger's start are of bets that the dealer does not "
			"know: the bets do not arrive in time, or it forgets them",
			unknown, refunds);
		doctor_remedy(doctor,
			"compare a day of bets with the dealer (creditbridgectl recon %s), and test "
			"its server (creditbridgectl dealer test %s)",
			dealer->casino_id, dealer->casino_id);
	}
	if (dealer_loses_answers(dealer->known_to_dealer)) {
		doctor_warn(doctor,
			"%" PRIu64
			" results and refunds since the ledger's start had arrived at the dealer "
			"before, without an answer that came back: it answered the repetition by an "
			"error of duplicate_ids",
			dealer->known_to_dealer);
		doctor_remedy(doctor,
			"ask the dealer why its answers are late or lost: see the attempts in "
			"creditbridgectl callback list --casino %s",
			dealer->casino_id);
	}
}

bool doctor_dealer_answers(struct doctor *doctor)
{
	struct collection collection;
	bool collected = metrics_collect(doctor->session, &collection) == OUTCOME_DONE &&
		collection.answered;

	for (uint32_t i = 0; collected && i < collection.dealer_count; i++) {
		if (collection.dealers[i].called)
			judge_answers(doctor, &collection.dealers[i]);
	}
	collection_free(&collection);
	return collected;
}
