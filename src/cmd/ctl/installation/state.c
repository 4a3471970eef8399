/*
 * state - implements `init`, `status` and `audit`.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/cell_text.h"
#include "admin/list.h"
#include "admin/metrics.h"
#include "admin/operator.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/callbacks/owed.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/output_fit.h"
#include "cmd/ctl/data/offline.h"
#include "cmd/ctl/installation/cluster.h"
#include "doctor/attention.h"
#include "doctor/standing.h"
#include "state/directory.h"
#include "state/disk.h"
#include "state/halt.h"
#include "state/identity.h"
#include "wire/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Run as root: creates the directory and gives it to @uid, because only root may be able to write
 * to its parent. An existing directory must belong to root or @uid.
 */
static enum outcome give_directory(struct ctl *ctl, const char *path, uid_t uid, gid_t gid)
{
	enum outcome code = OUTCOME_DONE;
	struct stat st;
	int fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return ctl_fail(ctl, OUTCOME_CONFIG, "configuration", "cannot create %s: %s", path,
			strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		code = ctl_fail(ctl, OUTCOME_CONFIG, "configuration", "cannot open %s: %s", path,
			strerror(errno));
	else if (st.st_uid != 0 && st.st_uid != uid)
		code = ctl_fail(ctl, OUTCOME_CONFIG, "configuration",
			"%s belongs to another user: "
			"run this as that user or as root, or change its owner (chown)",
			path);
	else if (st.st_uid != uid && fchown(fd, uid, gid) < 0)
		code = ctl_fail(ctl, OUTCOME_FAILED, "failed", "cannot change the owner of %s: %s",
			path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return code;
}

/* Root may create the state for another user; the process then becomes that user. */
static enum outcome become_user(struct ctl *ctl, const char *path)
{
	const char *name = ctl->options[OPTION_USER];
	enum outcome code;
	char why[256];
	uid_t uid;
	gid_t gid;

	if (!name)
		return OUTCOME_DONE;
	if (!operator_find_user(name, &uid, &gid))
		return ctl_usage(ctl, "there is no user '%s'", name);
	if (uid == geteuid())
		return OUTCOME_DONE;
	if (geteuid() != 0)
		return ctl_fail(ctl, OUTCOME_NOT_PERMITTED, "not_permitted",
			"not permitted: run this as user %s or as root", name);
	code = give_directory(ctl, path, uid, gid);
	if (code == OUTCOME_DONE && !operator_become(uid, why, sizeof(why)))
		return ctl_fail(ctl, OUTCOME_NOT_PERMITTED, "not_permitted", "%s", why);
	return code;
}

/* Copies the id of the installation whose tables the configuration names. */
static enum status join_cell(struct ctl *ctl, char installation[STATE_INSTALLATION_MAX], char *why,
	size_t why_size)
{
	struct store_cell cell;
	enum status status = cluster_look(&ctl->session.settings, &cell, why, why_size);

	if (!status)
		text_copy(installation, STATE_INSTALLATION_MAX, cell.installation);
	return status;
}

enum outcome ctl_init(struct ctl *ctl)
{
	enum outcome code = session_settings(&ctl->session);
	const char *path = ctl->session.settings.state_directory;
	char random[KEY_SECRET_SIZE], installation[STATE_INSTALLATION_MAX];
	char mark[SETTINGS_PATH_MAX + 16], why[512] = "";
	const bool join = ctl->options[OPTION_JOIN] != NULL;
	struct output_json json;
	enum status status;

	if (code != OUTCOME_DONE)
		return code;
	/*
	 * Check before anything is changed. If it is unreadable, state_dir_create() reports the
	 * reason.
	 */
	snprintf(mark, sizeof(mark), "%s/installation", path);
	if (access(mark, F_OK) == 0)
		return ctl_fail(ctl, OUTCOME_FAILED, "already_exists",
			"%s is initialised already, and nothing was changed; start "
			"creditbridge-ledger to use it",
			path);
	/* A ledger may still run although its state was moved away. */
	code = offline_check_unheld(ctl);
	if (code == OUTCOME_DONE)
		code = become_user(ctl, path);
	if (code != OUTCOME_DONE)
		return code;
	if (!signature_new_secret(random))
		return session_no_random(&ctl->session);
	text_copy_len(installation, sizeof(installation), random, sizeof(installation) - 1);
	status = join ? join_cell(ctl, installation, why, sizeof(why)) : STATUS_OK;
	if (!status)
		status = state_dir_create(path, installation, why, sizeof(why));
	/* A ledger must not make tables if those that this one joins are gone. */
	if (!status && join && !disk_mark_set(path, DISK_CREATED))
		status = STATUS_IO;
	if (status != STATUS_OK)
		return offline_fail(ctl, status, why);
	/* The halt belongs to the state that was at this path before. */
	halt_clear(&ctl->session.settings);
	if (!ctl->json)
		printf("%s is ready, installation %s\n", path, installation);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", path);
	output_json_string(&json, "installation", installation);
	return output_json_close(&json);
}

/* Everything that fits on one screen. Some rows appear only when they need attention. */
static const struct output_column status_columns[] = {
	{"version", "version", OUTPUT_PLAIN},
	{"installation", "installation", OUTPUT_PLAIN},
	{"active host", "member", OUTPUT_IF_ANY},
	{"epoch", "epoch", OUTPUT_IF_ANY},
	{"schema", "schema", OUTPUT_PLAIN},
	{"process", "pid", OUTPUT_PLAIN},
	{"parent process", "parent_pid", OUTPUT_PLAIN},
	{"up for", "uptime_ms", OUTPUT_DURATION_MS},
	{"engine starts", "engine_starts", OUTPUT_PLAIN},
	{"halted", "halted", OUTPUT_IF_ANY},
	{"storage low", "storage_low", OUTPUT_IF_ANY},
	{"disk free", "disk_free_bytes", OUTPUT_BYTES},
	{"its low-water mark", "disk_low_water_bytes", OUTPUT_BYTES},
	{"database log", "log_bytes", OUTPUT_BYTES},
	{"refused calls", "refused_bytes", OUTPUT_BYTES},
	{"oldest refused call", "refused_oldest_ms", OUTPUT_IF_ANY},
	{"refused calls left out", "refused_left_out", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};
static const struct output_column work_columns[] = {
	{"bodies dropped", "bodies_dropped", OUTPUT_IF_ANY},
	{"last backup to", "backup_ms", OUTPUT_IF_ANY},
	{"last transaction id", "last_transaction_id", OUTPUT_PLAIN},
	{"ledger number", "ledger_number", OUTPUT_IF_ANY},
	{"dealers", "dealers", OUTPUT_PLAIN},
	{"dealers held (release)", "held_dealers", OUTPUT_IF_ANY},
	{"keys to confirm (key-confirm)", "unconfirmed_keys", OUTPUT_IF_ANY},
	{"connections", "connections", OUTPUT_PLAIN},
	{"commands", "commands", OUTPUT_PLAIN},
	{"commits", "commits", OUTPUT_PLAIN},
	{"refused as busy", "refused_busy", OUTPUT_IF_ANY},
	{"clients cut off", "clients_cut", OUTPUT_IF_ANY},
	{"relayed", "relayed", OUTPUT_IF_ANY},
	{"relayed now", "relayed_open", OUTPUT_IF_ANY},
	{"peers refused", "peers_refused", OUTPUT_IF_ANY},
	{"last sweep", "swept_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};
static const struct field queue_fields[] = {
	FIELD(FIELD_U64, dealer_metrics, due),
	FIELD(FIELD_U64, dealer_metrics, sending),
	FIELD(FIELD_U64, dealer_metrics, held),
	FIELD(FIELD_U64, dealer_metrics, parked),
	FIELD(FIELD_U64, dealer_metrics, overdue_ms),
	FIELD_END,
};
static const struct output_column queue_columns[] = {
	{"callbacks due", "due", OUTPUT_PLAIN},
	{"callbacks on the way", "sending", OUTPUT_IF_ANY},
	{"callbacks held", "held", OUTPUT_IF_ANY},
	{"callbacks parked", "parked", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};
static const struct output_column overdue_columns[] = {
	{"overdue by at most", "overdue_ms", OUTPUT_DURATION_MS},
	{NULL, NULL, OUTPUT_PLAIN},
};

static int compare_sizes(const void *a, const void *b)
{
	const struct table_size *one = a, *other = b;

	return (one->bytes < other->bytes) - (one->bytes > other->bytes);
}

/* "transaction 1.2 GiB" */
static void size_text(const char *name, uint64_t bytes, char text[OUTPUT_TEXT_MAX])
{
	const struct field *tables = field_find(output_result(COMMAND_STATUS), "tables");
	const struct table_size size = {.bytes = bytes};
	char number[OUTPUT_TEXT_MAX];

	output_value(field_find(tables->sub, "bytes"), OUTPUT_BYTES, &size, number);
	snprintf(text, OUTPUT_TEXT_MAX, "%s %.32s", name, number);
}

/*
 * The largest tables, TABLES_A_LINE on each of TABLE_LINES lines; the other tables are added up.
 */
#define TABLES_A_LINE 3
#define TABLE_LINES   2
static void add_tables(struct output_pairs *pairs, const struct status_result *status)
{
	struct table_size tables[RECORD_COUNT];
	char text[TABLES_A_LINE][OUTPUT_TEXT_MAX];
	uint64_t others = 0;
	unsigned int shown = 0;

	memcpy(tables, status->tables, sizeof(tables));
	qsort(tables, RECORD_COUNT, sizeof(tables[0]), compare_sizes);
	for (unsigned int line = 0; line < TABLE_LINES; line++) {
		for (unsigned int i = 0; i < TABLES_A_LINE; i++, shown++)
			size_text(tables[shown].name, tables[shown].bytes, text[i]);
		output_pairs_add(pairs, line ? "" : "tables", "%s, %s, %s", text[0], text[1],
			text[2]);
	}
	for (unsigned int i = shown; i < RECORD_COUNT; i++)
		others += tables[i].bytes;
	size_text("others", others, text[0]);
	output_pairs_add(pairs, "", "%u %s", RECORD_COUNT - shown, text[0]);
}

/* "PostgreSQL  trip 310 us, in_doubt 0, ..." */
static void add_store_figures(struct output_pairs *pairs, const struct status_result *status)
{
	static const char *const units[FIGURE_UNIT_COUNT] = {"", " bytes", " us"};
	char text[STORE_FIGURES_MAX * 64] = "";
	size_t at = 0;

	for (unsigned int i = 0; i < STORE_FIGURES_MAX && status->store[i].name[0]; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %" PRIu64 "%s",
			i ? ", " : "", status->store[i].name, status->store[i].value,
			units[status->store[i].unit]);
	if (at)
		output_pairs_add(pairs, "PostgreSQL", "%s", text);
}

static void add_retention(struct output_pairs *pairs, uint32_t days)
{
	if (days)
		output_pairs_add(pairs, "retention", "%u days", days);
	else
		output_pairs_add(pairs, "retention", "for ever");
}

/* A list of names, printed as a row of a table and as a member of JSON. */
struct names {
	struct output_pairs *pairs;
	struct output_json *json;
	const char *heading; /* of the first row */
};

static void add_attention_name(struct names *names, const char *name)
{
	output_pairs_add(names->pairs, names->heading, "%s", name);
	names->heading = "";
	output_json_item_string(names->json, name);
}

static void add_dealer_without_url(void *context, const char *casino_id)
{
	add_attention_name(context, casino_id);
}

static void add_shared_key(void *context, const struct attention_key *shared)
{
	char text[ATTENTION_KEY_TEXT];

	attention_key_text(shared, text);
	add_attention_name(context, text);
}

/* Prints the conditions that need the operator. An older ledger reports only some of them. */
static void add_attention(struct ctl *ctl, struct output_pairs *pairs, struct output_json *json)
{
	struct names dealers = {pairs, json, "dealers without URL"};
	struct names keys = {pairs, json, "one key of two"};

	output_json_list_open(json, "dealers_without_url");
	attention_dealers(&ctl->session, add_dealer_without_url, &dealers);
	output_json_list_close(json);
	output_json_list_open(json, "shared_keys");
	attention_keys(&ctl->session, add_shared_key, &keys);
	output_json_list_close(json);
}

static void count_dealer(void *context, const char *casino_id)
{
	(void)casino_id;
	(*(uint64_t *)context)++;
}

static void count_key(void *context, const struct attention_key *shared)
{
	(void)shared;
	(*(uint64_t *)context)++;
}

/*
 * Prints what needs the operator and what to do, the worst first: "FAILURE: ...", "ATTENTION: ..."
 * or "OK: ...".
 */
static void print_standing(struct ctl *ctl, const struct status_result *status,
	const struct dealer_metrics *queue, struct output_json *json)
{
	const struct settings *settings = &ctl->session.settings;
	struct standing_facts facts = {.status = status,
		.queue = queue,
		.now_ms = clock_wall_ms(),
		.sweep_overdue_ms = (int64_t)settings->sweep_overdue_s * 1000,
		.cell = cell_text_other(ctl->session.config, settings->cell_name)};
	struct standing_finding findings[STANDING_MAX];
	char line[sizeof(findings[0].found) + sizeof(findings[0].remedy) + 32];
	unsigned int count;

	if (!status->halted) {
		attention_dealers(&ctl->session, count_dealer, &facts.dealers_without_url);
		attention_keys(&ctl->session, count_key, &facts.shared_keys);
	}
	count = standing_judge(&facts, findings);
	output_json_string(json, "verdict",
		standing_level_names[count ? findings[0].level : STANDING_WELL]);
	output_json_list_open(json, "problems");
	for (unsigned int i = 0; i < count; i++) {
		output_json_item(json, standing_fields, &findings[i]);
		snprintf(line, sizeof(line), "%s: %s. To do: %s.",
			findings[i].level == STANDING_FAILURE ? "FAILURE" : "ATTENTION",
			findings[i].found, findings[i].remedy);
		if (!ctl->json)
			fit_print("", line);
	}
	output_json_list_close(json);
	if (!count && !ctl->json)
		printf("OK: nothing needs the operator.\n");
	if (!ctl->json)
		printf("\n");
}

enum outcome ctl_status(struct ctl *ctl)
{
	const struct status_cmd cmd = {.unused = false};
	struct status_result result;
	const struct field *fields = output_result(COMMAND_STATUS);
	struct collection collection = {.counted = false};
	struct dealer_metrics queue;
	struct output_pairs pairs;
	struct output_json json;
	enum outcome code = session_do(&ctl->session, COMMAND_STATUS, &cmd, &result, NULL);

	if (code == OUTCOME_DONE)
		code = metrics_collect(&ctl->session, &collection);
	if (code != OUTCOME_DONE)
		goto out;
	collection_sum(&collection, &queue);
	output_json_open(&json, ctl);
	print_standing(ctl, &result, &queue, &json);
	output_json_fields(&json, fields, &result);
	output_pairs_open(&pairs, ctl);
	output_pairs_fields(&pairs, fields, status_columns, &result);
	if (!result.halted) {
		add_tables(&pairs, &result);
		add_store_figures(&pairs, &result);
		add_retention(&pairs, result.retention_days);
	}
	output_pairs_fields(&pairs, fields, work_columns, &result);
	/* A halted ledger cannot count them. */
	if (!result.halted) {
		output_pairs_fields(&pairs, queue_fields, queue_columns, &queue);
		if (queue.overdue_ms)
			output_pairs_fields(&pairs, queue_fields, overdue_columns, &queue);
		output_json_record(&json, "callbacks", queue_fields, &queue);
		add_attention(ctl, &pairs, &json);
	}
	code = output_pairs_close(&pairs);
	if (code == OUTCOME_DONE && !result.halted)
		code = owed_print_sums(ctl, "owed: ", &json);
	if (code == OUTCOME_DONE)
		code = output_json_close(&json);
out:
	collection_free(&collection);
	return code;
}

static const struct output_column audit_columns[] = {
	{"SEQ", "seq", OUTPUT_PLAIN},
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"USER", "uid", OUTPUT_UID},
	{"LOGIN", "login_uid", OUTPUT_UID},
	{"SUDO", "sudo_user", OUTPUT_PLAIN},
	{"OPERATOR", "operator", OUTPUT_PLAIN},
	{"ACTION", "action", OUTPUT_PLAIN},
	{"OBJECT", "object", OUTPUT_PLAIN},
	{"REASON", "reason", OUTPUT_PLAIN},
	{"DETAIL", "detail", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Reads --after: the number of a row. 0: it is absent. */
static enum outcome read_after_seq(struct ctl *ctl, uint64_t *seq)
{
	const char *text = ctl->options[OPTION_AFTER];

	*seq = 0;
	if (!text || (text_unsigned(text, UINT64_MAX, seq) && *seq))
		return OUTCOME_DONE;
	return ctl_usage(ctl, "--after takes the SEQ of the last row of the list before; not '%s'",
		text);
}

/* The rows are numbered without a gap, and none is ever deleted: the newest has their number. */
static enum outcome count_audit(struct ctl *ctl, uint64_t *count)
{
	struct list list;
	struct audit row;

	list_open(&list, &ctl->session, RECORD_AUDIT, true, 0, NULL);
	list.page = 1;
	*count = list_next(&list, &row) ? row.seq : 0;
	return list_end(&list, OUTCOME_DONE);
}

enum outcome ctl_audit(struct ctl *ctl)
{
	struct output_list out;
	struct list list;
	struct audit row;
	const bool own = ctl->options[OPTION_OWN];
	uint64_t limit, count = 0;
	enum outcome code = ctl_list_limit(ctl, 50, &limit);

	memset(&row, 0, sizeof(row));
	if (code == OUTCOME_DONE)
		code = read_after_seq(ctl, &row.seq);
	if (code == OUTCOME_DONE)
		code = own ? OUTCOME_DONE : count_audit(ctl, &count);
	if (code != OUTCOME_DONE)
		return code;
	list_open(&list, &ctl->session, RECORD_AUDIT, true, 0, NULL);
	list.own = own;
	if (row.seq)
		list_behind(&list, &row);
	output_list_open(&out, ctl, "audit", "deeds", audit_fields, audit_columns);
	out.total = count;
	while (limit) {
		if (list_next(&list, &row)) {
			output_list_add(&out, &row);
			limit--;
		} else if (!list_goes_on(&list, &row)) {
			break;
		}
	}
	return output_list_close(&out, list_end(&list, OUTCOME_DONE));
}
