/*
 * revived - prints what a restore or an import brought back (ledger/offline/revived.h).
 */
#ifndef CMD_CTL_REVIVED_H
#define CMD_CTL_REVIVED_H

#include "cmd/ctl/ctl.h"
#include "cmd/ctl/output.h"
#include "ledger/offline/revived.h"

/* Prints both lists. Appends the member "revived" and, if the audit was searched, "changed". */
enum outcome revived_show(struct ctl *ctl, struct output_json *json, struct revived_lists *lists);

#endif
