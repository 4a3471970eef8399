/*
 * place - directories named on the command line and their owners; paths of the other programs.
 */
#ifndef ADMIN_PLACE_H
#define ADMIN_PLACE_H

#include "admin/session.h"

#include <sys/types.h>

/*
 * Writes the absolute path of the directory @text to @path, for a process with another working
 * directory. The directory need not exist, but its parent must. Reports a failure.
 */
enum outcome place_absolute(struct session *session, const char *text, char *path, size_t size);

/*
 * Run as root: creates the directory for @uid, because only root may be able to write to its
 * parent. If it exists, is empty and belongs to root, changes its owner to @uid. Does nothing for
 * other users. Reports a failure.
 */
enum outcome place_give(struct session *session, const char *path, uid_t uid);

/*
 * Writes the path of the program @name to @path. Looks beside this program, where a build puts
 * all of them, then in @directory, where it is installed. Returns false with errno if neither has
 * it.
 */
bool place_program(const char *name, const char *directory, char *path, size_t size);

#endif
