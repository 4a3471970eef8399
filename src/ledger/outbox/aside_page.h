/*
 * aside_page - finds the callbacks of a dealer that are parked or held (domain/aside.h).
 */
#ifndef LEDGER_OUTBOX_ASIDE_PAGE_H
#define LEDGER_OUTBOX_ASIDE_PAGE_H

#include "base/status.h"
#include "domain/aside.h"
#include "store/store.h"
#include "store/ws.h"

/* The most callbacks that one page can have. */
#define ASIDE_PAGE_MAX 320
/* The rows that one page looks at. */
#define ASIDE_LOOK_MAX 1024

struct aside_page {
	/* Set by the caller. */
	const char *casino_id;
	bool parked_only; /* pass over those that are held */
	bool reverse;     /* the newest first */
	uint64_t after;   /* begin after this event; 0: at the first one */
	uint64_t to;      /* not above this event; 0: no bound. Only without @reverse */
	uint32_t limit;   /* events of the page, at most ASIDE_PAGE_MAX */
	/* The result. */
	uint32_t looked;
	uint32_t count;
	uint64_t events[ASIDE_PAGE_MAX];
	uint64_t last; /* the event that was looked at last; @after: none was */
	bool more;     /* there may be others after it */
};

/*
 * Reads the events of the next page and loads their callbacks into @ws, which is emptied before. The caller
 * gets each with ws_get(); one without a row is damage that `creditbridgectl check` reports. Then set @after to
 * @last, and call again while @more is set. Returns STATUS_NOMEM, or the status of a row that cannot be read.
 */
enum status aside_page_load(struct store *store, struct ws *ws, struct aside_page *page);

#endif
