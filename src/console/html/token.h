/*
 * token - the token by which a form proves that this console made it for this session (CSRF).
 *
 * It is the digest of the session's secret, masked by random bytes anew in each answer, so that a
 * compressed answer betrays nothing of it.
 */
#ifndef CONSOLE_HTML_TOKEN_H
#define CONSOLE_HTML_TOKEN_H

#include <stdbool.h>

#define TOKEN_SIZE 129 /* 32 random bytes and 32 masked bytes, as hex characters */

/* Makes a token for the session. Returns false if there is no randomness or no memory. */
bool token_make(const char *session, char token[TOKEN_SIZE]);
/* Returns true if @token was made for the session. The comparison takes the same time wherever the tokens differ. */
bool token_check(const char *session, const char *token);

#endif
