/*
 * doctor_dealers - checks the dealers and game servers that the ledger stores: targets of
 * callbacks and keys in use.
 */
#include "doctor/doctor.h"

#include "admin/list.h"
#include "base/clock.h"
#include "base/text.h"
#include "callback/http.h"
#include "domain/dealer_settings.h"
#include "doctor/attention.h"

#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOSTS_MAX 64
#define LOOKUP_MS 6000
/* Two active keys are meant for a change of keys, which takes days. */
#define CHANGE_DAYS 30
#define DAY_MS      (INT64_C(24) * 3600 * 1000)

bool doctor_open_lists(struct doctor *doctor)
{
	const struct status_cmd cmd = {.unused = false};
	struct session *session = doctor->session;
	struct status_result status;

	session->link = (struct link){.fd = -1};
	session->settings = *doctor->settings;
	session->settings_loaded = true;
	session->connected = doctor_ask(doctor, &session->link, COMMAND_STATUS, &cmd, &status);
	if (session->connected && status.halted) {
		doctor_skip(doctor, "the ledger is halted (see halted)");
		return false;
	}
	return session->connected;
}

bool doctor_close_list(struct doctor *doctor, struct list *list)
{
	bool whole = list->code == OUTCOME_DONE;

	list_close(list);
	if (!whole) {
		doctor_about(doctor, "%s", "");
		doctor_skip(doctor, "the ledger does not return all rows (see ledger)");
	}
	return whole;
}

/* The host of a dealer's server, and the result of its lookup. */
struct host {
	/* the first dealer at this host that is not suspended, if any */
	char casino_id[CASINO_ID_SIZE];
	bool suspended; /* all dealers at this host are suspended */
	char name[256];
	struct gaicb lookup;
};

struct hosts {
	struct host rows[HOSTS_MAX];
	unsigned int count;
	unsigned int dealers; /* number of dealers that receive callbacks */
	unsigned int left_out;
};

/*
 * Returns the result for a dealer's fault: a warning if the dealer is @suspended, because it is
 * not called.
 */
static enum doctor_result describe_fault(bool suspended)
{
	return suspended ? DOCTOR_WARN : DOCTOR_FAIL;
}

/* Returns the beginning of such a finding. */
static const char *words_of(bool suspended)
{
	return suspended ? "the dealer is suspended; " : "";
}

static void take_host(struct hosts *hosts, const struct dealer *dealer)
{
	static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct host *host = &hosts->rows[hosts->count];
	char name[sizeof(host->name)];

	if (!http_url_host(dealer->url, name, sizeof(name)))
		return;
	for (unsigned int i = 0; i < hosts->count; i++) {
		if (strcasecmp(hosts->rows[i].name, name) != 0)
			continue;
		if (hosts->rows[i].suspended && !dealer->suspended) {
			hosts->rows[i].suspended = false;
			text_copy(hosts->rows[i].casino_id, CASINO_ID_SIZE, dealer->casino_id);
		}
		return;
	}
	if (hosts->count == HOSTS_MAX) {
		hosts->left_out++;
		return;
	}
	memset(host, 0, sizeof(*host));
	snprintf(host->casino_id, sizeof(host->casino_id), "%s", dealer->casino_id);
	snprintf(host->name, sizeof(host->name), "%s", name);
	host->suspended = dealer->suspended;
	host->lookup.ar_name = host->name;
	host->lookup.ar_request = &hints;
	hosts->count++;
}

static void judge_dealer(struct doctor *doctor, struct hosts *hosts, const struct dealer *dealer)
{
	if (dealer->mode != WALLET_SEAMLESS)
		return;
	hosts->dealers++;
	doctor_about(doctor, "%s", dealer->casino_id);
	if (dealer->callbacks_held_ms) {
		doctor_warn(doctor,
			"its callbacks are held: bets are refused, results and refunds wait");
		doctor_remedy(doctor, "reconcile it, then creditbridgectl release %s",
			dealer->casino_id);
	}
	if (dealer->restored_ms && !dealer->callbacks_held_ms) {
		doctor_warn(doctor,
			"it was released without its file after a restore: results and "
			"refunds of rounds of before are held");
		doctor_remedy(doctor, "creditbridgectl reconcile %s FILE, until it exits with 0",
			dealer->casino_id);
	}
	if (!dealer->url[0]) {
		doctor_add(doctor, describe_fault(dealer->suspended),
			"%sa seamless wallet without a URL: every bet is refused",
			words_of(dealer->suspended));
		doctor_remedy(doctor, "creditbridgectl dealer set %s --url URL", dealer->casino_id);
		return;
	}
	if (strncasecmp(dealer->url, "http:", 5) == 0) {
		doctor_warn(doctor,
			"callbacks go to %s unencrypted: any host on the way can read and "
			"repeat them",
			dealer->url);
		doctor_remedy(doctor, "creditbridgectl dealer set %s --url https://...",
			dealer->casino_id);
	}
	take_host(hosts, dealer);
}

