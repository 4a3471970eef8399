#include "domain/records.h"

const struct field result_batch_fields[] = {
	FIELD(FIELD_STR, result_batch, client_id),
	FIELD(FIELD_STR, result_batch, request_transaction_id),
	FIELD(FIELD_STR, result_batch, digest),
	FIELD(FIELD_STR, result_batch, request_id),
	FIELD(FIELD_TIME_MS, result_batch, time_ms),
	FIELD(FIELD_U32, result_batch, count),
	FIELD(FIELD_BYTES, result_batch, answers),
	FIELD_END,
};
