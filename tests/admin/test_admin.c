/*
 * Tests the sentences of remedies in another cell than the default one.
 */
#include "admin/cell_text.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

START_TEST(files_of_other_cells)
{
	ck_assert_str_eq(cell_text_other("/etc/creditbridge/cell-b.conf", "b"), "b");
	ck_assert_str_eq(cell_text_other("cell-b.conf", "b"), "b");
	ck_assert_str_eq(cell_text_other("/etc/creditbridge/cell-b.conf", "c"), "");
	ck_assert_str_eq(cell_text_other("/etc/creditbridge/cell-.conf", ""), "");
	ck_assert_str_eq(cell_text_other("/etc/cell-b.conf/creditbridge.conf", "b"), "");
	ck_assert_str_eq(cell_text_other("/etc/creditbridge/creditbridge.conf", "a"), "");
	ck_assert_str_eq(cell_text_other(NULL, "a"), "");
}

static const struct {
	const char *text, *in_cell_b;
} sentences[] = {
	{"creditbridgectl resume", "creditbridgectl --cell b resume"},
	{"see `creditbridgectl dealer list`, then creditbridgectl check.",
		"see `creditbridgectl --cell b dealer list`, then creditbridgectl --cell b check."},
	{"systemctl status creditbridge-ledger; creditbridgectl doctor.",
		"systemctl status creditbridge-ledger@b; creditbridgectl --cell b doctor."},
	{"systemctl status creditbridge-sweep.timer",
		"systemctl status creditbridge-sweep@b.timer"},
	{"systemctl enable --now creditbridge-job.socket",
		"systemctl enable --now creditbridge-job@b.socket"},
	{"creditbridge-console and creditbridge-ping",
		"creditbridge-console@b and creditbridge-ping@b"},
	{"as a user such as _creditbridge-console, or another",
		"as a user such as _creditbridge-console, or another"},
	{"/run/creditbridge-console/b.sock and /usr/sbin/creditbridge-ledger",
		"/run/creditbridge-console/b.sock and /usr/sbin/creditbridge-ledger"},
	{"let cron start creditbridge-sweep --for 55s",
		"let cron start creditbridge-sweep --for 55s"},
	{"see creditbridge-ledger.", "see creditbridge-ledger@b."},
	{"creditbridge-ledger.conf, creditbridge-sweeper",
		"creditbridge-ledger.conf, creditbridge-sweeper"},
	/* They act in all cells, or find their cell. */
	{"creditbridgectl client add slots", "creditbridgectl client add slots"},
	{"creditbridgectl dealer move demo --to b", "creditbridgectl dealer move demo --to b"},
	{"creditbridgectl doctor --cell a; creditbridgectl check",
		"creditbridgectl doctor --cell a; creditbridgectl --cell b check"},
	/* Names that begin like a unit, units that have an instance, and a manual page. */
	{"creditbridge-ledger-edge.socket, 'creditbridge-ledger*', creditbridge-job@.service",
		"creditbridge-ledger-edge.socket, 'creditbridge-ledger*', creditbridge-job@.service"},
	{"as creditbridgectl(8) says", "as creditbridgectl(8) says"},
	{"", ""},
};

START_TEST(remedies_of_another_cell)
{
	char text[256];

	cell_text_write("b", sentences[_i].text, text, sizeof(text));
	ck_assert_str_eq(text, sentences[_i].in_cell_b);
	cell_text_write("", sentences[_i].text, text, sizeof(text));
	ck_assert_str_eq(text, sentences[_i].text);
}

/* Whatever fits, the text ends within its room. */
START_TEST(a_text_that_does_not_fit_is_cut)
{
	static const char sentence[] = "Type creditbridgectl resume, then creditbridgectl doctor.";
	static const char whole[] =
		"Type creditbridgectl --cell b resume, then creditbridgectl --cell b doctor.";
	char text[sizeof(whole) + 8];

	for (size_t size = 1; size <= sizeof(whole); size++) {
		memset(text, '#', sizeof(text));
		cell_text_write("b", sentence, text, size);
		ck_assert_uint_eq(strlen(text), size - 1);
		ck_assert_int_eq(memcmp(text, whole, size - 1), 0);
		ck_assert_int_eq(text[size], '#');
	}
}

static Suite *cell_text_suite(void)
{
	Suite *suite = suite_create("admin");
	TCase *tcase = tcase_create("cell_text");

	tcase_add_test(tcase, files_of_other_cells);
	tcase_add_loop_test(tcase, remedies_of_another_cell, 0,
		sizeof(sentences) / sizeof(sentences[0]));
	tcase_add_test(tcase, a_text_that_does_not_fit_is_cut);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(void) = {cell_text_suite, NULL};

	return tap_main(makers);
}
