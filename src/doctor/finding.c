/*
 * finding - builds the findings of a check and their remedies.
 */
#include "doctor/doctor.h"

#include "admin/cell_text.h"
#include "wire/dealer_answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void write_clean(char *to, size_t size, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));
static void write_clean(char *to, size_t size, const char *format, va_list arguments)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, arguments);
	dealer_answer_quote(to, size, text);
}

void doctor_about(struct doctor *doctor, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_clean(doctor->about, sizeof(doctor->about), format, arguments);
	va_end(arguments);
}

void doctor_add(struct doctor *doctor, enum doctor_result result, const char *format, ...)
{
	struct doctor_sheet *sheet = doctor->sheet;
	struct finding *finding = &sheet->findings[sheet->count];
	va_list arguments;

	if (sheet->count == DOCTOR_FINDINGS_MAX) {
		sheet->dropped[result]++;
		return;
	}
	memset(finding, 0, sizeof(*finding));
	finding->result = result;
	snprintf(finding->check, sizeof(finding->check), "%s", doctor->check->name);
	snprintf(finding->purpose, sizeof(finding->purpose), "%s", doctor->check->purpose);
	snprintf(finding->about, sizeof(finding->about), "%s", doctor->about);
	va_start(arguments, format);
	write_clean(finding->found, sizeof(finding->found), format, arguments);
	va_end(arguments);
	/*
	 * The process may be killed at any instruction, so a finding must be complete before it
	 * is counted.
	 */
	__atomic_store_n(&sheet->count, sheet->count + 1, __ATOMIC_RELEASE);
}

uint32_t doctor_dropped(const struct doctor_sheet *sheet)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < DOCTOR_RESULT_COUNT; i++)
		sum += sheet->dropped[i];
	return sum;
}

void doctor_remedy(struct doctor *doctor, const char *format, ...)
{
	struct doctor_sheet *sheet = doctor->sheet;
	char text[sizeof(sheet->findings[0].remedy)];
	const char *cell = "";
	struct finding *last;
	va_list arguments;

	/* The last finding was only counted and has no remedy. */
	if (!sheet->count || doctor_dropped(sheet))
		return;
	last = &sheet->findings[sheet->count - 1];
	va_start(arguments, format);
	write_clean(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (*doctor->settings_loaded)
		cell = cell_text_other(doctor->options->config, doctor->settings->cell_name);
	cell_text_write(cell, text, last->remedy, sizeof(last->remedy));
}

void doctor_unseen(struct doctor *doctor, const char *path, int error, const char *remedy)
{
	if (error == EACCES || error == EPERM) {
		doctor_skip(doctor, "%s may not be looked at by this user", path);
		doctor_remedy(doctor, "call doctor as root");
		return;
	}
	doctor_fail(doctor, "%s: %s", path, strerror(error));
	doctor_remedy(doctor, "%s", remedy);
}

const char *doctor_config(const struct doctor *doctor)
{
	const char *path = doctor->options->config;

	return path ? path : SETTINGS_DEFAULT_FILE;
}

void doctor_path(char path[DOCTOR_PATH_MAX], const char *directory, const char *name)
{
	snprintf(path, DOCTOR_PATH_MAX, "%s/%s", directory, name);
}
