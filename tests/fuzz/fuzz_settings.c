/*
 * fuzz_settings - the configuration file (base/settings.h).
 *
 * A file that is refused must leave the settings unchanged and give a reason of one line. Settings
 * that are accepted must be in their ranges, and give the same settings when they are written to a
 * file and read again.
 */
#include "fuzz_file.h"

#include "base/settings_options.h"
#include "base/text.h"

static void put_quoted(struct buffer *out, const char *text)
{
	must(text_is_utf8_clean(text, strlen(text)));
	buffer_append_str(out, "'");
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buffer_append_str(out, "\\");
		buffer_append(out, text, 1);
	}
	buffer_append_str(out, "'");
}

static void put_text(struct buffer *out, const struct option *option, const char *text)
{
	must(strlen(text) <= option->max && strlen(text) < option->size);
	buffer_printf(out, "%s = ", option->name);
	put_quoted(out, text);
	buffer_append_str(out, "\n");
}

static void put_cells(struct buffer *out, const struct settings *settings)
{
	must(settings->cell_count <= SETTINGS_CELLS_MAX);
	must(!settings->cell_count || settings->cell_name[0]);
	buffer_append_str(out, "cells = {");
	for (uint32_t i = 0; i < settings->cell_count; i++) {
		must(settings->cells[i][0] == '/');
		buffer_append_str(out, i ? ", " : "");
		put_quoted(out, settings->cells[i]);
	}
	buffer_append_str(out, "}\n");
}

static void put_networks(struct buffer *out, const struct settings *settings)
{
	must(settings->callback_network_count <= SETTINGS_NETWORKS_MAX);
	buffer_append_str(out, "callback_networks = {");
	for (uint32_t i = 0; i < settings->callback_network_count; i++) {
		const struct network *network = &settings->callback_networks[i];
		char text[NETWORK_TEXT_MAX];
		struct network again;

		must(network->prefix <= 128);
		must(network_contains(network, network->address));
		network_address_format(network->address, text);
		must(network_parse(text, &again));
		must(memcmp(again.address, network->address, sizeof(again.address)) == 0);
		buffer_printf(out, "%s\"%s/%d\"", i ? ", " : "", text,
			strchr(text, ':') ? network->prefix : network->prefix - 96);
	}
	buffer_append_str(out, "}\n");
}

static void put_option(struct buffer *out, const struct option *option,
	const struct settings *settings)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};
	const char *member = (const char *)settings + option->offset;
	uint32_t number = 0;

	if (option->type == OPTION_NUMBER || option->type == OPTION_LEVEL)
		memcpy(&number, member, sizeof(number));
	switch (option->type) {
	case OPTION_NUMBER:
		must(number >= option->min && number <= option->max);
		buffer_printf(out, "%s = %u\n", option->name, number);
		break;
	case OPTION_LEVEL:
		must(number < 4);
		buffer_printf(out, "%s = %s\n", option->name, levels[number]);
		break;
	case OPTION_NETWORKS:
		put_networks(out, settings);
		break;
	case OPTION_CELLS:
		put_cells(out, settings);
		break;
	default:
		put_text(out, option, member);
		break;
	}
}

/* The file that says what @settings hold. */
static void put_settings(struct buffer *out, const struct settings *settings)
{
	buffer_init(out, FUZZ_ROW_MAX);
	for (unsigned int i = 0; i < settings_option_count; i++)
		put_option(out, &settings_options[i], settings);
	must(!out->failed);
}

static enum status load(struct settings *settings, struct bytes text)
{
	char why[SETTINGS_WHY_MAX];
	enum status status = settings_read(settings, fuzz_file(text.data, text.len), why);

	if (status == STATUS_OK) {
		must(!why[0]);
		return status;
	}
	must(status == STATUS_CONFIG);
	must(why[0] == ':');
	must(text_is_utf8_clean(why, strlen(why)));
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size};
	struct settings settings, before, again;
	struct buffer first, second;

	memset(&before, 0x5a, sizeof(before));
	memcpy(&settings, &before, sizeof(settings));
	if (load(&settings, in) != STATUS_OK) {
		must(memcmp(&settings, &before, sizeof(settings)) == 0);
		return 0;
	}
	must(settings.callback_lease_ms > settings.callback_timeout_ms);
	put_settings(&first, &settings);
	must(load(&again, (struct bytes){first.data, (uint32_t)first.len}) == STATUS_OK);
	put_settings(&second, &again);
	fuzz_same(&second, first.data, first.len);
	buffer_free(&first);
	buffer_free(&second);
	return 0;
}
