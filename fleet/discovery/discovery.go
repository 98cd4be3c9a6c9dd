// Package discovery lists targets as Prometheus' service discovery does: from files, DNS, Consul, Kubernetes, or as
// they are given. A spec has a kind before its first colon:
//
//	static:host:port,host:port
//	file:/etc/prometheus/targets/*.json                file_sd: JSON and YAML
//	dns:_rtmp._tcp.example.com                         SRV; dns:A:host:port, dns:AAAA:host:port, dns:MX:name:port
//	consul:http://127.0.0.1:8500?service=rtmp          also tag=, dc=, token_file=
//	kubernetes:pod?namespace=live&selector=app%3Dedge  node, pod, endpoints, service; also api=, token_file=, ca_file=
//
// Formats and labels are those of Prometheus (prometheus.io/docs/prometheus/latest/configuration/configuration). Its
// packages are not linked: they would make snag 5 MB (files) to 32 MB (Kubernetes) larger.
package discovery

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"
)

// Target is one address, with what its source says of it.
type Target struct {
	// Address is host:port, or a host alone where its source knows no port.
	Address string
	// Labels are those that the source gives, named as Prometheus does: __meta_… and, of files, any other.
	Labels map[string]string
}

// List is what a source lists at one time.
type List struct {
	Targets []Target
	// Problems say which part of the source could not be read. Of that part the targets are those of before.
	Problems []error
}

// Update is a list that changed, or Err: why there is none. The list before it then still holds.
type Update struct {
	List
	Err error
}

// Source is where targets are listed. It is for one goroutine at a time.
type Source interface {
	// Name is the spec, without what may be secret.
	Name() string
	// List asks once.
	List(ctx context.Context) (List, error)
	// Follow calls on with the first list, each one that differs, and each new error, until ctx ends.
	Follow(ctx context.Context, on func(Update))
}

// Dial opens connections to servers; nil: from this process' own network namespace.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// askTimeout is how long one question to a server takes at most.
const askTimeout = 10 * time.Second

// kinds make a source of what follows the kind and a colon.
var kinds = map[string]func(rest string, dial Dial) (Source, error){
	"static": parseStatic, "file": parseFile, "dns": parseDNS, "consul": parseConsul, "kubernetes": parseKubernetes,
}

// Kinds are the names of the kinds.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Parse reads a spec. It asks nobody.
func Parse(spec string, dial Dial) (Source, error) {
	kind, rest, found := strings.Cut(spec, ":")
	parse := kinds[kind]
	if !found || parse == nil {
		return nil, fmt.Errorf("%q: write KIND:…, KIND one of %s, as file:/etc/prometheus/targets/*.json", hide(spec), strings.Join(Kinds(), ", "))
	}
	s, err := parse(rest, dial)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", hide(spec), err)
	}
	return s, nil
}

// hide takes what may be a user and a password out of a spec.
func hide(spec string) string {
	if before, after, ok := strings.Cut(spec, "://"); ok {
		if at := strings.LastIndexByte(after, '@'); at >= 0 {
			spec = before + "://…" + after[at:]
		}
	}
	return shown(spec)
}

// Targets asks once.
func Targets(ctx context.Context, spec string) (List, error) {
	s, err := Parse(spec, nil)
	if err != nil {
		return List{}, err
	}
	return s.List(ctx)
}

// Follow returns a channel of changes, the first list first; it is closed when ctx has ended.
func Follow(ctx context.Context, spec string) (<-chan Update, error) {
	s, err := Parse(spec, nil)
	if err != nil {
		return nil, err
	}
	out := make(chan Update)
	go func() {
		defer close(out)
		s.Follow(ctx, func(u Update) {
			select {
			case out <- u:
			case <-ctx.Done():
			}
		})
	}()
	return out, nil
}

// hostLabels name the host that a target is on, the first that there is.
var hostLabels = []string{"__meta_kubernetes_node_name", "__meta_kubernetes_pod_node_name", "__meta_kubernetes_endpoint_node_name", "instance", "__meta_consul_node"}

// HostName is the name of the host that it is on, as its source has it: of a node or an instance, or else the host of
// the address.
func (t Target) HostName() string {
	for _, label := range hostLabels {
		if v := t.Labels[label]; v != "" {
			name, _ := Target{Address: v}.Host()
			return name
		}
	}
	name, _ := t.Host()
	return name
}

// Host is the host of the address, and its port; "" where there is none.
func (t Target) Host() (host, port string) {
	if h, p, err := net.SplitHostPort(t.Address); err == nil {
		return h, p
	}
	return strings.Trim(t.Address, "[]"), ""
}
