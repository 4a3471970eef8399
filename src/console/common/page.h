/*
 * page - one request of a browser and the answer that is made for it, as the pages see them.
 *
 * A page is written into memory whole. If a page fails midway, what it wrote is dropped and an error
 * page takes its place.
 */
#ifndef CONSOLE_COMMON_PAGE_H
#define CONSOLE_COMMON_PAGE_H

#include "base/settings.h"
#include "base/zone.h"
#include "console/html/address.h"
#include "console/common/desk.h"
#include "console/html/html.h"
#include "console/html/params.h"
#include "console/html/token.h"
#include "fcgi/request.h"
#include "link/job_link.h"

#define PAGE_MAX          (8 * 1024 * 1024) /* bytes of a page, or of a list as CSV */
#define PAGE_ROWS         50
#define PAGE_CSV_ROWS     10000 /* of a list as CSV; of refused calls a tenth */
#define PAGE_LOOK_MAX     1024  /* a page stops after so many rows */
#define PAGE_LOOK_LEAST   256   /* after so many it stops if PAGE_LOOK_MS have passed */
#define PAGE_LOOK_MS      30
#define PAGE_CSV_LOOK_MAX 65536 /* rows that a list as CSV looks at */
#define PAGE_AGES_ROWS    10000 /* parked and held callbacks whose ages a page counts */
#define PAGE_BASE_SIZE    256
#define PAGE_COOKIES      2
#define PAGE_REMEDY_SIZE  2048

/* What all threads share. */
struct console {
	char base_path[PAGE_BASE_SIZE]; /* as text_base_path() makes it */
	/* The cell whose ledger it shows. "": the installation has only one. */
	char cell[SETTINGS_CELL_NAME_SIZE];
	char remedy_cell[SETTINGS_CELL_NAME_SIZE]; /* proposed commands name it; "": none */
	bool loopback_http;                        /* plain http is served to the loopback */
	uint64_t csv_rows;                         /* rows of a list as CSV: PAGE_CSV_ROWS */
	uint64_t ages_rows;          /* callbacks whose ages are counted: PAGE_AGES_ROWS */
	struct page_rate *page_rate; /* NULL: any number of pages */
	bool audit_views;            /* views of pages are recorded in the audit */
	int64_t sweep_overdue_ms;    /* the sweeper is reported missing after this time */
	const struct desk_way *way;
	void *(*open_way)(void *closure); /* makes the way's context for a thread */
	void (*close_way)(void *context);
	void *way_closure;
	const char *jobs_path; /* of jobs.sock; NULL: no jobs */
};

/* One link of the path that the navigation shows above a page, such as "Dealers / demo" (places.h). */
struct page_step {
	struct page_address to;
	char text[EXTERNAL_ID_SIZE];
};
#define PAGE_STEPS 4 /* section, dealer, player, round */

enum zone_choice { CHOICE_UTC, CHOICE_DEALER, CHOICE_OFFSET };

struct page {
	const struct console *console;
	struct console_desk desk;
	/* of the request */
	const struct http_request *request;
	const struct console_route *route;
	bool post;
	bool secure;     /* the browser uses TLS */
	uint64_t number; /* of a path that ends in one: /bets/17 */
	struct params query;
	struct params form;
	struct desk_identity who;
	enum zone_choice choice;
	struct zone zone; /* of the times on this page */
	int64_t now_ms;
	char request_id[32];
	/* of the answer */
	int code;
	const char *content_type;
	struct page_address location; /* "": none */
	char cookies[PAGE_COOKIES][256];
	bool clear_site;
	bool kept;           /* an asset: a browser may keep it for ever */
	char file_name[128]; /* under which a browser saves the answer; "": it shows it */
	struct job_link job; /* under way for this page (job.h) */
	bool streams;        /* the answer goes on with what the job writes */
	char token[TOKEN_SIZE];
	const char *section; /* to which the page belongs; NULL: that of its path */
	unsigned int step_count;
	struct page_step steps[PAGE_STEPS];
	char remedy[PAGE_REMEDY_SIZE]; /* of page_remedy() */
	struct html html;
	struct buffer body;
	struct buffer head;
};

