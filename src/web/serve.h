/*
 * serve - one request to one reply: the order of checks of api.md, Common rules.
 */
#ifndef WEB_SERVE_H
#define WEB_SERVE_H

#include "callback/sender.h"
#include "fcgi/server.h"
#include "web/auth.h"
#include "web/rejection_log.h"
#include "web/request/reply.h"
#include "web/route.h"

/* What the threads or fibers of a process share; never changed while they run. */
struct web_service {
	enum serve_group group;
	char base_path[256];   /* as text_base_path() makes it */
	char ledger_path[108]; /* edge.sock */
	char counters_path[128];
	uint32_t sweep_overdue_s;
	uint32_t request_window_s;
	uint32_t ledger_deadline_ms;
	struct flood *flood; /* of what fails in the auths of all; NULL: it is not bounded */
	struct muxes *muxes; /* the requests under way are fibers, which call by these; or NULL */
	struct sender_options callbacks; /* of group C; the networks must outlive the server */
};

/* What a thread, or a fiber, has for itself. */
struct worker {
	const struct web_service *service;
	struct link link;
	struct auth auth;
	struct sender *sender;   /* of group C; else NULL */
	struct counting counting;
	struct http_reply reply; /* to the newest request */
	struct rejection_log rejections; /* of it, if it was answered 400, 401 or user_not_found */
	bool ended; /* the ledger speaks another protocol: this process is to end */
};

/* False: memory or randomness exhausted. */
bool worker_init(struct worker *worker, const struct web_service *service);
void worker_free(struct worker *worker);

/*
 * Answers @request in @worker->reply, complete with its head, and logs one line. In this order:
 * path, method, size, signature, shape of the body, what the handler checks, then the ledger. It is
 * counted before the reply leaves: what a caller was answered is counted.
 */
void serve(struct worker *worker, const struct http_request *request);

/*
 * Once the answer has left: what is worth telling the ledger of the request. The request's body must
 * still be there; nothing is waited for.
 */
void serve_after(struct worker *worker);

/* The service as a program of fcgi_run(), for as long as @service lives. */
struct fcgi_program web_service_program(const struct web_service *service);

#endif
