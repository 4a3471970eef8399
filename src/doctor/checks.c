/*
 * doctor_checks - the table of checks. Their findings are shown in this order.
 */
#include "doctor/doctor.h"

#define SECONDS 1000
#define CHECK(name, needs, seconds, purpose)                                                       \
	{                                                                                          \
#name, doctor_##name, purpose, needs, seconds *SECONDS                             \
	}

const struct doctor_check doctor_checks[] = {
	CHECK(configuration, 0, 10, "the configuration is read by every program at its start"),
	CHECK(caller, NEEDS_SETTINGS, 10, "the caller of doctor may look at everything"),
	CHECK(configuration_file, NEEDS_SETTINGS, 10, "only root may change the configuration"),
	CHECK(configuration_access, NEEDS_SETTINGS, 10, "ledger, sweeper and workers may read it"),
	CHECK(configuration_in_use, NEEDS_SETTINGS, 10, "the ledger runs with this configuration"),
	CHECK(settings, NEEDS_SETTINGS, 10, "every setting has a plausible value"),
	CHECK(callback_networks, NEEDS_SETTINGS, 10, "dealers' URLs lead to no service of ours"),
	CHECK(programs, 0, 10, "all programs are of one version"),
	CHECK(state_directory, NEEDS_SETTINGS, 10, "the data is there, and closed to others"),
	CHECK(state_files, NEEDS_SETTINGS, 10,
		"every file of the data can be opened by the ledger"),
	CHECK(key_files, 0, 10, "files with keys are closed to others"),
	CHECK(file_system, NEEDS_SETTINGS, 10, "the data is on a disk that keeps it"),
	CHECK(disk_space, NEEDS_SETTINGS, 10, "the disk has room"),
	CHECK(disk_ballast, NEEDS_SETTINGS, 10,
		"the ballast file is there, for a recovery on a full disk"),
	CHECK(disk_sync, NEEDS_SETTINGS, 20, "the disk writes, and soon enough"),
	CHECK(halted, NEEDS_SETTINGS, 10, "the ledger was not stopped by a failure of the disk"),
	CHECK(store_servers, NEEDS_SERVERS, 30, "PostgreSQL answers, and one server takes writes"),
	CHECK(store_quorum, NEEDS_SERVERS, 30,
		"each commit reaches the promised number of servers"),
	CHECK(store_settings, NEEDS_SERVERS, 30, "PostgreSQL keeps what it has committed"),
	CHECK(store_lag, NEEDS_SERVERS, 30, "standbys have what the first server has"),
	CHECK(store_roles, NEEDS_SERVERS, 30, "only the ledger changes the tables"),
	CHECK(store_space, NEEDS_SERVERS, 30, "PostgreSQL does not fill its disk"),
	CHECK(socket_directory, NEEDS_SETTINGS, 10, "only the ledger's user can put sockets there"),
	CHECK(sockets, NEEDS_SETTINGS, 10, "the sockets are for those they are meant for"),
	CHECK(socket_access, NEEDS_SETTINGS, 10, "workers may connect to the ledger"),
	CHECK(ledger, NEEDS_SETTINGS, 20, "the ledger answers at both sockets, in this version"),
	CHECK(engine, NEEDS_SETTINGS, 10, "the ledger's engine stays up and takes connections"),
	CHECK(ledger_number, NEEDS_SETTINGS, 10, "new ids have the number that is set"),
	CHECK(descriptors, NEEDS_SETTINGS, 10,
		"the ledger may have as many connections as are set"),
	CHECK(cell_certificate, NEEDS_SETTINGS, 10,
		"the hosts of the cell accept each other's certificates"),
	CHECK(workers, NEEDS_SETTINGS, 10, "workers run the program that is installed"),
	CHECK(sweeper, NEEDS_SETTINGS, 10, "the sweeper sends callbacks again"),
	CHECK(cron, 0, 10, "the sweeper is started each minute"),
	CHECK(callbacks, NEEDS_SETTINGS, 10, "no callback was given up or is late"),
	CHECK(dealers, NEEDS_SETTINGS, 15, "callbacks can go to each seamless dealer's server"),
	CHECK(keys, NEEDS_SETTINGS, 10, "dealers and game servers have keys, and none too many"),
	CHECK(log, NEEDS_SETTINGS, 10, "the log is kept"),
	CHECK(clock, NEEDS_SETTINGS, 10, "the clock is right, and stays so"),
	CHECK(wallet_mount, NEEDS_URL, 30, "calls of dealers reach the service"),
	CHECK(wallet_get_body, NEEDS_URL, 30, "the body of a GET reaches the service"),
	CHECK(wallet_paths, NEEDS_URL, 10, "the dealers' mount has no path of game servers"),
	CHECK(platform_mount, NEEDS_PLATFORM, 30, "calls of game servers reach the service"),
	CHECK(platform_paths, NEEDS_PLATFORM, 10, "game servers cannot call what is for dealers"),
	CHECK(platform_private, NEEDS_PLATFORM, 15, "the platform's mount is not public"),
	CHECK(console_front, NEEDS_CONSOLE_ENABLED, 10,
		"the web server proves that a request came through it"),
	CHECK(console_sockets, NEEDS_CONSOLE, 10,
		"only the web server reaches the console, and only the console desk.sock"),
	CHECK(console_process, NEEDS_CONSOLE, 10, "the console has no other rights"),
	CHECK(console_operators, NEEDS_CONSOLE, 10, "operators can sign in to the console"),
	CHECK(console_apache, NEEDS_CONSOLE, 10, "no site runs inside of the console's web server"),
	CHECK(console_mount, NEEDS_CONSOLE | NEEDS_CONSOLE_URL, 30,
		"the console asks for a user, over TLS only"),
	CHECK(clock_skew, 0, 20, "the mount's machine and this one have the same time"),
};
const unsigned int doctor_check_count = sizeof(doctor_checks) / sizeof(doctor_checks[0]);
