/*
 * recon - implements `recon --compare`, and defines the columns of a difference.
 */
#ifndef CMD_CTL_REPORTS_RECON_H
#define CMD_CTL_REPORTS_RECON_H

#include "cmd/ctl/common/ctl.h"

/* Compares the files named by the arguments. */
enum outcome recon_compare(struct ctl *ctl);

#endif
