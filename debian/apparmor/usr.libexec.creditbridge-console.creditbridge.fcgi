# creditbridge's web console. In complain mode: what it does beyond this is logged, not refused
# (aa-enforce usr.libexec.creditbridge-console.creditbridge.fcgi).
#include <tunables/global>

profile creditbridge-console /usr/libexec/creditbridge-console/creditbridge.fcgi flags=(complain) {
  #include <abstractions/base>
  #include <abstractions/nameservice>
  #include <abstractions/openssl>

  signal (receive) set=(term, int, usr1, kill),

  /usr/libexec/creditbridge-console/creditbridge.fcgi mr,
  /etc/creditbridge/creditbridge.conf r,
  /etc/gnutls/config r,
  /run/creditbridge/desk.sock rw,
  /run/creditbridge/jobs.sock rw,
  /run/creditbridge-console/console.sock rw,
  # Of another cell (creditbridge-console@.service).
  /etc/creditbridge/cell-*.conf r,
  /run/creditbridge-*/desk.sock rw,
  /run/creditbridge-*/jobs.sock rw,
  /run/creditbridge-console/*.sock rw,
  @{PROC}/sys/kernel/random/boot_id r,

  # The secrets that vouch for the web server are none of its business.
  deny /etc/creditbridge/console-front* rw,
  deny network inet,
  deny network inet6,

  #include if exists <local/usr.libexec.creditbridge-console.creditbridge.fcgi>
}
