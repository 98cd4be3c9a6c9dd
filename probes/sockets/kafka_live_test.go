package sockets

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// kafkaRequest is a request with its size before it (kafka.apache.org/protocol).
func kafkaRequest(key, version uint16, id uint32, body string) []byte {
	b := binary.BigEndian.AppendUint16(nil, key)
	b = binary.BigEndian.AppendUint16(b, version)
	b = binary.BigEndian.AppendUint32(b, id)
	b = append(b, "\x00\x05rdkaf"+body...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// kafkaServer answers each request with a body, to the id that it was asked with and the
// number wrong added.
type kafkaServer struct {
	java  bool // reads the size first, and writes it as a piece of its own
	wrong uint32
	body  string
}

func (k kafkaServer) serve(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 1<<16)
	for {
		n := 0
		var err error
		if k.java {
			if _, err = io.ReadFull(c, buf[:4]); err == nil {
				n = int(binary.BigEndian.Uint32(buf))
				_, err = io.ReadFull(c, buf[4:4+n])
			}
		} else {
			_, err = c.Read(buf)
		}
		if err != nil {
			return
		}
		id := binary.BigEndian.Uint32(buf[8:]) + k.wrong
		size := binary.BigEndian.AppendUint32(nil, uint32(4+len(k.body)))
		rest := append(binary.BigEndian.AppendUint32(nil, id), k.body...)
		if k.java {
			two := net.Buffers{size, rest}
			_, err = two.WriteTo(c)
		} else {
			_, err = c.Write(append(size, rest...))
		}
		if err != nil {
			return
		}
	}
}

func TestFailedAnswersOfKafka(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const (
		throttle = "\x00\x00\x00\x00"
		index    = "\x00\x00\x00\x03"
		rest     = "\x00\x00\x00\x00\x00\x00\x00\x07\xff\xff\xff\xff\xff\xff\xff\xff"
		uuid     = "0123456789abcdef"
		one      = "\x00\x00\x00\x01"
		orders   = one + "\x00\x0dorders-europe" + one + index
		compact  = "\x02\x0eorders-europe\x02" + index
		session  = "\x00\x00\x00\x00"
	)
	all := []struct {
		what         string
		key, version uint16
		body, as     string
		wrong        uint32
	}{
		{"a write to who leads no more", 0, 3, orders + "\x00\x06" + rest, "Kafka NOT_LEADER_OR_FOLLOWER", 0},
		{"a write without replicas", 0, 9, "\x00" + compact + "\x00\x13" + rest, "Kafka NOT_ENOUGH_REPLICAS", 0},
		{"a write to a disk that fails", 0, 13, "\x00\x02" + uuid + "\x02" + index + "\x00\x38" + rest, "Kafka KAFKA_STORAGE_ERROR", 0},
		{"a write", 0, 9, "\x00" + compact + "\x00\x00" + rest, "", 0},
		{"a write to a topic that is not there", 0, 3, orders + "\x00\x03" + rest, "", 0},
		{"a read that is throttled", 1, 11, throttle + "\x00\x59" + session + "\x00\x00\x00\x00", "Kafka THROTTLING_QUOTA_EXCEEDED", 0},
		{"a read from who leads no more", 1, 11, throttle + "\x00\x00" + session + orders + "\x00\x06" + rest, "Kafka NOT_LEADER_OR_FOLLOWER", 0},
		{"so of version 4", 1, 4, throttle + orders + "\x00\x05" + rest, "Kafka LEADER_NOT_AVAILABLE", 0},
		{"so of version 12", 1, 12, "\x00" + throttle + "\x00\x00" + session + compact + "\x00\x06" + rest, "Kafka NOT_LEADER_OR_FOLLOWER", 0},
		{"so of version 13", 1, 13, "\x00" + throttle + "\x00\x00" + session + "\x02" + uuid + "\x02" + index + "\x00\x06" + rest, "Kafka NOT_LEADER_OR_FOLLOWER", 0},
		{"a read of nothing new", 1, 13, "\x00" + throttle + "\x00\x00" + session + "\x01\x00", "", 0},
		{"a read beyond the end", 1, 13, "\x00" + throttle + "\x00\x00" + session + "\x02" + uuid + "\x02" + index + "\x00\x01" + rest, "", 0},
		{"a session of another broker", 1, 13, "\x00" + throttle + "\x00\x46" + session + "\x01\x00", "", 0},
		{"offsets of who leads no more", 2, 7, "\x00" + throttle + compact + "\x00\x06" + rest, "Kafka NOT_LEADER_OR_FOLLOWER", 0},
		{"a commit to another coordinator", 8, 7, throttle + orders + "\x00\x10", "Kafka NOT_COORDINATOR", 0},
		{"a commit in time out", 8, 8, "\x00" + throttle + compact + "\x00\x07", "Kafka REQUEST_TIMED_OUT", 0},
		{"no coordinator", 10, 2, throttle + "\x00\x0f\xff\xff\xff\xff\xff\xff\x00\x00\xff\xff\xff\xff", "Kafka COORDINATOR_NOT_AVAILABLE", 0},
		{"a coordinator that loads", 11, 6, "\x00" + throttle + "\x00\x0e" + rest, "Kafka COORDINATOR_LOAD_IN_PROGRESS", 0},
		{"a member that needs a name", 11, 6, "\x00" + throttle + "\x00\x4f" + rest, "", 0},
		{"a beat to who coordinates no more", 12, 4, "\x00" + throttle + "\x00\x10\x00", "Kafka NOT_COORDINATOR", 0},
		{"a beat", 12, 4, "\x00" + throttle + "\x00\x00\x00", "", 0},
		{"a beat amid a rebalance", 12, 1, throttle + "\x00\x1b", "", 0},
		{"a group that is synced", 14, 3, throttle + "\x00\x00" + rest, "", 0},
		{"a broker's own error", 22, 4, "\x00" + throttle + "\xff\xff" + rest, "Kafka UNKNOWN_SERVER_ERROR", 0},
		{"a version that it has not", 18, 3, "\x00\x23\x00\x00\x00\x00", "", 0},
		{"a password that is wrong", 36, 2, "\x00\x00\x3a\x00\x00", "", 0},
		{"topics that have no leader", 3, 12, "\x00" + throttle + "\x00\x05\x00\x05\x00\x05", "", 0},
		{"an answer to nobody", 12, 4, "\x00" + throttle + "\x00\x10\x00", "", 1},
	}
	r := b.start()
	const rounds = 3
	what, want := map[string]string{}, map[string]string{}
	port := 7800
	for _, a := range all {
		for _, java := range []bool{false, true} {
			port++
			what[fmt.Sprint(port)], want[fmt.Sprint(port)] = fmt.Sprintf("%s (Java's way: %v)", a.what, java), a.as
			local := fmt.Sprintf("127.0.0.1:%d", port)
			l := b.listen(local)
			go func() {
				if c, err := l.Accept(); err == nil {
					kafkaServer{java: java, body: a.body, wrong: a.wrong}.serve(c)
				}
			}()
			c := b.dial(local)
			for i := range rounds {
				_, _ = c.Write(kafkaRequest(a.key, a.version, uint32(70000+i), "\x00some more of it"))
				_, _ = c.Read(make([]byte, 256))
			}
			c.Close()
		}
	}
	// A server that echoes, and a request in pieces.
	echo := b.listen("127.0.0.1:7798")
	go func() {
		if c, err := echo.Accept(); err == nil {
			_, _ = io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c})
		}
	}()
	c := b.dial("127.0.0.1:7798")
	for i := range rounds {
		_, _ = c.Write(kafkaRequest(12, 1, uint32(i), throttle+"\x00\x10"))
		_, _ = c.Read(make([]byte, 256))
	}
	c.Close()
	what["7798"] = "an echo"
	l := b.listen("127.0.0.1:7799")
	go func() {
		if c, err := l.Accept(); err == nil {
			kafkaServer{java: true, body: throttle + "\x00\x10"}.serve(c)
		}
	}()
	c = b.dial("127.0.0.1:7799")
	for i := range rounds {
		q := kafkaRequest(12, 1, uint32(i), string(make([]byte, 500)))
		for _, piece := range [][]byte{q[:30], q[30:200], q[200:]} {
			_, _ = c.Write(piece)
			time.Sleep(20 * time.Millisecond)
		}
		_, _ = c.Read(make([]byte, 256))
	}
	c.Close()
	what["7799"], want["7799"] = "a request in pieces", "Kafka NOT_COORDINATOR"
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for p, w := range what {
		_, rows := turns(rec, b, "serve", p)
		n, as := failures(rows)
		if as != want[p] || (as != "") != (n == rounds) {
			t.Errorf("%s: %d failed as %q, want %q", w, n, as, want[p])
		}
	}
}