/* Warns of bets that the dealer may not have debited. */
static bool judge_balances(struct doctor *doctor, const struct dealer *dealer)
{
	struct total total;
	bool found = false;

	memset(&total, 0, sizeof(total));
	memcpy(total.casino_id, dealer->casino_id, sizeof(total.casino_id));
	if (dealer->mode != WALLET_SEAMLESS || dealer->success_needs_balance)
		return true;
	if (list_fetch(doctor->session, RECORD_TOTAL, &total, &found, NULL) != OUTCOME_DONE)
		return false;
	if (!found || !dealer_misses_balance(total.bets_with_balance, total.bets_without_balance))
		return true;
	doctor_about(doctor, "%s", dealer->casino_id);
	doctor_warn(doctor,
		"%" PRIu64 " of %" PRIu64
		" bets were accepted by an answer without a balance, which the others have: an "
		"error that its framework answered with 200 would be a free bet",
		total.bets_without_balance, total.bets_with_balance + total.bets_without_balance);
	doctor_remedy(doctor,
		"ask the dealer; if each success has a balance: creditbridgectl dealer set %s "
		"--success-needs-balance",
		dealer->casino_id);
	return true;
}

/* Returns true if callbacks may go to one of the addresses found. */
static bool may_be_called(const struct settings *settings, const struct addrinfo *found)
{
	uint8_t address[NETWORK_ADDRESS_SIZE];

	for (; found; found = found->ai_next) {
		if (!network_address_of(found->ai_addr, address))
			continue;
		if (network_is_public(address))
			return true;
		for (uint32_t i = 0; i < settings->callback_network_count; i++) {
			if (network_contains(&settings->callback_networks[i], address))
				return true;
		}
	}
	return false;
}

static void judge_host(struct doctor *doctor, struct host *host)
{
	uint8_t address[NETWORK_ADDRESS_SIZE];
	char text[NETWORK_TEXT_MAX] = "";
	int error = gai_error(&host->lookup);
	const struct addrinfo *found = host->lookup.ar_result;

	doctor_about(doctor, "%s", host->casino_id);
	if (error) {
		doctor_add(doctor, describe_fault(host->suspended),
			"%sthe host %s is not found: %s", words_of(host->suspended), host->name,
			error == EAI_INPROGRESS ? "no answer from the name servers"
						: gai_strerror(error));
		doctor_remedy(doctor,
			"correct the URL (creditbridgectl dealer set %s --url URL) or "
			"/etc/resolv.conf",
			host->casino_id);
	} else if (!may_be_called(doctor->settings, found)) {
		if (network_address_of(found->ai_addr, address))
			network_address_format(address, text);
		doctor_add(doctor, describe_fault(host->suspended),
			"%s%s is at %s, which is not public: no callback is sent there",
			words_of(host->suspended), host->name, text);
		doctor_remedy(doctor,
			"correct the URL (creditbridgectl dealer set %s --url URL); only if the "
			"dealer's server is in a network of your own, add that one address to "
			"callback_networks",
			host->casino_id);
	}
}

/* Looks up all hosts at the same time. */
static void look_up(struct doctor *doctor, struct hosts *hosts)
{
	struct gaicb *lookups[HOSTS_MAX];
	int64_t until_ms = clock_boot_ms() + LOOKUP_MS;
	unsigned int waiting = hosts->count;

	for (unsigned int i = 0; i < hosts->count; i++)
		lookups[i] = &hosts->rows[i].lookup;
	if (!hosts->count)
		return;
	if (doctor->options->no_lookup) {
		doctor_about(doctor, "%s", "");
		doctor_skip(doctor, "the hosts of dealers were not looked up (--no-lookup)");
		doctor_remedy(doctor, "creditbridgectl doctor, at a shell");
		return;
	}
	if (getaddrinfo_a(GAI_NOWAIT, lookups, (int)hosts->count, NULL) != 0) {
		doctor_about(doctor, "%s", "");
		doctor_skip(doctor, "the hosts of dealers cannot be looked up");
		return;
	}
	while (waiting && clock_boot_ms() < until_ms) {
		struct timespec step = {.tv_nsec = 100 * 1000 * 1000};

		gai_suspend((const struct gaicb *const *)lookups, (int)hosts->count, &step);
		waiting = 0;
		for (unsigned int i = 0; i < hosts->count; i++) {
			if (gai_error(&hosts->rows[i].lookup) == EAI_INPROGRESS)
				waiting++;
			else
				lookups[i] = NULL;
		}
	}
	for (unsigned int i = 0; i < hosts->count; i++)
		judge_host(doctor, &hosts->rows[i]);
}

