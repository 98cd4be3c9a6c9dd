package actor

import (
	"context"
	"flag"
	"fmt"
	"net"
	"time"
)

var udpProbe = Actor{
	Name:  "udp-probe",
	About: "sends a stray datagram to one port after another, as traceroute or a scanner does",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		host := f.String("host", "", "address")
		from := f.Int("port", 33434, "first port")
		ports := f.Int("ports", 3, "ports in a row, then again from the first")
		every := f.Duration("every", 4*time.Second, "one datagram this often")
		if err := parse(); err != nil {
			return err
		}
		c, err := net.ListenUDP("udp4", nil)
		if err != nil {
			return err
		}
		defer c.Close()
		ready()
		for n := 0; ; n++ {
			dst := &net.UDPAddr{IP: net.ParseIP(*host), Port: *from + n%max(1, *ports)}
			if _, err := c.WriteToUDP(make([]byte, 32), dst); err != nil {
				return fmt.Errorf("probe %v: %w", dst, err)
			}
			if !sleep(ctx, *every) {
				return nil
			}
		}
	},
}
