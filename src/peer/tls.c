#include "peer/tls.h"

#include "base/text.h"
#include "peer/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRIORITIES  "SECURE128:-VERS-ALL:+VERS-TLS1.3"
#define REMOVED_MAX 1024

struct tls_identity {
	unsigned int users;
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priorities;
	char (*removed)[TLS_SERIAL_SIZE];
	unsigned int removed_count;
};

struct tls {
	struct tls_identity *identity;
	gnutls_session_t session;
	bool server;
	bool unsent; /* the library holds a record that the socket did not take */
	enum relay_refusal refusal;
	char why[TLS_WHY_SIZE];
	char member[HELLO_MEMBER_SIZE];
	char serial[TLS_SERIAL_SIZE];
};

static int note_refusal(struct tls *tls, enum relay_refusal refusal, const char *why)
{
	tls->refusal = refusal;
	snprintf(tls->why, sizeof(tls->why), "%s", why);
	return GNUTLS_E_CERTIFICATE_ERROR;
}

/* Takes name and serial number of the certificate that was verified. */
static bool read_certificate(struct tls *tls)
{
	unsigned int count = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(tls->session, &count);
	gnutls_x509_crt_t certificate;
	uint8_t serial[20];
	size_t name_size = sizeof(tls->member), serial_size = sizeof(serial);
	bool read;

	if (!chain || !count || gnutls_x509_crt_init(&certificate) < 0)
		return false;
	read = gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER) >= 0 &&
		gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
			tls->member, &name_size) >= 0 &&
		gnutls_x509_crt_get_serial(certificate, serial, &serial_size) >= 0 &&
		text_is_name(tls->member, HELLO_MEMBER_SIZE - 1);
	gnutls_x509_crt_deinit(certificate);
	for (size_t i = 0; read && i < serial_size; i++)
		snprintf(tls->serial + 2 * i, 3, "%02x", serial[i]);
	return read;
}

/* The library calls it in the handshake, with the other side's certificate. */
static int verify_member(gnutls_session_t session)
{
	struct tls *tls = gnutls_session_get_ptr(session);
	char purpose[sizeof(GNUTLS_KP_TLS_WWW_SERVER) + 8] = "";
	gnutls_typed_vdata_st data;
	const unsigned int times =
		GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED | GNUTLS_CERT_INVALID;
	unsigned int status = 0;

	memset(&data, 0, sizeof(data));
	data.type = GNUTLS_DT_KEY_PURPOSE_OID;
	data.data = (unsigned char *)purpose;
	snprintf(purpose, sizeof(purpose), "%s",
		tls->server ? GNUTLS_KP_TLS_WWW_CLIENT : GNUTLS_KP_TLS_WWW_SERVER);
	if (gnutls_certificate_verify_peers(session, &data, 1, &status) < 0)
		return note_refusal(tls, RELAY_REFUSED_CERT,
			"there is no certificate that can be read");
	if (status && !(status & ~times) && (status & ~(unsigned int)GNUTLS_CERT_INVALID))
		return note_refusal(tls, RELAY_REFUSED_EXPIRED,
			"the certificate is not valid at this time");
	if (status)
		return note_refusal(tls, RELAY_REFUSED_CERT,
			"the certificate is not of this cell's CA");
	if (!read_certificate(tls))
		return note_refusal(tls, RELAY_REFUSED_CERT, "the certificate names no member");
	if (tls_identity_refuses(tls->identity, tls->serial))
		return note_refusal(tls, RELAY_REFUSED_REMOVED, "the member was removed");
	return 0;
}

bool tls_identity_refuses(const struct tls_identity *identity, const char *serial)
{
	for (unsigned int i = 0; i < identity->removed_count; i++) {
		if (strcmp(identity->removed[i], serial) == 0)
			return true;
	}
	return false;
}

