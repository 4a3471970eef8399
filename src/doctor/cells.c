/*
 * doctor_cells - checks that the cells agree: each answers, none has a dealer of another one, and all have
 * the same game servers.
 */
#include "doctor/doctor.h"

#include "admin/keys.h"
#include "base/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The callers of a cell. */
struct seen {
	bool asked; /* both keyrings were read */
	struct keyring of[KEYRING_OF_COUNT];
};

/* Loads the list of cells. Returns false after a finding. */
static bool load_cells(struct doctor *doctor, struct cell_list *list, struct settings *settings)
{
	char why[SESSION_WHY];

	if (session_cells_load(doctor->settings, doctor_config(doctor), list, settings, why) ==
		STATUS_OK)
		return true;
	doctor_fail(doctor, "%.400s", why);
	doctor_remedy(doctor, "correct that; the workers do not start before");
	return false;
}

/* Adds a finding that @cell does not answer. The checks of the own cell report that of their ledger. */
static void report_silent(struct doctor *doctor, const struct cell_file *cell, bool own,
	const char *why)
{
	if (own) {
		doctor_skip(doctor, "it cannot be asked (see ledger)");
		return;
	}
	doctor_fail(doctor, "it cannot be asked: %.400s", why);
	doctor_remedy(doctor, "creditbridgectl doctor --cell %s", cell->name);
}

/* Adds a finding if the ids of @cell do not lead to it. */
static void judge_number(struct doctor *doctor, const struct cell_file *cell,
	const struct status_result *result)
{
	if (result->halted || result->ledger_number == cell->ledger_number)
		return;
	doctor_fail(doctor, "its new ids have the number %u, and its ledger_number is %u",
		result->ledger_number, cell->ledger_number);
	doctor_remedy(doctor, "creditbridgectl doctor --cell %s: see ledger_number", cell->name);
}

/* Reads the callers of @cell. Adds a finding if it does not answer, or has another number than it should. */
static void ask_cell(struct doctor *doctor, const struct cell_file *cell, bool own,
	struct session *session, struct seen *seen)
{
	const struct status_cmd cmd = {.unused = false};
	struct status_result result;

	if (session_do(session, COMMAND_STATUS, &cmd, &result, NULL) != OUTCOME_DONE) {
		report_silent(doctor, cell, own, session->failure.detail);
		return;
	}
	if (!own)
		judge_number(doctor, cell, &result);
	seen->asked = true;
	for (unsigned int of = 0; of < KEYRING_OF_COUNT && seen->asked; of++)
		seen->asked = keys_try(session, of, &seen->of[of]) ||
			keys_fetch_callers(session, of, &seen->of[of]) == OUTCOME_DONE;
	if (!seen->asked)
		doctor_skip(doctor, "its dealers and game servers cannot be listed");
}

static void compare_dealers(struct doctor *doctor, const struct cell_list *list,
	const struct seen *seen, unsigned int one)
{
	const struct keyring *dealers = &seen[one].of[KEYRING_DEALERS];

	for (uint32_t i = 0; i < dealers->count; i++) {
		const char *casino_id = dealers->entries[i].caller_id;

		for (unsigned int other = one + 1; other < list->count; other++) {
			const struct keyring_entry *there =
				keyring_find(&seen[other].of[KEYRING_DEALERS], casino_id);

			/* If one of the two cells yields, the other one serves the dealer. */
			if (!there || there->yields != dealers->entries[i].yields)
				continue;
			doctor_about(doctor, "dealer %s", casino_id);
			doctor_fail(doctor,
				"dealer %s is in cell %s and in cell %s: its calls are refused with "
				"service_unavailable",
				casino_id, list->cells[one].name, list->cells[other].name);
			doctor_remedy(doctor,
				"suspend it in the cell that it should not be in, and the other one serves it: "
				"creditbridgectl dealer suspend %s --cell NAME",
				casino_id);
		}
	}
}

