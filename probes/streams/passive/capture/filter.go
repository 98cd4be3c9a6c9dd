package capture

import (
	"fmt"
	"slices"

	"golang.org/x/net/bpf"

	"snag/internal/packet"
)

// MaxPorts keeps every jump of the filter within the 8 bits that it has.
const MaxPorts = 32

const (
	loopback = 772     // ARPHRD_LOOPBACK, include/uapi/linux/if_arp.h
	outgoing = 4       // PACKET_OUTGOING, include/uapi/linux/if_packet.h
	icmp6    = 58      // IANA protocol number
	whole    = 1 << 20 // more than the longest packet (BIG TCP: 512 KiB)
)

var accept, reject bpf.Instruction = bpf.RetConstant{Val: whole}, bpf.RetConstant{Val: 0}

// Filter is a classic BPF program for a packet socket of type SOCK_DGRAM, whose
// packets begin at the network header. It passes TCP and UDP from or to one of the
// ports, with to only to one of them; all of TCP and UDP where there are none. What it can't look into (a VLAN
// tag that no hardware took off, IPv6 extension headers) it passes on to
// packet.Decode.
//
// A packet over the loopback interface is seen when it leaves and when it
// arrives; only the first is taken. All others are taken wherever they are seen:
// the same segment twice (a bridge and its port) is a retransmission to tcp.
func Filter(ports []uint16, to bool) ([]bpf.RawInstruction, error) {
	if len(ports) > MaxPorts {
		return nil, fmt.Errorf("capture on %d ports: at the most %d", len(ports), MaxPorts)
	}
	v4 := append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 9, Size: 1}, // RFC 791: protocol
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.TCP, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.UDP, SkipTrue: 1},
		reject,
		bpf.LoadMemShift{Off: 0}, // X: the header's length
	}, match(ports, ends(to, bpf.LoadIndirect{Off: 0, Size: 2}, bpf.LoadIndirect{Off: 2, Size: 2}))...)
	v6 := append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 6, Size: 1}, // RFC 8200: next header
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.TCP, SkipTrue: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.UDP, SkipTrue: 3},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: icmp6, SkipTrue: 1},
		accept,
		reject,
	}, match(ports, ends(to, bpf.LoadAbsolute{Off: 40, Size: 2}, bpf.LoadAbsolute{Off: 42, Size: 2}))...)
	link := []bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtLinkLayerType},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: loopback, SkipTrue: 3},
		bpf.LoadExtension{Num: bpf.ExtType},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: outgoing, SkipTrue: 1},
		reject,
		bpf.LoadExtension{Num: bpf.ExtProto},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.EtherIPv4, SkipTrue: 5},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.EtherIPv6, SkipTrue: 4 + uint8(len(v4))},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.EtherVLAN, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: packet.EtherQinQ, SkipTrue: 1},
		reject,
		accept,
	}
	return bpf.Assemble(slices.Concat(link, v4, v6))
}

// ends are the loads of the ports that count.
func ends(to bool, src, dst bpf.Instruction) []bpf.Instruction {
	if to {
		return []bpf.Instruction{dst}
	}
	return []bpf.Instruction{src, dst}
}

// match accepts what has one of the ports at one of its ends.
func match(ports []uint16, ends []bpf.Instruction) []bpf.Instruction {
	if len(ports) == 0 {
		return []bpf.Instruction{accept}
	}
	size := len(ends)*(len(ports)+1) + 2
	out := make([]bpf.Instruction, 0, size)
	for _, load := range ends {
		out = append(out, load)
		for _, p := range ports {
			out = append(out, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(p), SkipTrue: uint8(size - len(out) - 2)})
		}
	}
	return append(out, reject, accept)
}
