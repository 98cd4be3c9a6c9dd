package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// script runs many short processes, as a build does.
const script = `for i in $(seq 150); do /bin/true; ls /etc > /dev/null; sh -c 'cat /etc/hostname | wc -c' > /dev/null; done`

// manyTraces are traces of shapes that take memory: many processes, sessions that were put behind each
// other with the same times, and threads and descriptors that never end.
func manyTraces(m maker) (inputs []input, err error) {
	seed := filepath.Join(m.dir, "seed")
	if err := m.run("strace", "-f", "-ttt", "-T", "-yy", "-o", seed, "sh", "-c", script); err != nil {
		return nil, err
	}
	span, err := spanOf(seed)
	if err != nil {
		return nil, err
	}
	add := func(title, name string, write func(path string) error) {
		if err != nil {
			return
		}
		path := filepath.Join(m.dir, name)
		err = write(path)
		inputs = append(inputs, input{title: title, path: path, peers: []peer{grep("resumed")}, goals: []goal{{"CPU", grepName, 4.5}, {"RSS", "", 80}}})
	}
	add("strace -f of a build", "build", func(path string) error {
		return multiply(m.ctx, seed, path, m.bytes, func(dst, line []byte, turn int) []byte {
			return shiftTrace(dst, line, int64(turn), span)
		})
	})
	add("its sessions appended", "sessions", func(path string) error {
		return multiply(m.ctx, seed, path, m.bytes, func(dst, line []byte, _ int) []byte { return append(dst, line...) })
	})
	add("100,000 processes that do not end", "processes", func(path string) error {
		return generate(path, m.bytes, func(w *bufio.Writer, i int) {
			fmt.Fprintf(w, "%d %d.%06d read(3, \"x\", 10) = 1 <0.000010>\n", 1000+i%100_000, 1_700_000_000+i/20_000, i%20_000*50)
		})
	})
	add("100,000 descriptors", "descriptors", func(path string) error {
		return generate(path, m.bytes, func(w *bufio.Writer, i int) {
			at := fmt.Sprintf("%d.%06d", 1_700_000_000+i/20_000, i%20_000*50)
			if fd := 3 + i%100_000; i < 100_000 {
				fmt.Fprintf(w, "77 %s accept4(3, {sa_family=AF_INET, sin_port=htons(%d), sin_addr=inet_addr(\"10.0.%d.%d\")}, [16], SOCK_NONBLOCK) = %d <0.000010>\n", at, 1024+i%60_000, i/250%250, i%250, fd)
			} else {
				fmt.Fprintf(w, "77 %s write(%d, \"x\", 10) = 10 <0.000010>\n", at, fd)
			}
		})
	})
	return inputs, err
}

// generate writes numbered lines until the file has size bytes.
func generate(path string, size int64, line func(w *bufio.Writer, i int)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	count := &counting{f: f}
	w := bufio.NewWriterSize(count, 1<<20)
	for i := 0; count.n < size; i++ {
		line(w, i)
	}
	return w.Flush()
}

type counting struct {
	f *os.File
	n int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.f.Write(b)
	c.n += int64(n)
	return n, err
}
