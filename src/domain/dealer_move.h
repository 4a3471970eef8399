/*
 * dealer_move - moves a dealer with all its rows from one cell to another, while both serve other dealers.
 *
 * Each of the two ledgers has a row struct dealer_move with its half of the move. creditbridgectl reads
 * the rows from the one and puts them into the other. The steps, each durable before the next begins:
 *
 *     from        to
 *     leaving                calls of the dealer are refused as service_unavailable
 *     leaving     arriving   the rows are copied, and compared
 *     left        arriving   no way back
 *     left        arrived    the other cell serves the dealer
 *     removing    arrived    the rows are deleted
 *     gone        arrived
 *
 * An abort ends "leaving" first and then deletes what was put (undoing). So the two cells never serve
 * the dealer at the same time, and until "arrived" no row is deleted that is not in the other cell. Pure.
 */
#ifndef DOMAIN_DEALER_MOVE_H
#define DOMAIN_DEALER_MOVE_H

#include "domain/records.h"

/* Returns true while the move is under way in this cell: the dealer may not be changed otherwise. */
bool move_is_live(enum move_state state);

/*
 * Returns true if the rows of the dealer do not count in this cell, because the other cell has them or
 * they are incomplete. Lists leave them out.
 */
bool move_hides_rows(enum move_state state);

/* Returns true if this cell has the dealer and refuses its calls. */
bool move_is_leaving(enum move_state state);

#endif
