package routes

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"
)

// sayer puts the commonest expressions into nft's words, the others by name.
type sayer struct {
	words []string
	proto string
	what  string // what the register holds that the next comparison looks at
}

func (s *sayer) text() string { return strings.Join(s.words, " ") }

func (s *sayer) say(word string) { s.words = append(s.words, word) }

func (s *sayer) expression(name string, attrs []byte) {
	switch name {
	case "":
	case "meta":
		_ = nested(attrs, func(kind uint16, b []byte) {
			if kind == unix.NFTA_META_KEY {
				s.what = metas[be32(b)]
			}
		})
	case "payload":
		s.what = payload(attrs, s.proto)
	case "cmp":
		s.compare(attrs)
	case "immediate":
		if code, ok := verdictOf(attrs); ok {
			s.say(verdicts[code])
		}
	default:
		s.say(name)
		s.what = ""
	}
}

var verdicts = map[int32]string{0: "drop", 1: "accept", 3: "queue", -3: "jump", -4: "goto", -5: "return"}

// metas that rules match by (enum nft_meta_keys).
var metas = map[uint32]string{6: "iifname", 7: "oifname", 15: "nfproto", 16: "l4proto", 3: "mark"}

// payload names the header field that is loaded, "" for one that is not known here.
func payload(attrs []byte, proto string) string {
	var base, offset, length uint32
	_ = nested(attrs, func(kind uint16, b []byte) {
		switch kind {
		case unix.NFTA_PAYLOAD_BASE:
			base = be32(b)
		case unix.NFTA_PAYLOAD_OFFSET:
			offset = be32(b)
		case unix.NFTA_PAYLOAD_LEN:
			length = be32(b)
		}
	})
	switch [3]uint32{base, offset, length} {
	case [3]uint32{1, 12, 4}, [3]uint32{1, 8, 16}: // struct iphdr, ipv6hdr
		return "saddr"
	case [3]uint32{1, 16, 4}, [3]uint32{1, 24, 16}:
		return "daddr"
	case [3]uint32{1, 9, 1}:
		return "l4proto"
	case [3]uint32{2, 0, 2}:
		return "sport"
	case [3]uint32{2, 2, 2}:
		return "dport"
	case [3]uint32{2, 0, 1}:
		if strings.HasPrefix(proto, "icmp") {
			return "type"
		}
	}
	return ""
}

func (s *sayer) compare(attrs []byte) {
	op, value := uint32(0), []byte(nil)
	_ = nested(attrs, func(kind uint16, b []byte) {
		switch kind {
		case unix.NFTA_CMP_OP:
			op = be32(b)
		case unix.NFTA_CMP_DATA:
			_ = nested(b, func(kind uint16, b []byte) {
				if kind == unix.NFTA_DATA_VALUE {
					value = b
				}
			})
		}
	})
	what := s.what
	s.what = ""
	if op > 5 || what == "" {
		return
	}
	sign := []string{"", "!= ", "< ", "<= ", "> ", ">= "}[op]
	switch {
	case what == "nfproto":
	case what == "l4proto" && len(value) == 1:
		s.proto = protocols[value[0]]
		if s.proto == "" {
			s.proto = fmt.Sprintf("protocol %d", value[0])
		}
		s.say(sign + s.proto)
	case (what == "sport" || what == "dport") && len(value) == 2:
		s.say(fmt.Sprintf("%s %s%d", what, sign, binary.BigEndian.Uint16(value)))
	case what == "saddr" || what == "daddr":
		if a, ok := netip.AddrFromSlice(value); ok {
			s.say(fmt.Sprintf("%s %s%s", what, sign, a))
		}
	case what == "iifname" || what == "oifname":
		s.say(fmt.Sprintf("%s %s%s", what, sign, strings.ToValidUTF8(text(value), "?")))
	case what == "type" && len(value) == 1:
		s.say(fmt.Sprintf("type %s%d", sign, value[0]))
	}
}

var protocols = map[byte]string{1: "icmp", 6: "tcp", 17: "udp", 58: "icmpv6", 132: "sctp"}
