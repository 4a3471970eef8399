#include "fcgi/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

static void signals_stopping(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGUSR1);
}

void signals_block(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t set;

	signals_stopping(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

int signals_open(void)
{
	sigset_t set;

	signals_stopping(&set);
	return signalfd(-1, &set, SFD_CLOEXEC);
}
