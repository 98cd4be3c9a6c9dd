package recording

// The rows that only a capture of packets gives (readers/pcap).

// Flow is one connection, or one pair of UDP ends, as a capture shows it, from its
// first packet to its last. Client opened it; where the handshake was not captured,
// Known is false and the end with the higher port is taken for it. Up and Down are
// what the client and the server sent. Of more flows than a recording keeps those are
// written on which something failed, and the first.
type Flow struct {
	T      Time   `json:"t"`
	End    Time   `json:"end"`
	Netns  uint64 `json:"netns"` // which capture: see Netns
	Proto  string `json:"proto"` // tcp udp
	Client string `json:"client"`
	Server string `json:"server"`
	Known  bool   `json:"known"`
	// Handshake is from the first SYN to the ACK, s; nil: not captured whole. ToServer
	// and ToClient are its two parts, from the capture to that end and back.
	Handshake *float64 `json:"handshake,omitempty"`
	ToServer  *float64 `json:"to_server,omitempty"`
	ToClient  *float64 `json:"to_client,omitempty"`
	SYNs      int      `json:"syns,omitempty"`     // of the client
	SYNACKs   int      `json:"syn_acks,omitempty"` // of the server
	Ignored   int      `json:"ignored,omitempty"`  // SYN-ACKs sent again though the client's ACK had come; 1 more where its first data was sent again and nothing acknowledged
	// Closed is how it ended: "fin", "client fin" (half closed), "server fin", "client
	// rst", "server rst", "refused", "unanswered", "open" (it went on), "forgotten" (it
	// made room).
	Closed string `json:"closed"`
	First  string `json:"first_close,omitempty"` // who closed first: client or server
	Forged bool   `json:"forged,omitempty"`      // the reset's TTL is not its sender's
	Call   string `json:"call,omitempty"`        // of UDP: the SIP call whose media it carries (SIPCall.ID)
	// Cut: a reset that came from the server took an answer, or the rest of one, from the client.
	Cut bool `json:"cut,omitempty"`
	// Asked are the client's requests: what it sends until the server sends again. WaitSum is how
	// long those that were answered waited for the first byte, s, WaitMax the longest. Silent of
	// all waited a second and more, SilentSum in all, s; Silence is the longest of these waits, nil
	// where there is none.
	Asked     uint64   `json:"asked,omitempty"`
	WaitSum   float64  `json:"wait_sum,omitempty"`
	WaitMax   float64  `json:"wait_max,omitempty"`
	Silent    uint64   `json:"silent,omitempty"`
	SilentSum float64  `json:"silent_sum,omitempty"`
	Silence   *Silence `json:"silence,omitempty"`
	Up        FlowWay  `json:"up"`
	Down      FlowWay  `json:"down"`
}

// Silence is the time after a request in which nothing came of the server.
type Silence struct {
	After  float64 `json:"after"`            // s after the connection's first packet, when the request had been sent whole
	Length float64 `json:"length"`           // s
	Begins string  `json:"begins,omitempty"` // what the request is, by its first bytes; "": not known
	// Acked is how long after that all of it had been acknowledged, s; nil: it never was.
	Acked *float64 `json:"acked,omitempty"`
	Open  bool     `json:"open,omitempty"`  // no answer came before the connection ended, or the capture
	First bool     `json:"first,omitempty"` // the server had sent no data before
	// Usual is the mean wait of the connection's other requests, s; nil: there were none.
	Usual *float64 `json:"usual,omitempty"`
}

