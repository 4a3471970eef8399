/*
 * dealer_settings - the options of a dealer's settings (dealer_settings.def).
 */
#ifndef CMD_CTL_DEALERS_DEALER_SETTINGS_H
#define CMD_CTL_DEALERS_DEALER_SETTINGS_H

#include "cmd/ctl/common/ctl.h"

/*
 * Sets the members of @dealer whose options were given, and their bits in *mask (enum
 * dealer_member). With @create, sets the other members to their defaults; an option without a
 * default is then required. Reports wrong values as usage errors.
 */
enum outcome dealer_settings_apply(struct ctl *ctl, bool create, struct dealer *dealer,
	uint32_t *mask);

#endif
