#include "suites.h"

#include "base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void make_file(void)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/creditbridge-settings-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void remove_file(void)
{
	unlink(path);
}

/* Loads @text. Returns the text written to the error stream without the file's name. */
static const char *load(const char *text, size_t len, struct settings *settings,
	enum status *status)
{
	static char message[8192];
	FILE *file = fopen(path, "w");
	FILE *errors = tmpfile();
	size_t read;

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(errors);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
	*status = settings_load(settings, path, errors);
	rewind(errors);
	read = fread(message, 1, sizeof(message) - 1, errors);
	message[read] = '\0';
	fclose(errors);
	if (!read)
		return "";
	ck_assert_int_eq(strncmp(message, path, strlen(path)), 0);
	return message + strlen(path);
}

#define NETWORKS                                                                                   \
	": callback_networks must be a list of at most 32 networks such as \"10.0.0.0/8\" or "     \
	"\"fd00::/8\"\n"

START_TEST(defaults)
{
	struct settings s;

	settings_defaults(&s);
	ck_assert_str_eq(s.state_directory, "/var/lib/creditbridge");
	ck_assert_str_eq(s.socket_directory, "/run/creditbridge");
	ck_assert_str_eq(s.socket_group, "");
	ck_assert_str_eq(s.base_path, "");
	ck_assert_str_eq(s.log_target, "syslog");
	ck_assert_int_eq(s.log_level, LOG_LEVEL_INFO);
	ck_assert_uint_eq(s.request_window_s, 300);
	ck_assert_uint_eq(s.ledger_deadline_ms, 5000);
	ck_assert_uint_eq(s.ledger_connections_max, 1024);
	ck_assert_uint_eq(s.ledger_queue_max, 1024);
	ck_assert_uint_eq(s.ledger_gather_us, 400);
	ck_assert_str_eq(s.store, "berkeleydb");
	ck_assert_str_eq(s.postgresql_hosts, "");
	ck_assert_str_eq(s.postgresql_database, "creditbridge");
	ck_assert_str_eq(s.postgresql_user, "creditbridge");
	ck_assert_str_eq(s.postgresql_schema, "creditbridge");
	ck_assert_str_eq(s.postgresql_options, "");
	ck_assert_str_eq(s.postgresql_durability, "quorum");
	ck_assert_uint_eq(s.postgresql_trip_ms, 1000);
	ck_assert_uint_eq(s.postgresql_patience_ms, 30000);
	ck_assert_uint_eq(s.ledger_cache_mib, 256);
	ck_assert_uint_eq(s.checkpoint_kib, 16384);
	ck_assert_uint_eq(s.checkpoint_interval_ms, 2000);
	ck_assert_uint_eq(s.log_keep_mib, 1024);
	ck_assert_uint_eq(s.retention_pause_s, 3600);
	ck_assert_uint_eq(s.disk_low_water_mib, 64);
	ck_assert_uint_eq(s.disk_ballast_mib, 16);
	ck_assert_uint_eq(s.callback_timeout_ms, 3000);
	ck_assert_uint_eq(s.callback_connect_timeout_ms, 1000);
	ck_assert_uint_eq(s.callback_lease_ms, 10000);
	ck_assert_uint_eq(s.callback_owner_patience_ms, 60000);
	ck_assert_uint_eq(s.result_second_attempt_ms, 5000);
	ck_assert_uint_eq(s.result_third_attempt_ms, 30000);
	ck_assert_uint_eq(s.refund_backoff_ms, 1000);
	ck_assert_uint_eq(s.refund_backoff_max_ms, 300000);
	ck_assert_uint_eq(s.refund_give_up_s, 86400);
	ck_assert_uint_eq(s.breaker_open_ms, 30000);
	ck_assert_str_eq(s.callback_keep_answers, "failed");
	ck_assert_uint_eq(s.sweep_concurrency, 256);
	ck_assert_uint_eq(s.sweep_overdue_s, 120);
	ck_assert_uint_eq(s.callback_network_count, 0);
	ck_assert_str_eq(s.cell_name, "");
	ck_assert_uint_eq(s.cell_count, 0);
}
END_TEST

