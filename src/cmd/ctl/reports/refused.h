/* refused - the filter of refused calls on the command line, which `explain` uses, too. */
#ifndef CMD_CTL_REPORTS_REFUSED_H
#define CMD_CTL_REPORTS_REFUSED_H

#include "admin/requests/refused.h"
#include "cmd/ctl/common/ctl.h"

/*
 * Reads --casino, --client, --user, --reference, --id, --error, --why, --since and --until as far as the command
 * has them. Accepts a dealer or player that does not exist, because a refused call may name one.
 */
enum outcome refused_filter(struct ctl *ctl, struct refused_list_cmd *filter);

/* Writes the filter as words: "dealer 'demo', player 'bob'". "" if it is empty. */
#define REFUSED_FILTER_TEXT 512
void refused_filter_text(const struct refused_list_cmd *filter, char text[REFUSED_FILTER_TEXT]);

#endif
