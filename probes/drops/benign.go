package drops

import (
	"strings"

	"snag/recording"
)

// benign lists what the kernel frees as a drop although nobody lost anything.
// Such rows are counted and recorded all the same, with Benign set; no first
// drop of theirs is announced. A reason alone is benign at every place and to
// every address; with places, at those only, with dst, to addresses that begin so.
var benign = []struct {
	reason string
	places []string
	dst    string
	why    string
}{
	{"QUEUE_PURGE", nil, "", "a socket or queue that was closed threw away what nobody will read (skb_queue_purge, 6.4 and later)"},
	{"TCP_OLD_DATA", nil, "", "a retransmitted segment whose data had come already (tcp_data_queue)"},
	{"TCP_OLD_SEQUENCE", nil, "", "a segment from before the window: a duplicate (tcp_sequence)"},
	{"TCP_OLD_ACK", nil, "", "an ACK older than the last one: reordered or duplicated (tcp_ack)"},
	{"TCP_TOO_OLD_ACK", nil, "", "an ACK from far before the window (tcp_ack)"},
	{"TCP_OFOMERGE", nil, "", "an out-of-order segment covered by another one (tcp_data_queue_ofo)"},
	{"NOT_SPECIFIED", []string{"ip6_mc_input"}, "", "IPv6 multicast nobody here joined: neighbour and listener discovery of others"},
	{"NOT_SPECIFIED", []string{
		"skb_queue_purge", "skb_queue_purge_reason", "skb_rbtree_purge", "inet_sock_destruct",
		"sk_stream_kill_queues", "udp_destruct_common", "udp_destruct_sock", "unix_sock_destructor", "netlink_sock_destruct", "packet_sock_destruct",
	}, "", "thrown away with the queue or socket it lay in, by code that does not say QUEUE_PURGE"},
	{"NOT_SPECIFIED", []string{"tcp_v4_rcv", "tcp_v6_rcv"}, "", "a segment for a connection in TIME-WAIT, answered there (tcp_timewait_state_process)"},
	{"IP_INNOROUTES", []string{"ip6_pkt_discard"}, "ff02:", "a multicast report of an interface that has no IPv6 route yet"},
	{"NOT_SPECIFIED", []string{"virtio_transport_recv_pkt"}, "", "a vsock packet between a virtual machine and its host, freed after use"},
	{"TCP_RESET", nil, "", "a reset that did what it is for (tcp_validate_incoming): see the table resets"},
	{"UNICAST_IN_L2_MULTICAST", nil, "", "a broadcast frame that carries somebody else's unicast packet"},
	{"OTHERHOST", nil, "", "a frame for another machine, seen by an interface in promiscuous mode"},
	{"UNHANDLED_PROTO", nil, "", "a frame of a protocol that this kernel does not speak: spanning tree, LLDP"},
	{"IPV6_NDISC_NS_OTHERHOST", nil, "", "a neighbour solicitation for another machine"},
	{"UNIX_DISCONNECT", nil, "", "what lay in a UNIX socket when it was disconnected"},
	{"PACKET_SOCK_ERROR", nil, "", "a capture's copy of a packet; the packet itself went on"},
}

// severalReasons are places that free packets for good and for bad: without a
// reason they tell nothing.
var severalReasons = map[string]bool{"tcp_v4_rcv": true, "tcp_v6_rcv": true}

// Benign reports whether a drop is one that nobody lost anything by. On kernels
// without reasons it goes by the place alone.
func Benign(d recording.Drop) bool {
	reason := d.Reason
	if reason == "" {
		if severalReasons[d.Place] {
			return false
		}
		reason = "NOT_SPECIFIED"
	}
	for _, b := range benign {
		if b.reason != reason || !strings.HasPrefix(d.Dst, b.dst) {
			continue
		}
		if b.places == nil {
			return true
		}
		for _, p := range b.places {
			if p == d.Place {
				return true
			}
		}
	}
	return false
}
