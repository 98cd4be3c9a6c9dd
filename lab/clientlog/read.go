package clientlog

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is one request of a client.
type Request struct {
	Start   time.Time
	Length  time.Duration
	Outcome Outcome
	Late    time.Duration // of the length: until the client had a connection for it
}

// Count is a number of datagrams, or of pieces of a stream, at a time.
type Count struct {
	At time.Time
	N  int
}

// Log is all that a client wrote down.
type Log struct {
	Requests  []Request // by their start
	Sent      []Count
	Arrived   []Count
	Delivered []Count
}

// Read reads a log.
func Read(path string) (Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return Log{}, fmt.Errorf("read a client's log: %w", err)
	}
	defer f.Close()
	l, err := parse(f)
	if err != nil {
		return l, fmt.Errorf("read the client's log %s: %w", path, err)
	}
	return l, nil
}

func parse(from io.Reader) (Log, error) {
	var l Log
	requests := map[int64]Request{}
	in := bufio.NewReader(from)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err == io.EOF { // what was not ended yet is of a line that is being written
			break
		}
		if err != nil {
			return l, err
		}
		if err := l.take(strings.Fields(line), requests); err != nil {
			return l, fmt.Errorf("line %d, %q: %w", n, strings.TrimSpace(line), err)
		}
	}
	for _, r := range requests {
		l.Requests = append(l.Requests, r)
	}
	slices.SortFunc(l.Requests, func(a, b Request) int { return a.Start.Compare(b.Start) })
	return l, nil
}

func (l *Log) take(f []string, requests map[int64]Request) error {
	if len(f) < 3 {
		return fmt.Errorf("has %d fields, not 3 or 4", len(f))
	}
	at, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return err
	}
	c := Count{time.Unix(0, at), int(n)}
	switch {
	case f[0] == "s":
		l.Sent = append(l.Sent, c)
	case f[0] == "d":
		l.Arrived = append(l.Arrived, c)
	case f[0] == "f":
		l.Delivered = append(l.Delivered, c)
	case f[0] == "r" && len(f) >= 4 && len(f) <= 5 && slices.Contains([]Outcome{OK, Failed, Lost, Open}, Outcome(f[3])):
		late := int64(0)
		if len(f) == 5 {
			if late, err = strconv.ParseInt(f[4], 10, 64); err != nil {
				return err
			}
		}
		requests[at] = Request{time.Unix(0, at), time.Duration(n), Outcome(f[3]), time.Duration(late)}
	default:
		return fmt.Errorf("is not a line of a client's log")
	}
	return nil
}
