package act

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"snag/fleet/drain/plan"
	"snag/fleet/hosts"
	"snag/internal/shown"
)

// Sockets counts established connections with an address at one end.
type Sockets func(address string) (int, error)

// Counter counts a peer's connections.
type Counter struct {
	Sockets Sockets       // of this host
	Store   hosts.Querier // nil: the plan has none
}

// Count is how many connections a peer has. What could not be measured is an error, and never 0.
func (c Counter) Count(ctx context.Context, l plan.Leave) (float64, error) {
	switch {
	case l.Connections != "":
		n, err := c.Sockets(l.Connections)
		return float64(n), err
	case l.Query != "":
		a, err := c.Store.Query(ctx, l.Query, time.Now())
		switch {
		case err != nil:
			return 0, err
		case len(a.Warnings) > 0:
			return 0, fmt.Errorf("the store answers in part: %s", a.Warnings[0])
		case len(a.Samples) == 0:
			return 0, fmt.Errorf("the store has no series for %s", shown.Text(l.Query))
		}
		sum := 0.0
		for _, s := range a.Samples {
			sum += s.Value
		}
		return sum, nil
	}
	return metric(ctx, *l.Metrics)
}

func metric(ctx context.Context, m plan.Series) (float64, error) {
	resp, err := send(ctx, plan.Request{URL: m.URL, Headers: m.Headers})
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s answers %s", where(m.URL), shown.Text(resp.Status))
	}
	sum, found, err := Sum(io.LimitReader(resp.Body, mostAnswer), m.Name, m.Labels)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read %s: %w", where(m.URL), err)
	case !found:
		return 0, fmt.Errorf("%s has no series %s with these labels", where(m.URL), m.Name)
	}
	return sum, nil
}

var (
	seriesLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*$`)
	labelPair  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"`)
)

// Sum adds the series of a name that have these labels, in Prometheus' text format
// (prometheus.io/docs/instrumenting/exposition_formats). found: there is one.
func Sum(r io.Reader, name string, labels map[string]string) (sum float64, found bool, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := seriesLine.FindStringSubmatch(lines.Text())
		if m == nil || m[1] != name || !has(m[2], labels) {
			continue
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil || v != v {
			return 0, false, fmt.Errorf("the value of %s is %q, not a number", name, shown.Text(m[3]))
		}
		sum, found = sum+v, true
	}
	return sum, found, lines.Err()
}

func has(text string, labels map[string]string) bool {
	got := map[string]string{}
	for _, pair := range labelPair.FindAllStringSubmatch(text, -1) {
		got[pair[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(pair[2])
	}
	for k, v := range labels {
		if got[k] != v {
			return false
		}
	}
	return true
}

// Ready says why a peer does not work yet; nil: it does.
func Ready(ctx context.Context, r plan.Ready) error {
	switch {
	case r.HTTP != nil:
		return Request(ctx, *r.HTTP)
	case len(r.Run) > 0:
		return Run(ctx, r.Run)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", r.TCP)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", shown.Text(r.TCP), dialCause(err))
	}
	return conn.Close()
}

// dialCause is why a connection could not be made, without the address, which is named already.
func dialCause(err error) error {
	for {
		e := plain(err)
		if e == err { //nolint:errorlint // it walks to the innermost one
			return err
		}
		err = e
	}
}
