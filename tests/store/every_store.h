/* every_store - cases of store.h for every store. */
#ifndef TESTS_STORE_EVERY_STORE_H
#define TESTS_STORE_EVERY_STORE_H

#include "store/store.h"

#include <check.h>

/* The store of the case, and its working set. The program defines them. */
extern struct store *store;
extern struct ws ws;
void open_kind(int kind);
void close_kind(void);
/* Removes what the case leaves outside its process, which is about to end by a signal. */
void leave_kind(void);

struct player make_player(const char *user, money_t balance);
void save_player(const char *user, money_t balance);
const struct player *load_player(const char *user);

/* The cases, for each kind from 0 to @kinds - 1. */
TCase *every_store_cases(int kinds);

#endif
