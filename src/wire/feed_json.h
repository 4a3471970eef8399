/* feed_json - items of the feed and of the history as JSON (contract, "Feed"). */
#ifndef WIRE_FEED_JSON_H
#define WIRE_FEED_JSON_H

#include "base/buffer.h"
#include "domain/feed_item.h"

/*
 * Appends @item as a JSON object. It has only the members that its kind has. @for_operator: with
 * casino_id first. Returns false if @out is full.
 */
bool feed_json_render(struct buffer *out, const struct feed_item *item, bool for_operator);

#endif
