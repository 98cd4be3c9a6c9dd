package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// captures makes a capture of HTTP between two network namespaces, with segments of
// the wire's size: offloads are off.
func captures(m maker) (inputs []input, err error) {
	ns := fmt.Sprintf("snagbench%d", os.Getpid())
	defer func() {
		for _, n := range []string{ns + "a", ns + "b"} {
			_ = exec.Command("ip", "netns", "del", n).Run() // where it could not be made, there is none
		}
	}()
	for _, line := range []string{
		"ip netns add %sa", "ip netns add %[1]sb",
		"ip -n %sa link add v0 type veth peer name v1 netns %[1]sb",
		"ip -n %sa addr add 10.66.0.1/16 dev v0", "ip -n %sb addr add 10.66.0.2/16 dev v1",
		"ip -n %sa link set v0 up", "ip -n %sb link set v1 up",
		"ip netns exec %sa ethtool -K v0 tso off gso off gro off", "ip netns exec %sb ethtool -K v1 tso off gso off gro off",
	} {
		if err := m.run(strings.Fields(fmt.Sprintf(line, ns))...); err != nil {
			return nil, err
		}
	}
	seed := filepath.Join(m.dir, "seed.pcap")
	in := func(side string) []string { return []string{"ip", "netns", "exec", ns + side} }
	dump := exec.CommandContext(m.ctx, "ip", append(in("a")[1:], "tcpdump", "-i", "v0", "-s", "0", "-B", "32768", "-Z", "root", "-w", seed)...)
	dump.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := dump.Start(); err != nil {
		return nil, err
	}
	time.Sleep(time.Second) // it begins to listen
	err = m.nginxAt("10.66.0.1:80", func(s site) error {
		return m.run(append(in("b"), s.load(2*time.Second)...)...)
	}, in("a")...)
	_ = dump.Process.Signal(os.Interrupt)
	if ended := dump.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("tcpdump: %w", ended)
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(m.dir, "http.pcap")
	if err := multiplyPcap(seed, path, m.bytes); err != nil {
		return nil, err
	}
	return []input{{title: "pcap of HTTP", path: path, peers: []peer{
		grep("GET /live"),
		{name: "tcptrace", command: []string{"tcptrace", "-n", "FILE"}},
		{name: "tshark, conversations", command: []string{"tshark", "-n", "-r", "FILE", "-q", "-z", "conv,tcp"}, once: true},
		{name: "tshark, tcp.analysis", command: []string{"tshark", "-n", "-r", "FILE", "-Y", "tcp.analysis.flags", "-T", "fields", "-e", "frame.number"}, once: true},
	}, goals: []goal{{"CPU", grepName, 1}, {"CPU", "tshark, tcp.analysis", 1. / 40}, {"RSS", "", 80}}}}, nil
}

// multiplyPcap writes a capture's packets again and again, later each time, and from
// another client: the second half of 10.66.0.2 counts the turns.
func multiplyPcap(from, to string, size int64) error {
	seed, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if len(seed) < 40 || binary.LittleEndian.Uint32(seed) != 0xa1b2c3d4 {
		return fmt.Errorf("%s: no pcap of microseconds in this machine's byte order", from)
	}
	var records [][]byte
	for rest := seed[24:]; len(rest) >= 16; {
		n := 16 + int(binary.LittleEndian.Uint32(rest[8:]))
		if n > len(rest) {
			break
		}
		records, rest = append(records, rest[:n]), rest[n:]
	}
	if len(records) < 2 {
		return errEmpty
	}
	when := func(r []byte) int64 {
		return int64(binary.LittleEndian.Uint32(r))*1e6 + int64(binary.LittleEndian.Uint32(r[4:]))
	}
	span := when(records[len(records)-1]) - when(records[0]) + 1000
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.Write(seed[:24])
	var out []byte
	for done, turn := int64(24), 0; done < size; turn++ {
		for _, r := range records {
			out = append(out[:0], r...)
			t := when(r) + int64(turn)*span
			binary.LittleEndian.PutUint32(out, uint32(t/1e6))
			binary.LittleEndian.PutUint32(out[4:], uint32(t%1e6))
			if frame := out[16:]; len(frame) >= 34 && frame[12] == 8 && frame[13] == 0 { // IPv4
				for _, at := range []int{26, 30} { // source and destination
					if ip := frame[at : at+4]; ip[3] == 2 {
						ip[2], ip[3] = byte(turn>>8), byte(turn)+2
					}
				}
			}
			n, _ := w.Write(out) // an error comes again with Flush
			done += int64(n)
		}
	}
	return errors.Join(w.Flush(), f.Close())
}
