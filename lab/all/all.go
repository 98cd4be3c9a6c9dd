// Package all lists the incidents. A new one is its folder and one line here.
package all

import (
	"snag/lab"
	"snag/lab/bufferbloat"
	busythread "snag/lab/busy-thread"
	connectionlimit "snag/lab/connection-limit"
	conntrackfull "snag/lab/conntrack-full"
	cpusaturated "snag/lab/cpu-saturated"
	cputhrottled "snag/lab/cpu-throttled"
	diskstall "snag/lab/disk-stall"
	encoderstall "snag/lab/encoder-stall"
	encoderstallcapture "snag/lab/encoder-stall-capture"
	encoderstallhls "snag/lab/encoder-stall-hls"
	encoderstallslow "snag/lab/encoder-stall-slow"
	ephemeralports "snag/lab/ephemeral-ports"
	erroranswers "snag/lab/error-answers"
	fdlimit "snag/lab/fd-limit"
	fqflowlimit "snag/lab/fq-flow-limit"
	halfopenpeer "snag/lab/half-open-peer"
	heapfull "snag/lab/heap-full"
	kernelhotpath "snag/lab/kernel-hot-path"
	listenoverflow "snag/lab/listen-overflow"
	lockconvoy "snag/lab/lock-convoy"
	lockconvoygo "snag/lab/lock-convoy-go"
	lockconvoyjava "snag/lab/lock-convoy-java"
	logsilence "snag/lab/log-silence"
	logsilencepipe "snag/lab/log-silence-pipe"
	machinepaused "snag/lab/machine-paused"
	memoryfragmentation "snag/lab/memory-fragmentation"
	memorylimit "snag/lab/memory-limit"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	neighbourfailed "snag/lab/neighbour-failed"
	netfilterdrop "snag/lab/netfilter-drop"
	noroute "snag/lab/no-route"
	numaimbalance "snag/lab/numa-imbalance"
	"snag/lab/observer"
	packetloss "snag/lab/packet-loss"
	packetreordering "snag/lab/packet-reordering"
	peerreset "snag/lab/peer-reset"
	pmtublackhole "snag/lab/pmtu-blackhole"
	poolexhausted "snag/lab/pool-exhausted"
	processstopped "snag/lab/process-stopped"
	publishersendsless "snag/lab/publisher-sends-less"
	qdiscdrop "snag/lab/qdisc-drop"
	readerstall "snag/lab/reader-stall"
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
	slowdnsanswers "snag/lab/slow-dependency-dns-answers"
	slowlocalpeer "snag/lab/slow-dependency-local-peer"
	slowupstream "snag/lab/slow-dependency-upstream"
	smallreceivewindow "snag/lab/small-receive-window"
	softirqononecpu "snag/lab/softirq-on-one-cpu"
	softnetbacklog "snag/lab/softnet-backlog"
	spinlock "snag/lab/spin-lock"
	spinlocksteady "snag/lab/spin-lock-steady"
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

// Incidents in the order in which they are run.
var Incidents = []lab.Incident{
	udpreceivebufferfull.Incident,
	busythread.Incident,
	connectionlimit.Incident,
	poolexhausted.Incident,
	sessionlock.Incident,
	servicekilled.Incident,
	erroranswers.Incident,
	syscallfailing.Incident,
	tlshandshakefailed.Incident,
	udpportclosed.Incident,
	upstreamrefused.Incident,
	qdiscdrop.Incident,
	fqflowlimit.Incident,
	softnetbacklog.Incident,
	softirqononecpu.Incident,
	netfilterdrop.Incident,
	reversepathfilter.Incident,
	noroute.Incident,
	neighbourfailed.Incident,
	conntrackfull.Incident,
	pmtublackhole.Incident,
	listenoverflow.Incident,
	unixbacklog.Incident,
	reconnectstorm.Incident,
	nagledelayedack.Incident,
	peerreset.Incident,
	slowconsumer.Incident,
	receivertooslow.Incident,
	fdlimit.Incident,
	ephemeralports.Incident,
	synflood.Incident,
	halfopenpeer.Incident,
	packetloss.Incident,
	heapfull.Incident,
	runtimepause.Incident,
	runtimepause.Parallel,
	runtimepause.G1,
	runtimepause.ZGC,
	runtimepause.Shenandoah,
	packetreordering.Incident,
	bufferbloat.Incident,
	smallreceivewindow.Incident,
	spinlock.Incident,
	spinlocksteady.Incident,
	lockconvoy.Incident,
	lockconvoyjava.Incident,
	lockconvoygo.Incident,
	workerqueue.Incident,
	workerqueueprocesses.Incident,
	slowdependency.Incident,
	slowdns.Incident,
	slowdnsanswers.Incident,
	slowupstream.Incident,
	slowlocalpeer.Incident,
	logsilence.Incident,
	logsilencepipe.Incident,
	cputhrottled.Incident,
	cpusaturated.Incident,
	runqueuewait.Incident,
	diskstall.Incident,
	memorylimit.Incident,
	swap.Incident,
	wronglibrary.Incident,
	kernelhotpath.Incident,
	memoryfragmentation.Incident,
	numaimbalance.Incident,
	machinepaused.Incident,
	encoderstall.Incident,
	encoderstallcapture.Incident,
	encoderstallslow.Incident,
	encoderstallhls.Incident,
	uplinkthrottled.Incident,
	uplinkthrottledlayers.Incident,
	uplinkblackhole.Incident,
	serverstall.Incident,
	serverstallhls.Incident,
	serverstalljvm.Incident,
	serverstalllayers.Incident,
	readerstall.Incident,
	publishersendsless.Incident,
	processstopped.Incident,
	observer.Incident,
}
