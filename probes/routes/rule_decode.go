package routes

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// chain is one chain of nf_tables; Hook "" where no packet begins in it.
type chain struct {
	Family, Table, Name, Hook string
	PolicyDrop                bool
	Count                     *count // of packets that the policy met, where it is counted
}

// rule is one rule of nf_tables, with what a person needs to find it.
type rule struct {
	Family, Table, Chain string
	Handle               uint64
	Verdict              string // drop reject queue; "" it lets pass, or another chain decides
	Text                 string
	Count                *count // nil: it has no counter
}

type count struct{ Packets, Bytes uint64 }

// families of nf_tables (include/uapi/linux/netfilter.h, NFPROTO_…).
var families = map[byte]string{1: "inet", 2: "ip", 3: "arp", 5: "netdev", 7: "bridge", 10: "ip6"}

// hookName names a hook number of a family (enum nf_inet_hooks, nf_dev_hooks; the
// bridge's first five are the same, arp has two).
func hookName(family string, n int) string {
	names := []string{"prerouting", "input", "forward", "output", "postrouting", "ingress"}
	switch family {
	case "netdev":
		names = []string{"ingress", "egress"}
	case "arp":
		names = []string{"input", "output", "forward"}
	}
	if n < 0 || n >= len(names) {
		return ""
	}
	return names[n]
}

// nested reads big-endian attributes, as netfilter's are.
func nested(b []byte, each func(kind uint16, v []byte)) error {
	ad, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return err
	}
	for ad.Next() {
		each(ad.Type(), ad.Bytes())
	}
	return ad.Err()
}

func be32(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

func be64(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// text cuts a string at its NUL.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// decodeChain reads a reply of NFT_MSG_GETCHAIN: struct nfgenmsg and its attributes.
func decodeChain(data []byte) (chain, error) {
	if len(data) < 4 {
		return chain{}, fmt.Errorf("decode a chain: %d bytes are no nfgenmsg", len(data))
	}
	c := chain{Family: families[data[0]]}
	err := nested(data[4:], func(kind uint16, b []byte) {
		switch kind {
		case unix.NFTA_CHAIN_TABLE:
			c.Table = text(b)
		case unix.NFTA_CHAIN_NAME:
			c.Name = text(b)
		case unix.NFTA_CHAIN_POLICY:
			c.PolicyDrop = len(b) >= 4 && be32(b) == 0 // NF_DROP
		case unix.NFTA_CHAIN_COUNTERS:
			c.Count = decodeCount(b)
		case unix.NFTA_CHAIN_HOOK:
			_ = nested(b, func(kind uint16, b []byte) { // what is torn in it leaves the hook unknown
				if kind == unix.NFTA_HOOK_HOOKNUM && len(b) >= 4 {
					c.Hook = hookName(c.Family, int(be32(b)))
				}
			})
		}
	})
	if err != nil {
		return chain{}, fmt.Errorf("decode a chain: %w", err)
	}
	return c, nil
}

// decodeCount reads NFTA_COUNTER_…; nil where the packets are missing.
func decodeCount(b []byte) *count {
	var c count
	seen := false
	err := nested(b, func(kind uint16, b []byte) {
		switch {
		case kind == unix.NFTA_COUNTER_PACKETS && len(b) >= 8:
			c.Packets, seen = be64(b), true
		case kind == unix.NFTA_COUNTER_BYTES:
			c.Bytes = be64(b)
		}
	})
	if err != nil || !seen {
		return nil
	}
	return &c
}

// mostText bounds the text of a rule: it is to be recognised, not to be loaded.
const mostText = 160

// decodeRule reads a reply of NFT_MSG_GETRULE.
func decodeRule(data []byte) (rule, error) {
	if len(data) < 4 {
		return rule{}, fmt.Errorf("decode a rule: %d bytes are no nfgenmsg", len(data))
	}
	r := rule{Family: families[data[0]]}
	said := sayer{}
	err := nested(data[4:], func(kind uint16, b []byte) {
		switch kind {
		case unix.NFTA_RULE_TABLE:
			r.Table = text(b)
		case unix.NFTA_RULE_CHAIN:
			r.Chain = text(b)
		case unix.NFTA_RULE_HANDLE:
			r.Handle = be64(b)
		case unix.NFTA_RULE_EXPRESSIONS:
			_ = nested(b, func(kind uint16, b []byte) { // what can be read of them is told
				if kind == unix.NFTA_LIST_ELEM {
					name, attrs := expression(b)
					r.take(name, attrs)
					said.expression(name, attrs)
				}
			})
		}
	})
	if err != nil {
		return rule{}, fmt.Errorf("decode a rule: %w", err)
	}
	if r.Text = said.text(); len(r.Text) > mostText {
		r.Text = strings.ToValidUTF8(r.Text[:mostText], "") + "…"
	}
	return r, nil
}

func expression(b []byte) (name string, attrs []byte) {
	_ = nested(b, func(kind uint16, b []byte) {
		switch kind {
		case unix.NFTA_EXPR_NAME:
			name = text(b)
		case unix.NFTA_EXPR_DATA:
			attrs = b
		}
	})
	return name, attrs
}

// take reads off an expression what it does with a packet.
func (r *rule) take(name string, attrs []byte) {
	switch name {
	case "counter":
		r.Count = decodeCount(attrs)
	case "reject", "queue":
		r.Verdict = name
	case "immediate":
		if code, ok := verdictOf(attrs); ok && code == 0 { // NF_DROP
			r.Verdict = "drop"
		}
	}
}

// verdictOf reads the verdict that an immediate expression puts into the verdict
// register.
func verdictOf(attrs []byte) (code int32, ok bool) {
	_ = nested(attrs, func(kind uint16, b []byte) {
		if kind == unix.NFTA_IMMEDIATE_DATA {
			_ = nested(b, func(kind uint16, b []byte) {
				if kind == unix.NFTA_DATA_VERDICT {
					_ = nested(b, func(kind uint16, b []byte) {
						if kind == unix.NFTA_VERDICT_CODE && len(b) >= 4 {
							code, ok = int32(be32(b)), true
						}
					})
				}
			})
		}
	})
	return code, ok
}

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
