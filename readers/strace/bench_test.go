package strace

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"snag/readers/reader"
)

// relayTrace is what strace -f -ttt -T writes of a relay with worker threads: some n bytes.
func relayTrace(n int) []byte {
	var b bytes.Buffer
	at := int64(1_700_000_000_000_000)
	line := func(tid int, format string, args ...any) {
		at += 37
		fmt.Fprintf(&b, "%d  %d.%06d ", tid, at/1e6, at%1e6)
		fmt.Fprintf(&b, format+"\n", args...)
	}
	for i := 0; b.Len() < n; i++ {
		tid, fd := 4711+i%4, 9+i%40
		line(tid, `epoll_wait(5, [{events=EPOLLIN, data={u32=%d, u64=%d}}], 512, 1000) = 1 <0.000213>`, fd, fd)
		line(tid, `recvfrom(%d, "\27\3\3\5\270\30\275\355\31\227=\367\2\221kK\366\301)\375\34u\4i\277\201\263\321"..., 16384, 0, NULL, NULL) = %d <0.000017>`, fd, 1000+i%300)
		line(tid, `sendto(%d, "\4\0\5\270\10\0\0\1\257\1!\21E\0\24P\1G\200\27P\3\372\27\\\333\246\3S7"..., 1467, MSG_DONTWAIT|MSG_NOSIGNAL, NULL, 0) = 1467 <0.000031>`, fd+40)
		line(tid, `futex(0x7f3c14000b60, FUTEX_WAKE_PRIVATE, 1 <unfinished ...>`)
		line(4799, `<... futex resumed>)        = 0 <0.001213>`)
		line(tid, `<... futex resumed>)        = 1 <0.000045>`)
		line(4799, `futex(0x7f3c14000b60, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>`)
		line(tid, `read(%d, 0x7ffc0bb2d0c0, 4096) = -1 EAGAIN (Resource temporarily unavailable) <0.000009>`, fd)
		line(tid, `clock_gettime(CLOCK_MONOTONIC, {tv_sec=91274, tv_nsec=662170433}) = 0 <0.000008>`)
	}
	return b.Bytes()
}

// BenchmarkRead is the whole way, from a file to rows.
func BenchmarkRead(b *testing.B) {
	text := relayTrace(16 << 20)
	path := filepath.Join(b.TempDir(), "trace")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		in, err := reader.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		t := New(&sink{}, Options{})
		if err := Read(context.Background(), in, t); err != nil {
			b.Fatal(err)
		}
		if c := t.End(); c.Noise > 0 || c.Orphans > 1 {
			b.Fatalf("%+v", c)
		}
		_ = in.Close()
	}
}
