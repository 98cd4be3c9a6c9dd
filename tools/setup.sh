#!/usr/bin/env bash
# Installs the Debian packages that building and testing (default), the demo, the drawn
# incidents, the benchmark of system calls, that of files, that of recorders, that of loads or that of the fleet need,
# or a release or its check. For building and testing it also fetches the Go modules, what of npm the page is built
# with, and the servers that the tests speak with and Debian has not (counterparts.sh): all that make check needs of the
# network, which runs without one after this. Says what it installs or fetches; does nothing when all is there. Never
# starts a service.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v "${GO:-go}" >/dev/null || { echo "snag setup: Go is missing: install Go 1.26 or later (https://go.dev/dl)" >&2; exit 1; }
# What snag syscalls is measured beside; of these the tests need strace alone.
tracers="strace bpftrace linux-perf"
case "${1:-all}" in
demo) want="iproute2 nginx libnginx-mod-rtmp ffmpeg" ;;
all) want="clang clang-format llvm libbpf-dev bpftool iproute2 ethtool dbus-daemon nftables nginx libnginx-mod-rtmp ffmpeg prometheus prometheus-node-exporter influxdb victoria-metrics strace zstd jq python3 python3-gi python3-pip gunicorn gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-tools gstreamer1.0-rtsp stunnel4 dropbear-bin redis-tools gcc binutils libc6-dev openssl chromium fonts-dejavu-core musl-tools xz-utils wrk tshark tcptrace tcpdump dnsmasq-base liburing-dev linux-perf systemd shellcheck nghttp2-proxy python3-grpcio" ;;
# The servers and client libraries of the drawn incidents, a package a line.
drawn) want="
	apache2
	bash
	beanstalkd
	dnsmasq-base
	dovecot-imapd
	e2fsprogs
	etcd-server
	ffmpeg
	fio
	gcc
	gir1.2-gstreamer-1.0
	git
	gstreamer1.0-plugins-bad
	gstreamer1.0-plugins-base
	gstreamer1.0-plugins-good
	gstreamer1.0-tools
	gunicorn
	haproxy
	icecast2
	iperf3
	iproute2
	kamailio
	kamailio-utils-modules
	libc6-dev
	libnginx-mod-rtmp
	libtomcat10-java
	logrotate
	mariadb-server
	memcached
	mosquitto
	mount
	nftables
	nginx
	nmap
	nodejs
	openssl
	pgbouncer
	php8.2-fpm
	postgresql
	procps
	python3
	python3-dnspython
	python3-gi
	python3-grpcio
	python3-ldap
	python3-paho-mqtt
	python3-psycopg2
	python3-pymemcache
	python3-pymysql
	python3-redis
	python3-waitress
	python3-websockets
	redis-server
	redis-tools
	rsync
	sip-tester
	slapd
	squid
	tomcat10-common
	unbound
	util-linux
	uwsgi-core
	uwsgi-plugin-python3
	varnish
	vsftpd
	wrk
" ;;
bench) want="iproute2 nginx wrk util-linux redis-server redis-tools postgresql" ;;
bench-syscalls) want="$tracers" ;;
bench-record) want="gcc libc6-dev nginx tshark linux-perf prometheus iproute2 e2fsprogs mount pkg-config libelf-dev zlib1g-dev" ;;
bench-load) want="iproute2 nginx wrk redis-server redis-tools nftables python3 python3-pip util-linux" ;;
fleet) want="curl haproxy iproute2 nftables procps nginx libnginx-mod-rtmp ffmpeg prometheus" ;;
kubernetes) want="etcd-server" ;;
release) want="" ;;
release-check) want="debootstrap iproute2 jq lintian python3 qemu-user-static rpm runc shellcheck skopeo systemd" ;;
bench-files) want="strace linux-perf zstd nginx wrk iproute2 ethtool tcpdump tcptrace tshark mawk perl maven" ;;
*) echo "usage: $0 [demo|drawn|bench|bench-syscalls|bench-files|bench-record|bench-load|fleet|kubernetes|release|release-check]" >&2; exit 2 ;;
esac
# The page's bundle is built with Node 18 or later: Debian's where there is none.
if [ "${1:-all}" = all ] && ! npm --version >/dev/null 2>&1; then
	want="$want nodejs npm"
