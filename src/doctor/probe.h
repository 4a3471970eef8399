/*
 * probe - unsigned calls that find out what is served at a mount.
 */
#ifndef DOCTOR_PROBE_H
#define DOCTOR_PROBE_H

#include "callback/http.h"
#include "domain/callback.h"

#define PROBE_URL_MAX 2048 /* bytes */
#define PROBE_WALLET  "/wallet-service/credit/transfer-in" /* takes only POST: a GET is a 405 */

/* One unsigned call, and its answer. */
struct probe {
	char url[PROBE_URL_MAX];
	enum http_outcome outcome;
	int code;
	bool ours;                     /* the service itself answered */
	char id[DEALER_ERROR_ID_SIZE]; /* of its error body; "": it has none */
	char date[64];
	char location[256];
	char server[64];               /* that the answer names; "": none */
	char error[HTTP_ERROR_SIZE];
	enum http_fault fault;
};

/*
 * Calls @base followed by @path with a body of @body_len bytes (0: without a body, at most
 * BODY_MAX + 1) and fills @probe. It takes 8 s at most. Workers count a refused one as doctor's.
 */
void probe_call(struct probe *probe, const char *base, const char *method, const char *path,
	size_t body_len);

/* True if a worker of the service serves the wallet's paths at @base. */
bool probe_finds_wallet(const char *base);

#endif
