/*
 * doctor_web - checks the mounts from outside, as a dealer or a game server would call them.
 *
 * Nothing is signed. The service answers a call without a signature with its own 401. Before that
 * check, it answers 413 for a body above 64 KiB, which shows that the body arrived. Before both,
 * it answers 405 (contract, "Order of checks").
 */
#include "doctor/doctor.h"

#include "base/clock.h"
#include "callback/http.h"
#include "doctor/probe.h"
#include "wire/body.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The service expected at a mount. */
struct mount {
	enum serve_group group; /* the worker's argument of --serve */
	/* a signed POST: without a signature 401, after the ledger was asked */
	enum web_operation signed_post;
	enum web_operation post; /* accepts only POST: a GET is answered 405, without the ledger */
};
static const struct mount wallet = {SERVE_WALLET, OPERATION_BALANCE, PROBE_WALLET};
static const struct mount platform = {SERVE_PLATFORM, OPERATION_PLAYER_BALANCE,
	OPERATION_PLAYER_BALANCE};

static const char *serve_name(const struct mount *mount)
{
	return serve_group_names[mount->group];
}

/* A Date header is in whole seconds, and the call takes time. */
#define SKEW_WARN_S 5
#define SKEW_FAIL_S 60

/* The meaning of answers that the web server generates itself. */
static const struct {
	int code;
	const char *found;
	const char *remedy;
} servers_own[] = {
	{200, "something else than the service is served there",
		"mount the service there: see fcgi-conf/"},
	{301, "the web server redirects",
		"give the URL that it redirects to, with https or a slash"},
	{302, "the web server redirects",
		"give the URL that it redirects to, with https or a slash"},
	{308, "the web server redirects",
		"give the URL that it redirects to, with https or a slash"},
	{400, "the web server refuses the call before the service sees it",
		"see the web server's log"},
	{403, "the web server forbids it", "allow the mount in its configuration: see fcgi-conf/"},
	{404, "the web server does not hand this path to the service",
		"mount the service there: see fcgi-conf/"},
	{405, "the web server does not take the method there", "mount the service: see fcgi-conf/"},
	{411, "the web server wants a length that was given", "see the web server's log"},
	{413, "the web server's own bound on bodies is below the service's 64 KiB",
		"raise it as in fcgi-conf/"},
	{500, "the web server cannot start the worker, or it ended",
		"see the web server's log: the worker writes there why it cannot start"},
	{502, "the web server reaches no worker", "start the worker; see the web server's log"},
	{503, "the web server reaches no worker", "start the worker; see the web server's log"},
	{504, "the worker does not answer the web server in time", "see the worker's log"},
};

/* Explains why the answer in @probe is not from the service. */
static void explain_foreign(struct doctor *doctor, const struct probe *probe)
{
	const char *remedy;
	size_t i = 0;

	switch (probe->outcome) {
	case HTTP_ANSWERED:
		break;
	case HTTP_NOT_SENT:
		doctor_fail(doctor, "%s: no answer: %s", probe->url, probe->error);
		remedy = http_fault_remedy(probe->fault);
		doctor_remedy(doctor, "%s",
			remedy[0] ? remedy : "start the web server, or give the right URL");
		return;
	default:
		doctor_fail(doctor, "%s: %s", probe->url, probe->error);
		doctor_remedy(doctor, "give the right URL; see the web server's log");
		return;
	}
	while (i < sizeof(servers_own) / sizeof(servers_own[0]) &&
		servers_own[i].code != probe->code)
		i++;
	if (i == sizeof(servers_own) / sizeof(servers_own[0])) {
		doctor_fail(doctor, "%s: HTTP %d, and not from the service", probe->url,
			probe->code);
		doctor_remedy(doctor, "see the web server's log");
		return;
	}
	doctor_fail(doctor, "%s: HTTP %d: %s%s%s", probe->url, probe->code, servers_own[i].found,
		probe->location[0] ? " to " : "", probe->location);
	doctor_remedy(doctor, "%s", servers_own[i].remedy);
}

/* Explains an answer of the service that is not the expected one. */
static void explain_own(struct doctor *doctor, const struct probe *probe)
{
	if (probe->code == 503 || probe->code == 500) {
		doctor_fail(doctor, "%s: HTTP %d %s: the worker does not reach the ledger",
			probe->url, probe->code, probe->id);
		doctor_remedy(doctor,
			"see ledger, sockets and socket_access; the worker's log has "
			"the reason");
		return;
	}
	doctor_fail(doctor, "%s: HTTP %d %s instead of 401 invalid_signature", probe->url,
		probe->code, probe->id);
	doctor_remedy(doctor, "see the worker's log");
}

