package routes

import (
	"encoding/binary"
	"fmt"
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
		return chain{}, fmt.Errorf("decode a chain: %d bytes are not a nfgenmsg", len(data))
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
		return rule{}, fmt.Errorf("decode a rule: %d bytes are not a nfgenmsg", len(data))
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
