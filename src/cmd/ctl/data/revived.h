/*
 * revived - prints what a restore or an import brought back (ledger/offline/revived.h).
 */
#ifndef CMD_CTL_DATA_REVIVED_H
#define CMD_CTL_DATA_REVIVED_H

#include "cmd/ctl/common/ctl.h"
#include "cmd/ctl/common/output.h"
#include "ledger/offline/revived.h"

#define REVIVED_TITLE "In force again, as the data that were brought back have it"

/* Prints both lists, the first with @title. Appends the member "revived" and, if the audit was searched, "changed". */
enum outcome revived_show(struct ctl *ctl, struct output_json *json, struct revived_lists *lists,
	const char *title);

#endif
