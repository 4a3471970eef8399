/*
 * job - has creditbridgectl do for a page what needs keys or a long read (link/jobs.h).
 *
 * The console passes on the front secret and the session of the request. creditbridgectl has the ledger
 * confirm them, and decides by the role.
 */
#ifndef CONSOLE_COMMON_JOB_H
#define CONSOLE_COMMON_JOB_H

#include "console/common/page.h"

#define JOB_HOW_TO_SERVE                                                                           \
	"To let the console run this by itself, type on the ledger's host, as root: systemctl "    \
	"enable --now creditbridge-job.socket. Without systemd, keep creditbridgectl job --listen running."

/*
 * Runs @request, whose job and arguments are set, and appends all that it writes to @out. Returns true if
 * the command ended by itself: see end->exit_code. Otherwise end->detail says why not, and what to do.
 */
bool job_try(struct page *page, struct job_request *request, struct buffer *out,
	struct job_end *end);
/* As job_try(). Returns false after the page was made. */
bool job_collect(struct page *page, struct job_request *request, struct buffer *out,
	struct job_end *end);
/*
 * Answers with what @request writes, as CSV that a browser saves as @name. A job that fails before it has
 * written anything gets an error page.
 */
enum outcome job_download(struct page *page, struct job_request *request, const char *name);
/*
 * Puts the next part of the download into page->body. Returns false after the last one; sets *@cut if it
 * is not complete.
 */
bool job_more(struct page *page, bool *cut);

/* Makes the error page of a command that ended with @end. */
enum outcome job_failed(struct page *page, const struct job_end *end);

#endif