void doctor_dealers(struct doctor *doctor)
{
	static struct hosts hosts;
	struct dealer dealer;
	struct list list;
	unsigned int count = 0;
	bool counted = true;

	if (!doctor_open_lists(doctor))
		return;
	list_open(&list, doctor->session, RECORD_DEALER, false, 0, NULL);
	for (; list_next(&list, &dealer); count++) {
		judge_dealer(doctor, &hosts, &dealer);
		counted &= judge_balances(doctor, &dealer);
	}
	if (!doctor_close_list(doctor, &list))
		return;
	counted &= doctor_dealer_answers(doctor);
	if (!counted) {
		doctor_about(doctor, "%s", "");
		doctor_skip(doctor, "the ledger does not return all sums (see ledger)");
		return;
	}
	look_up(doctor, &hosts);
	doctor_about(doctor, "%s", "");
	if (hosts.left_out) {
		doctor_warn(doctor, "%u more hosts were not looked up", hosts.left_out);
		doctor_remedy(doctor,
			"call each dealer's server: creditbridgectl dealer ping CASINO");
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor,
			"%u dealers; callbacks can go to those %u that have a server of "
			"their own",
			count, hosts.dealers);
}

/* Checks the keys of the dealer or client @id; @what names its kind. */
static void judge_keys(struct doctor *doctor, const char *what, const char *id, bool suspended,
	const struct dealer_key keys[DEALER_KEYS_MAX], int64_t restored_ms)
{
	const struct dealer_key *newest = NULL, *oldest = NULL;
	int64_t days;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!keys[i].key_id[0])
			continue;
		if (!newest || keys[i].created_ms > newest->created_ms)
			newest = &keys[i];
		if (!oldest || keys[i].created_ms <= oldest->created_ms)
			oldest = &keys[i];
	}
	doctor_about(doctor, "%s %s", what, id);
	if (!newest) {
		doctor_add(doctor, describe_fault(suspended),
			"%sit has no key: all its calls are refused", words_of(suspended));
		doctor_remedy(doctor, "creditbridgectl %s key-add %s", what, id);
		return;
	}
	if (restored_ms) {
		doctor_warn(doctor,
			"a restore brought its keys back, and they were not confirmed: a "
			"key that was retired after the backup is valid again");
		doctor_remedy(doctor,
			"retire each key that should not be valid, then creditbridgectl %s "
			"key-confirm %s",
			what, id);
	}
	days = (clock_wall_ms() - newest->created_ms) / DAY_MS;
	if (newest == oldest || days < CHANGE_DAYS)
		return;
	doctor_warn(doctor,
		"two keys are live, the newer one (%s) for %lld days: the older one is "
		"still valid",
		newest->key_id, (long long)days);
	doctor_remedy(doctor, "creditbridgectl %s key-use %s %s, then key-retire %s %s", what, id,
		newest->key_id, id, oldest->key_id);
}

static void judge_shared_key(void *context, const struct attention_key *shared)
{
	static const char *const kinds[KEYRING_OF_COUNT] = {"dealer", "client"};
	struct doctor *doctor = context;

	doctor_about(doctor, "%s %s", kinds[shared->of], shared->owner);
	doctor_warn(doctor,
		"it has a key of %s %s: a body that is signed for one is valid for the other",
		kinds[shared->other_of], shared->other);
	doctor_remedy(doctor,
		"creditbridgectl %s key-add %s, then key-use the new key and key-retire "
		"the shared one",
		kinds[shared->of], shared->owner);
}

void doctor_keys(struct doctor *doctor)
{
	unsigned int dealers = 0, clients = 0;
	struct dealer dealer;
	struct client client;
	struct list list;

	if (!doctor_open_lists(doctor))
		return;
	list_open(&list, doctor->session, RECORD_DEALER, false, 0, NULL);
	for (; list_next(&list, &dealer); dealers++)
		judge_keys(doctor, "dealer", dealer.casino_id, dealer.suspended, dealer.keys,
			dealer.keys_restored_ms);
	if (!doctor_close_list(doctor, &list))
		return;
	list_open(&list, doctor->session, RECORD_CLIENT, false, 0, NULL);
	while (list_next(&list, &client)) {
		if (client.removed)
			continue;
		clients++;
		judge_keys(doctor, "client", client.client_id, false, client.keys,
			client.keys_restored_ms);
	}
	if (!doctor_close_list(doctor, &list))
		return;
	attention_keys(doctor->session, judge_shared_key, doctor);
	doctor_about(doctor, "%s", "");
	if (!doctor->sheet->count)
		doctor_pass(doctor,
			"%u dealers and %u game servers have keys, no change of keys hangs",
			dealers, clients);
}
