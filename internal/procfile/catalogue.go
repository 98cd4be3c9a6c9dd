package procfile

import "strings"

// The counters that suspects use are written from the first second on, even
// while they are 0: 0 is what clears a suspect. Any other counter of these
// protocols is written once it is not 0, with the 0 that came before, so that a
// quiet namespace costs tens of series and not six hundred.
const catalogued = `
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors MemErrors
Udp6: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors MemErrors
UdpLite: InErrors
Tcp: ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Ip: InReceives InHdrErrors InAddrErrors InDiscards InDelivers OutRequests OutDiscards OutNoRoutes ReasmFails FragFails
Ip6: InReceives InDiscards InNoRoutes InDelivers OutRequests OutDiscards OutNoRoutes FragFails
Icmp: InMsgs InDestUnreachs OutDestUnreachs OutMsgs
Icmp6: InDestUnreachs OutDestUnreachs
IpExt: InNoRoutes InTruncatedPkts InOctets OutOctets InCEPkts
TcpExt: SyncookiesSent SyncookiesRecv SyncookiesFailed EmbryonicRsts PruneCalled RcvPruned OfoPruned
TcpExt: LockDroppedIcmps ArpFilter TW DelayedACKs DelayedACKLost ListenOverflows ListenDrops
TcpExt: TCPSACKReneging TCPSACKReorder TCPRenoReorder TCPTSReorder TCPLostRetransmit TCPFastRetrans
TcpExt: TCPSlowStartRetrans TCPTimeouts TCPLossProbes TCPLossProbeRecovery TCPRcvCollapsed
TcpExt: TCPDSACKOldSent TCPDSACKOfoSent TCPDSACKRecv TCPDSACKOfoRecv TCPAbortOnData TCPAbortOnClose
TcpExt: TCPAbortOnMemory TCPAbortOnTimeout TCPAbortOnLinger TCPAbortFailed TCPMemoryPressures
TcpExt: TCPSpuriousRTOs TCPBacklogDrop PFMemallocDrop IPReversePathFilter TCPTimeWaitOverflow
TcpExt: TCPReqQFullDoCookies TCPReqQFullDrop TCPRetransFail TCPOFOQueue TCPOFODrop TCPChallengeACK
TcpExt: TCPFromZeroWindowAdv TCPToZeroWindowAdv TCPWantZeroWindowAdv TCPSynRetrans TCPOrigDataSent
TcpExt: TCPWinProbe TCPKeepAlive TCPMTUPFail TCPMTUPSuccess TCPDelivered TCPZeroWindowDrop TCPRcvQDrop
TcpExt: TCPWqueueTooBig
`

// settings stand among the counters of /proc/net/snmp and never change.
const settings = " Tcp_RtoAlgorithm Tcp_RtoMin Tcp_RtoMax Tcp_MaxConn Ip_Forwarding Ip_DefaultTTL "

// protocols whose counters are recorded.
const protocols = " Udp Udp6 UdpLite UdpLite6 Tcp Ip Ip6 Icmp Icmp6 TcpExt IpExt "

// Always are the counters, as Proto_Field, that are written while they are 0 too.
var Always = func() map[string]bool {
	out := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(catalogued), "\n") {
		proto, fields, _ := strings.Cut(line, ":")
		for _, f := range strings.Fields(fields) {
			out[proto+"_"+f] = true
		}
	}
	return out
}()

// Wanted reports whether a counter is recorded at all.
func Wanted(proto, key string) bool {
	return strings.Contains(protocols, " "+proto+" ") && !strings.Contains(settings, " "+key+" ")
}

// SockstatFields are the gauges of the catalogue; mem is in pages.
var SockstatFields = map[string]bool{
	"TCP_inuse": true, "TCP_orphan": true, "TCP_tw": true, "TCP_alloc": true, "TCP_mem": true,
	"UDP_inuse": true, "UDP_mem": true, "TCP6_inuse": true, "UDP6_inuse": true,
	"sockets_used": true,
}
