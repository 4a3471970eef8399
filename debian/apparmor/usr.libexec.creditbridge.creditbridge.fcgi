# creditbridge's worker. In complain mode: what it does beyond this is logged, not refused
# (aa-enforce usr.libexec.creditbridge.creditbridge.fcgi).
#include <tunables/global>

profile creditbridge-worker /usr/libexec/creditbridge/creditbridge.fcgi flags=(complain) {
  #include <abstractions/base>
  #include <abstractions/nameservice>
  #include <abstractions/openssl>
  #include <abstractions/ssl_certs>

  signal (receive) set=(term, int, usr1, kill),

  /usr/libexec/creditbridge/creditbridge.fcgi mr,
  /etc/creditbridge/** r,
  /etc/gnutls/config r,
  /run/creditbridge/edge.sock rw,
  /run/creditbridge-*/edge.sock rw,
  /run/creditbridge/counters rw,
  /run/creditbridge/together/ rk,
  /run/creditbridge/together/* rw,
  /run/creditbridge-lighttpd/* rw,
  @{PROC}/sys/kernel/random/boot_id r,

  #include if exists <local/usr.libexec.creditbridge.creditbridge.fcgi>
}
