/*
 * console_admin ADMIN_SOCKET SOCKET BASE_PATH - serves the console on SOCKET over an admin.sock, for
 * tests/e2e/test_console.py. It is never installed.
 */
#include "base/text.h"
#include "console/serve.h"
#include "desk_admin.h"
#include "fcgi/signals.h"
#include "fcgi/socket.h"

#include <stdio.h>
#include <stdlib.h>

#define THREADS   4
#define CSV_ROWS  130 /* few, so that the suite provokes the end of a list */
#define AGES_ROWS 3   /* likewise, the end of counting */

int main(int argc, char **argv)
{
	struct console console = {
		.loopback_http = true,
		.csv_rows = CSV_ROWS,
		.ages_rows = AGES_ROWS,
		.sweep_overdue_ms = 120000,
		.way = &desk_admin,
		.open_way = desk_admin_open,
		.close_way = desk_admin_close,
	};
	struct fcgi_program program;
	struct fcgi_socket own;
	char why[256];

	if (argc != 4 || !text_base_path(argv[3], console.base_path, sizeof(console.base_path)))
		return EXIT_FAILURE;
	console.way_closure = argv[1];
	signals_block();
	if (socket_open(&own, argv[2], "", why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		return EXIT_FAILURE;
	}
	program = console_program(&console);
	return fcgi_run(&program, own.fd, THREADS, &own);
}