// FlowWay is what one end of a flow sent.
type FlowWay struct {
	Packets  uint64 `json:"packets"`
	Bytes    uint64 `json:"bytes"`              // of payload, on the wire
	Segments uint64 `json:"segments,omitempty"` // with payload, in segments of the flow's size (offloads capture larger ones)
	Size     int    `json:"segment_bytes,omitempty"`
	// Resent are packets with payload that was sent before, Needless of them such that
	// the other end had it already or reported as duplicates, or could not take, beyond its window; Timeouts those
	// without duplicate ACKs before.
	Resent   uint64 `json:"resent,omitempty"`
	Needless uint64 `json:"needless,omitempty"`
	Timeouts uint64 `json:"timeouts,omitempty"`
	// TimedOut is how long nothing was sent and nothing acknowledged before those, s.
	TimedOut  float64 `json:"timed_out,omitempty"`
	Unheard   uint64  `json:"unheard,omitempty"`   // of the resent: before any of its data was acknowledged
	Filled    uint64  `json:"filled,omitempty"`    // of the resent: the first of it never came to the capture, though later data did: it was lost before
	NoSACK    bool    `json:"no_sack,omitempty"`   // the other end can't report what came twice (DSACK)
	Reordered uint64  `json:"reordered,omitempty"` // packets that others overtook before the capture
	DupAcks   uint64  `json:"dup_acks,omitempty"`  // duplicate ACKs that came for what it sent
	Copies    uint64  `json:"copies,omitempty"`    // packets that were captured more than once
	Missed    uint64  `json:"missed,omitempty"`    // bytes that the other end has and the capture has not
	Probes    uint64  `json:"probes,omitempty"`    // of a shut window
	// ZeroWindows are the segments in which this end offered no window, SYN, FIN and RST
	// apart.
	ZeroWindows uint64 `json:"zero_windows,omitempty"`
	// How long this end could not send for want of window, s: all of it on its way; and
	// none offered, with how often and how long at most.
	WindowFull float64 `json:"window_full,omitempty"`
	WindowShut float64 `json:"window_shut,omitempty"`
	// FullAcks are segments of the other end that came while all of its window was on its
	// way, and FullMost those of them that offered the largest window of all so far, or up to
	// an eighth less: who leaves data unread offers that much less (RFC 9293, 3.8.6).
	// WindowMost is that largest window, bytes.
	FullAcks   uint64  `json:"full_acks,omitempty"`
	FullMost   uint64  `json:"full_most,omitempty"`
	WindowMost int64   `json:"window_most_bytes,omitempty"`
	Shut       uint64  `json:"shut,omitempty"`
	ShutMax    float64 `json:"shut_max,omitempty"`
	ShutMore   bool    `json:"shut_more,omitempty"` // it had more to send then: it asked for room, or sent when there was some
	// RTT is from the capture to the other end and back, by data and its ACK, s; nil: not
	// measured.
	RTT    *float64 `json:"rtt,omitempty"`
	MinRTT *float64 `json:"min_rtt,omitempty"`
	MaxRTT *float64 `json:"max_rtt,omitempty"`
	Held   uint64   `json:"held,omitempty"` // small segments that Nagle's algorithm held back
	// Stuck is the size of IP packets that were sent again and again to the capture's
	// end and never acknowledged, bytes; Passed that of the smaller payload behind them
	// that was (SACK). 0: none.
	Stuck  int `json:"stuck_bytes,omitempty"`
	Passed int `json:"passed_bytes,omitempty"`
	// Largest is the size of the largest IP packet that was captured of it, bytes.
	Largest int `json:"largest_bytes,omitempty"`
	// StuckSince is when the first of them was sent; LargestAcked the size of the largest
	// IP packet that was acknowledged, bytes, of those that were timed; LastAck when
	// anything was, last.
	StuckSince   Time `json:"stuck_since,omitempty"`
	LargestAcked int  `json:"largest_acked_bytes,omitempty"`
	LastAck      Time `json:"last_ack,omitempty"`
	// What ICMP said of its packets, messages (Linux sends few of them: icmp_ratelimit):
	// that nobody holds the port, since when, and how many it sent from then on; that
	// they are too big for a hop ("fragmentation needed", "packet too big"), and the
	// least MTU that was named, bytes.
	Unreachable      uint64 `json:"port_unreachable,omitempty"`
	UnreachableSince Time   `json:"unreachable_since,omitempty"`
	SentSince        uint64 `json:"sent_since,omitempty"`
	TooBig           uint64 `json:"too_big,omitempty"`
	MTU              int    `json:"mtu,omitempty"`
	// Of TCP: ICMP messages that its packets did not arrive, the last one's reason ("no route",
	// "filtered", "no port") and who sent it.
	Undelivered    uint64 `json:"undelivered,omitempty"`
	UndeliveredWhy string `json:"undelivered_why,omitempty"`
	UndeliveredBy  string `json:"undelivered_by,omitempty"`
	Last           Time   `json:"last,omitempty"`      // of UDP: its last packet
	AfterBye       uint64 `json:"after_bye,omitempty"` // RTP packets half a second and more after the BYE of their call
	// Of RTP: packets that its sequence numbers say were lost, of all that were sent;
	// jitter as RFC 3550 6.4.1 has it, s.
	RTP *RTPWay `json:"rtp,omitempty"`
}

