#include "cmd/ctl/dealers/dealer_settings.h"

#include "base/text.h"
#include "callback/http.h"
#include "domain/callback.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting_kind {
	SETTING_CURRENCY,
	SETTING_NAME,
	SETTING_NUMBER,
	SETTING_PATH,
	SETTING_TEXT,
	SETTING_YES_NO
};

struct setting {
	enum ctl_option option;
	const char *name;
	const char *member; /* in dealer_fields */
	enum dealer_member bit;
	enum setting_kind kind;
	long min;
	long max;
	const char *standard; /* the default; NULL: `dealer add` requires the option */
};

static const struct setting settings[] = {
#define DEALER_SETTING(option, name, argument, help, member, kind, min, max, standard)             \
	{OPTION_##option, name, #member, DEALER_##option, SETTING_##kind, min, max, standard},
#include "cmd/ctl/common/dealer_settings.def"
#undef DEALER_SETTING
};
#define SETTING_COUNT (sizeof(settings) / sizeof(settings[0]))

static bool set_currency(const char *text, const struct field *field, char *member)
{
	size_t len = strlen(text);

	memset(member, 0, field->size);
	return len >= 2 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") == len &&
		text_copy(member, field->size, text);
}

static bool set_text_member(const char *text, const struct field *field, char *member)
{
	memset(member, 0, field->size);
	return text_is_utf8_clean(text, strlen(text)) && text_copy(member, field->size, text);
}

static bool set_name(const char *text, const struct field *field, void *member)
{
	for (unsigned int i = 0; i < field->count; i++) {
		if (strcmp(field->names[i], text) == 0) {
			memcpy(member, &i, sizeof(i));
			return true;
		}
	}
	return false;
}

static bool set_number_member(const struct setting *setting, const char *text,
	const struct field *field, void *member)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text || *end || number < setting->min || number > setting->max)
		return false;
	field_store_number(member, field->size, (uint64_t)number);
	return true;
}

static bool set_yes_no(const char *text, bool *member)
{
	*member = !text[0] || strcmp(text, "yes") == 0;
	return *member || strcmp(text, "no") == 0;
}

static bool set_member(const struct setting *setting, const char *text, struct dealer *dealer)
{
	const struct field *field = field_find(dealer_fields, setting->member);
	uint8_t *member = (uint8_t *)dealer + field->offset;

	switch (setting->kind) {
	case SETTING_CURRENCY:
		return set_currency(text, field, (char *)member);
	case SETTING_TEXT:
		return set_text_member(text, field, (char *)member);
	case SETTING_PATH:
		return (!text[0] || callback_path_ok(text)) &&
			set_text_member(text, field, (char *)member);
	case SETTING_NAME:
		return set_name(text, field, member);
	case SETTING_NUMBER:
		return set_number_member(setting, text, field, member);
	case SETTING_YES_NO:
		return set_yes_no(text, (bool *)member);
	}
	return false;
}

static enum outcome refuse_currency(struct ctl *ctl, const char *text, const struct field *field)
{
	char lower[sizeof(((struct dealer *)NULL)->currency)] = "", taken[sizeof(lower)];

	for (size_t i = 0; i < sizeof(lower) - 1 && text[i]; i++)
		lower[i] = (char)tolower((unsigned char)text[i]);
	if (strlen(text) < sizeof(lower) && set_currency(lower, field, taken))
		return ctl_usage(ctl,
			"--currency does not take '%s': currency codes are lower case: %s", text,
			lower);
	return ctl_usage(ctl, "--currency takes 2 to %zu of a-z and 0-9, such as thb; not '%s'",
		sizeof(lower) - 1, text);
}

static enum outcome refuse_setting(struct ctl *ctl, const struct setting *setting, const char *text)
{
	const struct field *field = field_find(dealer_fields, setting->member);
	char names[128] = "";
	size_t len = 0;

	if (setting->kind == SETTING_CURRENCY)
		return refuse_currency(ctl, text, field);
	if (setting->kind == SETTING_YES_NO)
		return ctl_usage(ctl, "--%s takes yes or no, not '%s'", setting->name, text);
	if (setting->kind == SETTING_PATH)
		return ctl_usage(ctl,
			"--%s takes a slash and printable ASCII without ? # \\ and "
			"dots between slashes, not '%s'",
			setting->name, text);
	if (setting->kind == SETTING_NUMBER)
		return ctl_usage(ctl, "--%s takes a number from %ld to %ld, not '%s'",
			setting->name, setting->min, setting->max, text);
	for (unsigned int i = 0; setting->kind == SETTING_NAME && i < field->count; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", field->names[i]);
	if (names[0])
		return ctl_usage(ctl, "--%s takes one of:%s; not '%s'", setting->name, names, text);
	return ctl_usage(ctl,
		"--%s takes at most %zu bytes of UTF-8 without control characters, not '%s'",
		setting->name, (size_t)field->size - 1, text);
}

enum outcome dealer_settings_apply(struct ctl *ctl, bool create, struct dealer *dealer,
	uint32_t *mask)
{
	char why[128];

	*mask = 0;
	for (unsigned int i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];
		const char *text = ctl->options[setting->option];

		if (text)
			*mask |= UINT32_C(1) << setting->bit;
		else if (create)
			text = setting->standard;
		if (!text && create)
			return ctl_usage(ctl, "--%s must be given", setting->name);
		if (text && !set_member(setting, text, dealer))
			return refuse_setting(ctl, setting, text);
	}
	if (dealer->url[0] && !http_url_check(dealer->url, dealer->allow_http, why, sizeof(why)))
		return ctl_usage(ctl, "'%s' cannot be the dealer's URL: %s", dealer->url, why);
	return OUTCOME_DONE;
}
