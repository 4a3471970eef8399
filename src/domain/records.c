#include "domain/records.h"

#include <string.h>

const char *const wallet_mode_names[WALLET_MODE_COUNT] = {"transfer", "seamless"};
const char *const entry_kind_names[ENTRY_KIND_COUNT] = {"transfer_in", "transfer_out", "adjust"};
const char *const request_scope_names[SCOPE_COUNT] = {"dealer", "operator"};
const char *const signature_algorithm_names[SIGNATURE_ALGORITHM_COUNT] = {
	"hmac-sha256", "hmac-sha512", "hmac-sha1"};
const char *const signature_encoding_names[SIGNATURE_ENCODING_COUNT] = {"hex", "base64"};

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

const struct field dealer_fields[] = {
	FIELD(FIELD_STR, dealer, casino_id),
	FIELD(FIELD_STR, dealer, currency),
	FIELD_NAMED(dealer, mode, wallet_mode_names, WALLET_MODE_COUNT),
	FIELD(FIELD_U8, dealer, decimals),
	FIELD(FIELD_BOOL, dealer, suspended),
	FIELD(FIELD_I32, dealer, utc_offset_min),
	FIELD(FIELD_U32, dealer, rate_limit),
	FIELD_NAMED(dealer, signature_algorithm, signature_algorithm_names,
		SIGNATURE_ALGORITHM_COUNT),
	FIELD_NAMED(dealer, signature_encoding, signature_encoding_names,
		SIGNATURE_ENCODING_COUNT),
	FIELD(FIELD_STR, dealer, url),
	FIELD(FIELD_BOOL, dealer, allow_http),
	FIELD(FIELD_U32, dealer, refund_delay_s),
	FIELD(FIELD_U32, dealer, max_inflight),
	FIELD(FIELD_U32, dealer, keys_issued),
	FIELD(FIELD_STR, dealer, signing_key_id),
	FIELD_SUB(dealer, keys, dealer_key, dealer_key_fields),
	FIELD(FIELD_TIME_MS, dealer, created_ms),
	FIELD_END,
};

const struct field total_fields[] = {
	FIELD(FIELD_STR, total, casino_id),
	FIELD(FIELD_U64, total, players),
	FIELD(FIELD_MONEY, total, balance),
	FIELD(FIELD_MONEY, total, transferred_in),
	FIELD(FIELD_MONEY, total, transferred_out),
	FIELD(FIELD_MONEY, total, adjusted),
	FIELD_END,
};

const struct field player_fields[] = {
	FIELD(FIELD_STR, player, casino_id),
	FIELD(FIELD_STR, player, user_id),
	FIELD(FIELD_STR, player, player_id),
	FIELD(FIELD_MONEY, player, balance),
	FIELD(FIELD_U64, player, entry_seq),
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

const struct field entry_fields[] = {
	FIELD(FIELD_STR, entry, player_id),
	FIELD(FIELD_U64, entry, seq),
	FIELD_NAMED(entry, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD(FIELD_MONEY, entry, amount),
	FIELD(FIELD_MONEY, entry, before_balance),
	FIELD(FIELD_MONEY, entry, current_balance),
	FIELD(FIELD_U64, entry, transaction_id),
	FIELD(FIELD_TIME_MS, entry, time_ms),
	FIELD_NAMED(entry, scope, request_scope_names, SCOPE_COUNT),
	FIELD(FIELD_STR, entry, request_transaction_id),
	FIELD_END,
};

const struct field request_fields[] = {
	FIELD_NAMED(request, scope, request_scope_names, SCOPE_COUNT),
	FIELD(FIELD_STR, request, owner),
	FIELD(FIELD_STR, request, request_transaction_id),
	FIELD_NAMED(request, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD_NAMED(request, outcome, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_MONEY, request, amount),
	FIELD(FIELD_STR, request, player_id),
	FIELD(FIELD_U64, request, entry_seq),
	FIELD(FIELD_U64, request, transaction_id),
	FIELD(FIELD_MONEY, request, current_balance),
	FIELD(FIELD_TIME_MS, request, time_ms),
	FIELD_END,
};

const struct field transaction_fields[] = {
	FIELD(FIELD_U64, transaction, transaction_id),
	FIELD(FIELD_STR, transaction, casino_id),
	FIELD(FIELD_STR, transaction, player_id),
	FIELD(FIELD_U64, transaction, entry_seq),
	FIELD(FIELD_TIME_MS, transaction, time_ms),
	FIELD_END,
};

const struct field audit_fields[] = {
	FIELD(FIELD_U64, audit, seq),
	FIELD(FIELD_TIME_MS, audit, time_ms),
	FIELD(FIELD_U32, audit, uid),
	FIELD(FIELD_U32, audit, login_uid),
	FIELD(FIELD_U32, audit, peer_uid),
	FIELD(FIELD_STR, audit, sudo_user),
	FIELD(FIELD_STR, audit, action),
	FIELD(FIELD_STR, audit, object),
	FIELD(FIELD_STR, audit, detail),
	FIELD(FIELD_STR, audit, reason),
	FIELD_END,
};

const struct field operation_fields[] = {
	FIELD(FIELD_STR, operation, operation_id),
	FIELD(FIELD_U64, operation, audit_seq),
	FIELD_END,
};

const struct record_info record_infos[RECORD_COUNT] = {
#define RECORD(name, struct_, keys) {#struct_, (uint32_t)sizeof(struct struct_), keys, struct_##_fields},
#include "domain/records.def"
#undef RECORD
};

const struct dealer_key *dealer_key_find(const struct dealer *dealer, const char *key_id)
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		const struct dealer_key *key = &dealer->keys[i];

		if (key->key_id[0] && strcmp(key->key_id, key_id) == 0)
			return key;
	}
	return NULL;
}
