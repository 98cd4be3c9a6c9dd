package containers

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// mostAnswer bounds what is read of a runtime's answer, bytes: a thousand containers take 2 MB of Docker.
const mostAnswer = 32 << 20

// ask sends one request to the socket at path and returns the answer.
func ask(path string, h2 bool, req *http.Request) ([]byte, http.Header, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, err
	}
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	if h2 {
		t.Protocols = &http.Protocols{}
		t.Protocols.SetUnencryptedHTTP2(true)
	}
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("it answered %s", resp.Status)
	case len(b) > mostAnswer:
		return nil, nil, fmt.Errorf("its answer has more than %d MB", mostAnswer>>20)
	}
	for k, v := range resp.Trailer {
		resp.Header[k] = v
	}
	return b, resp.Header, nil
}
