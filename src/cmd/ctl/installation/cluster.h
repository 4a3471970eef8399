/* cluster - the data that ledgers of several hosts share, as PostgreSQL has it. */
#ifndef CMD_CTL_INSTALLATION_CLUSTER_H
#define CMD_CTL_INSTALLATION_CLUSTER_H

#include "base/settings.h"
#include "store/claim.h"

/*
 * Reads the cell of the data that @settings name. Returns STATUS_OK, STATUS_CONFIG if there is none or it
 * cannot be used, or STATUS_IO, with a reason in @why.
 */
enum status cluster_look(const struct settings *settings, struct store_cell *cell, char *why,
	size_t why_size);

#endif
