/*
 * web_case - shared by the tests of serve(). It has a fake ledger with two dealers and two
 * clients, a worker, requests made from a CGI environment, and a count of the signatures
 * computed. Link with -Wl,--wrap=signature_verify.
 */
#ifndef TESTS_WEB_WEB_CASE_H
#define TESTS_WEB_WEB_CASE_H

#include "fake_ledger.h"
#include "web/serve.h"

#include "tap.h"

#define TRANSFER_IN  "/wallet-service/credit/transfer-in"
#define TRANSFER_OUT "/wallet-service/credit/transfer-out"
#define BALANCE      "/user-service/user/3rdparty-get-balance"
#define NOW_MS       INT64_C(1700000000000)

#define KEY_ONE   "1111111111111111111111111111111111111111111111111111111111111111"
#define KEY_TWO   "2222222222222222222222222222222222222222222222222222222222222222"
#define KEY_OTHER "3333333333333333333333333333333333333333333333333333333333333333"

#define BODY_TRANSFER "{\"amount\":10.5,\"request_transaction_id\":\"r1\",\"user_id\":\"alice\"}"
#define BODY_BALANCE  "{\"user_id\":\"alice\",\"request_timestamp\":1700000000000}"

/* The suites of test_web. */
Suite *web_cells_suite(void);
Suite *fcgi_listeners_suite(void);
Suite *web_send_callback_suite(void);
Suite *fcgi_server_suite(void);
Suite *web_flood_suite(void);
Suite *fcgi_connection_suite(void);
Suite *web_feed_suite(void);
Suite *web_figures_suite(void);
Suite *fcgi_request_suite(void);
Suite *web_platform_suite(void);
Suite *web_refusal_queue_suite(void);
Suite *web_rejection_log_suite(void);
Suite *web_replies_suite(void);
Suite *web_reports_suite(void);
Suite *web_serve_suite(void);

/* A request to make. A NULL member gets its default; "-" omits it. */
struct ask {
	const char *method;    /* default: POST */
	const char *path;      /* default: TRANSFER_IN */
	const char *caller;    /* default: "demo"; for the platform's paths the client "game" */
	const char *key;       /* default: KEY_ONE; signs the body */
	const char *signature; /* default: made with key */
	const char *body;      /* default: BODY_TRANSFER */
	const char *more[4];   /* more variables, "NAME=value" */
	bool excess;           /* more requests wait than can be served */
};

/*
 * Dealer "demo" and client "game" have KEY_ONE and KEY_TWO; dealer and client "other" have
 * KEY_OTHER.
 */
extern struct fake_ledger fake;
extern struct web_service service;
extern struct flood flood; /* service.flood */
extern struct worker worker;
/*
 * Counts of signature_verify() since ask() began: all, those of each algorithm, and their bytes.
 */
extern unsigned int signatures;
extern unsigned int signatures_of[SIGNATURE_ALGORITHM_COUNT];
extern size_t signature_bytes;

/* Checked fixtures. They start the ledger's thread, which answers with zeroed results. */
void web_case_setup(void);
void web_case_platform(void);
void web_case_teardown(void);

/* Fills @request from @environment: "NAME=value" strings, NULL-terminated. */
void request_read(struct http_request *request, char *const *environment);

/* Serves the request and returns worker.reply's HTTP status. */
int ask(const struct ask *ask);
/* As ask(), at the given times. */
int ask_at(const struct ask *ask, int64_t wall_ms, int64_t boot_ms);

/*
 * Return the head or body of the reply as text. Each is valid until the next call of the same
 * function.
 */
const char *reply_head(void);
const char *reply_body(void);
/* Returns true if the reply has this header line. */
bool reply_has(const char *line);

/* Fails the test unless the reply is the error @id. */
#define ck_error(id)                                                                               \
	ck_assert_msg(strstr(reply_body(), "{\"id\":\"" id "\",") == reply_body(),                 \
		"expected %s, got %s", id, reply_body())

#endif
