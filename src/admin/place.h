/*
 * place - directories on the command line, and whose they are; where our other programs are.
 */
#ifndef ADMIN_PLACE_H
#define ADMIN_PLACE_H

#include "admin/session.h"

#include <sys/types.h>

/*
 * The absolute name of a directory, which need not be there, for a process with another working
 * directory. A failure is reported.
 */
enum outcome place_absolute(struct session *session, const char *text, char *path, size_t size);

/*
 * As root: makes the directory for @uid, since its parent may be root's alone, or gives it away when
 * it is root's own and empty. As anybody else: nothing. A failure is reported.
 */
enum outcome place_give(struct session *session, const char *path, uid_t uid);

/*
 * Tells in @path where the program @name is: beside this one, which is where a build leaves all of
 * them, or in @directory, where it belongs. False: it is in neither, see errno.
 */
bool place_program(const char *name, const char *directory, char *path, size_t size);

#endif
