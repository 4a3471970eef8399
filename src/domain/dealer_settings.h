/* dealer_settings - checks the ranges of a dealer's settings. */
#ifndef DOMAIN_DEALER_SETTINGS_H
#define DOMAIN_DEALER_SETTINGS_H

#include "domain/records.h"

/*
 * Returns a sentence for the operator about the first setting of @dealer that is out of range, or
 * NULL.
 */
const char *dealer_bad_setting(const struct dealer *dealer);

#endif
