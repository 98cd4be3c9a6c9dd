package capture

import (
	"errors"
	"fmt"
	"io"
	"os"

	"snag/internal/pcap"
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
	r, err := pcap.New(f)
	if err != nil {
		return 0, unreadable(name, err)
	}
	var frame pcap.Frame
	err = r.Next(&frame)
	if errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read %s: it has no packet: nothing was captured", name)
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: its first packet: %w", name, err)
	}
	if err := frame.Link.Known(); err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return frame.At, nil
}

func unreadable(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: it is empty", name)
	}
	return fmt.Errorf("read %s: %w (is it a pcap or pcapng file?)", name, err)
}

// Read hands on the packets of a pcap or pcapng stream. name is for errors.
func Read(name string, from io.Reader, handle func(*Packet)) error {
	r, err := pcap.New(from)
	if err != nil {
		return unreadable(name, err)
	}
	var f pcap.Frame
	for n := 0; ; n++ {
		err := r.Next(&f)
		var torn *pcap.TornError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &torn):
			return &TornError{name, n, torn.Err}
		case err != nil:
			return &TornError{name, n, err}
		}
		if err := f.Link.Known(); err != nil {
			if n == 0 {
				return fmt.Errorf("read %s: %w", name, err)
			}
			return &TornError{name, n, err}
		}
		proto, rest, head, ok := f.Link.Network(f.Data)
		if !ok {
			continue
		}
		handle(&Packet{At: f.At, Proto: proto, Data: rest, Wire: max(f.Wire-head, len(rest))})
	}
}