START_TEST(an_empty_file_is_the_defaults)
{
	struct settings loaded, preset;
	enum status status;

	settings_defaults(&preset);
	memset(&loaded, 0xff, sizeof(loaded));
	ck_assert_str_eq(load("", 0, &loaded, &status), "");
	ck_assert_int_eq(status, STATUS_OK);
	ck_assert_mem_eq(&loaded, &preset, sizeof(loaded));
}
END_TEST

START_TEST(every_option_is_taken)
{
	static const char text[] = "state_directory = /srv/state # a comment\n"
				   "socket_directory = '/srv/so ck'\n"
				   "socket_group = \"www-data\" // another\n"
				   "base_path = /wallet\n"
				   "log_target = stderr\n"
				   "log_level = debug\n"
				   "request_window_s = 0\n"
				   "ledger_deadline_ms=100\n"
				   "ledger_connections_max = \"65536\"\n"
				   "ledger_queue_max = 1 ledger_cache_mib = 65536\n"
				   "ledger_gather_us = 10000\n"
				   "checkpoint_kib = 64\n"
				   "/* log_keep_mib = 7\n */ checkpoint_interval_ms = 3600000\n"
				   "log_keep_mib = 0\n"
				   "disk_low_water_mib = 16777216\n"
				   "callback_lease_ms = 1600 callback_timeout_ms = 100\n"
				   "callback_connect_timeout_ms = 10\n"
				   "callback_owner_patience_ms = 0\n"
				   "result_second_attempt_ms = 0\n"
				   "result_third_attempt_ms = 86400000\n"
				   "refund_backoff_ms = 10\n"
				   "refund_backoff_max_ms = 86400000\n"
				   "refund_give_up_s = 31536000\n"
				   "breaker_open_ms = 3600000\n"
				   "callback_keep_answers = none\n"
				   "sweep_concurrency = 256\n"
				   "sweep_overdue_s = 1\n"
				   "callback_networks = {\"10.0.0.0/8\", # ours\n\"fd00::/8\"}\n"
				   "cell_name = own-1 cells = {/a.conf}\ncells += {\"/b c\"}\n"
				   "disk_ballast_mib = 3";
	struct settings s;
	enum status status;

	ck_assert_str_eq(load(text, strlen(text), &s, &status), "");
	ck_assert_int_eq(status, STATUS_OK);
	ck_assert_str_eq(s.state_directory, "/srv/state");
	ck_assert_str_eq(s.socket_directory, "/srv/so ck");
	ck_assert_str_eq(s.socket_group, "www-data");
	ck_assert_str_eq(s.base_path, "/wallet");
	ck_assert_str_eq(s.log_target, "stderr");
	ck_assert_int_eq(s.log_level, LOG_LEVEL_DEBUG);
	ck_assert_uint_eq(s.request_window_s, 0);
	ck_assert_uint_eq(s.ledger_deadline_ms, 100);
	ck_assert_uint_eq(s.ledger_connections_max, 65536);
	ck_assert_uint_eq(s.ledger_queue_max, 1);
	ck_assert_uint_eq(s.ledger_gather_us, 10000);
	ck_assert_uint_eq(s.ledger_cache_mib, 65536);
	ck_assert_uint_eq(s.checkpoint_kib, 64);
	ck_assert_uint_eq(s.checkpoint_interval_ms, 3600000);
	ck_assert_uint_eq(s.log_keep_mib, 0);
	ck_assert_uint_eq(s.disk_low_water_mib, 16777216);
	ck_assert_uint_eq(s.disk_ballast_mib, 3);
	ck_assert_uint_eq(s.callback_timeout_ms, 100);
	ck_assert_uint_eq(s.callback_connect_timeout_ms, 10);
	ck_assert_uint_eq(s.callback_lease_ms, 1600);
	ck_assert_uint_eq(s.callback_owner_patience_ms, 0);
	ck_assert_uint_eq(s.result_second_attempt_ms, 0);
	ck_assert_uint_eq(s.result_third_attempt_ms, 86400000);
	ck_assert_uint_eq(s.refund_backoff_ms, 10);
	ck_assert_uint_eq(s.refund_backoff_max_ms, 86400000);
	ck_assert_uint_eq(s.refund_give_up_s, 31536000);
	ck_assert_uint_eq(s.breaker_open_ms, 3600000);
	ck_assert_str_eq(s.callback_keep_answers, "none");
	ck_assert_uint_eq(s.sweep_concurrency, 256);
	ck_assert_uint_eq(s.sweep_overdue_s, 1);
	ck_assert_uint_eq(s.callback_network_count, 2);
	ck_assert_uint_eq(s.callback_networks[0].prefix, 96 + 8);
	ck_assert_uint_eq(s.callback_networks[0].address[12], 10);
	ck_assert_uint_eq(s.callback_networks[1].prefix, 8);
	ck_assert_uint_eq(s.callback_networks[1].address[0], 0xfd);
	ck_assert_str_eq(s.cell_name, "own-1");
	ck_assert_uint_eq(s.cell_count, 2);
	ck_assert_str_eq(s.cells[0], "/a.conf");
	ck_assert_str_eq(s.cells[1], "/b c");
}
END_TEST

