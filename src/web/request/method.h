/*
 * method - the HTTP methods that routes take.
 */
#ifndef WEB_REQUEST_METHOD_H
#define WEB_REQUEST_METHOD_H

#include "wire/operations.h"

/* Holds any list of methods for Allow. */
#define METHODS_TEXT_MAX 32

/* The bit of the method called @name (case matters); 0: none that a route takes. */
unsigned int method_parse(const char *name);

/* Writes @methods as the value of Allow: "GET, POST". */
void methods_format(unsigned int methods, char text[METHODS_TEXT_MAX]);

#endif
