#include "peer/issue.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

#define DAY_S       86400
#define SERIAL_SIZE 16
#define CA_NAME     "creditbridge cell"

/* What one certificate is made of. */
struct certificate_making {
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
};

static bool making_begin(struct certificate_making *making)
{
	memset(making, 0, sizeof(*making));
	return gnutls_x509_crt_init(&making->certificate) == 0 &&
		gnutls_x509_privkey_init(&making->key) == 0;
}

static void making_end(struct certificate_making *making)
{
	if (making->certificate)
		gnutls_x509_crt_deinit(making->certificate);
	if (making->key)
		gnutls_x509_privkey_deinit(making->key);
}

/* Sets what all certificates have. Returns 0 or an error of the library. */
static int fill_common(struct certificate_making *making, const char *name, int64_t now_s, int days,
	struct issued *made)
{
	gnutls_x509_crt_t crt = making->certificate;
	uint8_t serial[SERIAL_SIZE] = {0}, id[64];
	size_t id_size = sizeof(id);
	int error;

	made->expires_s = now_s + (int64_t)days * DAY_S;
	error = gnutls_x509_privkey_generate(making->key, GNUTLS_PK_ECDSA,
		GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (!error)
		error = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));
	/* A positive number of full length. */
	serial[0] = (uint8_t)((serial[0] & 0x3f) | 0x40);
	for (size_t i = 0; i < sizeof(serial); i++)
		snprintf(made->serial + 2 * i, 3, "%02x", serial[i]);
	if (!error)
		error = gnutls_x509_crt_set_version(crt, 3);
	if (!error)
		error = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
	if (!error)
		error = gnutls_x509_crt_set_activation_time(crt, (time_t)(now_s - ISSUE_EARLIER_S));
	if (!error)
		error = gnutls_x509_crt_set_expiration_time(crt, (time_t)made->expires_s);
	if (!error)
		error = gnutls_x509_crt_set_key(crt, making->key);
	if (!error)
		error = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
			(unsigned int)strlen(name));
	if (!error)
		error = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, id, &id_size);
	if (!error)
		error = gnutls_x509_crt_set_subject_key_id(crt, id, id_size);
	return error;
}

static int fill_member(gnutls_x509_crt_t crt, gnutls_x509_crt_t ca, const char *member)
{
	uint8_t id[64];
	size_t id_size = sizeof(id);
	int error = gnutls_x509_crt_set_ca_status(crt, 0);

	if (!error)
		error = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (!error)
		error = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (!error)
		error = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_CLIENT, 0);
	if (!error)
		error = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, member,
			(unsigned int)strlen(member), GNUTLS_FSAN_SET);
	if (!error)
		error = gnutls_x509_crt_get_subject_key_id(ca, id, &id_size, NULL);
	if (!error)
		error = gnutls_x509_crt_set_authority_key_id(crt, id, id_size);
	return error;
}

/* Writes certificate and key as text, with a NUL. */
static int write_texts(struct certificate_making *making, struct issued *made)
{
	size_t size = sizeof(made->certificate) - 1;
	int error = gnutls_x509_crt_export(making->certificate, GNUTLS_X509_FMT_PEM,
		made->certificate, &size);

	if (error)
		return error;
	made->certificate[size] = 0;
	size = sizeof(made->key) - 1;
	error = gnutls_x509_privkey_export_pkcs8(making->key, GNUTLS_X509_FMT_PEM, NULL,
		GNUTLS_PKCS_PLAIN, made->key, &size);
	if (!error)
		made->key[size] = 0;
	return error;
}

static bool issue_failed(int error, char *why, size_t why_size)
{
	if (error)
		snprintf(why, why_size, "cannot make a certificate: %s", gnutls_strerror(error));
	return !error;
}

bool issue_ca(int64_t now_s, struct issued *ca, char *why, size_t why_size)
{
	struct certificate_making making;
	int error = GNUTLS_E_MEMORY_ERROR;

	memset(ca, 0, sizeof(*ca));
	if (making_begin(&making))
		error = fill_common(&making, CA_NAME, now_s, ISSUE_CA_DAYS, ca);
	if (!error)
		error = gnutls_x509_crt_set_basic_constraints(making.certificate, 1, 0);
	if (!error)
		error = gnutls_x509_crt_set_key_usage(making.certificate,
			GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN);
	if (!error)
		error = gnutls_x509_crt_sign2(making.certificate, making.certificate, making.key,
			GNUTLS_DIG_SHA256, 0);
	if (!error)
		error = write_texts(&making, ca);
	making_end(&making);
	return issue_failed(error, why, why_size);
}

/* Reads the CA's texts. */
static int read_ca(const struct issued *ca, struct certificate_making *making)
{
	const gnutls_datum_t certificate = {(unsigned char *)(uintptr_t)ca->certificate,
		(unsigned int)strlen(ca->certificate)};
	const gnutls_datum_t key = {(unsigned char *)(uintptr_t)ca->key,
		(unsigned int)strlen(ca->key)};
	int error = gnutls_x509_crt_import(making->certificate, &certificate, GNUTLS_X509_FMT_PEM);

	if (!error)
		error = gnutls_x509_privkey_import(making->key, &key, GNUTLS_X509_FMT_PEM);
	return error;
}

bool issue_member(const struct issued *ca, const char *member, int64_t now_s, struct issued *made,
	char *why, size_t why_size)
{
	struct certificate_making making, authority = {NULL, NULL};
	int error = GNUTLS_E_MEMORY_ERROR;

	memset(made, 0, sizeof(*made));
	if (making_begin(&making) && making_begin(&authority))
		error = read_ca(ca, &authority);
	if (!error)
		error = fill_common(&making, member, now_s, ISSUE_DAYS, made);
	if (!error)
		error = fill_member(making.certificate, authority.certificate, member);
	if (!error)
		error = gnutls_x509_crt_sign2(making.certificate, authority.certificate,
			authority.key, GNUTLS_DIG_SHA256, 0);
	if (!error)
		error = write_texts(&making, made);
	making_end(&making);
	making_end(&authority);
	return issue_failed(error, why, why_size);
}

bool issue_expiry(const char *text, int64_t *expires_s)
{
	const gnutls_datum_t data = {(unsigned char *)(uintptr_t)text, (unsigned int)strlen(text)};
	gnutls_x509_crt_t crt;
	time_t end = -1;

	if (gnutls_x509_crt_init(&crt) < 0)
		return false;
	if (gnutls_x509_crt_import(crt, &data, GNUTLS_X509_FMT_PEM) == 0)
		end = gnutls_x509_crt_get_expiration_time(crt);
	gnutls_x509_crt_deinit(crt);
	*expires_s = end;
	return end != (time_t)-1;
}
