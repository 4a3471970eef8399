/*
 * recon - recon --compare, for the command recon; and the columns of a difference.
 */
#ifndef CMD_CTL_RECON_H
#define CMD_CTL_RECON_H

#include "cmd/ctl/ctl.h"

/* Compares the files that the arguments name. */
enum outcome recon_compare(struct ctl *ctl);

#endif