/* Reads the list of removed certificates. A missing file is an empty list. */
static enum status read_removed(struct tls_identity *identity, const char *directory, char *why,
	size_t why_size)
{
	char path[PATH_MAX], line[HELLO_MEMBER_SIZE + TLS_SERIAL_SIZE + 2];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" TLS_REMOVED, directory);
	identity->removed = calloc(REMOVED_MAX, sizeof(*identity->removed));
	if (!identity->removed)
		return STATUS_NOMEM;
	file = fopen(path, "re");
	if (!file && errno == ENOENT)
		return STATUS_OK;
	while (file && fgets(line, sizeof(line), file)) {
		char *serial = strchr(line, ' ');
		char *end = strchr(line, '\n');

		if (end)
			*end = 0;
		/* A list that is read in part would admit a removed member. */
		if (!end || !serial || identity->removed_count == REMOVED_MAX ||
			!text_copy(identity->removed[identity->removed_count++], TLS_SERIAL_SIZE,
				serial + 1)) {
			fclose(file);
			snprintf(why, why_size, "%s has a line that is no \"NAME SERIAL\"", path);
			return STATUS_CONFIG;
		}
	}
	if (file && !ferror(file)) {
		fclose(file);
		return STATUS_OK;
	}
	snprintf(why, why_size, "cannot read %s: %s", path, strerror(errno));
	if (file)
		fclose(file);
	return STATUS_CONFIG;
}

/* Refuses a key that other users may read. */
static enum status check_key(const char *path, char *why, size_t why_size)
{
	struct stat info;

	if (stat(path, &info) < 0) {
		snprintf(why, why_size,
			"cannot find %s: %s; make it by creditbridgectl member add, or copy it here "
			"from the host that made it",
			path, strerror(errno));
		return STATUS_CONFIG;
	}
	if (info.st_uid == geteuid() && !(info.st_mode & (S_IRWXG | S_IRWXO)))
		return STATUS_OK;
	snprintf(why, why_size, "%s must belong to the ledger's user, with mode 0600", path);
	return STATUS_CONFIG;
}

static enum status read_files(struct tls_identity *identity, const char *directory,
	const char *member, char *why, size_t why_size)
{
	char ca[PATH_MAX], certificate[PATH_MAX], key[PATH_MAX];
	enum status status;
	int got;

	snprintf(ca, sizeof(ca), "%s/" TLS_CA, directory);
	snprintf(certificate, sizeof(certificate), "%s/%s.pem", directory, member);
	snprintf(key, sizeof(key), "%s/%s-key.pem", directory, member);
	status = check_key(key, why, why_size);
	if (status)
		return status;
	got = gnutls_certificate_set_x509_trust_file(identity->credentials, ca,
		GNUTLS_X509_FMT_PEM);
	if (got <= 0) {
		snprintf(why, why_size, "cannot read the CA of the cell in %s: %s", ca,
			got < 0 ? gnutls_strerror(got) : "there is none");
		return STATUS_CONFIG;
	}
	got = gnutls_certificate_set_x509_key_file(identity->credentials, certificate, key,
		GNUTLS_X509_FMT_PEM);
	if (got < 0) {
		snprintf(why, why_size, "cannot use %s with its key: %s", certificate,
			gnutls_strerror(got));
		return STATUS_CONFIG;
	}
	return read_removed(identity, directory, why, why_size);
}

enum status tls_identity_load(const char *directory, const char *member,
	struct tls_identity **identity, char *why, size_t why_size)
{
	struct tls_identity *made = calloc(1, sizeof(*made));
	enum status status = STATUS_NOMEM;

	snprintf(why, why_size, "out of memory");
	if (!made)
		return STATUS_NOMEM;
	made->users = 1;
	if (gnutls_certificate_allocate_credentials(&made->credentials) == 0 &&
		gnutls_priority_init(&made->priorities, PRIORITIES, NULL) == 0)
		status = read_files(made, directory, member, why, why_size);
	if (status) {
		tls_identity_drop(made);
		return status;
	}
	gnutls_certificate_set_verify_function(made->credentials, verify_member);
	*identity = made;
	return STATUS_OK;
}

void tls_identity_drop(struct tls_identity *identity)
{
	if (!identity || --identity->users)
		return;
	if (identity->credentials)
		gnutls_certificate_free_credentials(identity->credentials);
	if (identity->priorities)
		gnutls_priority_deinit(identity->priorities);
	free(identity->removed);
	free(identity);
}