fi
# Java programs of the lab and of the tests: any JDK, Debian's where there is none.
if { [ "${1:-all}" = all ] || [ "$1" = bench-files ] || [ "$1" = drawn ] || [ "$1" = fleet ]; } && ! javac -version >/dev/null 2>&1; then
	want="$want default-jdk-headless"
fi
# Rust's mangled names, in a test: any compiler, Debian's where there is none.
if [ "${1:-all}" = all ] && ! rustc --version >/dev/null 2>&1; then
	want="$want rustc"
fi
missing=""
for p in $want; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
	if [ "$(id -u)" != 0 ]; then
		echo "snag setup: these Debian packages are missing:$missing" >&2
		echo "snag setup: run this as root, or: sudo apt-get install$missing" >&2
		exit 1
	fi
	echo "snag setup: installing Debian packages:$missing"
	# Packages of servers must not start theirs: the lab runs its own, in its own namespaces.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod +x $policy
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT
	fi
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
	# Nor at the next boot: only what was installed here is touched, never a service
	# that was there before.
	for service in apache2 beanstalkd dovecot etcd haproxy icecast2 influxdb iperf3 kamailio mariadb memcached mosquitto nginx pgbouncer php8.2-fpm postgresql prometheus prometheus-node-exporter redis-server rsync slapd squid stunnel4 unbound varnish victoria-metrics vsftpd; do
		case " $missing " in
		*" $service "* | *" $service-server "* | *" $service-imapd "*)
			if [ -d /run/systemd/system ]; then
				systemctl disable --quiet "$service"
				echo "snag setup: $service was installed and not started; its service is disabled"
			fi
			;;
		esac
	done
fi
if [ "${1:-all}" = all ]; then
	# Every package that a step of make check compiles; bpf2go is what go generate runs.
	"${GO:-go}" list -deps -test ./... >/dev/null
	"${GO:-go}" list -deps github.com/cilium/ebpf/cmd/bpf2go >/dev/null
	(cd tools/lint && "${GO:-go}" list -deps . >/dev/null)
	# The page's tools: again when the lock file has changed, which is kept beside them.
	if ! cmp -s ui/package-lock.json ui/node_modules/.installed-lock.json; then
		echo "snag setup: fetching what of npm the page is built with (ui/package-lock.json)"
		npm ci --prefix ui --no-update-notifier --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
		cp ui/package-lock.json ui/node_modules/.installed-lock.json
	fi
	tools/counterparts.sh
	tools/objects.sh
	echo "snag setup: not installed here: what only one target needs. make bench-syscalls installs $tracers; make bench-files tshark, tcptrace, tcpdump, maven and what tools/benchfiles/peers.sh says; make bench-record what tools/benchrecord/peers.sh says; make bench-load what tools/benchload/peers.sh says; make bench-fleet what tools/fleet.sh says; make vm and make lab-vm say what they need"
fi
if [ "${1:-all}" = release ] || [ "${1:-all}" = release-check ]; then
	# What packs a release and checks its manifests: 60 modules (tools/release). arm64 links what amd64 does.
	(cd tools/release && "${GO:-go}" list -deps -test ./... >/dev/null)
	GOARCH=arm64 "${GO:-go}" list -deps ./cmd/snag >/dev/null
fi
if [ "${1:-all}" = bench-files ]; then
	tools/benchfiles/peers.sh
fi
if [ "${1:-all}" = bench-record ]; then
	tools/benchrecord/peers.sh
fi
if [ "${1:-all}" = bench-load ]; then
	tools/benchload/peers.sh
fi
if [ "${1:-all}" = fleet ]; then
	tools/fleet.sh
fi
if [ "${1:-all}" = kubernetes ]; then
	tools/kubernetes.sh
fi
