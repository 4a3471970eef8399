#include "web/flood.h"

#include "wire/signature.h"

#include <arpa/inet.h>
#include <string.h>

#define FNV_PRIME UINT64_C(1099511628211)
/* Bytes of an IPv6 address that are its network. A host can use all addresses of its network. */
#define NETWORK_BYTES 8

bool flood_init(struct flood *flood)
{
	memset(flood, 0, sizeof(*flood));
	return pthread_mutex_init(&flood->mutex, NULL) == 0 &&
		signature_random_number(&flood->seed);
}

/* ---- budgets */

static int64_t budget_spent(const struct flood_budget *budget, int64_t per_s, int64_t now_ms)
{
	int64_t passed_ms = now_ms - budget->from_ms;

	if (passed_ms <= 0)
		return budget->spent;
	/* After this time the whole budget has come back, however much was spent. */
	if (passed_ms >= budget->spent / per_s * 1000 + 1000)
		return 0;
	return passed_ms * per_s / 1000 >= budget->spent ? 0
							 : budget->spent - passed_ms * per_s / 1000;
}

/* Spends @cost, also beyond @burst, but never more than twice @burst. */
static void budget_charge(struct flood_budget *budget, int64_t cost, int64_t burst, int64_t per_s,
	int64_t now_ms)
{
	int64_t spent = budget_spent(budget, per_s, now_ms) + cost;

	budget->spent = spent < 2 * burst ? spent : 2 * burst;
	budget->from_ms = now_ms;
}

/* Spends @cost if there is something left. */
static bool budget_take(struct flood_budget *budget, int64_t cost, int64_t burst, int64_t per_s,
	int64_t now_ms)
{
	if (budget_spent(budget, per_s, now_ms) >= burst)
		return false;
	budget_charge(budget, cost, burst, per_s, now_ms);
	return true;
}

/* ---- names */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * FNV_PRIME;
	hash ^= hash >> 33;
	hash *= UINT64_C(0xff51afd7ed558ccd);
	return hash ^ hash >> 33;
}

static uint64_t hash_address(const struct flood *flood, const char *text)
{
	uint8_t address[16];

	if (inet_pton(AF_INET6, text, address) == 1)
		return hash_bytes(flood->seed, address, NETWORK_BYTES);
	return hash_bytes(flood->seed, text, strlen(text));
}

static int64_t cost_of(const struct flood_request *request)
{
	return (int64_t)request->body_len + FLOOD_REQUEST_BYTES;
}

static struct flood_budget *address_budget(struct flood *flood, const struct flood_request *request)
{
	return &flood->addresses[hash_address(flood, request->address) % FLOOD_ADDRESSES];
}

/* Ids that do not exist have the first one together. */
static struct flood_budget *caller_budget(struct flood *flood, const struct flood_request *request)
{
	uint64_t hash = hash_bytes(flood->seed, request->caller_id, strlen(request->caller_id));

	return &flood->callers[request->exists ? 1 + hash % (FLOOD_CALLERS - 1) : 0];
}

static uint64_t pair_of(const struct flood *flood, const struct flood_request *request)
{
	return hash_bytes(hash_address(flood, request->address), request->caller_id,
		strlen(request->caller_id));
}

/* ---- requests */

static struct flood_pair *pair_place(struct flood *flood, uint64_t pair)
{
	return &flood->trusted[pair % FLOOD_TRUSTED];
}

/* The trusted pair of @request; NULL: it is not trusted. */
static struct flood_pair *pair_trusted(struct flood *flood, const struct flood_request *request)
{
	const uint64_t pair = pair_of(flood, request);
	struct flood_pair *place = pair_place(flood, pair);

	return place->pair == pair && request->now_ms < place->until_ms ? place : NULL;
}

/* Whether a trusted pair's request is checked above the budgets of the others. */
static bool pair_has_room(const struct flood_pair *pair, const struct flood_request *request)
{
	return request->body_len <= FLOOD_SMALL_BYTES ||
		budget_spent(&pair->budget, FLOOD_PAIR_PER_S, request->now_ms) < FLOOD_PAIR_BURST;
}

static bool is_above_budget(struct flood *flood, const struct flood_request *request)
{
	return budget_spent(address_budget(flood, request), FLOOD_ADDRESS_PER_S, request->now_ms) >=
		FLOOD_ADDRESS_BURST ||
		budget_spent(&flood->process, FLOOD_PROCESS_PER_S, request->now_ms) >=
		FLOOD_PROCESS_BURST;
}

enum flood_room flood_enter(struct flood *flood, const struct flood_request *request)
{
	enum flood_room room = FLOOD_ROOM;
	struct flood_pair *pair;

	pthread_mutex_lock(&flood->mutex);
	if (is_above_budget(flood, request)) {
		pair = request->exists ? pair_trusted(flood, request) : NULL;
		room = (pair ? pair_has_room(pair, request)
			     : budget_take(caller_budget(flood, request), cost_of(request),
				       FLOOD_CALLER_BURST, FLOOD_CALLER_PER_S, request->now_ms))
			? FLOOD_LEAN
			: FLOOD_REFUSED;
	}
	pthread_mutex_unlock(&flood->mutex);
	return room;
}

/* A good signature: the pair is trusted from now on. */
static void pair_trust(struct flood *flood, const struct flood_request *request)
{
	const uint64_t pair = pair_of(flood, request);
	struct flood_pair *place = pair_place(flood, pair);

	if (place->pair != pair)
		*place = (struct flood_pair){.pair = pair};
	place->until_ms = request->now_ms + FLOOD_TRUST_MS;
}

/* A wrong signature. */
static void charge_wrong_signature(struct flood *flood, const struct flood_request *request)
{
	struct flood_pair *pair = request->exists ? pair_trusted(flood, request) : NULL;
	const int64_t cost = cost_of(request);

	budget_charge(address_budget(flood, request), cost, FLOOD_ADDRESS_BURST,
		FLOOD_ADDRESS_PER_S, request->now_ms);
	budget_charge(&flood->process, cost, FLOOD_PROCESS_BURST, FLOOD_PROCESS_PER_S,
		request->now_ms);
	if (pair)
		budget_charge(&pair->budget, cost, FLOOD_PAIR_BURST, FLOOD_PAIR_PER_S,
			request->now_ms);
}

void flood_leave(struct flood *flood, const struct flood_request *request, bool good)
{
	pthread_mutex_lock(&flood->mutex);
	if (good)
		pair_trust(flood, request);
	else
		charge_wrong_signature(flood, request);
	pthread_mutex_unlock(&flood->mutex);
}

bool flood_may_log(struct flood *flood, int64_t now_ms, uint64_t *left_out)
{
	bool may;

	pthread_mutex_lock(&flood->mutex);
	may = budget_take(&flood->lines, 1000, 1000 * FLOOD_LINES_BURST, 1000 * FLOOD_LINES_PER_S,
		now_ms);
	*left_out = may ? flood->lines_left_out : 0;
	flood->lines_left_out = may ? 0 : flood->lines_left_out + 1;
	pthread_mutex_unlock(&flood->mutex);
	return may;
}