struct tls *tls_begin(struct tls_identity *identity, int fd, bool server)
{
	struct tls *tls = calloc(1, sizeof(*tls));
	const unsigned int flags = (server ? GNUTLS_SERVER | GNUTLS_NO_TICKETS : GNUTLS_CLIENT) |
		GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;

	if (!tls)
		return NULL;
	if (gnutls_init(&tls->session, flags) < 0) {
		free(tls);
		return NULL;
	}
	tls->server = server;
	tls->identity = identity;
	identity->users++;
	gnutls_session_set_ptr(tls->session, tls);
	gnutls_transport_set_int(tls->session, fd);
	/* The caller has a deadline for the whole handshake. */
	gnutls_handshake_set_timeout(tls->session, GNUTLS_INDEFINITE_TIMEOUT);
	if (gnutls_priority_set(tls->session, identity->priorities) < 0 ||
		gnutls_credentials_set(tls->session, GNUTLS_CRD_CERTIFICATE,
			identity->credentials) < 0) {
		tls_end(tls);
		return NULL;
	}
	if (server)
		gnutls_certificate_server_set_request(tls->session, GNUTLS_CERT_REQUIRE);
	return tls;
}

void tls_say_end(struct tls *tls)
{
	gnutls_bye(tls->session, GNUTLS_SHUT_WR);
}

void tls_end(struct tls *tls)
{
	if (!tls)
		return;
	gnutls_deinit(tls->session);
	tls_identity_drop(tls->identity);
	free(tls);
}

enum tls_step tls_handshake(struct tls *tls)
{
	int got;

	/* Warnings are no end; the number is bounded, for a stranger may send many. */
	for (unsigned int i = 0; i < 8; i++) {
		got = gnutls_handshake(tls->session);
		if (got == GNUTLS_E_SUCCESS)
			return TLS_READY;
		if (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED)
			return gnutls_record_get_direction(tls->session) ? TLS_WANTS_WRITE
									 : TLS_WANTS_READ;
		if (gnutls_error_is_fatal(got))
			break;
	}
	/* The verification may have said it better. */
	if (!tls->why[0])
		note_refusal(tls,
			got == GNUTLS_E_CERTIFICATE_REQUIRED || got == GNUTLS_E_NO_CERTIFICATE_FOUND
				? RELAY_REFUSED_CERT
				: RELAY_REFUSED_TLS,
			gnutls_strerror(got));
	/* The other side may show an operator the reason, too. */
	gnutls_alert_send_appropriate(tls->session, got);
	return TLS_FAILED;
}

enum relay_refusal tls_refusal(const struct tls *tls, char why[TLS_WHY_SIZE])
{
	snprintf(why, TLS_WHY_SIZE, "%s", tls->why);
	return tls->refusal;
}

const char *tls_member(const struct tls *tls)
{
	return tls->member;
}

const char *tls_serial(const struct tls *tls)
{
	return tls->serial;
}

static ssize_t result_of(ssize_t got)
{
	if (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED)
		return END_AGAIN;
	return END_BROKEN;
}

ssize_t tls_read(void *context, void *to, size_t size)
{
	struct tls *tls = context;
	ssize_t got = gnutls_record_recv(tls->session, to, size);

	return got >= 0 ? got : result_of(got);
}

ssize_t tls_write(void *context, const void *from, size_t size)
{
	struct tls *tls = context;
	ssize_t put;

	/* The library sends what it holds, and says how many of the same bytes these were. */
	put = tls->unsent ? gnutls_record_send(tls->session, NULL, 0)
			  : gnutls_record_send(tls->session, from, size);
	if (put < 0) {
		tls->unsent = result_of(put) == END_AGAIN;
		return result_of(put);
	}
	tls->unsent = false;
	return put ? put : END_AGAIN;
}

bool tls_has_more(const struct tls *tls)
{
	return gnutls_record_check_pending(tls->session) > 0;
}
