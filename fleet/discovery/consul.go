package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How Consul is followed: a question for a change is answered after blockFor at the latest
// (developer.hashicorp.com/consul/api-docs/features/blocking).
const (
	blockFor    = 60 * time.Second
	consulPause = time.Second
	consulEvery = 30 * time.Second // of all services
)

// consul is the services of a Consul; none: all.
type consul struct {
	web      *web
	services []string
	query    url.Values // tag, dc, ns
}

// parseConsul reads http://host:8500?service=a&service=b. /v1/health/service/NAME in the path is a service too.
func parseConsul(rest string, dial Dial) (Source, error) {
	u, err := url.Parse(rest)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, errors.New("write consul:http://127.0.0.1:8500?service=NAME; a token is given as token_file=")
	}
	o, err := options(u.RawQuery, "service", "tag", "dc", "namespace", "token_file", "ca_file")
	if err != nil {
		return nil, err
	}
	c := &consul{services: o["service"], query: url.Values{"tag": o["tag"]}}
	if base, name, ok := strings.Cut(u.Path, "/v1/health/service/"); ok && name != "" {
		u.Path, c.services = base, append(c.services, name)
	}
	for key, as := range map[string]string{"dc": "dc", "namespace": "ns"} {
		if o.Has(key) {
			c.query.Set(as, o.Get(key))
		}
	}
	u.RawQuery = ""
	if c.web, err = newWeb(u, dial, o.Get("ca_file")); err != nil {
		return nil, err
	}
	c.web.header, c.web.token = "X-Consul-Token", o.Get("token_file")
	return c, nil
}

func (c *consul) Name() string {
	if len(c.services) == 0 {
		return "consul:" + c.web.base.String()
	}
	return "consul:" + c.web.base.String() + " service " + shown(strings.Join(c.services, ", "))
}

func (c *consul) failed(err error) error {
	var r *refused
	if errors.As(err, &r) && r.code == http.StatusForbidden {
		return fmt.Errorf("ask Consul at %s: %w: give a token that may read services and nodes, as token_file=PATH", c.web.base.Host, err)
	}
	return fmt.Errorf("ask Consul at %s: %w", c.web.base.Host, err)
}

// List asks for the instances of the services, whatever their checks say.
func (c *consul) List(ctx context.Context) (out List, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*askTimeout)
	defer cancel()
	names := c.services
	if len(names) == 0 {
		if names, err = c.all(ctx); err != nil {
			return out, c.failed(err)
		}
	}
	for _, name := range names {
		one, _, err := c.service(ctx, name, "")
		if err != nil {
			return List{}, c.failed(err)
		}
		out.Targets = append(out.Targets, one...)
	}
	sorted(out.Targets)
	return out, nil
}

// all are the names of all services.
func (c *consul) all(ctx context.Context) ([]string, error) {
	found := map[string][]string{}
	if _, err := c.web.get(ctx, "/v1/catalog/services", c.query, &found); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// instance is one of /v1/health/service/NAME.
type instance struct {
	Node struct {
		Node, Address, Datacenter string
		Meta, TaggedAddresses     map[string]string
	}
	Service struct {
		ID, Service, Address, Namespace, Partition string
		Port                                       int
		Tags                                       []string
		Meta                                       map[string]string
	}
	Checks []struct{ Status, CheckID string }
}

// service asks for the instances of one; after index it is answered when they change.
func (c *consul) service(ctx context.Context, name, index string) ([]Target, string, error) {
	query := maps.Clone(c.query)
	timeout := askTimeout
	if index != "" {
		query.Set("index", index)
		query.Set("wait", fmt.Sprintf("%ds", int(blockFor.Seconds())))
		timeout += blockFor + blockFor/16 // Consul adds a sixteenth at random
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var found []instance
	header, err := c.web.get(ctx, "/v1/health/service/"+url.PathEscape(name), query, &found)
	if err != nil {
		return nil, "", err
	}
	var out List
	for _, i := range found {
		i.add(&out)
	}
	return out.Targets, header.Get("X-Consul-Index"), nil
}

// add makes a target of it, with the labels of Prometheus' discovery/consul.
func (i *instance) add(out *List) {
	at := i.Service.Address
	if at == "" { // the service is registered at its node's
		at = i.Node.Address
	}
	port := strconv.Itoa(i.Service.Port)
	pairs := []string{
		"__meta_consul_address", i.Node.Address, "__meta_consul_dc", i.Node.Datacenter, "__meta_consul_node", i.Node.Node,
		"__meta_consul_namespace", i.Service.Namespace, "__meta_consul_partition", i.Service.Partition,
		"__meta_consul_service", i.Service.Service, "__meta_consul_service_id", i.Service.ID,
		"__meta_consul_service_address", i.Service.Address, "__meta_consul_service_port", port,
		"__meta_consul_tags", "," + strings.Join(i.Service.Tags, ",") + ",", "__meta_consul_health", i.health(),
	}
	for prefix, of := range map[string]map[string]string{
		"__meta_consul_metadata_": i.Node.Meta, "__meta_consul_service_metadata_": i.Service.Meta, "__meta_consul_tagged_address_": i.Node.TaggedAddresses,
	} {
		for key, value := range of {
			pairs = append(pairs, prefix+labelName(key), value)
		}
	}
	out.add(net.JoinHostPort(at, port), pairs...)
}

// health is the worst of its checks, as Consul's client library has it (HealthChecks.AggregatedStatus).
func (i *instance) health() string {
	worst := "passing"
	for _, c := range i.Checks {
		switch {
		case c.CheckID == "_node_maintenance", strings.HasPrefix(c.CheckID, "_service_maintenance:"):
			return "maintenance"
		case c.Status == "critical":
			worst = "critical"
		case c.Status == "warning" && worst == "passing":
			worst = "warning"
		}
	}
	return worst
}

// Follow waits for changes of each service by a blocking query; all services are asked every 30 s.
func (c *consul) Follow(ctx context.Context, on func(Update)) {
	if len(c.services) == 0 {
		poll(ctx, consulEvery, c.List, on)
		return
	}
	var mu sync.Mutex
	all := make([][]Target, len(c.services))
	known := map[int]bool{}
	out := changes{on: on}
	var each sync.WaitGroup
	for i, name := range c.services {
		each.Go(func() {
			c.block(ctx, name, func(one []Target, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					out.take(List{}, c.failed(err))
					return
				}
				all[i], known[i] = one, true
				if len(known) == len(all) {
					out.take(List{Targets: sorted(slices.Concat(all...))}, nil)
				}
			})
		})
	}
	each.Wait()
}

// block asks for one service until ctx ends, at most once a second.
func (c *consul) block(ctx context.Context, name string, got func([]Target, error)) {
	index := ""
	for ctx.Err() == nil {
		one, next, err := c.service(ctx, name, index)
		if ctx.Err() != nil {
			return
		}
		got(one, err)
		if index = next; err != nil {
			index = ""
		}
		if wait(ctx, consulPause) != nil {
			return
		}
	}
}