START_TEST(lists_are_given_and_added_to)
{
	static const struct {
		const char *text;
		unsigned int count;
		uint8_t last; /* the fourth byte of the last one */
	} cases[] = {
		{"callback_networks = {}", 0, 0},
		{"callback_networks = 127.0.0.1", 1, 1},
		{"callback_networks = {127.0.0.1, \"127.0.0.2\",}", 2, 2},
		{"callback_networks = {127.0.0.1}\ncallback_networks += {127.0.0.4}", 2, 4},
		{"callback_networks += {127.0.0.1}\ncallback_networks += {127.0.0.3}", 2, 3},
		{"callback_networks = {::1}", 1, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings s;
		enum status status;

		ck_assert_str_eq(load(cases[i].text, strlen(cases[i].text), &s, &status), "");
		ck_assert_msg(s.callback_network_count == cases[i].count, "%s: %u", cases[i].text,
			s.callback_network_count);
		if (cases[i].count)
			ck_assert_uint_eq(s.callback_networks[cases[i].count - 1].address[15],
				cases[i].last);
	}
}
END_TEST

START_TEST(a_prefix_loses_its_closing_slash)
{
	static const char *const texts[][2] = {{"base_path = /", ""}, {"base_path = /a/b/", "/a/b"},
		{"base_path = \"\"", ""}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct settings s;
		enum status status;

		ck_assert_str_eq(load(texts[i][0], strlen(texts[i][0]), &s, &status), "");
		ck_assert_str_eq(s.base_path, texts[i][1]);
	}
}
END_TEST

START_TEST(a_name_as_a_value_sets_nothing)
{
	static const char text[] = "socket_group = log_level\nlog_level = debug\n"
				   "state_directory = \"/log_level = x\"\n";
	struct settings s;
	enum status status;

	ck_assert_str_eq(load(text, strlen(text), &s, &status), "");
	ck_assert_str_eq(s.socket_group, "log_level");
	ck_assert_int_eq(s.log_level, LOG_LEVEL_DEBUG);
}
END_TEST

START_TEST(a_list_is_bounded)
{
	char text[4096] = "\ncallback_networks = {";
	struct settings s;
	enum status status;

	for (int i = 0; i < SETTINGS_NETWORKS_MAX; i++)
		sprintf(text + strlen(text), "\"10.0.%d.0/24\",", i);
	strcat(text, "}");
	ck_assert_str_eq(load(text, strlen(text), &s, &status), "");
	ck_assert_uint_eq(s.callback_network_count, SETTINGS_NETWORKS_MAX);
	strcpy(strrchr(text, '}'), "\"::1\"}");
	ck_assert_str_eq(load(text, strlen(text), &s, &status), ":2" NETWORKS);
	ck_assert_int_eq(status, STATUS_CONFIG);
}
END_TEST

#define BASE_PATH                                                                                  \
	": base_path must be empty or begin with a slash, without empty parts, and have at most "  \
	"255 bytes\n"
#define CELLS  ": cells must be a list of at most 15 absolute paths of at most 255 bytes\n"
#define LEASE  "callback_lease_ms must be at least callback_timeout_ms + 1500, which is "
#define WINDOW ": request_window_s must be a whole number from 0 to 86400\n"
static const struct {
	const char *text;
	const char *message;
} refusals[] = {
	{"foo = 1\n", ":1: no such option 'foo'\n"},
	{"f\x01o\xc3 = 1\n", ":1: no such option 'f?o?'\n"},
	{"\n# one\n# two\n// three\n/* four\n five */\nfoo = 1\n", ":7: no such option 'foo'\n"},
	{"log_level = info # x\nfoo = 1\n", ":2: no such option 'foo'\n"},
	{"socket_group = \"a\\\"#b\" foo = 1",
		":1: socket_group must be empty or at most 63 of "
		"A-Z a-z 0-9 _ . -\n"},
	{"\nsection {\n a = 1\n}\n", ":2: no such option 'section'\n"},
	{"include(\"/etc/passwd\")\n", ":1: no such option 'include'\n"},
	{"# x\n\nrequest_window_s = soon\n", ":3" WINDOW},
	{"request_window_s = 86401\n", ":1" WINDOW},
	{"request_window_s = -1\n", ":1" WINDOW},
	{"request_window_s = 4294967297\n", ":1" WINDOW},
	{"request_window_s = 18446744073709551617\n", ":1" WINDOW},
	{"request_window_s = 5.0\n", ":1" WINDOW},
	{"request_window_s = 0x10\n", ":1" WINDOW},
	{"request_window_s = \"\"\n", ":1" WINDOW},
	{"request_window_s = \"5 \"\n", ":1" WINDOW},
	{"\nrequest_window_s = {1, 2}\n", ":2: unexpected token '{'\n"},
	{"request_window_s += 1\n",
		":1: attempt to append to non-list option 'request_window_s'\n"},
	{"request_window_s = 1\n}\n", ":2: unexpected closing brace\n"},
	{"request_window_s\n", ":2: premature end of file\n"},
	{"\nlog_level = \"info\n", ":3: premature end of file\n"},
	{"\n\n/* for ever\n", ":3: a comment that begins here has no end\n"},
	{"ledger_deadline_ms = 99",
		":1: ledger_deadline_ms must be a whole number from 100 to 6000\n"},
	{"ledger_deadline_ms = 6001",
		":1: ledger_deadline_ms must be a whole number from 100 to 6000\n"},
	{"state_directory = var",
		":1: state_directory must be an absolute path of at most 3072 bytes\n"},
	{"state_directory = \"\"",
		":1: state_directory must be an absolute path of at most 3072 bytes\n"},
	{"state_directory = \"/a\\x01\"",
		":1: state_directory must be an absolute path of at most 3072 bytes\n"},
	{"socket_directory = \"/12345678901234567890123456789012345678901234567890"
	 "1234567890123456789012345678901234567890123456\"",
		":1: socket_directory must be an absolute path of at most 96 bytes\n"},
	{"base_path = wallet", ":1" BASE_PATH},
	{"\nbase_path = /a//b", ":2" BASE_PATH},
	{"base_path = \"//\"", ":1" BASE_PATH},
	{"base_path = \"/a\\x01\"", ":1" BASE_PATH},
	{"log_level = info\n# x\nlog_level = info\n", ":3: log_level is set a second time\n"},
	{"\"log_level\" = info log_level = debug\n", ":1: log_level is set a second time\n"},
	{"callback_networks = {127.0.0.1}\ncallback_networks = {127.0.0.3}",
		":2: callback_networks is set a second time; add to it with +=\n"},
	{"callback_networks = {127.0.0.1,\n127.0.0.2}\ncallback_networks={}\n",
		":3: callback_networks is set a second time; add to it with +=\n"},
	/* the first of two errors, before and after a duplicate */
	{"log_level = info\nfoo = 1\nlog_level = info\n", ":2: no such option 'foo'\n"},
	{"log_level = info\nlog_level = info\nfoo = 1\n", ":2: log_level is set a second time\n"},
	{"log_target = \"/var/log/x\"", ":1: log_target must be syslog or stderr\n"},
	{"store = mysql", ":1: store must be berkeleydb or postgresql\n"},
	{"store = postgresql",
		":1: store = postgresql needs postgresql_hosts, the servers' addresses\n"},
	{"postgresql_options = \"password=x\"",
		":1: postgresql_options must hold no password: every worker reads this file. Name a "
		"file of the ledger's user by passfile=PATH\n"},
	{"log_level = loud", ":1: log_level must be error, warning, info or debug\n"},
	{"log_level = info\nlog_level = INFO\n",
		":2: log_level must be error, warning, info or debug\n"},
	{"callback_networks = {10.0.0.1/8}", ":1" NETWORKS},
	{"\ncallback_networks = {\"10.0.0.0/8\",\n\"dealer.example\"}", ":3" NETWORKS},
	{"callback_networks = \"{}\"", ":1" NETWORKS},
	{"callback_networks = \"\"", ":1" NETWORKS},
	{"callback_timeout_ms = 99",
		":1: callback_timeout_ms must be a whole number from 100 to 6000\n"},
	{"callback_lease_ms = 1599",
		":1: callback_lease_ms must be a whole number from 1600 to 600000\n"},
	{"cells = {b.conf}", ":1" CELLS},
	{"cells = {\"/a\\x01\"}", ":1" CELLS},
	{"cells = {/1,/2,/3,/4,/5,/6,/7,/8,/9,/10,/11,/12,/13,/14,/15,\n/16}", ":2" CELLS},
	{"\ncells = {/b.conf}", ":2: cells needs cell_name, the name of this file's own cell\n"},
	{"cell_name = a cells = {/b}\ncells = {/c}",
		":2: cells is set a second time; add to it with +=\n"},
	{"cell_name = abcdefghijklmnop",
		":1: cell_name must be empty or at most 15 of A-Z a-z 0-9 _ . -\n"},
	{"cell_name = console\nsocket_directory = /run/x",
		":1: cell_name must not be console: /run/creditbridge-console is the directory of "
		"another program\n"},
	{"sweep_concurrency = 257", ":1: sweep_concurrency must be a whole number from 1 to 256\n"},
	{"sweep_overdue_s = 0", ":1: sweep_overdue_s must be a whole number from 1 to 86400\n"},
	{"sweep_overdue_s = 86401", ":1: sweep_overdue_s must be a whole number from 1 to 86400\n"},
	{"sweep_concurrency = 0", ":1: sweep_concurrency must be a whole number from 1 to 256\n"},
	/*
	 * two incompatible settings, in either order, with the other's default, with other errors
	 */
	{"callback_timeout_ms = 6000\n\ncallback_lease_ms = 7499\n# x\nlog_level = info\n",
		":3: " LEASE "7500\n"},
	{"callback_lease_ms = 1600\n# x\ncallback_timeout_ms = 101\n", ":3: " LEASE "1601\n"},
	{"\ncallback_lease_ms = 4499\n", ":2: " LEASE "4500\n"},
	{"callback_lease_ms = 4499\nlog_level = loud\n",
		":2: log_level must be error, warning, info or debug\n"},
	{"callback_lease_ms = 4499\nlog_level = info\nlog_level = info\n", ":1: " LEASE "4500\n"},
	{"log_level = info\nlog_level = info\ncallback_lease_ms = 4499\n",
		":2: log_level is set a second time\n"},
	/* what the ledgers of several hosts need */
	{"store = postgresql\npostgresql_hosts = a\ncell_takeover_ms = 1499\npostgresql_trip_ms = 900",
		":3: cell_takeover_ms must be at least cell_read_lease_ms + 500, which is 1500\n"},
	{"store = postgresql\npostgresql_hosts = a\npostgresql_trip_ms = 2000",
		":3: postgresql_trip_ms must be less than cell_takeover_ms, which is 2000\n"},
	/* the first of two errors */
	{"log_level = a\nlog_target = b\n",
		":1: log_level must be error, warning, info or debug\n"},
};

START_TEST(refuses)
{
	struct settings s, before;
	enum status status;

	memset(&s, 0x55, sizeof(s));
	before = s;
	ck_assert_str_eq(load(refusals[_i].text, strlen(refusals[_i].text), &s, &status),
		refusals[_i].message);
	ck_assert_int_eq(status, STATUS_CONFIG);
	ck_assert_mem_eq(&s, &before, sizeof(s));
}
END_TEST

START_TEST(refuses_what_is_no_configuration)
{
	static char big[1024 * 1024 + 1];
	struct settings s;
	enum status status;

	ck_assert_str_eq(load("\0x", 2, &s, &status), ":1: this is not a configuration file\n");
	ck_assert_int_eq(status, STATUS_CONFIG);
	memset(big, '\n', sizeof(big));
	ck_assert_str_eq(load(big, sizeof(big), &s, &status),
		":1: this is not a configuration file\n");
	ck_assert_int_eq(status, STATUS_CONFIG);
	ck_assert_str_eq(load(big, sizeof(big) - 1, &s, &status), "");
	ck_assert_int_eq(status, STATUS_OK);
}
END_TEST

/* Returns the error of settings_load() for @file. */
static const char *complaint(const char *file, enum status *status)
{
	static char message[8192];
	FILE *errors = fmemopen(message, sizeof(message), "w");
	struct settings s;

	ck_assert_ptr_nonnull(errors);
	*status = settings_load(&s, file, errors);
	fclose(errors);
	return message;
}

START_TEST(refuses_what_cannot_be_read)
{
	enum status status;

	ck_assert_str_eq(complaint("/proc/none/x.conf", &status),
		"/proc/none/x.conf:1: No such file or directory\n");
	ck_assert_int_eq(status, STATUS_NOT_FOUND);
	ck_assert_str_eq(complaint("/tmp", &status), "/tmp:1: Is a directory\n");
	ck_assert_int_eq(status, STATUS_CONFIG);
}
END_TEST

START_TEST(the_sample_shows_every_option)
{
	static const char sample[] = SOURCE_DIR "/fcgi-conf/creditbridge.conf";
	struct settings loaded, preset;
	char text[65536], bare[256], quoted[256];
	FILE *file = fopen(sample, "r");
	const char *name, *value;
	size_t len;
	unsigned int count = 0;

	ck_assert_msg(file != NULL, "%s", sample);
	text[0] = '\n';
	len = fread(text + 1, 1, sizeof(text) - 2, file);
	text[len + 1] = '\0';
	fclose(file);
	for (; (name = settings_option(count, &value)); count++) {
		snprintf(bare, sizeof(bare), "\n%s = %s\n", name, value);
		snprintf(quoted, sizeof(quoted), "\n%s = \"%s\"\n", name, value);
		ck_assert_msg(strstr(text, bare) || strstr(text, quoted), "%s", name);
	}
	ck_assert_uint_eq(count, 63);
	settings_defaults(&preset);
	memset(&loaded, 0xff, sizeof(loaded));
	ck_assert_int_eq(settings_load(&loaded, sample, stderr), STATUS_OK);
	ck_assert_mem_eq(&loaded, &preset, sizeof(loaded));
}
END_TEST

Suite *settings_suite(void)
{
	const TTest *const tests[] = {defaults, an_empty_file_is_the_defaults,
		every_option_is_taken, lists_are_given_and_added_to, a_list_is_bounded,
		a_prefix_loses_its_closing_slash, a_name_as_a_value_sets_nothing,
		refuses_what_is_no_configuration, refuses_what_cannot_be_read,
		the_sample_shows_every_option, NULL};
	Suite *suite = suite_create("settings");
	TCase *tcase = tcase_create("settings");

	tcase_add_checked_fixture(tcase, make_file, remove_file);
	for (size_t i = 0; tests[i]; i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_loop_test(tcase, refuses, 0, (int)(sizeof(refusals) / sizeof(refusals[0])));
	suite_add_tcase(suite, tcase);
	return suite;
}
