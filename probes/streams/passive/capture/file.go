package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/pcapgo"

	"snag/probes/streams/passive/packet"
)

// TornError is a capture file that could be read up to a point: what came before it
// was handed on.
type TornError struct {
	Name    string
	Packets int
	Err     error
}

func (e *TornError) Error() string {
	return fmt.Sprintf("read %s: torn after %d packets: %v (what came before was read)", e.Name, e.Packets, e.Err)
}

func (e *TornError) Unwrap() error { return e.Err }

// reader is what the two formats have in common.
type reader interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// ReadFile hands on the packets of a pcap or pcapng file.
func ReadFile(name string, handle func(*Packet)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return Read(name, f, handle)
}

// First is the time of a file's first packet, ns since 1970.
func First(name string) (int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, _, err := open(bufio.NewReader(f))
	if err != nil {
		return 0, unreadable(name, err)
	}
	_, ci, err := r.ZeroCopyReadPacketData()
	if errors.Is(err, io.EOF) && ci.CaptureLength == 0 {
		return 0, fmt.Errorf("read %s: it has no packet: nothing was captured", name)
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: its first packet: %w", name, err)
	}
	return ci.Timestamp.UnixNano(), nil
}

func unreadable(name string, err error) error {
	var link *linkError
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("read %s: it is empty", name)
	case errors.As(err, &link):
		return fmt.Errorf("read %s: %w", name, err)
	}
	return fmt.Errorf("read %s: %w (is it a pcap or pcapng file?)", name, err)
}

// Read hands on the packets of a pcap or pcapng stream. name is for errors.
func Read(name string, from io.Reader, handle func(*Packet)) (err error) {
	in := bufio.NewReaderSize(from, 1<<20)
	r, link, err := open(in)
	if err != nil {
		return unreadable(name, err)
	}
	for n := 0; ; n++ {
		b, ci, err := r.ZeroCopyReadPacketData()
		if errors.Is(err, io.EOF) && ci.CaptureLength == 0 { // else the file ends between a header and its packet
			return nil
		}
		if err != nil {
			return &TornError{name, n, err}
		}
		l, err := link(ci)
		if err != nil {
			return &TornError{name, n, err}
		}
		proto, rest, head, ok := l.Network(b)
		if !ok {
			continue
		}
		handle(&Packet{At: ci.Timestamp.UnixNano(), Proto: proto, Data: rest, Wire: max(ci.Length-head, len(rest))})
	}
}

func open(in *bufio.Reader) (reader, func(gopacket.CaptureInfo) (packet.Link, error), error) {
	magic, err := in.Peek(4)
	if err != nil {
		return nil, nil, err
	}
	if string(magic) == "\x0a\x0d\x0d\x0a" { // a section header block of pcapng
		r, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
		if err != nil {
			return nil, nil, err
		}
		return r, func(ci gopacket.CaptureInfo) (packet.Link, error) {
			i, err := r.Interface(ci.InterfaceIndex)
			if err != nil {
				return 0, err
			}
			return packet.Link(i.LinkType), packet.Link(i.LinkType).Known()
		}, nil
	}
	r, err := pcapgo.NewReader(in)
	if err != nil {
		return nil, nil, err
	}
	link := packet.Link(r.LinkType())
	if err := link.Known(); err != nil {
		return nil, nil, &linkError{err}
	}
	return r, func(gopacket.CaptureInfo) (packet.Link, error) { return link, nil }, nil
}

// linkError is a whole capture of something that is not read.
type linkError struct{ error }

func (e *linkError) Unwrap() error { return e.error }
