#include "link/refused_shares.h"

#include <arpa/inet.h>
#include <string.h>

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(1099511628211)
/* Bytes of an IPv6 address that are its network. A host can use all addresses of its network. */
#define NETWORK_BYTES 8

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * FNV_PRIME;
	return hash;
}

static unsigned int network_of(const char *address)
{
	uint8_t bytes[16];
	uint64_t hash = inet_pton(AF_INET6, address, bytes) == 1
		? mix_bytes(FNV_BASIS, bytes, NETWORK_BYTES)
		: mix_bytes(FNV_BASIS, address, strlen(address));

	return (unsigned int)((hash ^ hash >> 32) % REFUSED_NETWORKS);
}

unsigned int refused_sender(const struct refused_call *call)
{
	const uint8_t of = (uint8_t)call->of;
	uint64_t hash;

	if (!call->proved)
		return network_of(call->address);
	hash = mix_bytes(mix_bytes(FNV_BASIS, &of, 1), call->caller, strlen(call->caller));
	return REFUSED_NETWORKS +
		(unsigned int)((hash ^ hash >> 32) % (REFUSED_SENDERS - REFUSED_NETWORKS));
}

/* Adds the calls that the time since the last one allows. Returns true if there is a whole call. */
static bool share_fill(struct refused_share *share, int64_t burst, int64_t per_s, int64_t boot_ms)
{
	int64_t passed_ms = boot_ms - share->filled_ms;

	if (!share->filled_ms || passed_ms > 1000 * burst / per_s)
		share->milli = 1000 * burst;
	else if (passed_ms > 0)
		share->milli += passed_ms * per_s;
	if (share->milli > 1000 * burst)
		share->milli = 1000 * burst;
	share->filled_ms = boot_ms;
	return share->milli >= 1000;
}

bool refused_shares_take(struct refused_shares *shares, const struct refused_call *call,
	int64_t boot_ms)
{
	struct refused_share *sender = &shares->senders[refused_sender(call)];
	bool known = call->proved;

	if (!share_fill(sender, known ? REFUSED_CALLER_BURST : REFUSED_NETWORK_BURST,
		    known ? REFUSED_CALLER_PER_S : REFUSED_NETWORK_PER_S, boot_ms))
		return false;
	if (!known) {
		if (!share_fill(&shares->networks, REFUSED_NETWORKS_BURST, REFUSED_NETWORKS_PER_S,
			    boot_ms))
			return false;
		shares->networks.milli -= 1000;
	}
	sender->milli -= 1000;
	return true;
}