/* Writes the head of the document, the navigation and the heading. @title is also the heading. */
void page_begin(struct page *page, const char *title);
/* As page_begin(), with the text of a foreign id after the title. */
void page_begin_id(struct page *page, const char *title, const char *id);
/* Ends the document. Returns OUTCOME_DONE. */
enum outcome page_end(struct page *page);

/* Begins the address of the console's page @path. */
struct page_address page_address(const struct page *page, const char *path);
/* Writes a link with a text, which may be foreign. */
void page_link(struct page *page, const struct page_address *address, const char *text);
/* Answers with a redirection (303). Returns OUTCOME_DONE. */
enum outcome page_go(struct page *page, const struct page_address *address);

/* Opens a form that is sent by POST, with its token; html_close() closes it. */
void page_form(struct page *page, const struct page_address *action);
/* Writes a hidden input; the form gets back exactly @value. */
void page_hidden(struct page *page, const char *name, const char *value);
/* Writes a labelled input of one line with the value. */
void page_input(struct page *page, const char *label, const char *name, const char *value);
/* An input of a filter: its label, and the name of its parameter. */
struct page_filter_input {
	const char *label, *name;
};
/* Opens the form of the page's filter, with these inputs and their values; html_close() closes it. */
void page_filter(struct page *page, const struct page_filter_input *inputs, size_t count);
/* Writes a labelled choice of @names; "" is any. */
void page_select(struct page *page, const char *label, const char *name, const char *const *names,
	unsigned int count, const char *value);
void page_button(struct page *page, const char *text);
/* A button of a form whose answer is a file: the page stays, and the script lets the form be sent again. */
void page_button_again(struct page *page, const char *text);
/*
 * Writes the links below a list: to its next page (@list with the parameter "after"; @after "": it has none, and @list may be
 * NULL), and to the list as CSV.
 */
void page_pager(struct page *page, const struct page_address *list, const char *after,
	const struct page_address *csv);
/* As page_pager(), for a list whose rows have numbers. @after 0: there is no next page. */
void page_pager_number(struct page *page, const struct page_address *list, uint64_t after,
	const struct page_address *csv);
/* Writes an id with a button that copies it. */
void page_id(struct page *page, const char *id);
/* Writes a button that copies @copied. Without the script it does nothing, so the script shows it. */
void page_copy(struct page *page, const char *copied, const char *text);
/*
 * Returns @text, a sentence of the console's own, with the commands and units of the cell that the console shows
 * (admin/cell_text.h). It is valid until the next call.
 */
const char *page_remedy(struct page *page, const char *text);
/* Writes a paragraph: page_remedy() of @text. */
void page_paragraph(struct page *page, const char *text);
/* As page_paragraph(), for what is wrong. */
void page_error_line(struct page *page, const char *text);
/* Writes text with its line breaks, in a box that scrolls. @label: its name, or NULL. */
void page_pre(struct page *page, const void *text, size_t len, const char *label);

/* Writes a time in the zone of the page. */
void page_time(struct page *page, int64_t time_ms);
/* Times of the rest of the page are of this dealer, if the operator chose the dealers' zones. */
void page_dealer_zone(struct page *page, int32_t utc_offset_min);

/* Reads an offset, "+07:00" or "-14:00" at most. Returns false for any other text. */
bool page_read_offset(const char *text, struct zone *zone);

/*
 * Makes the whole answer an error page with the status @code. @what: what happened; @where: what was
 * looked at, or what to do. Returns OUTCOME_DONE.
 */
enum outcome page_error(struct page *page, int code, const char *what, const char *where);
/* As page_error(), for the failure that the session holds. */
enum outcome page_failure(struct page *page, enum outcome code);

/* Returns true if the operator's role is at least @least. Otherwise answers with 403. */
bool page_may(struct page *page, enum role least);

/* Returns the value of a variable of the web server, or "". */
const char *page_variable(const struct http_variable *variable);

#endif
