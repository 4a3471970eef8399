#include "cmd/fcgi_console.h"

#include "admin/cell_text.h"
#include "base/text.h"
#include "console/common/desk_link.h"
#include "console/page_rate.h"
#include "console/serve.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

int fcgi_console_run(const struct fcgi_console *arguments)
{
	struct desk_link_options options = {
		.deadline_ms = arguments->settings->ledger_deadline_ms,
	};
	struct console console = {
		.loopback_http = arguments->loopback_http,
		.csv_rows = PAGE_CSV_ROWS,
		.audit_views = strcmp(arguments->settings->console_audit_views, "yes") == 0,
		.ages_rows = PAGE_AGES_ROWS,
		.sweep_overdue_ms = (int64_t)arguments->settings->sweep_overdue_s * 1000,
		.way = &desk_link,
		.open_way = desk_link_open,
		.close_way = desk_link_close,
		.way_closure = &options,
	};
	struct fcgi_program program;
	int code;
	char jobs[sizeof(options.path)];
	int len = snprintf(options.path, sizeof(options.path), "%s/desk.sock",
		arguments->settings->socket_directory);

	if (len < 0 || (size_t)len >= sizeof(options.path)) {
		fprintf(stderr, "creditbridge.fcgi: socket_directory \"%s\" is too long\n",
			arguments->settings->socket_directory);
		return EX_CONFIG;
	}

	/* As long as the path of desk.sock, which fits. */
	snprintf(jobs, sizeof(jobs), "%.90s/" JOBS_SOCKET, arguments->settings->socket_directory);
	console.jobs_path = jobs;
	text_copy(console.base_path, sizeof(console.base_path), arguments->base_path);
	text_copy(console.cell, sizeof(console.cell), arguments->settings->cell_name);
	text_copy(console.remedy_cell, sizeof(console.remedy_cell),
		cell_text_other(arguments->config, arguments->settings->cell_name));
	console.page_rate = page_rate_new(arguments->settings->console_page_rate);
	if (!console.page_rate) {
		fprintf(stderr, "creditbridge.fcgi: memory is exhausted\n");
		return EX_OSERR;
	}
	program = console_program(&console);
	code = fcgi_run(&program, arguments->own ? arguments->own->fd : arguments->fd,
		arguments->threads, arguments->own);
	page_rate_free(console.page_rate);
	return code;
}
