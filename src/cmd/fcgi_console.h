/* fcgi_console - the group "console" of creditbridge.fcgi: the web console of operators. */
#ifndef CMD_FCGI_CONSOLE_H
#define CMD_FCGI_CONSOLE_H

#include "base/settings.h"
#include "fcgi/socket.h"

#include <stdbool.h>

#define FCGI_CONSOLE_GROUP "console"

struct fcgi_console {
	const struct settings *settings;
	const char *config;            /* the file that the settings were read from */
	const char *base_path;         /* as text_base_path() makes it */
	unsigned int threads;          /* requests served at a time */
	bool loopback_http;            /* plain http is served to the loopback */
	int fd;                        /* the listening socket, if @own is NULL */
	const struct fcgi_socket *own; /* the socket of --socket; NULL: there is none */
};

/* Serves until the process is stopped. Returns the exit code of the process. */
int fcgi_console_run(const struct fcgi_console *arguments);

#endif
