#include "callback/curl_library.h"

#include "base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct curl_library curl_library;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

static const struct {
	const char *name;
	size_t at; /* of the pointer in struct curl_library */
} functions[] = {
#define CURL_ROW(name) {"curl_" #name, offsetof(struct curl_library, name)},
	CURL_FUNCTIONS(CURL_ROW)
#undef CURL_ROW
};

/* Fills the table from the library. Returns false if a function is absent; dlerror() has the reason. */
static bool find_functions(void *library)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return false;
		memcpy((char *)&curl_library + functions[i].at, &function, sizeof(function));
	}
	return true;
}

static bool load_and_init(void)
{
	void *library = dlopen(CURL_LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);

	if (!library || !find_functions(library)) {
		log_line(LOG_LEVEL_ERROR, "no_libcurl", "dealers cannot be called: %s", dlerror());
		return false;
	}
	if (curl_library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return true;
	log_line(LOG_LEVEL_ERROR, "no_libcurl",
		"dealers cannot be called: libcurl cannot begin its work");
	return false;
}

bool curl_library_load(void)
{
	bool done;

	pthread_mutex_lock(&mutex);
	loaded = loaded || load_and_init();
	done = loaded;
	pthread_mutex_unlock(&mutex);
	return done;
}
