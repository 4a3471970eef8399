/*
 * serve - answers one request, with the checks in the order of the contract, "Order of checks".
 */
#ifndef WEB_SERVE_H
#define WEB_SERVE_H

#include "callback/sender.h"
#include "fcgi/server.h"
#include "web/cell_auth.h"
#include "web/refused_record.h"
#include "web/rejection_log.h"
#include "web/request/reply.h"
#include "web/route.h"

/* What the threads or fibers of a process share. It does not change while they run. */
struct web_service {
	enum serve_group group;
	char base_path[256];   /* as text_base_path() makes it */
	char ledger_path[108]; /* edge.sock */
	char counters_path[128];
	char member[64]; /* settings.cell_member */
	uint32_t sweep_overdue_s;
	uint32_t request_window_s;
	uint32_t ledger_deadline_ms;
	struct flood *flood;            /* the bound of failed signatures; NULL: none */
	struct refusal_queue *refusals; /* NULL: refused calls are not kept on disk */
	struct feed_waits *feed_waits;  /* of fibers; NULL: no call waits for a transaction */
	struct muxes *muxes; /* the requests are fibers, which share these connections; or NULL */
	/* NULL: one cell. The first one has the same ledger_path, refusals and muxes as above. */
	struct web_cells *cells;
	struct sender_options callbacks; /* of group C; the networks must outlive the service */
};

/* The state of one thread or fiber. */
struct worker {
	const struct web_service *service;
	struct link link;
	struct auth auth;
	struct cell_links *cells; /* NULL: one cell, by @link */
	struct sender *sender;    /* of group C; else NULL */
	struct counting counting;
	struct http_reply reply;         /* to the current request */
	struct rejection_log rejections; /* of the current request */
	struct refused_record refused;   /* likewise */
	bool authenticated;              /* the caller of the current request proved its key */
	bool ended; /* the ledger speaks another protocol: the process must end */
};

/* Returns false if memory or randomness is exhausted. */
bool worker_init(struct worker *worker, const struct web_service *service);
void worker_free(struct worker *worker);

/*
 * Answers @request in @worker->reply, with its head, and logs one line. The checks are, in order:
 * path, method, size, signature, shape of the body, the handler's, the ledger's. The request is
 * counted before the reply is sent.
 */
void serve(struct worker *worker, const struct http_request *request);

/*
 * Called after the answer was sent. Reports the request to the ledger if it was rejected. The
 * body must still be in place. Does not wait.
 */
void serve_after(struct worker *worker);

/* Returns the service as a program of fcgi_run(). @service must outlive it. */
struct fcgi_program web_service_program(const struct web_service *service);

#endif
