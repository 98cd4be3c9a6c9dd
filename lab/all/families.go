package all

import (
	"snag/lab/bufferbloat"
	"snag/lab/drawn"
	ephemeralports "snag/lab/ephemeral-ports"
	fdlimit "snag/lab/fd-limit"
	halfopenpeer "snag/lab/half-open-peer"
	kernelhotpath "snag/lab/kernel-hot-path"
	listenoverflow "snag/lab/listen-overflow"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	neighbourfailed "snag/lab/neighbour-failed"
	netfilterdrop "snag/lab/netfilter-drop"
	noroute "snag/lab/no-route"
	packetloss "snag/lab/packet-loss"
	packetreordering "snag/lab/packet-reordering"
	peerreset "snag/lab/peer-reset"
	pmtublackhole "snag/lab/pmtu-blackhole"
	qdiscdrop "snag/lab/qdisc-drop"
	reconnectstorm "snag/lab/reconnect-storm"
	reversepathfilter "snag/lab/reverse-path-filter"
	slowconsumer "snag/lab/slow-consumer"
	smallreceivewindow "snag/lab/small-receive-window"
	softirqononecpu "snag/lab/softirq-on-one-cpu"
	softnetbacklog "snag/lab/softnet-backlog"
	synflood "snag/lab/syn-flood"
	udpportclosed "snag/lab/udp-port-closed"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	bufferbloat.Family,
	ephemeralports.Family,
	fdlimit.Family,
	halfopenpeer.Family,
	kernelhotpath.Family,
	listenoverflow.Family,
	nagledelayedack.Family,
	neighbourfailed.Family,
	netfilterdrop.Family,
	noroute.Family,
	packetloss.Family,
	packetreordering.Family,
	peerreset.Family,
	pmtublackhole.Family,
	qdiscdrop.Family,
	reconnectstorm.Family,
	reversepathfilter.Family,
	slowconsumer.Family,
	smallreceivewindow.Family,
	softirqononecpu.Family,
	softnetbacklog.Family,
	synflood.Family,
	udpportclosed.Family,
	udpreceivebufferfull.Family,
}
