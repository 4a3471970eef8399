/* player_id - which ledger made an id of a player. */
#ifndef DOMAIN_PLAYER_ID_H
#define DOMAIN_PLAYER_ID_H

#include "domain/sizes.h"

#include <string.h>

/*
 * Returns the ledger_number that the first character of the id stands for; 0 if it stands for none. It is a hint: ids of
 * number 0 and older ones begin with any character.
 */
static inline unsigned int player_id_number(const char *player_id)
{
	const char *place = player_id[0] ? strchr(PLAYER_ID_CHARACTERS, player_id[0]) : NULL;

	return place ? (unsigned int)(place - PLAYER_ID_CHARACTERS) : 0;
}

#endif
