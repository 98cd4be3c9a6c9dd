package sockets

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"snag/recording"
)

// serveHTTP2 is a server of HTTP/2 in clear text, and of HTTP/1, on l.
func serveHTTP2(t *testing.T, l net.Listener, h http.HandlerFunc) {
	s := &http.Server{Handler: h, Protocols: &http.Protocols{}}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
}

// http2Client asks over one connection, which its first request opens.
func (b *bench) http2Client(addr string) *http.Client {
	p := &http.Protocols{}
	p.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: p, DialContext: func(context.Context, string, string) (net.Conn, error) { return b.dial(addr), nil }}
	b.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// asked is what a client measured of its requests.
type askedHTTP2 struct {
	sync.Mutex
	n, failed int
	sum, max  time.Duration
}

// get asks once.
func (a *askedHTTP2) get(c *http.Client, url string, body io.Reader) {
	began := time.Now()
	r, err := c.Post(url, "application/octet-stream", body)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	took := time.Since(began)
	a.Lock()
	defer a.Unlock()
	if err != nil {
		a.failed++
		return
	}
	a.n++
	a.sum += took
	a.max = max(a.max, took)
}

func (a *askedHTTP2) mean() float64 { return a.sum.Seconds() / float64(a.n) }

// frame is one of HTTP/2 (RFC 9113, 4.1).
func frame(kind, flags byte, id uint32, payload []byte) []byte {
	b := make([]byte, 9, 9+len(payload))
	binary.BigEndian.PutUint32(b, uint32(len(payload))<<8|uint32(kind))
	b[4] = flags
	binary.BigEndian.PutUint32(b[5:], id)
	return append(b, payload...)
}

const (
	frameData, frameHeaders, frameReset, frameSettings, framePing, frameGoAway, frameWindow, frameContinuation = 0, 1, 3, 4, 6, 7, 8, 9

	endStream, endHeaders = 1, 4
	preface               = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// code is the payload of RST_STREAM.
func code(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// readFrames calls f with each frame that comes.
func readFrames(c net.Conn, f func(kind, flags byte, id uint32)) {
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		length := int64(binary.BigEndian.Uint32(head) >> 8)
		if _, err := io.CopyN(io.Discard, c, length); err != nil {
			return
		}
		f(head[3], head[4], binary.BigEndian.Uint32(head[5:]))
	}
}

// serveFrames reads the preface and calls f with each frame of every connection of l.
func serveFrames(l net.Listener, f func(c net.Conn, kind, flags byte, id uint32)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			if _, err := io.ReadFull(c, make([]byte, len(preface))); err != nil {
				return
			}
			_, _ = c.Write(frame(frameSettings, 0, 0, nil))
			readFrames(c, func(kind, flags byte, id uint32) { f(c, kind, flags, id) })
		}()
	}
}

// missed adds up the connections on which requests were not seen.
func missedIn(rows []recording.Turns) (n uint64) {
	for _, r := range rows {
		n += r.Missed
	}
	return n
}

// failures adds up the failed answers of rows and names the last.
func failures(rows []recording.Turns) (n uint64, as string) {
	for _, r := range rows {
		if n += r.Failed; r.Failed > 0 {
			as = r.FailedAs
		}
	}
	return n, as
}

// sendByFile writes b to c by sendfile: the bytes are in no memory of this process.
func sendByFile(c *net.TCPConn, b []byte) error {
	f, err := os.CreateTemp("", "snag-h2")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = c.ReadFrom(f)
	return err
}
