package plan

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"snag/internal/shown"
)

// checker collects the first thing that is wrong, with its line.
type checker struct {
	root *yaml.Node
	err  error
}

// wrong notes what is wrong at a place.
func (c *checker) wrong(place []any, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("line %d: %s", line(c.root, place...), fmt.Sprintf(format, args...))
	}
}

// peer is the place of the peers, or of one: where the plan lists them, or has them listed.
func (c *checker) peer(i ...any) []any {
	if line(c.root, "peers_from") != line(c.root) {
		return []any{"peers_from"}
	}
	return append([]any{"peers"}, i...)
}

// valid says the first thing that is wrong with a plan.
func (p *Plan) valid(root *yaml.Node) error {
	c := &checker{root: root}
	at := func(place ...any) []any { return place }
	switch {
	case p.Version != Version:
		c.wrong(at("version"), "version %d: this snag knows version %d", p.Version, Version)
	case p.Batch == Batch{}:
		c.wrong(nil, "batch is missing: how many peers may be out of service at a time, as 2 or 25%%")
	case p.Canary < 0 || p.Canary > p.Batch.Of(len(p.Peers)) && len(p.Peers) > 0:
		c.wrong(at("canary"), "canary %d: the first batch has from 1 peer to as many as the others (%d)", p.Canary, p.Batch.Of(len(p.Peers)))
	case len(p.Peers) == 0:
		c.wrong(c.peer(), "peers is empty: list those to be restarted, each with a name, or give peers_from")
	case len(p.Restart) == 0 && len(p.Drain) == 0:
		c.wrong(nil, "there is nothing to do: give restart the commands that restart a peer, or drain those of the maintenance")
	case len(p.Drain) > 0 && len(p.Return) == 0:
		c.wrong(at("drain"), "drain takes peers out of service and return is missing: say how they come back")
	case p.OnHurt != HurtReturn && p.OnHurt != HurtLeave:
		c.wrong(at("on_hurt"), "on_hurt %q: there are return and leave", shown.Text(p.OnHurt))
	}
	c.peers(p.Peers)
	for _, phase := range Acting {
		for i, a := range p.Actions(phase) {
			c.action(a, phase, i)
		}
	}
	c.leave(p)
	c.ready(p.Ready)
	c.health(p)
	if c.err == nil {
		c.filled(p)
	}
	return c.err
}

func (c *checker) peers(all []Peer) {
	names := map[string]bool{}
	for i, p := range all {
		at := c.peer(i)
		host, port := split(p.Address)
		switch {
		case p.Name == "":
			c.wrong(at, "peer %d has no name", i+1)
		case !shown.Safe(p.Name) || strings.ContainsAny(p.Name, " \t/"):
			c.wrong(at, "peer %d: a name has no spaces, slashes or control characters", i+1)
		case names[p.Name]:
			c.wrong(at, "two peers are named %s", p.Name)
		case p.Address != "" && (host == "" || port == ""):
			c.wrong(append(at, "address"), "address %q of peer %s: write HOST:PORT", shown.Text(p.Address), p.Name)
		}
		names[p.Name] = true
	}
}

func split(address string) (host, port string) {
	host, port, err := net.SplitHostPort(address)
	if n, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || n == 0 {
		return "", ""
	}
	return host, port
}

func (c *checker) action(a Action, phase Phase, i int) {
	at, name := []any{string(phase), i}, fmt.Sprintf("%s[%d]", phase, i+1)
	switch n := count(len(a.Run) > 0, a.HTTP != nil, a.Consul != nil); {
	case n != 1:
		c.wrong(at, "%s has %d of run, http and consul: give one of them", name, n)
	case phase == Restart && a.Consul != nil:
		c.wrong(at, "%s: the maintenance mode belongs in drain, which turns it on, and in return, which turns it off", name)
	case a.Consul != nil && a.Consul.Service == "":
		c.wrong(at, "%s.consul has no service: its ID at the agent", name)
	}
	c.run(a.Run, name, at)
	c.request(a.HTTP, name, at)
	if a.Consul != nil {
		c.url(a.Consul.URL, name+".consul", append(at, "consul"))
	}
}

func (c *checker) run(run []string, name string, at []any) {
	for i, arg := range run {
		if i == 0 && arg == "" || strings.ContainsRune(arg, 0) {
			c.wrong(append(at, "run"), "%s.run: the command is empty or has a NUL", name)
		}
	}
	if len(run) == 1 && strings.ContainsAny(run[0], " \t") {
		c.wrong(append(at, "run"), "%s.run is a list of a command and its arguments, and no shell reads it: write [%s]", name, strings.Join(strings.Fields(shown.Text(run[0])), ", "))
	}
}

func (c *checker) request(r *Request, name string, at []any) {
	if r == nil {
		return
	}
	c.url(r.URL, name+".http", append(at, "http"))
	if r.Status != 0 && (r.Status < 100 || r.Status > 599) {
		c.wrong(append(at, "http", "status"), "%s.http.status %d: from 100 to 599", name, r.Status)
	}
	if r.Method != strings.ToUpper(r.Method) || strings.ContainsAny(r.Method, " \t\r\n") {
		c.wrong(append(at, "http", "method"), "%s.http.method %q: write it in capitals, as POST", name, shown.Text(r.Method))
	}
}

// url checks the form; placeholders may be in it.
func (c *checker) url(text, name string, at []any) {
	u, err := url.Parse(placeholder.ReplaceAllString(text, "1"))
	switch {
	case text == "":
		c.wrong(at, "%s.url is missing", name)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		c.wrong(append(at, "url"), "%s.url is not an http:// or https:// URL", name)
	case u.User != nil:
		c.wrong(append(at, "url"), "%s.url has a user: put the credentials into a file, and name it in headers", name)
	}
}

func count(all ...bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}
