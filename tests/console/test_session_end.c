#include "suites.h"

#include "console/common/head.h"
#include "console/serve.h"
#include "link/commands.h"

#include <stdio.h>
#include <string.h>

/* A ledger that restarts between the look at the session and the first command. */
static enum desk_answer look(void *context, const struct desk_caller *caller,
	struct desk_identity *who)
{
	(void)context;
	(void)caller;
	*who = (struct desk_identity){.name = "ann", .role = ROLE_ADMIN};
	return DESK_DONE;
}

static enum status ask(void *context, const struct desk_caller *caller, enum command command,
	const void *cmd, void *result)
{
	(void)context;
	(void)caller;
	(void)cmd;
	memset(result, 0, command_infos[command].result_size);
	((struct verdict *)result)->refusal = REFUSAL_SESSION_NEEDED;
	return STATUS_OK;
}

static void ask_page(struct page *page, const char *path, const char *query)
{
	struct http_request request;
	const char *const variables[][2] = {{"REQUEST_METHOD", "GET"}, {"PATH_INFO", path},
		{"QUERY_STRING", query}, {"REMOTE_ADDR", "127.0.0.1"}, {"REMOTE_USER", "ann"},
		{"HTTP_HOST", "localhost"},
		{"HTTP_COOKIE",
			CONSOLE_COOKIE_LOOPBACK
			"=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}};

	http_request_begin(&request, &console_format);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		http_request_variable(&request, variables[i][0], strlen(variables[i][0]),
			variables[i][1]);
	http_request_route(&request);
	console_serve(page, &request);
}

/* Pages of one command and of several ones lead to the sign-in, and then back to the page. */
START_TEST(a_session_that_ends_during_a_page)
{
	static const struct desk_way way = {.look = look, .ask = ask};
	static const char *const pages[][2] = {{"/console/dealer", "id=bank"},
		{"/console/refused", ""}, {"/console/callbacks", ""}, {"/console/days", ""}};
	const struct console console = {.base_path = "/console",
		.loopback_http = true,
		.way = &way};
	struct page page;

	ck_assert(console_open(&page, &console));
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		ask_page(&page, pages[i][0], pages[i][1]);
		ck_assert_msg(page.code == 303, "%s: %d", pages[i][0], page.code);
		ck_assert_msg(strncmp(page.location.text, "/console/sign-in?back=", 22) == 0, "%s",
			page.location.text);
		ck_assert_msg(strstr(page.location.text, strrchr(pages[i][0], '/') + 1), "%s",
			page.location.text);
		ck_assert_uint_eq(page.body.len, 0);
	}
	console_close(&page);
}
END_TEST

Suite *session_end_suite(void)
{
	Suite *suite = suite_create("session end");
	TCase *tcase = tcase_create("session end");

	tcase_add_test(tcase, a_session_that_ends_during_a_page);
	suite_add_tcase(suite, tcase);
	return suite;
}
