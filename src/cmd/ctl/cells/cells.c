#include "cmd/ctl/cells/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the path of the own configuration file. It does not exist if all settings have their presets. */
static const char *own_path(const struct ctl *ctl)
{
	return ctl->session.config ? ctl->session.config : SETTINGS_DEFAULT_FILE;
}

enum outcome cells_open(struct ctl *ctl, struct ctl_cells *cells, bool *several)
{
	char why[SESSION_WHY];
	enum status status;
	enum outcome code = session_settings(&ctl->session);

	*several = false;
	if (code != OUTCOME_DONE)
		return code;
	cells->settings = calloc(CELLS_MAX, sizeof(*cells->settings));
	if (!cells->settings)
		return ctl_no_memory(ctl);
	status = session_cells_load(&ctl->session.settings, own_path(ctl), &cells->list,
		cells->settings, why);
	if (status != STATUS_OK)
		return ctl_fail(ctl, status == STATUS_NOMEM ? OUTCOME_FAILED : OUTCOME_CONFIG,
			status == STATUS_NOMEM ? "failed" : "configuration", "%s", why);
	*several = cells->list.count > 1;
	return OUTCOME_DONE;
}

void cells_close(struct ctl_cells *cells)
{
	free(cells->settings);
	cells->settings = NULL;
}

void cells_enter(struct ctl *ctl, struct ctl_cells *cells, unsigned int at)
{
	struct session *session = &ctl->session;

	ctl->cell = cells->list.count > 1 ? cells->list.cells[at].name : NULL;
	session->settings = cells->settings[at];
	if (at == cells->at)
		return;
	session_close(session);
	cells->at = at;
	session->config = cells->list.cells[at].path;
	/* Some commands read the option itself, and give it to other programs. */
	ctl->options[OPTION_CONFIG] = session->config;
}

void cells_names(const struct ctl_cells *cells, unsigned int but, char text[CELLS_NAMES_MAX])
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < cells->list.count; i++) {
		if (i != but)
			len += (size_t)snprintf(text + len, CELLS_NAMES_MAX - len, "%s%s",
				len ? ", " : "", cells->list.cells[i].name);
	}
}

enum outcome cells_choose(struct ctl *ctl, const struct ctl_cells *cells, unsigned int *at)
{
	const char *name = ctl->options[OPTION_CELL];
	const struct cell_file *cell = cells_named(&cells->list, name);
	char names[CELLS_NAMES_MAX];

	if (cell) {
		*at = (unsigned int)(cell - cells->list.cells);
		return OUTCOME_DONE;
	}
	cells_names(cells, CELLS_MAX, names);
	if (!names[0])
		return ctl_usage(ctl,
			"there is no cell '%s': %s names no cells (see cell_name and cells in "
			"creditbridge.conf(5))",
			name, own_path(ctl));
	return ctl_usage(ctl, "there is no cell '%s'; the cells of %s are: %s", name, own_path(ctl),
		names);
}

/* The cell was asked, and its answer was a failure: a refusal, or a problem that a check found. */
static bool was_asked(enum outcome code)
{
	return code == OUTCOME_FAILED || code == OUTCOME_PARTLY;
}

void cells_sum_add(struct cells_sum *sum, enum outcome code)
{
	if (code == OUTCOME_DONE) {
		sum->done++;
		return;
	}
	if (!sum->failed++)
		sum->first = code;
	sum->refused |= was_asked(code);
}

enum outcome cells_sum_outcome(const struct cells_sum *sum)
{
	if (!sum->failed)
		return OUTCOME_DONE;
	/* What a check found must not look like less because another cell was not asked. */
	if (sum->refused)
		return OUTCOME_FAILED;
	return sum->done ? OUTCOME_PARTLY : sum->first;
}
