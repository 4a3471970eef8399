#include "domain/dealer_settings.h"

#include "base/text.h"
#include "domain/delivery.h"

#include <string.h>

#define REFUND_DELAY_MAX_S 86400
#define MAX_INFLIGHT_MAX   1000
#define RATE_LIMIT_MAX     1000000
#define UTC_OFFSET_MAX_MIN (14 * 60)
#define ERROR_ID_LIST      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-,"

/* Three of four answers make a habit. */
#define USUAL_SHARE 3

static bool currency_valid(const char *currency)
{
	size_t len = strlen(currency);

	return len >= 2 && strspn(currency, "abcdefghijklmnopqrstuvwxyz0123456789") == len;
}

static bool paths_valid(const struct dealer *dealer)
{
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		const char *path = dealer_callback_path(dealer, (enum callback_kind)i);

		/* A dealer without a path for B5 is sent none. */
		if (!callback_path_ok(path) && (path[0] || i != CALLBACK_BETTING_CORRECTION))
			return false;
	}
	return true;
}

const char *dealer_bad_setting(const struct dealer *dealer)
{
	if (!currency_valid(dealer->currency))
		return "currency must be 2 to 8 of a-z and 0-9";
	if (dealer->decimals > MONEY_DECIMALS_MAX)
		return "decimals must be 0 to 4";
	if (dealer->utc_offset_min < -UTC_OFFSET_MAX_MIN ||
		dealer->utc_offset_min > UTC_OFFSET_MAX_MIN)
		return "utc offset must be within 840 minutes";
	if (dealer->rate_limit > RATE_LIMIT_MAX)
		return "rate limit must be at most 1000000 a second";
	if (dealer->refund_delay_s > REFUND_DELAY_MAX_S)
		return "refund delay must be at most 86400 seconds";
	if (dealer->max_inflight < 1 || dealer->max_inflight > MAX_INFLIGHT_MAX)
		return "max inflight must be 1 to 1000";
	if (!paths_valid(dealer))
		return "a callback's path is a slash and printable ASCII without ? # \\ and ..";
	if (strspn(dealer->unknown_bet_ids, ERROR_ID_LIST) != strlen(dealer->unknown_bet_ids))
		return "unknown bet ids are error ids separated by commas";
	if (strspn(dealer->duplicate_ids, ERROR_ID_LIST) != strlen(dealer->duplicate_ids))
		return "duplicate ids are error ids separated by commas";
	if (!duplicate_ids_valid(dealer->duplicate_ids, dealer->unknown_bet_ids))
		return "an error id cannot mean both a known and an unknown bet";
	if (!text_is_utf8_clean(dealer->url, strlen(dealer->url)))
		return "url must be printable";
	if (dealer->url[0] && strncmp(dealer->url, "https://", 8) != 0 &&
		!(dealer->allow_http && strncmp(dealer->url, "http://", 7) == 0))
		return "url must be https, or http where that is allowed";
	return NULL;
}

bool dealer_misses_balance(uint64_t with, uint64_t without)
{
	return without && with / USUAL_SHARE >= without;
}

#define ENDED_BY_ERROR_MIN 3

bool dealer_misses_bets(uint64_t unknown, uint64_t refunds)
{
	return unknown >= ENDED_BY_ERROR_MIN && unknown > refunds / 2;
}

bool dealer_loses_answers(uint64_t known)
{
	return known >= ENDED_BY_ERROR_MIN;
}
