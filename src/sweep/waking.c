#include "sweep/waking.h"

#include "base/clock.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The limit of the call that connects. The sweeper's other calls report a ledger that is away. */
#define CONNECT_MS 1000

bool waking_open(struct waking *waking, const char *path, const sigset_t *stop)
{
	*waking = (struct waking){.signals = -1};
	if (stop)
		waking->signals = signalfd(-1, stop, SFD_CLOEXEC | SFD_NONBLOCK);
	return link_init(&waking->link, path);
}

void waking_close(struct waking *waking)
{
	link_close(&waking->link);
	if (waking->signals >= 0)
		close(waking->signals);
	waking->signals = -1;
}

void waking_arm(struct waking *waking, int64_t now_ms)
{
	const struct callback_wait_cmd wait = {.unused = false};
	const struct callback_find_cmd find = {.most = 1};
	struct callback_find_result found;

	waking->woken = false;
	if (waking->armed || now_ms < waking->ignore_ms)
		return;
	/* A post does not connect. */
	if (waking->link.fd < 0 &&
		link_call(&waking->link, COMMAND_CALLBACK_FIND, &find, &found,
			now_ms + CONNECT_MS) != STATUS_OK)
		return;
	waking->armed = link_post(&waking->link, COMMAND_CALLBACK_WAIT, &wait);
}

void waking_ignore(struct waking *waking, int64_t until_ms)
{
	waking->ignore_ms = until_ms;
}

void waking_look(struct waking *waking)
{
	if (!waking->armed || !link_post_ended(&waking->link))
		return;
	waking->armed = false;
	waking->woken = clock_boot_ms() >= waking->ignore_ms;
}

int waking_fd(const struct waking *waking)
{
	return waking->armed ? waking->link.fd : -1;
}

void waking_sleep(struct waking *waking, int64_t ms)
{
	struct pollfd fds[] = {{.fd = waking->link.fd, .events = POLLIN},
		{.fd = waking->signals, .events = POLLIN}};

	poll(fds, 2, (int)ms);
}
