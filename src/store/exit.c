#include "store/exit.h"

#include <stddef.h>

const char *store_exit_text(int code)
{
	switch (code) {
	case STORE_EXIT_LOST:
		return "the database cannot continue";
	case STORE_EXIT_FULL:
		return "the disk is full";
	case STORE_EXIT_IO:
		return "the disk failed";
	case STORE_EXIT_DAMAGED:
		return "the data is damaged";
	default:
		return NULL;
	}
}
