#include "domain/records.h"

#include "domain/round_list.h"

#include <string.h>

const struct field counter_fields[] = {
	FIELD(FIELD_STR, counter, name),
	FIELD(FIELD_U64, counter, value),
	FIELD_END,
};

const struct field dealer_key_fields[] = {
	FIELD(FIELD_STR, dealer_key, key_id),
	FIELD(FIELD_SECRET, dealer_key, secret),
	FIELD(FIELD_TIME_MS, dealer_key, created_ms),
	FIELD_END,
};

/* The members of version 1 up to allow_http, up to the paths, and the rest. */
#define DEALER_FIELDS_HEAD                                                                         \
	FIELD(FIELD_STR, dealer, casino_id), FIELD(FIELD_STR, dealer, currency),                   \
		FIELD_NAMED(dealer, mode, wallet_mode_names, WALLET_MODE_COUNT),                   \
		FIELD(FIELD_U8, dealer, decimals), FIELD(FIELD_BOOL, dealer, suspended),           \
		FIELD(FIELD_I32, dealer, utc_offset_min), FIELD(FIELD_U32, dealer, rate_limit),    \
		FIELD_NAMED(dealer, signature_algorithm, signature_algorithm_names,                \
			SIGNATURE_ALGORITHM_COUNT),                                                \
		FIELD_NAMED(dealer, signature_encoding, signature_encoding_names,                  \
			SIGNATURE_ENCODING_COUNT),                                                 \
		FIELD(FIELD_STR, dealer, url), FIELD(FIELD_BOOL, dealer, allow_http)
#define DEALER_FIELDS_PATHS                                                                        \
	FIELD(FIELD_U32, dealer, refund_delay_s), FIELD(FIELD_U32, dealer, max_inflight),          \
		FIELD(FIELD_STR, dealer, path_balance_inquire),                                    \
		FIELD(FIELD_STR, dealer, path_betting),                                            \
		FIELD(FIELD_STR, dealer, path_betting_result),                                     \
		FIELD(FIELD_STR, dealer, path_betting_refund)
#define DEALER_FIELDS_TAIL                                                                         \
	FIELD(FIELD_U32, dealer, keys_issued), FIELD(FIELD_STR, dealer, signing_key_id),           \
		FIELD_SUB(dealer, keys, dealer_key, dealer_key_fields),                            \
		FIELD(FIELD_TIME_MS, dealer, created_ms)
#define DEALER_FIELDS_1                                                                            \
	DEALER_FIELDS_HEAD, DEALER_FIELDS_PATHS, FIELD(FIELD_STR, dealer, unknown_bet_ids),        \
		DEALER_FIELDS_TAIL
/* Version 2 adds the hold of all callbacks and the confirmation of restored keys. */
#define DEALER_FIELDS_HOLD                                                                         \
	FIELD(FIELD_TIME_MS, dealer, callbacks_held_ms),                                           \
		FIELD(FIELD_TIME_MS, dealer, keys_restored_ms)
/* Version 3 adds the comparison of the dealer's file after a restore. */
#define DEALER_FIELDS_RESTORE                                                                      \
	FIELD(FIELD_TIME_MS, dealer, restored_ms), FIELD(FIELD_TIME_MS, dealer, restored_to_ms),   \
		FIELD(FIELD_U64, dealer, restored_id)

/* Version 4 adds settings for dealers whose software exists, and the last exam. */
const struct field dealer_fields[] = {
	DEALER_FIELDS_HEAD,
	FIELD(FIELD_BOOL, dealer, send_currency),
	FIELD(FIELD_BOOL, dealer, success_needs_balance),
	DEALER_FIELDS_PATHS,
	FIELD(FIELD_STR, dealer, path_betting_correction),
	FIELD(FIELD_STR, dealer, unknown_bet_ids),
	FIELD(FIELD_STR, dealer, duplicate_ids),
	DEALER_FIELDS_TAIL,
	DEALER_FIELDS_HOLD,
	DEALER_FIELDS_RESTORE,
	FIELD(FIELD_U32, dealer, exam_passed),
	FIELD(FIELD_U32, dealer, exam_failed),
	FIELD(FIELD_U32, dealer, exam_not_judged),
	FIELD(FIELD_TIME_MS, dealer, exam_ms),
	FIELD(FIELD_TIME_MS, dealer, days_from_ms),
	FIELD_END,
};

