/*
 * curl_library - libcurl, loaded when the first client or URL needs it.
 *
 * libcurl loads nineteen other libraries. A worker of the wallet and most commands of creditbridgectl call no
 * dealer; without libcurl a command starts in about half the time, and a worker needs a third less memory.
 * The functions of libcurl are called as curl_library.NAME(). The checks of types that curl.h has for
 * curl_easy_setopt() do not see such a call: a number must be a long, or a curl_off_t where the manual says so.
 */
#ifndef CALLBACK_CURL_LIBRARY_H
#define CALLBACK_CURL_LIBRARY_H

#include <curl/curl.h>

#include <stdbool.h>

/* The functions that we call, without their prefix curl_. */
#define CURL_FUNCTIONS(FUNCTION)                                                                   \
	FUNCTION(easy_cleanup)                                                                     \
	FUNCTION(easy_getinfo)                                                                     \
	FUNCTION(easy_init)                                                                        \
	FUNCTION(easy_pause)                                                                       \
	FUNCTION(easy_reset)                                                                       \
	FUNCTION(easy_setopt)                                                                      \
	FUNCTION(easy_strerror)                                                                    \
	FUNCTION(free)                                                                             \
	FUNCTION(global_init)                                                                      \
	FUNCTION(multi_add_handle)                                                                 \
	FUNCTION(multi_cleanup)                                                                    \
	FUNCTION(multi_info_read)                                                                  \
	FUNCTION(multi_init)                                                                       \
	FUNCTION(multi_perform)                                                                    \
	FUNCTION(multi_poll)                                                                       \
	FUNCTION(multi_remove_handle)                                                              \
	FUNCTION(multi_setopt)                                                                     \
	FUNCTION(slist_append)                                                                     \
	FUNCTION(slist_free_all)                                                                   \
	FUNCTION(url)                                                                              \
	FUNCTION(url_cleanup)                                                                      \
	FUNCTION(url_get)                                                                          \
	FUNCTION(url_set)

struct curl_library {
#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
	CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* Set by curl_library_load(). */
extern struct curl_library curl_library;

/*
 * Loads libcurl, once in a process; may be called by any thread, and again after a failure. Returns false if
 * it cannot be loaded. The log has the reason.
 */
bool curl_library_load(void);

#endif
