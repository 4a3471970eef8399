/*
 * control - the interface by which tests and demonstrations control the dealer. Only with
 * --control. It is not signed, so use it only on the loopback.
 *
 *   POST control/users   {user_id, balance}: sets a balance
 *   GET  control/state   {users, transactions, events, totals: {conserved, granted, balances,
 *                        staked, paid, taken}}
 *
 * conserved: balances = granted - staked + paid - taken, where staked counts only valid bets, and
 * taken what corrections took.
 */
#ifndef DEALER_CONTROL_H
#define DEALER_CONTROL_H

#include "dealer/serve.h"

/* Serves the request if @path, below base_path, is a control path. */
bool control_serve(struct dealer_worker *worker, const char *path, const char *method,
	const struct http_request *request);

#endif
