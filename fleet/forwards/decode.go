package forwards

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// What ctnetlink is asked and answers (include/uapi/linux/netfilter/nfnetlink_conntrack.h).
const (
	getConntrack = unix.NFNL_SUBSYS_CTNETLINK<<8 | 1 // IPCTNL_MSG_CT_GET

	ctaOrig, ctaReply, ctaStatus, ctaStatusMask = 1, 2, 3, 26
	ctaIP, ctaProto                             = 1, 2
	ctaV4Src, ctaV4Dst, ctaV6Src, ctaV6Dst      = 1, 2, 3, 4
	ctaProtoNum, ctaSrcPort, ctaDstPort         = 1, 2, 3

	// destinationRewritten is IPS_DST_NAT (nf_conntrack_common.h).
	destinationRewritten = 1 << 5
)

// rewritten is the request's nfgenmsg with a filter for entries whose destination is rewritten. Kernels before 6.1
// know no such filter and answer with all entries.
func rewritten() []byte {
	ae := netlink.NewAttributeEncoder()
	ae.ByteOrder = binary.BigEndian
	ae.Uint32(ctaStatus, destinationRewritten)
	ae.Uint32(ctaStatusMask, destinationRewritten)
	b, err := ae.Encode()
	if err != nil { // two numbers
		return make([]byte, 4)
	}
	return append(make([]byte, 4), b...)
}

// tuple is one direction of a connection.
type tuple struct {
	src, dst netip.AddrPort
	proto    uint8
}

// decode reads an entry; false where it is no TCP or UDP connection whose destination is rewritten.
func decode(data []byte) (Forward, bool) {
	if len(data) < 4 { // nfgenmsg
		return Forward{}, false
	}
	ad, err := netlink.NewAttributeDecoder(data[4:])
	if err != nil {
		return Forward{}, false
	}
	ad.ByteOrder = binary.BigEndian
	var orig, reply tuple
	status := uint32(0)
	for ad.Next() {
		switch ad.Type() {
		case ctaOrig:
			ad.Nested(orig.decode)
		case ctaReply:
			ad.Nested(reply.decode)
		case ctaStatus:
			status = ad.Uint32()
		}
	}
	f := Forward{From: orig.dst, To: reply.src}
	ok := ad.Err() == nil && status&destinationRewritten != 0 && f.From.IsValid() && f.To.IsValid() && f.From != f.To &&
		(orig.proto == unix.IPPROTO_TCP || orig.proto == unix.IPPROTO_UDP)
	return f, ok
}

func (t *tuple) decode(ad *netlink.AttributeDecoder) error {
	var src, dst netip.Addr
	var from, to uint16
	for ad.Next() {
		switch ad.Type() {
		case ctaIP:
			ad.Nested(func(ad *netlink.AttributeDecoder) error {
				for ad.Next() {
					a, ok := netip.AddrFromSlice(ad.Bytes())
					switch {
					case !ok:
					case ad.Type() == ctaV4Src || ad.Type() == ctaV6Src:
						src = a
					case ad.Type() == ctaV4Dst || ad.Type() == ctaV6Dst:
						dst = a
					}
				}
				return nil
			})
		case ctaProto:
			ad.Nested(func(ad *netlink.AttributeDecoder) error {
				for ad.Next() {
					switch ad.Type() {
					case ctaProtoNum:
						t.proto = ad.Uint8()
					case ctaSrcPort:
						from = ad.Uint16()
					case ctaDstPort:
						to = ad.Uint16()
					}
				}
				return nil
			})
		}
	}
	if src.IsValid() {
		t.src = netip.AddrPortFrom(src, from)
	}
	if dst.IsValid() {
		t.dst = netip.AddrPortFrom(dst, to)
	}
	return nil
}

// balanced reads /proc/net/ip_vs (net/netfilter/ipvs/ip_vs_ctl.c, ip_vs_info_seq_show): a service, and behind "->" its
// servers with their active connections. Services that are known by a firewall mark have no address.
func balanced(text string, into map[Forward]int) {
	var service netip.AddrPort
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 2 && (f[0] == "TCP" || f[0] == "UDP"):
			service = hexAddress(f[1])
		case len(f) >= 2 && f[0] == "FWM":
			service = netip.AddrPort{}
		case len(f) >= 5 && f[0] == "->" && service.IsValid():
			to := hexAddress(f[1])
			active, err := strconv.Atoi(f[4])
			if to.IsValid() && err == nil && to != service {
				into[Forward{From: service, To: to}] += active
			}
		}
	}
}

// hexAddress reads 0A600001:01BB, or [2001:0db8:0000:0000:0000:0000:0000:0001]:01BB.
func hexAddress(text string) netip.AddrPort {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return netip.AddrPort{}
	}
	port, err := strconv.ParseUint(text[at+1:], 16, 16)
	if err != nil {
		return netip.AddrPort{}
	}
	host := text[:at]
	if v6, is := strings.CutPrefix(host, "["); is {
		a, err := netip.ParseAddr(strings.TrimSuffix(v6, "]"))
		if err != nil {
			return netip.AddrPort{}
		}
		return netip.AddrPortFrom(a, uint16(port))
	}
	b, err := hex.DecodeString(host)
	a, ok := netip.AddrFromSlice(b)
	if err != nil || !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a, uint16(port))
}
