/*
 * probe - sends unsigned calls to find out which service answers at a mount.
 */
#ifndef DOCTOR_PROBE_H
#define DOCTOR_PROBE_H

#include "callback/http.h"
#include "domain/callback.h"
#include "wire/operations.h"

#define PROBE_URL_MAX 2048 /* bytes */

/* One unsigned call and its answer. */
struct probe {
	char url[PROBE_URL_MAX];
	enum http_outcome outcome;
	int code;
	bool ours;                     /* a worker of the service answered */
	char id[DEALER_ERROR_ID_SIZE]; /* the id in its error body; "": none */
	char date[64];
	char location[256];
	char server[64]; /* the Server header of the answer; "": none */
	char error[HTTP_ERROR_SIZE];
	enum http_fault fault;
};

/* Accepts only POST: a GET is answered 405. */
#define PROBE_WALLET OPERATION_TRANSFER_IN

/*
 * Calls @operation at @base with a body of @body_len bytes (0: no body; at most BODY_MAX +
 * 1), and fills @probe. Takes at most 8 s. Workers count a rejected call as one of doctor.
 */
void probe_call(struct probe *probe, const char *base, const char *method,
	enum web_operation operation, size_t body_len);

/* Returns true if a worker of the service serves the wallet's paths at @base. */
bool probe_finds_wallet(const char *base);

#endif
