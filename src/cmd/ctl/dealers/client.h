/*
 * client - what the commands on game servers share with those that change one in several cells.
 */
#ifndef CMD_CTL_DEALERS_CLIENT_H
#define CMD_CTL_DEALERS_CLIENT_H

#include "cmd/ctl/common/ctl.h"

/* Refuses, without --yes, to remove a client that has open rounds in the cell of the session. */
enum outcome client_may_remove(struct ctl *ctl, const char *client_id);

enum outcome client_print_removed(struct ctl *ctl, const char *client_id);

#endif
