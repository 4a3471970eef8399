/*
 * dealer_settings - the settings of a dealer as options (dealer_settings.def).
 */
#ifndef CMD_CTL_DEALER_SETTINGS_H
#define CMD_CTL_DEALER_SETTINGS_H

#include "cmd/ctl/ctl.h"

/*
 * Sets the members of @dealer whose options were given; *mask tells which (enum dealer_member).
 * With @create the others get their defaults, and an option without default must be given.
 * What is wrong is reported as usage.
 */
enum outcome dealer_settings_apply(struct ctl *ctl, bool create, struct dealer *dealer,
	uint32_t *mask);

#endif
