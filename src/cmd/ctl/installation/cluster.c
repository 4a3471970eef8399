/*
 * cluster - implements `cluster status`, and asks the cell for `init --join`. Both read the tables of
 * PostgreSQL and need no ledger.
 */
#include "cmd/ctl/installation/cluster.h"

#include "base/clock.h"
#include "base/text.h"

#include "cmd/ctl/common/output.h"
#include "cmd/ctl/data/offline.h"
#include "ledger/daemon/standby.h"
#include "state/directory.h"
#include "store/servers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A member that has not been seen for this time does not run. */
#define MEMBER_SILENT_MS (3 * STORE_MEMBER_MS)

/* The cell, and the members that it knows. */
struct cluster {
	struct store_cell cell;
	struct store_member members[STORE_MEMBERS_MAX];
	unsigned int count;
	bool moves; /* the turn rose while it was watched */
	char own[STORE_MEMBER_SIZE];
};

struct member_view {
	char name[STORE_MEMBER_SIZE];
	char role[16];
	char version[32];
	char address[STORE_ADDRESS_SIZE];
	uint64_t seen_ms_ago;
	int64_t ahead_ms;
};
static const struct field member_fields[] = {
	FIELD(FIELD_STR, member_view, name),
	FIELD(FIELD_STR, member_view, role),
	FIELD(FIELD_STR, member_view, version),
	FIELD(FIELD_STR, member_view, address),
	FIELD(FIELD_U64, member_view, seen_ms_ago),
	FIELD(FIELD_TIME_MS, member_view, ahead_ms),
	FIELD_END,
};
static const struct output_column member_columns[] = {
	{"MEMBER", "name", OUTPUT_PLAIN},
	{"ROLE", "role", OUTPUT_PLAIN},
	{"VERSION", "version", OUTPUT_PLAIN},
	{"ADDRESS", "address", OUTPUT_PLAIN},
	{"SEEN BEFORE", "seen_ms_ago", OUTPUT_DURATION_MS},
	{NULL, NULL, OUTPUT_PLAIN},
};

enum status cluster_look(const struct settings *settings, struct store_cell *cell, char *why,
	size_t why_size)
{
	struct store_servers servers;
	const struct store_options options = {.servers = store_servers_of(settings, &servers)};
	struct store_watch *watch;
	enum status status;

	if (!options.servers) {
		snprintf(why, why_size,
			"the configuration has store = berkeleydb, whose data is of one host");
		return STATUS_CONFIG;
	}
	status = store_watch_open(&options, &watch, why, why_size);
	if (status)
		return status;
	status = watch->look(watch, cell, why, why_size);
	watch->close(watch);
	return status == STATUS_NOT_FOUND ? STATUS_CONFIG : status;
}

/* Looks until the turn rises, or for as long as an active ledger would need for two beats. */
static enum status look_twice(struct store_watch *watch, struct cluster *cluster, char *why,
	size_t why_size)
{
	enum status status = watch->look(watch, &cluster->cell, why, why_size);
	const int64_t turn = cluster->cell.turn;

	for (unsigned int i = 0; !status && i < 8 && !cluster->moves && cluster->cell.holder[0];
		i++) {
		clock_sleep_ms(STORE_BEAT_MS / 4);
		status = watch->look(watch, &cluster->cell, why, why_size);
		cluster->moves = cluster->cell.turn != turn;
	}
	if (!status && watch->members(watch, cluster->members, &cluster->count)) {
		snprintf(why, why_size, "cannot read the table member");
		status = STATUS_IO;
	}
	return status;
}

static const char *role_of(const struct cluster *cluster, const struct store_member *member)
{
	if (strcmp(cluster->cell.holder, member->name) == 0)
		return cluster->moves ? "active" : "silent";
	return member->seen_ms_ago > MEMBER_SILENT_MS ? "silent" : "standby";
}

static struct member_view view_of(const struct cluster *cluster, unsigned int number)
{
	const struct store_member *member = &cluster->members[number];
	struct member_view view = {.seen_ms_ago = member->seen_ms_ago,
		.ahead_ms = member->ahead_ms};

	text_copy(view.name, sizeof(view.name), member->name);
	text_copy(view.role, sizeof(view.role), role_of(cluster, member));
	text_copy(view.version, sizeof(view.version), member->version);
	text_copy(view.address, sizeof(view.address), member->address);
	return view;
}

/* The role of this host; "none" if no ledger of this name noted itself. */
static const char *own_role(const struct cluster *cluster)
{
	for (unsigned int i = 0; i < cluster->count; i++) {
		if (strcmp(cluster->members[i].name, cluster->own) == 0)
			return role_of(cluster, &cluster->members[i]);
	}
	return "none";
}

