// Package wire opens the sockets that readers of streams read from, in the network
// namespace that they are told, and gives datagrams with the time at which the
// kernel took them.
package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fmt.Errorf("find network namespace %s: %w", path, err)
	}
	h, err := netns.Open(netns.Namespace{ID: st.Ino, Path: path})
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Do(f)
}

// Dial connects by TCP from the namespace at path; names are asked for from
// snag's own.
func Dial(ctx context.Context, path, host, port string, timeout time.Duration) (net.Conn, error) {
	c, err := netns.Dial(ctx, &net.Dialer{Timeout: timeout}, path, "tcp", net.JoinHostPort(host, port))
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
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

// InUse reports whether an address is taken.
func InUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