/* Returns true if each key of @a is one of @b. Keys that are blank in a cell are compared by their number only. */
static bool has_keys_of(const struct keyring_entry *a, const struct keyring_entry *b)
{
	unsigned int of_a = 0, of_b = 0;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		bool found = !a->keys[i].key_id[0];

		of_a += a->keys[i].key_id[0] != '\0';
		of_b += b->keys[i].key_id[0] != '\0';
		for (unsigned int n = 0; n < DEALER_KEYS_MAX; n++)
			found |= b->keys[n].key_id[0] &&
				(!a->keys[i].secret[0] || !b->keys[n].secret[0] ||
					strcmp(a->keys[i].secret, b->keys[n].secret) == 0);
		if (!found)
			return false;
	}
	return of_a == of_b;
}

/* Returns true unless the game server was removed: then it has no key. */
static bool has_key(const struct keyring_entry *entry)
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (entry->keys[i].key_id[0])
			return true;
	}
	return false;
}

/* Compares the game servers of cell @one with those of cell @other. */
static void compare_clients(struct doctor *doctor, const struct cell_list *list,
	const struct seen *seen, unsigned int one, unsigned int other, bool back)
{
	const struct keyring *clients = &seen[one].of[KEYRING_CLIENTS];

	for (uint32_t i = 0; i < clients->count; i++) {
		const struct keyring_entry *entry = &clients->entries[i];
		const struct keyring_entry *there =
			keyring_find(&seen[other].of[KEYRING_CLIENTS], entry->caller_id);

		if (there && !has_key(there))
			there = NULL;
		/* Both directions find what is missing; one is enough for keys that differ. */
		if (!has_key(entry) || (there && (back || has_keys_of(entry, there))))
			continue;
		doctor_about(doctor, "client %s", entry->caller_id);
		if (there)
			doctor_fail(doctor, "client %s has other keys in cell %s than in cell %s",
				entry->caller_id, list->cells[one].name, list->cells[other].name);
		else
			doctor_fail(doctor, "client %s is in cell %s and not in cell %s",
				entry->caller_id, list->cells[one].name, list->cells[other].name);
		doctor_remedy(doctor,
			there ? "retire an old key in the cell that still has it (creditbridgectl client "
				"key-retire, with --cell), or give a new key to all: creditbridgectl client "
				"key-add %s"
			      : "creditbridgectl client add %s gives the other cells its keys",
			entry->caller_id);
	}
}

void doctor_cells(struct doctor *doctor)
{
	static struct cell_list list;
	static struct settings settings[CELLS_MAX];
	static struct session session;
	static struct seen seen[CELLS_MAX];

	if (!load_cells(doctor, &list, settings))
		return;
	for (unsigned int i = 0; i < list.count; i++) {
		session = (struct session){.operator= doctor->session->operator,
			.settings = settings[i],
			.settings_loaded = true};
		doctor_about(doctor, "cell %s", list.cells[i].name);
		ask_cell(doctor, &list.cells[i], i == 0, &session, &seen[i]);
		session_close(&session);
	}
	for (unsigned int i = 0; i < list.count; i++) {
		compare_dealers(doctor, &list, seen, i);
		for (unsigned int other = i + 1; other < list.count; other++) {
			if (!seen[i].asked || !seen[other].asked)
				continue;
			compare_clients(doctor, &list, seen, i, other, false);
			compare_clients(doctor, &list, seen, other, i, true);
		}
	}
	for (unsigned int i = 0; i < list.count; i++) {
		keyring_free(&seen[i].of[KEYRING_DEALERS]);
		keyring_free(&seen[i].of[KEYRING_CLIENTS]);
	}
	doctor_about(doctor, "%s", "");
	if (!doctor->sheet->count)
		doctor_pass(doctor,
			"%u cells answer; no dealer is in two, and all have the same game servers",
			list.count);
}