static enum outcome print_json(struct ctl *ctl, const struct cluster *cluster)
{
	struct output_json json;

	output_json_open(&json, ctl);
	output_json_string(&json, "member", cluster->own);
	output_json_string(&json, "role", own_role(cluster));
	output_json_string(&json, "active", cluster->moves ? cluster->cell.holder : "");
	output_json_string(&json, "holder", cluster->cell.holder);
	output_json_string(&json, "address", cluster->cell.address);
	output_json_string(&json, "installation", cluster->cell.installation);
	output_json_number(&json, "epoch", (uint64_t)cluster->cell.epoch);
	output_json_number(&json, "turn", (uint64_t)cluster->cell.turn);
	output_json_number(&json, "answered_turn", (uint64_t)cluster->cell.answered_turn);
	output_json_number(&json, "answered_epoch", (uint64_t)cluster->cell.answered_epoch);
	output_json_bool(&json, "lacks_answered", cluster->cell.lacks);
	output_json_list_open(&json, "members");
	for (unsigned int i = 0; i < cluster->count; i++) {
		const struct member_view view = view_of(cluster, i);

		output_json_item(&json, member_fields, &view);
	}
	output_json_list_close(&json);
	return output_json_close(&json);
}

static enum outcome print_tables(struct ctl *ctl, const struct cluster *cluster)
{
	struct output_pairs pairs;
	struct output_list list;
	enum outcome code;

	output_pairs_open(&pairs, ctl);
	output_pairs_add(&pairs, "this host", "%s (%s)", cluster->own, own_role(cluster));
	output_pairs_add(&pairs, "active", "%s",
		cluster->moves                    ? cluster->cell.holder
			: cluster->cell.holder[0] ? "none: the last one does not move"
						  : "none: the last one was stopped");
	output_pairs_add(&pairs, "holder", "%s",
		cluster->cell.holder[0] ? cluster->cell.holder : "-");
	output_pairs_add(&pairs, "its address", "%s",
		cluster->cell.address[0] ? cluster->cell.address : "-");
	output_pairs_add(&pairs, "epoch", "%" PRId64, cluster->cell.epoch);
	output_pairs_add(&pairs, "turn", "%" PRId64, cluster->cell.turn);
	if (cluster->cell.lacks)
		output_pairs_add(&pairs, "answered",
			"turn %" PRId64 " of epoch %" PRId64
			", which the server with the writes lacks: nothing is served. "
			"`creditbridgectl doctor` names the remedy",
			cluster->cell.answered_turn, cluster->cell.answered_epoch);
	output_pairs_add(&pairs, "installation", "%s", cluster->cell.installation);
	code = output_pairs_close(&pairs);
	if (code != OUTCOME_DONE)
		return code;
	output_title(ctl, "Members");
	output_list_open(&list, ctl, NULL, "members", member_fields, member_columns);
	for (unsigned int i = 0; i < cluster->count; i++) {
		const struct member_view view = view_of(cluster, i);

		output_list_add(&list, &view);
	}
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome report_cluster(void *context)
{
	struct ctl *ctl = context;
	const struct settings *settings = &ctl->session.settings;
	struct store_servers servers;
	const struct store_options options = {.servers = store_servers_of(settings, &servers)};
	struct cluster cluster = {.moves = false};
	struct store_watch *watch;
	char why[512] = "";
	enum status status = store_watch_open(&options, &watch, why, sizeof(why));

	if (status)
		return offline_fail(ctl, status, why);
	standby_member(settings, cluster.own);
	status = look_twice(watch, &cluster, why, sizeof(why));
	watch->close(watch);
	if (status)
		return offline_fail(ctl, status == STATUS_NOT_FOUND ? STATUS_CONFIG : status, why);
	return ctl->json ? print_json(ctl, &cluster) : print_tables(ctl, &cluster);
}

enum outcome ctl_cluster_status(struct ctl *ctl)
{
	enum outcome code = session_settings(&ctl->session);

	if (code == OUTCOME_DONE && strcmp(ctl->session.settings.store, "postgresql") != 0)
		return ctl_fail(ctl, OUTCOME_FAILED, "not_allowed_now",
			"the configuration has store = berkeleydb, whose data is of one host: use "
			"`creditbridgectl status`");
	if (code == OUTCOME_DONE)
		code = offline_become_owner(ctl, false, NULL);
	return code == OUTCOME_DONE
		? offline_run(ctl, report_cluster, ctl, "nothing was read", NULL)
		: code;
}
