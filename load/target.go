package load

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"snag/load/protocol"
)

// Target is whom to ask, and in what words.
type Target struct {
	Network  string // tcp or udp
	Address  string // host:port
	Name     string // the URL without its user and query, to show
	Protocol protocol.Protocol

	near bool // its server is of this process, and needs Go's scheduler while a load waits
}

// Request is what a user says about one request. What a target has no use for must not be set.
type Request struct {
	Size, Reply int   // bytes of a message and its answer, of tcp and udp
	Split       []int // the sizes of the writes of a message; none: one write

	Method  string // of HTTP; "": GET, or POST with data
	Headers []string
	Data    string // a message of tcp and udp, the body of HTTP, a command of Redis, a statement of SQL
	HTTP2   bool
	// Messages of gRPC in their wire format; none: one that is empty.
	Messages [][]byte
	Insecure bool // any certificate is accepted
}

const mostBytes = 64 << 20

// schemes are the targets' kinds, by what their URLs begin with.
var schemes = map[string]struct {
	port  string // "": it has to be given
	build func(t *Target, u *url.URL, r Request) error
}{
	"tcp":        {"", sized},
	"udp":        {"", sized},
	"http":       {"80", web},
	"https":      {"443", web},
	"grpc":       {"", grpc},
	"grpcs":      {"443", grpc},
	"redis":      {"6379", redis},
	"rediss":     {"6379", redis},
	"postgres":   {"5432", postgres},
	"postgresql": {"5432", postgres},
	"dns":        {"53", dns},
}

// Schemes are those that can be asked, to show.
const Schemes = "tcp, udp, http, https, grpc, grpcs, redis, rediss, postgres, dns; media: rtp+udp, rtmp, rtmps"

// ParseTarget reads a URL, such as tcp://HOST:PORT or http://HOST/PATH.
func ParseTarget(text string, r Request) (t Target, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return t, fmt.Errorf("%q is not a target: give a URL, such as tcp://HOST:PORT or http://HOST/PATH", text)
	}
	s, known := schemes[u.Scheme]
	if !known {
		return t, fmt.Errorf("unknown scheme %q: %s", u.Scheme, Schemes)
	}
	t.Network, t.Address, t.Name = "tcp", u.Host, u.Scheme+"://"+u.Host+u.EscapedPath()
	if u.Port() == "" {
		if s.port == "" {
			return t, fmt.Errorf("%s has no port: %s://HOST:PORT", text, u.Scheme)
		}
		t.Address = net.JoinHostPort(u.Hostname(), s.port)
	}
	return t, s.build(&t, u, r)
}

func sized(t *Target, u *url.URL, r Request) error {
	t.Network = u.Scheme
	if r.Data != "" {
		r.Size = len(r.Data)
	}
	if r.Size < 1 || r.Size > mostBytes || r.Reply < 0 || r.Reply > mostBytes {
		return fmt.Errorf("messages of %d bytes and answers of %d: from 1 (0 for answers) to %d", r.Size, r.Reply, mostBytes)
	}
	if t.Network == "udp" && len(r.Split) > 0 {
		return errors.New("a datagram is one write: it cannot be split")
	}
	message := []byte(r.Data)
	if r.Data == "" {
		message = fill(r.Size)
	}
	writes, err := split(message, r.Split)
	t.Protocol = protocol.Sized{Writes: writes, Answer: r.Reply, Datagram: t.Network == "udp", AsIs: r.Data != ""}
	return err
}

func web(t *Target, u *url.URL, r Request) error {
	headers, err := headersOf(r.Headers)
	if err != nil {
		return err
	}
	given := func(name string) bool {
		return slices.ContainsFunc(headers, func(h [2]string) bool { return strings.EqualFold(h[0], name) })
	}
	if u.User != nil && !given("Authorization") {
		password, _ := u.User.Password()
		headers = append(headers, [2]string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))})
	}
	for _, h := range [][2]string{{"User-Agent", "snag"}, {"Accept", "*/*"}} {
		if !given(h[0]) {
			headers = append(headers, h)
		}
	}
	method := r.Method
	switch {
	case method == "" && r.Data != "":
		method = "POST"
	case method == "":
		method = "GET"
	}
	alpn := "http/1.1"
	if r.HTTP2 {
		if len(r.Split) > 0 {
			return errors.New("a request of HTTP/2 cannot be split: its frames are one write")
		}
		alpn = "h2"
		all := [][2]string{{":method", method}, {":scheme", u.Scheme}, {":path", u.RequestURI()}, {":authority", u.Host}}
		for _, h := range headers {
			all = append(all, [2]string{strings.ToLower(h[0]), h[1]})
		}
		t.Protocol = protocol.NewHTTP2(all, []byte(r.Data))
	} else {
		writes, err := split(protocol.Request(method, u.RequestURI(), u.Host, headers, []byte(r.Data)), r.Split)
		if err != nil {
			return err
		}
		t.Protocol = protocol.HTTP1{Writes: writes, Head: method == "HEAD"}
	}
	if u.Scheme == "https" {
		t.Protocol = protocol.OverTLS(t.Protocol, u.Hostname(), alpn, r.Insecure)
	}
	return nil
}

