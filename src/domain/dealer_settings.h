/*
 * dealer_settings - the ranges of a dealer's settings.
 */
#ifndef DOMAIN_DEALER_SETTINGS_H
#define DOMAIN_DEALER_SETTINGS_H

#include "domain/records.h"

/* What is wrong with a setting of @dealer, as a sentence for the operator; NULL: all are in range. */
const char *dealer_bad_setting(const struct dealer *dealer);

#endif
