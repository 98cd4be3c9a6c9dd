package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Requests whose sending is known: the times of their arrival are as far apart, for each connection.
func TestArrivals(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "arrivals.json")
	input, end := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- serveArrivals(l, input, path) }()
	var sent []time.Time
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len(httpAnswer))
	for range 5 {
		sent = append(sent, time.Now())
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.Close()
	end.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]int64
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 1 || len(all[0]) != len(sent) {
		t.Fatalf("%s: %v", text, err)
	}
	soonest := time.Hour
	for i, at := range all[0] {
		// The clock may be stepped meanwhile, but not by this much.
		d := time.Duration(at - sent[i].UnixNano())
		if soonest = min(soonest, d); d < -time.Millisecond {
			t.Errorf("request %d arrived %v before it was sent", i, -d)
		}
	}
	if soonest > 5*time.Millisecond {
		t.Errorf("the soonest arrived %v after it was sent", soonest)
	}
}

// Eight messages at two workers of 30 ms take four times that.
func TestPool(t *testing.T) {
	t.Parallel()
	took := func(workers int) time.Duration {
		p := newPool(workers, 30*time.Millisecond)
		began, done := time.Now(), make(chan bool)
		for range 8 {
			go func() { p.work(); done <- true }()
		}
		for range 8 {
			<-done
		}
		return time.Since(began)
	}
	if two, all := took(2), took(0); two < 120*time.Millisecond || all > 119*time.Millisecond {
		t.Errorf("%v with two workers, %v without a limit", two, all)
	}
}
