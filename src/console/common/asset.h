/*
 * asset - the style sheet, the script and the icon, which are in the program. Their addresses have a hash of
 * their content (/s/console.css.1a2b3c4d), so that browsers may keep them for ever.
 */
#ifndef CONSOLE_COMMON_ASSET_H
#define CONSOLE_COMMON_ASSET_H

#include "console/common/page.h"

enum asset { ASSET_STYLE, ASSET_SCRIPT, ASSET_ICON, ASSET_COUNT };

/* Computes the hashes. Call it once, before threads start. */
void asset_init(void);
/* Returns the path of an asset below the base path. */
const char *asset_path(enum asset asset);
/* Answers with the asset at @path. Returns false if there is none. */
bool asset_serve(struct page *page, const char *path);

#endif
