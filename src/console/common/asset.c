#include "console/common/asset.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* Includes a file of CONSOLE_ASSETS, which is src/console, as bytes. */
#define ASSET_FILE(symbol, file)                                                                   \
	__asm__(".section .rodata\n"                                                               \
		".global " #symbol "\n" #symbol ":\n"                                              \
		".incbin \"" CONSOLE_ASSETS "/" file "\"\n"                                        \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char symbol[]

ASSET_FILE(console_asset_style, "console.css");
ASSET_FILE(console_asset_script, "console.js");
ASSET_FILE(console_asset_icon, "console.svg");

static const struct {
	const char *name, *type, *text;
} assets[ASSET_COUNT] = {
	[ASSET_STYLE] = {"console.css", "text/css; charset=utf-8", console_asset_style},
	[ASSET_ICON] = {"console.svg", "image/svg+xml", console_asset_icon},
	[ASSET_SCRIPT] = {"console.js", "text/javascript; charset=utf-8", console_asset_script},
};
static char paths[ASSET_COUNT][48];

void asset_init(void)
{
	for (unsigned int i = 0; i < ASSET_COUNT; i++)
		snprintf(paths[i], sizeof(paths[i]), "/s/%s.%08x", assets[i].name,
			(unsigned int)text_hash(assets[i].text));
}

const char *asset_path(enum asset asset)
{
	return paths[asset];
}

bool asset_serve(struct page *page, const char *path)
{
	for (unsigned int i = 0; i < ASSET_COUNT; i++) {
		if (strcmp(paths[i], path) != 0)
			continue;
		page->code = 200;
		page->content_type = assets[i].type;
		page->kept = true;
		buffer_append_str(&page->body, assets[i].text);
		return true;
	}
	return false;
}
