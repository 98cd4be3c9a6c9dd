package all

import (
	"snag/lab/bufferbloat"
	busythread "snag/lab/busy-thread"
	connectionlimit "snag/lab/connection-limit"
	conntrackfull "snag/lab/conntrack-full"
	cpusaturated "snag/lab/cpu-saturated"
	cputhrottled "snag/lab/cpu-throttled"
	diskstall "snag/lab/disk-stall"
	"snag/lab/drawn"
	encoderstall "snag/lab/encoder-stall"
	encoderstallhls "snag/lab/encoder-stall-hls"
	ephemeralports "snag/lab/ephemeral-ports"
	erroranswers "snag/lab/error-answers"
	eventloopblocked "snag/lab/event-loop-blocked"
	fdlimit "snag/lab/fd-limit"
	halfopenpeer "snag/lab/half-open-peer"
	"snag/lab/healthy/backup"
	"snag/lab/healthy/benchmark"
	"snag/lab/healthy/checks"
	"snag/lab/healthy/churn"
	"snag/lab/healthy/closes"
	"snag/lab/healthy/deploy"
	"snag/lab/healthy/jobs"
	"snag/lab/healthy/resting"
	"snag/lab/healthy/slow"
	"snag/lab/healthy/streams"
	"snag/lab/healthy/waits"
	heapfull "snag/lab/heap-full"
	kernelhotpath "snag/lab/kernel-hot-path"
	listenoverflow "snag/lab/listen-overflow"
	lockconvoy "snag/lab/lock-convoy"
	logsilence "snag/lab/log-silence"
	logsilencepipe "snag/lab/log-silence-pipe"
	memorylimit "snag/lab/memory-limit"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	neighbourfailed "snag/lab/neighbour-failed"
	netfilterdrop "snag/lab/netfilter-drop"
	noroute "snag/lab/no-route"
	packetloss "snag/lab/packet-loss"
	packetreordering "snag/lab/packet-reordering"
	peerreset "snag/lab/peer-reset"
	pmtublackhole "snag/lab/pmtu-blackhole"
	poolexhausted "snag/lab/pool-exhausted"
	processstopped "snag/lab/process-stopped"
	publisherended "snag/lab/publisher-ended"
	qdiscdrop "snag/lab/qdisc-drop"
	readerstall "snag/lab/reader-stall"
	"snag/lab/real/apache"
	"snag/lab/real/beanstalkd"
	"snag/lab/real/dns"
	"snag/lab/real/dovecot"
	"snag/lab/real/etcd"
	"snag/lab/real/grpc"
	"snag/lab/real/gunicorn"
	"snag/lab/real/haproxy"
	"snag/lab/real/icecast"
	"snag/lab/real/mariadb"
	"snag/lab/real/memcached"
	"snag/lab/real/mosquitto"
	"snag/lab/real/nginx"
	"snag/lab/real/node"
	"snag/lab/real/pgbouncer"
	"snag/lab/real/phpfpm"
	"snag/lab/real/postgresql"
	"snag/lab/real/redis"
	"snag/lab/real/rtmp"
	"snag/lab/real/rtp"
	"snag/lab/real/sip"
	"snag/lab/real/slapd"
	"snag/lab/real/squid"
	"snag/lab/real/tomcat"
	"snag/lab/real/uwsgi"
	"snag/lab/real/varnish"
	"snag/lab/real/vsftpd"
	"snag/lab/real/waitress"
	receivertooslow "snag/lab/receiver-too-slow"
	reconnectstorm "snag/lab/reconnect-storm"
	reversepathfilter "snag/lab/reverse-path-filter"
	runqueuewait "snag/lab/run-queue-wait"
	runtimepause "snag/lab/runtime-pause"
	serverstall "snag/lab/server-stall"
	serverstallhls "snag/lab/server-stall-hls"
	serverstalljvm "snag/lab/server-stall-jvm"
	serverstalllayers "snag/lab/server-stall-layers"
	servicekilled "snag/lab/service-killed"
	sessionlock "snag/lab/session-lock"
	slowconsumer "snag/lab/slow-consumer"
	slowdependency "snag/lab/slow-dependency"
	slowdns "snag/lab/slow-dependency-dns"
	smallreceivewindow "snag/lab/small-receive-window"
	softirqononecpu "snag/lab/softirq-on-one-cpu"
	softnetbacklog "snag/lab/softnet-backlog"
	spinlock "snag/lab/spin-lock"
	"snag/lab/swap"
	synflood "snag/lab/syn-flood"
	syscallfailing "snag/lab/syscall-failing"
	tlshandshakefailed "snag/lab/tls-handshake-failed"
	udpportclosed "snag/lab/udp-port-closed"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
	unixbacklog "snag/lab/unix-backlog"
	uplinkblackhole "snag/lab/uplink-blackhole"
	uplinkthrottled "snag/lab/uplink-throttled"
	uplinkthrottledlayers "snag/lab/uplink-throttled-layers"
	upstreamrefused "snag/lab/upstream-refused"
	workerqueue "snag/lab/worker-queue"
	workerqueueprocesses "snag/lab/worker-queue-processes"
	wronglibrary "snag/lab/wrong-library"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	bufferbloat.Family,
	busythread.Family,
	connectionlimit.Family,
	conntrackfull.Family,
	cpusaturated.Family,
	cputhrottled.Family,
	diskstall.Family,
	encoderstall.Family,
	encoderstallhls.Family,
	ephemeralports.Family,
	erroranswers.Family,
	eventloopblocked.Family,
	fdlimit.Family,
	halfopenpeer.Family,
	heapfull.Family,
	kernelhotpath.Family,
	listenoverflow.Family,
	lockconvoy.Family,
	logsilence.Family,
	logsilencepipe.Family,
	memorylimit.Family,
	nagledelayedack.Family,
	neighbourfailed.Family,
	netfilterdrop.Family,
	noroute.Family,
	packetloss.Family,
	packetreordering.Family,
	peerreset.Family,
	pmtublackhole.Family,
	poolexhausted.Family,
	processstopped.Family,
	publisherended.Family,
	qdiscdrop.Family,
	readerstall.Family,
	receivertooslow.Family,
	reconnectstorm.Family,
	reversepathfilter.Family,
	runqueuewait.Family,
	runtimepause.Family,
	serverstall.Family,
	serverstallhls.Family,
	serverstalljvm.Family,
	serverstalllayers.Family,
	servicekilled.Family,
	sessionlock.Family,
	slowconsumer.Family,
	slowdependency.Family,
	slowdns.Family,
	smallreceivewindow.Family,
	softirqononecpu.Family,
	softnetbacklog.Family,
	spinlock.Family,
	swap.Family,
	synflood.Family,
	syscallfailing.Family,
	tlshandshakefailed.Family,
	udpportclosed.Family,
	udpreceivebufferfull.Family,
	unixbacklog.Family,
	uplinkblackhole.Family,
	uplinkthrottled.Family,
	uplinkthrottledlayers.Family,
	upstreamrefused.Family,
	workerqueue.Family,
	workerqueueprocesses.Family,
	wronglibrary.Family,

	apache.Family,
	beanstalkd.Family,
	dns.Dnsmasq,
	dns.Unbound,
	dovecot.Family,
	etcd.Family,
	grpc.Family,
	gunicorn.Family,
	haproxy.Family,
	icecast.Family,
	mariadb.Family,
	memcached.Family,
	mosquitto.Family,
	nginx.Family,
	node.Family,
	pgbouncer.Family,
	phpfpm.Family,
	postgresql.Family,
	redis.Family,
	rtmp.Family,
	rtp.Family,
	sip.Family,
	slapd.Family,
	squid.Family,
	tomcat.Family,
	uwsgi.Family,
	varnish.Family,
	vsftpd.Family,
	waitress.Family,

	backup.Archive,
	backup.Build,
	backup.Copy,
	benchmark.Datagrams,
	benchmark.Disk,
	benchmark.Redis,
	benchmark.Wrk,
	checks.Inventory,
	checks.Redis,
	checks.TLS,
	checks.Web,
	churn.Connections,
	churn.Names,
	closes.Cancel,
	closes.Players,
	closes.Proxied,
	deploy.BlueGreen,
	deploy.Reload,
	deploy.Rolling,
	jobs.Cron,
	jobs.Logrotate,
	jobs.Quota,
	resting.Memory,
	resting.Processes,
	resting.Redis,
	resting.Web,
	slow.Far,
	slow.Work,
	streams.Players,
	streams.Voice,
	waits.LongPoll,
	waits.Redis,
	waits.WebSockets,
}
