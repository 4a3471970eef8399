/*
 * exit - linked into everything that coverage.sh builds: _exit() ends the ledger's engine
 * and other children, and would leave their counters unwritten.
 */
#include <unistd.h>

void __gcov_dump(void);
void __real__exit(int code) __attribute__((noreturn));
void __wrap__exit(int code) __attribute__((noreturn));

void __wrap__exit(int code)
{
	__gcov_dump();
	__real__exit(code);
}