#define TOTAL_FIELDS_2                                                                             \
	FIELD(FIELD_STR, total, casino_id), FIELD(FIELD_U64, total, players),                      \
		FIELD(FIELD_SUM, total, balance), FIELD(FIELD_SUM, total, transferred_in),         \
		FIELD(FIELD_SUM, total, transferred_out), FIELD(FIELD_SUM, total, adjusted),       \
		FIELD(FIELD_SUM, total, staked), FIELD(FIELD_SUM, total, paid),                    \
		FIELD(FIELD_U64, total, open_bets), FIELD(FIELD_U64, total, parked),               \
		FIELD(FIELD_U64, total, held)

const struct field total_fields[] = {
	TOTAL_FIELDS_2,
	FIELD(FIELD_SUM, total, corrected),
	FIELD(FIELD_SUM, total, cancelled),
	FIELD(FIELD_SUM, total, shortfall),
	FIELD(FIELD_SUM, total, seamless_staked),
	FIELD(FIELD_SUM, total, seamless_paid),
	FIELD(FIELD_SUM, total, seamless_refunded),
	FIELD(FIELD_SUM, total, owed_payouts),
	FIELD(FIELD_SUM, total, owed_refunds),
	FIELD(FIELD_U64, total, bets_with_balance),
	FIELD(FIELD_U64, total, bets_without_balance),
	FIELD_END,
};
const struct field player_fields[] = {
	FIELD(FIELD_STR, player, casino_id),
	FIELD(FIELD_STR, player, user_id),
	FIELD(FIELD_STR, player, player_id),
	FIELD(FIELD_MONEY, player, balance),
	FIELD(FIELD_U64, player, entry_seq),
	FIELD(FIELD_U64, player, entry_transaction_id),
	FIELD(FIELD_BOOL, player, suspended),
	FIELD(FIELD_TIME_MS, player, created_ms),
	FIELD_END,
};
const struct field player_name_fields[] = {
	FIELD(FIELD_STR, player_name, player_id),
	FIELD(FIELD_STR, player_name, casino_id),
	FIELD(FIELD_STR, player_name, user_id),
	FIELD_END,
};

/* The members of version 1, which the later version continues. */
#define REQUEST_FIELDS_1                                                                           \
	FIELD_NAMED(request, scope, request_scope_names, SCOPE_COUNT),                             \
		FIELD(FIELD_STR, request, owner),                                                  \
		FIELD(FIELD_STR, request, request_transaction_id),                                 \
		FIELD_NAMED(request, kind, entry_kind_names, ENTRY_KIND_COUNT),                    \
		FIELD_NAMED(request, outcome, refusal_ids, REFUSAL_COUNT),                         \
		FIELD(FIELD_MONEY, request, amount), FIELD(FIELD_STR, request, player_id),         \
		FIELD(FIELD_U64, request, entry_seq), FIELD(FIELD_U64, request, transaction_id),   \
		FIELD(FIELD_MONEY, request, current_balance),                                      \
		FIELD(FIELD_TIME_MS, request, time_ms), FIELD(FIELD_STR, request, game_id),        \
		FIELD(FIELD_U32, request, bet_number), FIELD(FIELD_BOOL, request, addition)

const struct field request_fields[] = {
	REQUEST_FIELDS_1,
	FIELD(FIELD_BOOL, request, all),
	FIELD_END,
};

