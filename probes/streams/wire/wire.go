// Package wire opens the sockets that readers of streams read from, in the network
// namespace that they are told, and gives datagrams with the time at which the
// kernel took them.
package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/internal/netns"
)

// Shown is a URL as it may be shown: without its user, and without the query's
// values, which is where tokens are.
func Shown(u *url.URL) string {
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	names := strings.Split(u.RawQuery, "&")
	for i, pair := range names {
		name, _, named := strings.Cut(pair, "=")
		if !named {
			name = "" // may be a token alone
		}
		names[i] = name + "=…"
	}
	if c.RawQuery != "" {
		c.RawQuery = strings.Join(names[:min(len(names), 8)], "&")
	}
	return c.String()
}

// In runs f in the namespace at path, "" being snag's own. Sockets that f opens
// stay in it.
func In(path string, f func() error) error {
	if path == "" {
		return f()
	}
	id, err := netns.IDOf(path)
	if err != nil {
		return fmt.Errorf("find network namespace %s: %w", path, err)
	}
	h, err := netns.Open(netns.Namespace{ID: id, Path: path})
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Do(f)
}

// Resolve finds the address of host:port; names are asked for from snag's own
// namespace, as resolving runs on threads that can't be chosen.
func Resolve(ctx context.Context, host, port string) (netip.AddrPort, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("port %q is no number up to 65535", port)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(ip.Unmap(), uint16(n)), nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if len(ips) == 0 {
		return netip.AddrPort{}, fmt.Errorf("%s has no address", host)
	}
	return netip.AddrPortFrom(ips[0].Unmap(), uint16(n)), nil
}

// Dial connects by TCP from the namespace at path.
func Dial(ctx context.Context, path, host, port string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	to, err := Resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	var c net.Conn
	err = In(path, func() error {
		c, err = (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", timeout)
	}
	return c, err
}

// Listen listens on TCP in the namespace at path.
func Listen(path, addr string) (net.Listener, error) {
	var l net.Listener
	err := In(path, func() (err error) {
		l, err = net.Listen("tcp", addr)
		return err
	})
	return l, err
}

// InUse tells whether an address is taken.
func InUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
