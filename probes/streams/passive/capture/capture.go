// Package capture gives the packets of this host's interfaces, or of a capture
// file, with the kernel's time of each. Payload passes through the kernel's ring
// and is never copied out of it here.
package capture

// Packet is one captured packet from its network header on.
type Packet struct {
	At    int64  // monotonic clock, ns: when the kernel took it; of a file, its own time as ns since 1970
	Proto uint16 // ethertype
	Data  []byte // good until the handler returns
	Wire  int    // bytes on the wire from the network header on
}

// Stats are what a capture took and missed.
type Stats struct {
	Packets uint64 // that passed the filter
	Dropped uint64 // that passed it and found no room
	Frozen  uint64 // times the ring was full
}
