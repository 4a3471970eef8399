/*
 * doctor_cell - checks the certificates by which the hosts of a cell know each other.
 */
#include "doctor/doctor.h"

#include "base/clock.h"
#include "base/text.h"
#include "peer/members.h"

#include <inttypes.h>
#include <unistd.h>

#define DAY_S     86400
#define WARN_DAYS 30

/* Judges the certificate of @member, or of the CA if it is NULL. */
static void judge_certificate(struct doctor *doctor, const char *member)
{
	const char *directory = doctor->settings->cell_tls_directory;
	const int64_t now_s = clock_wall_ms() / 1000;
	char why[512] = "", end[TEXT_TIME_SIZE];
	int64_t expires_s = 0;
	enum status status = members_expiry(directory, member, &expires_s, why, sizeof(why));

	doctor_about(doctor, "%s", member ? member : "the CA");
	if (status) {
		doctor_fail(doctor, "%s", why);
		doctor_remedy(doctor,
			"creditbridgectl member add makes certificates; each host needs " TLS_CA
			" and its own");
		return;
	}
	text_time(expires_s * 1000, end);
	if (expires_s > now_s + WARN_DAYS * DAY_S) {
		doctor_pass(doctor, "the certificate is valid until %s", end);
		return;
	}
	if (expires_s <= now_s)
		doctor_fail(doctor, "the certificate expired: %s", end);
	else
		doctor_warn(doctor, "the certificate expires in %" PRId64 " days: %s",
			(expires_s - now_s) / DAY_S, end);
	doctor_remedy(doctor,
		member ? "creditbridgectl member renew %s, on the host with the CA's key; then copy "
			 "the files"
		       : "make a new directory with new certificates of all hosts (%s)",
		member ? member : "creditbridgectl member add");
}

void doctor_cell_certificate(struct doctor *doctor)
{
	const struct settings *settings = doctor->settings;

	if (!settings->cell_listen[0]) {
		doctor_pass(doctor, "this host belongs to no cell (see cell_listen)");
		return;
	}
	if (geteuid() != 0 && access(settings->cell_tls_directory, R_OK | X_OK) < 0) {
		doctor_skip(doctor, "%s is not readable for this user",
			settings->cell_tls_directory);
		return;
	}
	judge_certificate(doctor, settings->cell_member);
	judge_certificate(doctor, NULL);
}