const struct field transaction_fields[] = {
	FIELD(FIELD_U64, transaction, transaction_id),
	FIELD(FIELD_STR, transaction, casino_id),
	FIELD(FIELD_STR, transaction, player_id),
	FIELD_NAMED(transaction, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD(FIELD_TIME_MS, transaction, time_ms),
	FIELD(FIELD_STR, transaction, game_id),
	FIELD(FIELD_U32, transaction, bet_number),
	FIELD(FIELD_U64, transaction, entry_seq),
	FIELD(FIELD_U64, transaction, previous),
	FIELD(FIELD_MONEY, transaction, amount),
	FIELD(FIELD_MONEY, transaction, before_balance),
	FIELD(FIELD_MONEY, transaction, current_balance),
	FIELD_NAMED(transaction, scope, request_scope_names, SCOPE_COUNT),
	FIELD(FIELD_STR, transaction, request_transaction_id),
	FIELD(FIELD_STR, transaction, client_id),
	FIELD_END,
};
/* The members of version 1, which the later version continues. */
#define AUDIT_FIELDS_1                                                                             \
	FIELD(FIELD_U64, audit, seq), FIELD(FIELD_TIME_MS, audit, time_ms),                        \
		FIELD(FIELD_U32, audit, uid), FIELD(FIELD_U32, audit, login_uid),                  \
		FIELD(FIELD_U32, audit, peer_uid), FIELD(FIELD_STR, audit, sudo_user),             \
		FIELD(FIELD_STR, audit, action), FIELD(FIELD_STR, audit, object),                  \
		FIELD(FIELD_STR, audit, detail), FIELD(FIELD_STR, audit, reason)

const struct field audit_fields[] = {
	AUDIT_FIELDS_1,
	FIELD(FIELD_STR, audit, operator),
	FIELD_END,
};

const struct field client_fields[] = {
	FIELD(FIELD_STR, client, client_id),
	FIELD(FIELD_BOOL, client, removed),
	FIELD(FIELD_U32, client, keys_issued),
	FIELD_SUB(client, keys, dealer_key, dealer_key_fields),
	FIELD(FIELD_TIME_MS, client, created_ms),
	FIELD(FIELD_TIME_MS, client, keys_restored_ms),
	FIELD_END,
};

/* The members of version 2, which the later versions continue. */
#define ROUND_FIELDS_2                                                                             \
	FIELD(FIELD_STR, round, player_id), FIELD(FIELD_STR, round, game_id),                      \
		FIELD(FIELD_STR, round, casino_id), FIELD(FIELD_STR, round, user_id),              \
		FIELD(FIELD_STR, round, client_id),                                                \
		FIELD_NAMED(round, mode, wallet_mode_names, WALLET_MODE_COUNT),                    \
		FIELD_NAMED(round, state, round_state_names, ROUND_STATE_COUNT),                   \
		FIELD(FIELD_U32, round, bets), FIELD(FIELD_MONEY, round, staked),                  \
		FIELD_NAMED(round, result, round_result_names, ROUND_RESULT_COUNT),                \
		FIELD(FIELD_MONEY, round, bet_amount), FIELD(FIELD_MONEY, round, addition_amount), \
		FIELD(FIELD_MONEY, round, payout_amount), FIELD(FIELD_MONEY, round, win_amount),   \
		FIELD(FIELD_U64, round, transaction_id), FIELD(FIELD_U64, round, event),           \
		FIELD(FIELD_TIME_MS, round, settled_ms), FIELD(FIELD_STR, round, remark),          \
		FIELD(FIELD_JSON, round, user_bet), FIELD(FIELD_JSON, round, game_result),         \
		FIELD(FIELD_JSON, round, user_bet_result), FIELD(FIELD_BYTES, round, listed),      \
		FIELD(FIELD_U32, round, objects_len), FIELD(FIELD_U32, round, refunded),           \
		FIELD(FIELD_BOOL, round, dropped)

const struct field round_fields[] = {
	ROUND_FIELDS_2,
	FIELD(FIELD_U32, round, revision),
	FIELD_NAMED(round, current_result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, round, current_payout),
	FIELD(FIELD_MONEY, round, shortfall),
	FIELD(FIELD_U64, round, last_event),
	FIELD_END,
};
/* The members of version 1, which the later versions continue. */
#define BET_FIELDS_1                                                                               \
	FIELD(FIELD_STR, bet, player_id), FIELD(FIELD_STR, bet, game_id),                          \
		FIELD(FIELD_U32, bet, number), FIELD(FIELD_U64, bet, transaction_id),              \
		FIELD(FIELD_STR, bet, casino_id), FIELD(FIELD_STR, bet, client_id),                \
		FIELD(FIELD_STR, bet, request_transaction_id),                                     \
		FIELD_NAMED(bet, mode, wallet_mode_names, WALLET_MODE_COUNT),                      \
		FIELD_NAMED(bet, state, bet_state_names, BET_STATE_COUNT),                         \
		FIELD(FIELD_BOOL, bet, addition), FIELD(FIELD_MONEY, bet, bet_amount),             \
		FIELD(FIELD_TIME_MS, bet, accepted_ms), FIELD(FIELD_U32, bet, day),                \
		FIELD(FIELD_TIME_MS, bet, changed_ms), FIELD(FIELD_U64, bet, event),               \
		FIELD(FIELD_U64, bet, refund_event),                                               \
		FIELD_NAMED(bet, outcome, refusal_ids, REFUSAL_COUNT),                             \
		FIELD(FIELD_STR, bet, dealer_error_id),                                            \
		FIELD(FIELD_STR, bet, dealer_error_detail), FIELD(FIELD_BOOL, bet, has_balance),   \
		FIELD(FIELD_MONEY, bet, balance), FIELD(FIELD_STR, bet, resolved_by),              \
		FIELD(FIELD_STR, bet, remark), FIELD(FIELD_JSON, bet, user_bet),                   \
		FIELD(FIELD_BOOL, bet, dropped), FIELD(FIELD_BOOL, bet, refund_dropped)

const struct field bet_fields[] = {
	BET_FIELDS_1,
	FIELD(FIELD_BOOL, bet, cancelled),
	FIELD_END,
};
/* The members of version 1, which the later versions continue. */
#define CALLBACK_FIELDS_1                                                                          \
	FIELD(FIELD_U64, callback, event),                                                         \
		FIELD_NAMED(callback, kind, callback_kind_names, CALLBACK_KIND_COUNT),             \
		FIELD(FIELD_STR, callback, casino_id), FIELD(FIELD_STR, callback, player_id),      \
		FIELD(FIELD_STR, callback, game_id), FIELD(FIELD_U32, callback, bet_number),       \
		FIELD_NAMED(callback, state, callback_state_names, CALLBACK_STATE_COUNT),          \
		FIELD(FIELD_U32, callback, attempts), FIELD(FIELD_TIME_MS, callback, created_ms),  \
		FIELD(FIELD_TIME_MS, callback, first_ms),                                          \
		FIELD(FIELD_TIME_MS, callback, ended_ms), FIELD(FIELD_BOOL, callback, once_more),  \
		FIELD(FIELD_BOOL, callback, unknown_to_dealer),                                    \
		FIELD_NAMED(callback, last_class, callback_class_names, CALLBACK_CLASS_COUNT),     \
		FIELD(FIELD_U32, callback, last_http_status),                                      \
		FIELD(FIELD_STR, callback, resolved_by)

const struct field callback_fields[] = {
	CALLBACK_FIELDS_1,
	FIELD(FIELD_U32, callback, revision),
	FIELD(FIELD_BOOL, callback, known_to_dealer),
	FIELD(FIELD_MONEY, callback, shortfall),
	FIELD(FIELD_TIME_MS, callback, resent_ms),
	FIELD(FIELD_U64, callback, adjusted_by),
	FIELD(FIELD_STR, callback, path),
	FIELD(FIELD_BOOL, callback, maybe_performed),
	FIELD(FIELD_TIME_MS, callback, parked_ms),
	FIELD(FIELD_U64, callback, replay),
	FIELD_END,
};
const struct field callback_body_fields[] = {
	FIELD(FIELD_U64, callback_body, event),
	FIELD(FIELD_JSON, callback_body, body),
	FIELD_END,
};

const struct field attempt_fields[] = {
	FIELD(FIELD_U64, attempt, event),
	FIELD(FIELD_U32, attempt, number),
	FIELD(FIELD_TIME_MS, attempt, time_ms),
	FIELD(FIELD_U64, attempt, sender),
	FIELD(FIELD_BOOL, attempt, ended),
	FIELD_NAMED(attempt, class, callback_class_names, CALLBACK_CLASS_COUNT),
	FIELD(FIELD_U32, attempt, http_status),
	FIELD(FIELD_U32, attempt, ms),
	FIELD(FIELD_STR, attempt, dealer_error_id),
	FIELD(FIELD_STR, attempt, note),
	FIELD(FIELD_TIME_MS, attempt, next_ms),
	FIELD_END,
};

const struct field due_fields[] = {
	FIELD(FIELD_U64, due, event),
	FIELD(FIELD_STR, due, casino_id),
	FIELD_NAMED(due, kind, callback_kind_names, CALLBACK_KIND_COUNT),
	FIELD(FIELD_BOOL, due, sending),
	FIELD(FIELD_U64, due, owner),
	FIELD(FIELD_TIME_MS, due, due_ms),
	FIELD(FIELD_TIME_MS, due, due_boot_ms),
	FIELD(FIELD_U64, due, boot),
	FIELD_END,
};

const struct field statistics_fields[] = {
	FIELD(FIELD_U64, statistics, bet_count),
	FIELD(FIELD_SUM, statistics, turnover),
	FIELD(FIELD_SUM, statistics, profit_loss),
	FIELD_END,
};

/* The members of version 2, which the later versions continue. */
#define LIFETIME_FIELDS_2                                                                          \
	FIELD(FIELD_STR, lifetime, player_id),                                                     \
		FIELD_SUB(lifetime, sums, statistics, statistics_fields)

const struct field lifetime_fields[] = {
	LIFETIME_FIELDS_2,
	FIELD(FIELD_MONEY, lifetime, staked),
	FIELD_END,
};
const struct field day_fields[] = {
	FIELD(FIELD_STR, day, player_id),
	FIELD(FIELD_U32, day, number),
	FIELD_SUB(day, sums, statistics, statistics_fields),
	FIELD_END,
};

const struct field correction_fields[] = {
	FIELD(FIELD_STR, correction, player_id),
	FIELD(FIELD_STR, correction, game_id),
	FIELD(FIELD_U32, correction, revision),
	FIELD(FIELD_U64, correction, transaction_id),
	FIELD(FIELD_STR, correction, casino_id),
	FIELD_NAMED(correction, scope, request_scope_names, SCOPE_COUNT),
	FIELD(FIELD_STR, correction, client_id),
	FIELD(FIELD_STR, correction, request_transaction_id),
	FIELD_NAMED(correction, previous_result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, correction, previous_payout),
	FIELD_NAMED(correction, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, correction, payout_amount),
	FIELD(FIELD_MONEY, correction, shortfall),
	FIELD(FIELD_BOOL, correction, allow_shortfall),
	FIELD(FIELD_U64, correction, event),
	FIELD(FIELD_TIME_MS, correction, time_ms),
	FIELD(FIELD_STR, correction, reason),
	FIELD(FIELD_JSON, correction, game_result),
	FIELD(FIELD_JSON, correction, user_bet_result),
	FIELD(FIELD_BOOL, correction, dropped),
	FIELD_END,
};

const struct field cancellation_fields[] = {
	FIELD(FIELD_STR, cancellation, player_id),
	FIELD(FIELD_STR, cancellation, game_id),
	FIELD(FIELD_U32, cancellation, number),
	FIELD(FIELD_STR, cancellation, casino_id),
	FIELD(FIELD_STR, cancellation, client_id),
	FIELD(FIELD_STR, cancellation, request_transaction_id),
	FIELD(FIELD_U64, cancellation, transaction_id),
	FIELD(FIELD_TIME_MS, cancellation, time_ms),
	FIELD(FIELD_STR, cancellation, reason),
	FIELD_END,
};

const struct field operation_fields[] = {
	FIELD(FIELD_STR, operation, operation_id),
	FIELD(FIELD_U64, operation, audit_seq),
	FIELD(FIELD_STR, operation, action),
	FIELD(FIELD_STR, operation, object),
	FIELD_END,
};

const struct record_info record_infos[RECORD_COUNT] = {
#define RECORD(name, struct_, keys)                                                                \
	{#struct_, (uint32_t)sizeof(struct struct_), keys, struct_##_fields},
#include "domain/records.def"
#undef RECORD
};

/* Fields of rows of version 1, whose sums had 64 bits. */
static const struct field total_fields_1[] = {
	FIELD(FIELD_STR, total, casino_id),
	FIELD(FIELD_U64, total, players),
	FIELD(FIELD_SUM_64, total, balance),
	FIELD(FIELD_SUM_64, total, transferred_in),
	FIELD(FIELD_SUM_64, total, transferred_out),
	FIELD(FIELD_SUM_64, total, adjusted),
	FIELD(FIELD_SUM_64, total, staked),
	FIELD(FIELD_SUM_64, total, paid),
	FIELD(FIELD_U64, total, open_bets),
	FIELD(FIELD_U64, total, parked),
	FIELD(FIELD_U64, total, held),
	FIELD_END,
};

static const struct field statistics_fields_1[] = {
	FIELD(FIELD_U64, statistics, bet_count),
	FIELD(FIELD_SUM_64, statistics, turnover),
	FIELD(FIELD_SUM_64, statistics, profit_loss),
	FIELD_END,
};

static const struct field lifetime_fields_1[] = {
	FIELD(FIELD_STR, lifetime, player_id),
	FIELD_SUB(lifetime, sums, statistics, statistics_fields_1),
	FIELD_END,
};

static const struct field day_fields_1[] = {
	FIELD(FIELD_STR, day, player_id),
	FIELD(FIELD_U32, day, number),
	FIELD_SUB(day, sums, statistics, statistics_fields_1),
	FIELD_END,
};

/* Version 1, without the list of bets. */
static const struct field round_fields_1[] = {
	FIELD(FIELD_STR, round, player_id),
	FIELD(FIELD_STR, round, game_id),
	FIELD(FIELD_STR, round, casino_id),
	FIELD(FIELD_STR, round, user_id),
	FIELD(FIELD_STR, round, client_id),
	FIELD_NAMED(round, mode, wallet_mode_names, WALLET_MODE_COUNT),
	FIELD_NAMED(round, state, round_state_names, ROUND_STATE_COUNT),
	FIELD(FIELD_U32, round, bets),
	FIELD(FIELD_MONEY, round, staked),
	FIELD_NAMED(round, result, round_result_names, ROUND_RESULT_COUNT),
	FIELD(FIELD_MONEY, round, bet_amount),
	FIELD(FIELD_MONEY, round, addition_amount),
	FIELD(FIELD_MONEY, round, payout_amount),
	FIELD(FIELD_MONEY, round, win_amount),
	FIELD(FIELD_U64, round, transaction_id),
	FIELD(FIELD_U64, round, event),
	FIELD(FIELD_TIME_MS, round, settled_ms),
	FIELD(FIELD_STR, round, remark),
	FIELD(FIELD_JSON, round, user_bet),
	FIELD(FIELD_JSON, round, game_result),
	FIELD(FIELD_JSON, round, user_bet_result),
	FIELD(FIELD_BOOL, round, dropped),
	FIELD_END,
};

/* Version 1, without a hold of all callbacks and without confirmation of restored keys. */
static const struct field dealer_fields_1[] = {
	DEALER_FIELDS_1,
	FIELD_END,
};

/* Version 2, without the members for the comparison after a restore. */
static const struct field dealer_fields_2[] = {
	DEALER_FIELDS_1,
	DEALER_FIELDS_HOLD,
	FIELD_END,
};

/* Version 3, without the settings for dealers whose software existed before. */
static const struct field dealer_fields_3[] = {
	DEALER_FIELDS_1,
	DEALER_FIELDS_HOLD,
	DEALER_FIELDS_RESTORE,
	FIELD_END,
};

/* Version 1, before a transfer out could ask for the whole balance. */
static const struct field request_fields_1[] = {
	REQUEST_FIELDS_1,
	FIELD_END,
};

static const struct field client_fields_1[] = {
	FIELD(FIELD_STR, client, client_id),
	FIELD(FIELD_BOOL, client, removed),
	FIELD(FIELD_U32, client, keys_issued),
	FIELD_SUB(client, keys, dealer_key, dealer_key_fields),
	FIELD(FIELD_TIME_MS, client, created_ms),
	FIELD_END,
};

/* Version 2, without the sums of seamless players and of corrections. */
static const struct field total_fields_2[] = {
	TOTAL_FIELDS_2,
	FIELD_END,
};

static const struct field audit_fields_1[] = {
	AUDIT_FIELDS_1,
	FIELD_END,
};

static const struct field round_fields_2[] = {
	ROUND_FIELDS_2,
	FIELD_END,
};

static const struct field bet_fields_1[] = {
	BET_FIELDS_1,
	FIELD_END,
};

static const struct field callback_fields_1[] = {
	CALLBACK_FIELDS_1,
	FIELD_END,
};

static const struct field lifetime_fields_2[] = {
	LIFETIME_FIELDS_2,
	FIELD_END,
};

/* Indexed by version - 1. A kind that is absent here had only one version. */
#define OLDER_MAX 3
static const struct field *const older_fields[RECORD_COUNT][OLDER_MAX] = {
	[RECORD_DEALER] = {dealer_fields_1, dealer_fields_2, dealer_fields_3},
	[RECORD_TOTAL] = {total_fields_1, total_fields_2},
	[RECORD_REQUEST] = {request_fields_1},
	[RECORD_AUDIT] = {audit_fields_1},
	[RECORD_ROUND] = {round_fields_1, round_fields_2},
	[RECORD_CLIENT] = {client_fields_1},
	[RECORD_BET] = {bet_fields_1},
	[RECORD_CALLBACK] = {callback_fields_1},
	[RECORD_LIFETIME] = {lifetime_fields_1, lifetime_fields_2},
	[RECORD_DAY] = {day_fields_1},
};

uint8_t record_since(enum record record)
{
	static const uint8_t since[RECORD_COUNT] = {
#define RECORD(name, struct_, keys)   [RECORD_##name] = 0,
#define RECORD_3(name, struct_, keys) [RECORD_##name] = 3,
#define RECORD_4(name, struct_, keys) [RECORD_##name] = 4,
#define RECORD_5(name, struct_, keys) [RECORD_##name] = 5,
#define RECORD_6(name, struct_, keys) [RECORD_##name] = 6,
#include "domain/records.def"
#undef RECORD
	};

	return since[record];
}

uint8_t record_version(enum record record)
{
	uint8_t older = 0;

	while (older < OLDER_MAX && older_fields[record][older])
		older++;
	return (uint8_t)(older + 1);
}

const struct field *record_fields_of(enum record record, uint8_t version)
{
	const uint8_t newest = record_version(record);

	if (version < 1 || version > newest)
		return NULL;
	return version == newest ? record_infos[record].fields : older_fields[record][version - 1];
}

size_t record_weigh(enum record record, const void *row)
{
	size_t weight = record_infos[record].size;
	struct bytes bytes;

	for (const struct field *field = record_infos[record].fields; field->name; field++) {
		if (field->type != FIELD_BYTES && field->type != FIELD_JSON)
			continue;
		memcpy(&bytes, (const uint8_t *)row + field->offset, sizeof(bytes));
		weight += bytes.len;
	}
	return weight;
}

bool record_sane(enum record record, const void *row)
{
	const struct round *round = row;

	return record != RECORD_ROUND ||
		(round_list_sane(round) && round->staked >= 0 && round->staked <= MONEY_MAX);
}

void record_complete(enum record record, uint8_t version, void *row)
{
	struct callback *callback = row;
	struct round *round = row;

	/* Version 1 has only the class of the last attempt that ended. */
	if (record == RECORD_CALLBACK && version == 1 &&
		callback->attempts > (callback->state == CALLBACK_SENDING))
		callback->maybe_performed = callback->last_class == CALLBACK_UNKNOWN;
	if (record != RECORD_ROUND)
		return;
	if (version == 1)
		round_list_make(round);
	if (version <= 2) {
		round->current_result = round->result;
		round->current_payout = round->payout_amount;
		round->last_event = round->event;
	}
}

const char *entry_owner(const struct transaction *entry)
{
	return scope_is_of_client(entry->scope) ? entry->client_id : entry->casino_id;
}

const struct dealer_key *dealer_key_find(const struct dealer *dealer, const char *key_id)
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		const struct dealer_key *key = &dealer->keys[i];

		if (key->key_id[0] && strcmp(key->key_id, key_id) == 0)
			return key;
	}
	return NULL;
}
