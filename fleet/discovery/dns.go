package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// dnsEvery is how often names are asked again: Prometheus' refresh_interval.
const dnsEvery = 30 * time.Second

// names is a name of DNS.
type names struct {
	kind, name, port string // SRV, A, AAAA, MX; port: "" of SRV
	resolver         *net.Resolver
	every            time.Duration
}

// parseDNS reads NAME, or TYPE:NAME and of A, AAAA and MX :PORT; ?server=HOST:PORT asks that server, ?refresh=30s so
// often.
func parseDNS(rest string, dial Dial) (Source, error) {
	text, query, _ := strings.Cut(rest, "?")
	options, err := options(query, "server", "refresh")
	if err != nil {
		return nil, err
	}
	n := &names{kind: "SRV", name: text, every: dnsEvery}
	if kind, name, ok := strings.Cut(text, ":"); ok {
		n.kind, n.name = strings.ToUpper(kind), name
	}
	switch n.kind {
	case "SRV":
	case "A", "AAAA", "MX":
		at := strings.LastIndexByte(n.name, ':')
		if at < 0 {
			return nil, fmt.Errorf("%s records have no port: write dns:%s:name:port", n.kind, n.kind)
		}
		n.name, n.port = n.name[:at], n.name[at+1:]
		if p, err := strconv.ParseUint(n.port, 10, 16); err != nil || p == 0 {
			return nil, fmt.Errorf("%q is not a port", shown(n.port))
		}
	default:
		return nil, fmt.Errorf("%q records have no targets: use SRV, A, AAAA or MX", shown(n.kind))
	}
	if n.name == "" || strings.ContainsAny(n.name, ": /") {
		return nil, fmt.Errorf("%q is not a name: write dns:_rtmp._tcp.example.com, or dns:A:host:port", shown(n.name))
	}
	if n.every, err = every(options, dnsEvery); err != nil {
		return nil, err
	}
	n.resolver, err = resolver(options.Get("server"), dial)
	return n, err
}

// resolver asks one server; "": those of /etc/resolv.conf.
func resolver(server string, dial Dial) (*net.Resolver, error) {
	if server != "" {
		if _, _, err := net.SplitHostPort(server); err != nil {
			server = net.JoinHostPort(strings.Trim(server, "[]"), "53")
		}
	}
	if server == "" && dial == nil {
		return &net.Resolver{}, nil
	}
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if server != "" {
			address = server
		}
		return dial(ctx, network, address)
	}}, nil
}

func (n *names) Name() string {
	if n.port != "" {
		return fmt.Sprintf("dns:%s:%s:%s", n.kind, shown(n.name), n.port)
	}
	return "dns:" + shown(n.name)
}

// List asks for the records. A name without any is an error: a list of nobody would pass for one of all.
func (n *names) List(ctx context.Context) (out List, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	switch n.kind {
	case "SRV":
		err = n.services(ctx, &out)
	case "MX":
		err = n.mail(ctx, &out)
	default:
		err = n.addresses(ctx, &out)
	}
	var d *net.DNSError
	switch {
	case errors.As(err, &d) && d.IsNotFound, err == nil && len(out.Targets) == 0:
		return List{}, fmt.Errorf("ask DNS for %s: it has no %s records: is the name right?", n.name, n.kind)
	case errors.As(err, &d) && d.IsTimeout, errors.Is(err, context.DeadlineExceeded):
		return List{}, fmt.Errorf("ask DNS for %s: the name server does not answer", n.name)
	case err != nil:
		return List{}, fmt.Errorf("ask DNS for %s: %s", n.name, shown(why(err)))
	}
	sorted(out.Targets)
	return out, nil
}

func why(err error) string {
	var d *net.DNSError
	if errors.As(err, &d) {
		return d.Err
	}
	return err.Error()
}

func (n *names) services(ctx context.Context, out *List) error {
	_, all, err := n.resolver.LookupSRV(ctx, "", "", n.name)
	for _, r := range all {
		port := strconv.Itoa(int(r.Port))
		out.add(net.JoinHostPort(strings.TrimSuffix(r.Target, "."), port), "__meta_dns_name", n.name,
			"__meta_dns_srv_record_target", r.Target, "__meta_dns_srv_record_port", port)
	}
	return err
}

func (n *names) mail(ctx context.Context, out *List) error {
	all, err := n.resolver.LookupMX(ctx, n.name)
	for _, r := range all {
		out.add(net.JoinHostPort(strings.TrimSuffix(r.Host, "."), n.port), "__meta_dns_name", n.name, "__meta_dns_mx_record_target", r.Host)
	}
	return err
}

func (n *names) addresses(ctx context.Context, out *List) error {
	network := "ip4"
	if n.kind == "AAAA" {
		network = "ip6"
	}
	all, err := n.resolver.LookupNetIP(ctx, network, n.name)
	for _, a := range all {
		out.add(net.JoinHostPort(a.Unmap().String(), n.port), "__meta_dns_name", n.name)
	}
	return err
}

// add adds a target with labels that are not empty.
func (l *List) add(address string, pairs ...string) {
	t := Target{Address: address, Labels: map[string]string{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			t.Labels[pairs[i]] = pairs[i+1]
		}
	}
	l.Targets = append(l.Targets, t)
}

// Follow asks every 30 s, or as often as ?refresh= says.
func (n *names) Follow(ctx context.Context, on func(Update)) { poll(ctx, n.every, n.List, on) }

// every is ?refresh=.
func every(o url.Values, without time.Duration) (time.Duration, error) {
	text := o.Get("refresh")
	if text == "" {
		return without, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return 0, fmt.Errorf("refresh=%s: a duration from 1s on, as 30s", shown(text))
	}
	return d, nil
}