static bool is_refused_unsigned(const struct probe *probe)
{
	return probe->ours && probe->code == 401 && strcmp(probe->id, "invalid_signature") == 0;
}

/* Returns true if the service serves @mount at @base. */
static bool is_served(const char *base, const struct mount *mount, struct probe *probe)
{
	probe_call(probe, base, "GET", mount->post, 0);
	return probe->ours && probe->code == 405;
}

/* Explains a 404 of the service: the wrong mount is served there, or it has another prefix. */
static void explain_not_found(struct doctor *doctor, const char *base, const struct mount *mount)
{
	const struct mount *other = mount == &wallet ? &platform : &wallet;
	struct probe probe;

	if (is_served(base, other, &probe)) {
		doctor_fail(doctor, "the worker at %s serves the %s's paths", base,
			serve_name(other));
		doctor_remedy(doctor, "start the worker of this mount with --serve %s",
			serve_name(mount));
		return;
	}
	doctor_fail(doctor,
		"the worker at %s is mounted at another prefix than its --base-path: 404 "
		"not_found",
		base);
	doctor_remedy(doctor,
		"give the worker --base-path, or base_path, as the web server mounts "
		"it: the path of that URL");
}

/*
 * Returns true if the mount works, otherwise false after a finding. Without a ledger, which other
 * checks report, only the path to the worker is tested.
 */
static bool judge_mount(struct doctor *doctor, const char *base, const struct mount *mount)
{
	struct probe probe;

	if (!doctor_ledger_serves(doctor)) {
		if (is_served(base, mount, &probe))
			return true;
	} else {
		probe_call(&probe, base, "POST", mount->signed_post, 2);
		if (is_refused_unsigned(&probe))
			return true;
	}
	if (!probe.ours)
		explain_foreign(doctor, &probe);
	else if (probe.code == 404)
		explain_not_found(doctor, base, mount);
	else
		explain_own(doctor, &probe);
	return false;
}

void doctor_wallet_mount(struct doctor *doctor)
{
	const char *base = doctor->options->url;

	if (judge_mount(doctor, base, &wallet))
		doctor_pass(doctor, "%s reaches the service", base);
}

/*
 * Returns the remedy for a GET with a body that was answered @code before it reached the service.
 */
static const char *get_body_remedy(int code)
{
	switch (code) {
	case 403:
		return "a firewall or delivery network in front forbids it: let dealers use POST on "
		       "the same paths, or allow a GET with a body for this mount only";
	case 411:
		return "a proxy in front takes no body of a GET, or none without a length: let "
		       "dealers use POST on the same paths, or allow such calls for this mount "
		       "only";
	default:
		return "lighttpd: include fcgi-conf/lighttpd-global.conf (server.http-parseopts "
		       "method-get-body); a load balancer or proxy in front must let it pass, or "
		       "let dealers use POST on the same paths";
	}
}

void doctor_wallet_get_body(struct doctor *doctor)
{
	const char *base = doctor->options->url;
	struct probe large, small;

	if (!is_served(base, &wallet, &small)) {
		doctor_skip(doctor, "the mount does not work (see wallet_mount)");
		return;
	}
	probe_call(&large, base, "GET", OPERATION_BALANCE, BODY_MAX + 1);
	if (large.ours && large.code == 413) {
		doctor_pass(doctor, "the body of a GET reaches the service");
		return;
	}
	probe_call(&small, base, "GET", OPERATION_BALANCE, 2);
	if (!small.ours) {
		doctor_fail(doctor,
			"a GET with a body is answered HTTP %d%s%s%s and does not reach the "
			"service; a POST does",
			small.code, small.code ? "" : " (not at all)",
			small.server[0] ? " by " : "", small.server);
		doctor_remedy(doctor, "%s", get_body_remedy(small.code));
	} else if (large.ours) {
		doctor_fail(doctor,
			"a GET reaches the service, but without its body: something before "
			"it drops the body");
		doctor_remedy(doctor,
			"let the proxy pass bodies of GET, or let dealers use POST on "
			"the same paths");
	} else {
		doctor_fail(doctor,
			"a GET with a body of 64 KiB is answered HTTP %d by the web server",
			large.code);
		doctor_remedy(doctor, "raise its bound on bodies as in fcgi-conf/");
	}
}

