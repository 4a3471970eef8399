#include "web/request/method.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum http_method method;
} methods_known[] = {
	{"GET", METHOD_GET},
	{"POST", METHOD_POST},
};

unsigned int method_parse(const char *name)
{
	for (size_t i = 0; i < sizeof(methods_known) / sizeof(methods_known[0]); i++) {
		if (strcmp(methods_known[i].name, name) == 0)
			return methods_known[i].method;
	}
	return 0;
}

void methods_format(unsigned int methods, char text[METHODS_TEXT_MAX])
{
	text[0] = '\0';
	for (size_t i = 0; i < sizeof(methods_known) / sizeof(methods_known[0]); i++) {
		if (!(methods & methods_known[i].method))
			continue;
		if (text[0])
			strncat(text, ", ", METHODS_TEXT_MAX - strlen(text) - 1);
		strncat(text, methods_known[i].name, METHODS_TEXT_MAX - strlen(text) - 1);
	}
}