// RTPWay is one RTP stream (RFC 3550).
type RTPWay struct {
	SSRC    uint32  `json:"ssrc"`
	Type    uint8   `json:"payload_type"`
	Packets uint64  `json:"packets"`
	Lost    uint64  `json:"lost"`
	Late    uint64  `json:"late"` // came after one that was sent later
	Twice   uint64  `json:"twice"`
	Jitter  float64 `json:"jitter,omitempty"`
	MaxGap  float64 `json:"max_gap,omitempty"` // longest time without a packet, s
	Clock   int     `json:"clock_hz,omitempty"`
}

// Segment is one segment of a captured TCP connection. They are kept of the few connections on which
// somebody waited longest, thinned out evenly where there are many, and of the longest wait whole.
type Segment struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns"`
	Client string `json:"client"`
	Server string `json:"server"`
	Up     bool   `json:"up,omitempty"`    // the client sent it
	Flags  string `json:"flags,omitempty"` // of S, F, R, P and . (ACK), as tcpdump has them
	Seq    uint32 `json:"seq"`             // bytes since the direction's first
	Len    int    `json:"len,omitempty"`   // of the payload, bytes
	Ack    uint32 `json:"ack,omitempty"`   // of the other direction's bytes; 0 without the flag, or before its first
	// Window is what its sender offers, bytes; -1: its scale is not known.
	Window int64 `json:"window"`
	Again  bool  `json:"again,omitempty"` // its payload was seen before
	Wait   bool  `json:"wait,omitempty"`  // it is of the connection's longest wait
}

// Handshakes counts what became of the SYNs of one second to one address and port.
type Handshakes struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns"`
	Server string `json:"server"`
	SYNs   uint64 `json:"syns"`   // connections begun: first SYNs
	Opened uint64 `json:"opened"` // that second, whenever begun
	// Late of the opened took a second SYN or 0.9 s and more; LateMax is the longest, s.
	Late    uint64  `json:"late,omitempty"`
	LateMax float64 `json:"late_max,omitempty"`
	Resent  uint64  `json:"resent,omitempty"`  // SYNs sent again for want of an answer
	Refused uint64  `json:"refused,omitempty"` // answered by RST
	// Ignored are SYN-ACKs sent again though the client's ACK had been captured, and
	// connections whose first data was sent again as if the server did not know them: its
	// kernel had no room for the connection (tcp_v4_syn_recv_sock).
	Ignored    uint64 `json:"ignored,omitempty"`
	Unanswered uint64 `json:"unanswered,omitempty"` // connections given up without an answer, at their end
}

// SIPCall is one SIP dialogue (RFC 3261) over UDP, as a capture shows it. Times that are
// 0 were not seen.
type SIPCall struct {
	T        Time   `json:"t"`
	End      Time   `json:"end"` // of its last message
	Netns    uint64 `json:"netns"`
	ID       string `json:"id"`     // Call-ID, its first 128 bytes
	Caller   string `json:"caller"` // address:port that sent the first INVITE, and that it went to
	Callee   string `json:"callee"`
	INVITEs  int    `json:"invites"`        // retransmissions and re-INVITEs included
	Code     int    `json:"code,omitempty"` // the INVITE's final answer
	Ringing  Time   `json:"ringing,omitempty"`
	Answered Time   `json:"answered,omitempty"`
	Bye      Time   `json:"bye,omitempty"`
	ByeFrom  string `json:"bye_from,omitempty"`
	// Media are the addresses that its session descriptions name.
	Media []string `json:"media,omitempty"`
	// AfterBye are RTP packets of its media half a second and more after the BYE, and
	// AfterByeFor how long they went on, s.
	AfterBye    uint64  `json:"after_bye,omitempty"`
	AfterByeFor float64 `json:"after_bye_seconds,omitempty"`
}

// Table names of captures' rows.
func (Flow) Table() string       { return "flows" }
func (Segment) Table() string    { return "segments" }
func (Handshakes) Table() string { return "handshakes" }
func (SIPCall) Table() string    { return "sip_calls" }