func headersOf(lines []string) (out [][2]string, err error) {
	for _, l := range lines {
		name, value, found := strings.Cut(l, ":")
		if !found || name == "" || strings.ContainsAny(l, "\r\n") {
			return nil, fmt.Errorf("%q is not a header: NAME: VALUE", l)
		}
		out = append(out, [2]string{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return out, nil
}

func grpc(t *Target, u *url.URL, r Request) error {
	method := strings.Trim(u.Path, "/")
	if strings.Count(method, "/") != 1 {
		return fmt.Errorf("%q is not a method of gRPC: %s://HOST:PORT/PACKAGE.SERVICE/METHOD", method, u.Scheme)
	}
	headers, err := headersOf(r.Headers)
	if err != nil {
		return err
	}
	for i := range headers {
		headers[i][0] = strings.ToLower(headers[i][0])
	}
	size := 0
	for _, m := range r.Messages {
		size += len(m)
	}
	if size > mostBytes {
		return fmt.Errorf("messages of %d bytes in one request: up to %d", size, mostBytes)
	}
	if u.Scheme == "grpcs" {
		t.Protocol = protocol.OverTLS(protocol.NewGRPC("https", u.Host, method, headers, r.Messages...), u.Hostname(), "h2", r.Insecure)
		return nil
	}
	t.Protocol = protocol.NewGRPC("http", u.Host, method, headers, r.Messages...)
	return nil
}

func redis(t *Target, u *url.URL, r Request) error {
	words := strings.Fields(r.Data)
	if len(words) == 0 {
		words = []string{"PING"}
	}
	writes, err := split(protocol.Command(words...), r.Split)
	if err != nil {
		return err
	}
	p := &protocol.Redis{Writes: writes}
	if u.User != nil {
		p.User = u.User.Username()
		p.Password, _ = u.User.Password()
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if p.DB, err = strconv.Atoi(db); err != nil || p.DB < 0 {
			return fmt.Errorf("%q is not the number of a database: %s://HOST:PORT/NUMBER", db, u.Scheme)
		}
	}
	if t.Protocol = p; u.Scheme == "rediss" {
		t.Protocol = protocol.OverTLS(p, u.Hostname(), "", r.Insecure)
	}
	return nil
}

func postgres(t *Target, u *url.URL, r Request) error {
	if len(r.Split) > 0 {
		return errors.New("a query of PostgreSQL is one write: it cannot be split")
	}
	statement := r.Data
	if statement == "" {
		statement = "SELECT 1"
	}
	p, err := protocol.NewPostgres(u.String(), statement)
	t.Protocol = p
	return err
}

func dns(t *Target, u *url.URL, _ Request) error {
	t.Network = "udp"
	kind := u.Query().Get("type")
	if kind == "" {
		kind = "A"
	}
	p, err := protocol.NewDNS(strings.Trim(u.Path, "/"), kind)
	t.Protocol = p
	return err
}

// split divides a message into the writes that are asked for. What is left over goes with the last.
func split(message []byte, sizes []int) (out [][]byte, err error) {
	if len(sizes) == 0 {
		return [][]byte{message}, nil
	}
	for i, n := range sizes {
		if n < 1 || n > len(message) {
			return nil, fmt.Errorf("write %d of %d bytes: %d of the message are left", i+1, n, len(message))
		}
		if i == len(sizes)-1 {
			n = len(message)
		}
		out, message = append(out, message[:n]), message[n:]
	}
	return out, nil
}

// Sized reports whether the size of its messages can be chosen.
func (t Target) Sized() bool {
	_, sized := t.Protocol.(protocol.Sized)
	return sized
}

func (t Target) check() error {
	_, port, err := net.SplitHostPort(t.Address)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%s is not a port of %s", port, t.Network)
	}
	return nil
}

// Port is the port of the target; 0 where it has a name and not a number.
func (t Target) Port() int {
	_, port, _ := net.SplitHostPort(t.Address) // checked before
	n, _ := strconv.Atoi(port)
	return n
}
