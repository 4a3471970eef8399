#include "link/commands.h"

#define VERDICT(result) FIELD_SUB(result, verdict, verdict, verdict_fields)

const struct field callback_count_fields[] = {
	FIELD(FIELD_U64, callback_count, count),
	FIELD_END,
};

const struct field dealer_metrics_fields[] = {
	FIELD(FIELD_STR, dealer_metrics, casino_id),
	FIELD(FIELD_STR, dealer_metrics, currency),
	FIELD_NAMED(dealer_metrics, mode, wallet_mode_names, WALLET_MODE_COUNT),
	FIELD(FIELD_SUM, dealer_metrics, transferred_in),
	FIELD(FIELD_SUM, dealer_metrics, transferred_out),
	FIELD(FIELD_SUM, dealer_metrics, adjusted),
	FIELD(FIELD_SUM, dealer_metrics, staked),
	FIELD(FIELD_SUM, dealer_metrics, paid),
	FIELD(FIELD_SUM, dealer_metrics, balance),
	FIELD(FIELD_SUM, dealer_metrics, corrected),
	FIELD(FIELD_SUM, dealer_metrics, cancelled),
	FIELD(FIELD_SUM, dealer_metrics, shortfall),
	FIELD(FIELD_SUM, dealer_metrics, seamless_staked),
	FIELD(FIELD_SUM, dealer_metrics, seamless_paid),
	FIELD(FIELD_SUM, dealer_metrics, seamless_refunded),
	FIELD(FIELD_SUM, dealer_metrics, owed_payouts),
	FIELD(FIELD_SUM, dealer_metrics, owed_refunds),
	FIELD(FIELD_BOOL, dealer_metrics, called),
	FIELD(FIELD_U64, dealer_metrics, due),
	FIELD(FIELD_U64, dealer_metrics, sending),
	FIELD(FIELD_U64, dealer_metrics, held),
	FIELD(FIELD_U64, dealer_metrics, parked),
	FIELD(FIELD_U64, dealer_metrics, overdue_ms),
	FIELD_NAMED(dealer_metrics, breaker, breaker_names, BREAKER_COUNT),
	FIELD(FIELD_U32, dealer_metrics, inflight),
	FIELD(FIELD_U64, dealer_metrics, bets_with_balance),
	FIELD(FIELD_U64, dealer_metrics, bets_without_balance),
	FIELD(FIELD_U64, dealer_metrics, unknown_to_dealer),
	FIELD(FIELD_U64, dealer_metrics, known_to_dealer),
	FIELD_SUB(dealer_metrics, recent, callback_count, callback_count_fields),
	FIELD(FIELD_U64, dealer_metrics, breaker_ms),
	FIELD_SUB(dealer_metrics, ended, callback_count, callback_count_fields),
	FIELD_END,
};

const struct field metrics_cmd_fields[] = {
	FIELD(FIELD_BOOL, metrics_cmd, without_dealers),
	FIELD(FIELD_STR, metrics_cmd, after),
	FIELD_END,
};
const struct field metrics_result_fields[] = {
	VERDICT(metrics_result),
	FIELD_SUB(metrics_result, status, status_result, status_result_fields),
	FIELD(FIELD_BOOL, metrics_result, swept),
	FIELD(FIELD_U64, metrics_result, swept_ms_ago),
	FIELD_SUB(metrics_result, batches, histogram, histogram_fields),
	FIELD_SUB(metrics_result, commits, histogram, histogram_fields),
	FIELD_SUB(metrics_result, attempts, histogram, histogram_fields),
	FIELD(FIELD_BOOL, metrics_result, more),
	FIELD(FIELD_STR, metrics_result, last),
	FIELD(FIELD_U32, metrics_result, count),
	FIELD(FIELD_BYTES, metrics_result, dealers),
	FIELD_END,
};

const struct field breaker_opening_fields[] = {
	FIELD(FIELD_TIME_MS, breaker_opening, opened_ms),
	FIELD(FIELD_TIME_MS, breaker_opening, closed_ms),
	FIELD(FIELD_U32, breaker_opening, tests),
	FIELD_END,
};

const struct field dealer_state_cmd_fields[] = {
	FIELD(FIELD_STR, dealer_state_cmd, casino_id),
	FIELD_END,
};
const struct field dealer_state_result_fields[] = {
	VERDICT(dealer_state_result),
	FIELD_SUB(dealer_state_result, dealer, dealer_metrics, dealer_metrics_fields),
	FIELD(FIELD_TIME_MS, dealer_state_result, started_ms),
	FIELD(FIELD_TIME_MS, dealer_state_result, next_ms),
	FIELD(FIELD_U32, dealer_state_result, opened),
	FIELD_SUB(dealer_state_result, openings, breaker_opening, breaker_opening_fields),
	FIELD(FIELD_TIME_MS, dealer_state_result, bad_ms),
	FIELD(FIELD_U64, dealer_state_result, bad_event),
	FIELD_NAMED(dealer_state_result, bad_class, callback_class_names, CALLBACK_CLASS_COUNT),
	FIELD_END,
};

const struct field activity_cmd_fields[] = {
	FIELD(FIELD_BOOL, activity_cmd, unused),
	FIELD_END,
};
const struct field activity_span_fields[] = {
	FIELD(FIELD_TIME_MS, activity_span, begin_ms),
	FIELD(FIELD_U64, activity_span, known_ms),
	FIELD(FIELD_U64, activity_span, calls),
	FIELD(FIELD_U64, activity_span, refused),
	FIELD(FIELD_U64, activity_span, failed),
	FIELD(FIELD_U64, activity_span, transfers),
	FIELD(FIELD_U64, activity_span, bets),
	FIELD_END,
};
const struct field activity_result_fields[] = {
	VERDICT(activity_result),
	FIELD(FIELD_TIME_MS, activity_result, since_ms),
	FIELD(FIELD_U32, activity_result, count),
	FIELD(FIELD_BYTES, activity_result, spans),
	FIELD_END,
};

const struct field callback_ages_cmd_fields[] = {
	FIELD(FIELD_STR, callback_ages_cmd, casino_id),
	FIELD(FIELD_STR, callback_ages_cmd, after_casino_id),
	FIELD(FIELD_U64, callback_ages_cmd, after_event),
	FIELD(FIELD_U32, callback_ages_cmd, limit),
	FIELD(FIELD_BOOL, callback_ages_cmd, players),
	FIELD_END,
};
const struct field callback_ages_result_fields[] = {
	VERDICT(callback_ages_result),
	FIELD_SUB(callback_ages_result, counts, callback_count, callback_count_fields),
	FIELD(FIELD_U32, callback_ages_result, looked),
	FIELD(FIELD_BOOL, callback_ages_result, more),
	FIELD(FIELD_STR, callback_ages_result, last_casino_id),
	FIELD(FIELD_U64, callback_ages_result, last_event),
	FIELD(FIELD_U64, callback_ages_result, due_left),
	FIELD(FIELD_U32, callback_ages_result, owed_players),
	FIELD(FIELD_BOOL, callback_ages_result, owed_more),
	FIELD_END,
};