/* Checks whether the paths of @other can be called at the mount of @own. */
static void judge_paths(struct doctor *doctor, const char *base, const struct mount *own,
	const struct mount *other)
{
	struct probe probe;

	if (is_served(base, other, &probe)) {
		doctor_fail(doctor, "the paths of the %s can be called at the mount of the %s: %s",
			serve_name(other), serve_name(own), probe.url);
		doctor_remedy(doctor,
			"start the worker of this mount with --serve %s; give each mount "
			"a virtual host or port of its own",
			serve_name(own));
	} else if (probe.outcome != HTTP_ANSWERED) {
		doctor_skip(doctor, "there is no answer (see %s_mount)", serve_name(own));
	} else {
		doctor_pass(doctor, "the %s's paths are not to be had there", serve_name(other));
	}
}

void doctor_wallet_paths(struct doctor *doctor)
{
	judge_paths(doctor, doctor->options->url, &wallet, &platform);
}

void doctor_platform_paths(struct doctor *doctor)
{
	judge_paths(doctor, doctor->options->platform_url, &platform, &wallet);
}

void doctor_platform_mount(struct doctor *doctor)
{
	const char *base = doctor->options->platform_url;
	struct probe probe;

	if (!judge_mount(doctor, base, &platform))
		return;
	probe_call(&probe, base, "GET", OPERATION_HEALTHZ, 0);
	if (probe.ours && probe.code == 200) {
		doctor_pass(doctor, "%s reaches the service", base);
		return;
	}
	doctor_fail(doctor, "%s: HTTP %d, though %s is served", probe.url, probe.code,
		http_operations[platform.signed_post].path);
	doctor_remedy(doctor, "hand the whole mount to the service: see fcgi-conf/");
}

void doctor_platform_private(struct doctor *doctor)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	uint8_t address[NETWORK_ADDRESS_SIZE];
	char host[256], text[NETWORK_TEXT_MAX];
	struct addrinfo *found = NULL;
	int error;

	if (!http_url_host(doctor->options->platform_url, host, sizeof(host))) {
		doctor_fail(doctor, "--platform-url is no URL");
		doctor_remedy(doctor, "give it as in http://10.1.2.3:8081");
		return;
	}
	error = getaddrinfo(host, NULL, &hints, &found);
	if (error) {
		doctor_skip(doctor, "the host %s is not found: %s", host, gai_strerror(error));
		return;
	}
	for (const struct addrinfo *row = found; row; row = row->ai_next) {
		if (!network_address_of(row->ai_addr, address) || !network_is_public(address))
			continue;
		network_address_format(address, text);
		doctor_warn(doctor, "the platform's mount is at the public address %s", text);
		doctor_remedy(doctor,
			"serve it on a private address or port: it is for game servers "
			"only, and its figures need no key");
		break;
	}
	freeaddrinfo(found);
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%s has no public address", host);
}

/* Compares the Date of the mount's answer with this machine's clock. */
static void judge_skew(struct doctor *doctor, const char *base, const struct mount *mount)
{
	struct tm tm = {.tm_sec = 0};
	struct probe probe;
	const char *end;
	long long off_s;

	doctor_about(doctor, "%s", serve_name(mount));
	probe_call(&probe, base, "GET", OPERATION_HEALTHZ, 0);
	end = probe.date[0] ? strptime(probe.date, "%a, %d %b %Y %H:%M:%S GMT", &tm) : NULL;
	if (!end || *end) {
		doctor_skip(doctor, "the answer of %s has no Date", base);
		return;
	}
	off_s = (long long)timegm(&tm) - clock_wall_ms() / 1000;
	if (llabs(off_s) <= SKEW_WARN_S) {
		doctor_pass(doctor, "the clock at %s agrees with this machine's", base);
		return;
	}
	doctor_add(doctor, llabs(off_s) <= SKEW_FAIL_S ? DOCTOR_WARN : DOCTOR_FAIL,
		"the clock at %s and this machine's differ by %lld s", base, llabs(off_s));
	doctor_remedy(doctor, "synchronise both clocks (chrony, systemd-timesyncd)");
}

void doctor_clock_skew(struct doctor *doctor)
{
	const char *wallet_base = doctor->options->url;
	const char *platform_base = doctor->options->platform_url;

	if (wallet_base)
		judge_skew(doctor, wallet_base, &wallet);
	if (platform_base)
		judge_skew(doctor, platform_base, &platform);
	if (!wallet_base && !platform_base) {
		doctor_skip(doctor, "no mount to compare with was given");
		doctor_remedy(doctor, "call doctor with --url=URL");
	}
}
