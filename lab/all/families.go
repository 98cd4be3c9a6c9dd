package all

import (
	"snag/lab/drawn"
	encoderstall "snag/lab/encoder-stall"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	readerstall "snag/lab/reader-stall"
	"snag/lab/real/icecast"
	"snag/lab/real/rtmp"
	"snag/lab/real/rtp"
	"snag/lab/real/sip"
	serverstall "snag/lab/server-stall"
	serverstalljvm "snag/lab/server-stall-jvm"
	serverstalllayers "snag/lab/server-stall-layers"
	uplinkblackhole "snag/lab/uplink-blackhole"
	uplinkthrottled "snag/lab/uplink-throttled"
	uplinkthrottledlayers "snag/lab/uplink-throttled-layers"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,

	encoderstall.Family,
	readerstall.Family,
	serverstall.Family,
	serverstalljvm.Family,
	serverstalllayers.Family,
	uplinkblackhole.Family,
	uplinkthrottled.Family,
	uplinkthrottledlayers.Family,

	icecast.Family,
	rtmp.Family,
	rtp.Family,
	sip.Family,
}
