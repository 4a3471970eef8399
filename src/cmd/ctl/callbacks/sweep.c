/*
 * sweep - implements `sweep`: sends the callbacks that are due, as cron does. Executes
 * creditbridge-sweep.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/operator.h"
#include "admin/place.h"
#include "sweep/duration.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "creditbridge-sweep"

/* Options that are passed on. creditbridge-sweep uses the same names. */
static const struct {
	const char *name;
	enum ctl_option option;
	bool argument;
} passed[] = {
	{"--config", OPTION_CONFIG, true},
	{"--for", OPTION_FOR, true},
	{"--dry-run", OPTION_DRY_RUN, false},
	{"--json", OPTION_JSON, false},
};
#define PASSED (sizeof(passed) / sizeof(passed[0]))

/* Writes the sweeper's command line to @words, which has room for it and a final NULL. */
static void make_words(const struct ctl *ctl, const char *words[2 * PASSED + 2])
{
	size_t count = 0;

	words[count++] = PROGRAM;
	for (size_t i = 0; i < PASSED; i++) {
		const char *value = ctl->options[passed[i].option];

		if (value)
			words[count++] = passed[i].name;
		if (value && passed[i].argument)
			words[count++] = value;
	}
	words[count] = NULL;
}

/*
 * The sweeper calls dealers' servers. If the ledger's user NAME has a separate user NAME-sweep
 * for it, as Debian's package creates, root starts the sweeper as that user.
 */
static enum outcome become_sweeper(struct ctl *ctl)
{
	char owner[64], name[80], why[256];
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (geteuid() != 0 || stat(ctl->session.settings.state_directory, &st) < 0)
		return session_drop_root(&ctl->session);
	operator_user_name(st.st_uid, owner, sizeof(owner));
	snprintf(name, sizeof(name), "%s-sweep", owner);
	if (!operator_find_user(name, &uid, &gid))
		return session_drop_root(&ctl->session);
	if (!operator_become(uid, why, sizeof(why)))
		return ctl_fail(ctl, OUTCOME_NOT_PERMITTED, "not_permitted", "%s", why);
	return OUTCOME_DONE;
}

enum outcome ctl_sweep(struct ctl *ctl)
{
	const char *duration = ctl->options[OPTION_FOR];
	const char *words[2 * PASSED + 2];
	char path[PATH_MAX];
	int64_t for_ms;
	enum outcome code;

	if (duration && !duration_parse(duration, &for_ms))
		return ctl_usage(ctl, "--for takes a time such as 55s, at most a day, not '%s'",
			duration);
	code = session_settings(&ctl->session);
	if (code == OUTCOME_DONE)
		code = become_sweeper(ctl);
	if (code != OUTCOME_DONE)
		return code;
	make_words(ctl, words);
	if (place_program(PROGRAM, CREDITBRIDGE_SBINDIR, path, sizeof(path)))
		execv(path, (char *const *)(uintptr_t)words);
	return ctl_fail(ctl, OUTCOME_FAILED, "failed", "cannot run %s: %s", path, strerror(errno));
}
