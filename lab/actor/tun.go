package actor

import (
	"fmt"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// openTun makes a TUN device in a namespace, gives it its address and brings it
// up. The device goes when the file is closed.
func openTun(end string) (*os.File, error) {
	ns, dev, addr, err := parseEnd(end)
	if err != nil {
		return nil, err
	}
	type made struct {
		f   *os.File
		err error
	}
	ch := make(chan made)
	go func() {
		// Not unlocked: the thread is in another namespace and ends here.
		runtime.LockOSThread()
		f, err := tunIn(ns, dev, addr)
		ch <- made{f, err}
	}()
	m := <-ch
	if m.err != nil {
		return nil, fmt.Errorf("make TUN device %s in %s: %w", dev, ns, m.err)
	}
	return m.f, nil
}

func tunIn(ns, dev, addr string) (*os.File, error) {
	h, err := netns.GetFromName(ns)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := netns.Set(h); err != nil {
		return nil, err
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun (modprobe tun?): %w", err)
	}
	req, err := unix.NewIfreq(dev)
	if err == nil {
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err == nil {
		err = address(dev, addr)
	}
	// Only now non-blocking, so that the runtime polls it: before TUNSETIFF a
	// poll of the file fails.
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), dev), nil
}

func address(dev, addr string) error {
	link, err := netlink.LinkByName(dev)
	if err != nil {
		return err
	}
	a, err := netlink.ParseAddr(addr)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, a); err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}
