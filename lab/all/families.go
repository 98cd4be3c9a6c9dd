package all

import (
	"snag/lab/bufferbloat"
	"snag/lab/drawn"
	ephemeralports "snag/lab/ephemeral-ports"
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
	synflood.Family,
	udpportclosed.Family,
	udpreceivebufferfull.Family,

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
