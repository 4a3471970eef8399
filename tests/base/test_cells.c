#include "suites.h"

#include "base/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES 3

static char directory[64];
static char paths[FILES][96];

static void make_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/creditbridge-cells-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	for (int i = 0; i < FILES; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%d.conf", directory, i);
}

static void remove_directory(void)
{
	for (int i = 0; i < FILES; i++)
		unlink(paths[i]);
	rmdir(directory);
}

/*
 * Writes @texts to the files, where %1 and %2 stand for the paths of the second and third one, and loads
 * the cells of the first one. Returns the error without its newline.
 */
static const char *load(const char *const texts[FILES], struct cell_list *list, enum status *status)
{
	static char message[8192];
	struct settings own;
	FILE *errors;

	for (int i = 0; i < FILES; i++) {
		FILE *file = fopen(paths[i], "w");

		ck_assert_ptr_nonnull(file);
		for (const char *at = texts[i] ? texts[i] : ""; *at; at++) {
			if (at[0] == '%')
				fputs(paths[*++at - '0'], file);
			else
				fputc(*at, file);
		}
		ck_assert_int_eq(fclose(file), 0);
	}
	ck_assert_int_eq(settings_load(&own, paths[0], stderr), STATUS_OK);
	memset(message, 0, sizeof(message));
	errors = fmemopen(message, sizeof(message), "w");
	*status = cells_load(&own, paths[0], list, NULL, errors);
	fclose(errors);
	message[strcspn(message, "\n")] = '\0';
	return message;
}

START_TEST(one_file_is_one_cell)
{
	static const char *const texts[FILES] = {"ledger_number = 3 socket_directory = /run/a"};
	static struct cell_list list;
	enum status status;

	ck_assert_str_eq(load(texts, &list, &status), "");
	ck_assert_int_eq(status, STATUS_OK);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.cells[0].name, "");
	ck_assert_uint_eq(list.cells[0].ledger_number, 3);
	ck_assert_str_eq(list.cells[0].path, paths[0]);
	ck_assert_str_eq(list.cells[0].socket_directory, "/run/a");
}
END_TEST

START_TEST(cells_are_found_by_name_and_id)
{
	/* The cells of a listed file are ignored, whatever they are. */
	static const char *const texts[FILES] = {"cell_name = a cells = {\"%1\"} cells += {\"%2\"}",
		"cell_name = b ledger_number = 1 socket_directory = /run/b cells = {/nowhere}",
		"cell_name = c ledger_number = 15 socket_directory = /run/c"};
	static struct cell_list list;
	enum status status;

	ck_assert_str_eq(load(texts, &list, &status), "");
	ck_assert_int_eq(status, STATUS_OK);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_str_eq(list.cells[2].path, paths[2]);
	ck_assert_str_eq(list.cells[1].socket_directory, "/run/b");
	ck_assert_ptr_eq(cells_named(&list, "c"), &list.cells[2]);
	ck_assert_ptr_null(cells_named(&list, "d"));
	ck_assert_ptr_eq(cells_of_id(&list, 160), &list.cells[0]);
	ck_assert_ptr_eq(cells_of_id(&list, 161), &list.cells[1]);
	ck_assert_ptr_eq(cells_of_id(&list, 175), &list.cells[2]);
	ck_assert_ptr_null(cells_of_id(&list, 162));
}
END_TEST

static const struct {
	const char *texts[FILES];
	int file; /* that is named */
	const char *message;
	enum status status;
} refusals[] = {
	{{"cell_name = a cells = {\"%1\"}", "ledger_number = 1"}, 1, "cell_name is not set",
		STATUS_CONFIG},
	{{"cell_name = a cells = {\"%1\"}", "cell_name = a ledger_number = 1"}, 1,
		"give each cell a name of its own", STATUS_CONFIG},
	{{"cell_name = a cells = {\"%1\", \"%1\"}",
		 "cell_name = b ledger_number = 1 socket_directory = /b"},
		1, "cell_name \"b\" is that of", STATUS_CONFIG},
	{{"cell_name = a cells = {\"%1\", \"%2\"}",
		 "cell_name = b ledger_number = 1 socket_directory = /b",
		 "cell_name = c ledger_number = 1 socket_directory = /c"},
		2, "set another one from 0 to 15", STATUS_CONFIG},
	{{"cell_name = a cells = {\"%1\"}", "cell_name = b ledger_number = 1"}, 1,
		"give each cell a directory of its own", STATUS_CONFIG},
	{{"cell_name = a cells = {\"%1\"}", "\nledger_number = 16"}, 1,
		":2: ledger_number must be a whole number from 0 to 15", STATUS_CONFIG},
};

START_TEST(refuses_with_the_remedy)
{
	static struct cell_list list;
	enum status status;
	const char *message = load(refusals[_i].texts, &list, &status);
	const char *path = paths[refusals[_i].file];

	ck_assert_msg(strncmp(message, path, strlen(path)) == 0, "%s", message);
	ck_assert_msg(strstr(message, refusals[_i].message) != NULL, "%s", message);
	ck_assert_int_eq(status, refusals[_i].status);
}
END_TEST

START_TEST(a_missing_file_is_named)
{
	static const char *const texts[FILES] = {"cell_name = a cells = {/nowhere/b.conf}"};
	static struct cell_list list;
	enum status status;

	ck_assert_str_eq(load(texts, &list, &status),
		"/nowhere/b.conf:1: No such file or directory");
	ck_assert_int_eq(status, STATUS_NOT_FOUND);
}
END_TEST

Suite *cells_suite(void)
{
	const TTest *const tests[] = {one_file_is_one_cell, cells_are_found_by_name_and_id,
		a_missing_file_is_named, NULL};
	Suite *suite = suite_create("cells");
	TCase *tcase = tcase_create("cells");

	tcase_add_checked_fixture(tcase, make_directory, remove_directory);
	for (size_t i = 0; tests[i]; i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_loop_test(tcase, refuses_with_the_remedy, 0,
		(int)(sizeof(refusals) / sizeof(refusals[0])));
	suite_add_tcase(suite, tcase);
	return suite;
}
