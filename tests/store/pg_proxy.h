/* pg_proxy - a process between libpq and the server, which breaks connections on request. */
#ifndef TESTS_STORE_PG_PROXY_H
#define TESTS_STORE_PG_PROXY_H

enum proxy_cut {
	PROXY_FORWARDS,
	PROXY_CUTS_REQUEST, /* the next bytes of the client do not reach the server */
	PROXY_CUTS_ANSWER,  /* they reach it, and its answer does not reach the client */
};

/* Starts it for the server whose socket is in @directory. Returns its own connection string. */
const char *pg_proxy_start(const char *directory);
void pg_proxy_stop(void);

/* Cuts @times connections, each when the client sends its next bytes; connecting does not count. */
void pg_proxy_cut(enum proxy_cut cut, unsigned int times);

#endif
