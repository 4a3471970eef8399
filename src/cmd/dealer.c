/*
 * creditbridge-dealer.fcgi - the reference dealer. See dealer_run.h.
 */
#include "cmd/dealer_run.h"

int main(int argc, char **argv)
{
	return dealer_run(argc, argv, NULL);
}
