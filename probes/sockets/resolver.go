package sockets

import (
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// resolver is what resolv.conf(5) says of whom to ask for names, and for how long.
type resolver struct {
	servers  []string // at most three, as glibc takes (MAXNS)
	timeout  int      // s
	attempts int
	rotate   bool
}

// Limits and defaults of resolv.h: MAXNS, RES_TIMEOUT, RES_DFLRETRY, RES_MAXRETRANS,
// RES_MAXRETRY.
const (
	mostServers    = 3
	timeoutDefault = 5
	timeoutMost    = 30
	attemptsGiven  = 2
	attemptsMost   = 5
)

// parseResolver reads resolv.conf. What it does not know it passes over, as glibc does.
func parseResolver(raw []byte) resolver {
	r := resolver{timeout: timeoutDefault, attempts: attemptsGiven}
	for line := range bytes.Lines(raw) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "nameserver":
			if a, err := netip.ParseAddr(fields[1]); err == nil && len(r.servers) < mostServers {
				r.servers = append(r.servers, a.String())
			}
		case "options":
			for _, o := range fields[1:] {
				r.option(o)
			}
		}
	}
	return r
}

func (r *resolver) option(o string) {
	name, value, _ := strings.Cut(o, ":")
	n, err := strconv.Atoi(value)
	switch {
	case name == "rotate":
		r.rotate = true
	case err != nil || n < 0:
	case name == "timeout":
		r.timeout = min(n, timeoutMost)
	case name == "attempts":
		r.attempts = min(n, attemptsMost)
	}
}

// String is the fact's value: "nameserver 10.0.0.2 10.0.0.3 timeout 5 attempts 2".
func (r resolver) String() string {
	text := fmt.Sprintf("timeout %d attempts %d", r.timeout, r.attempts)
	if len(r.servers) > 0 {
		text = "nameserver " + strings.Join(r.servers, " ") + " " + text
	}
	if r.rotate {
		text += " rotate"
	}
	return text
}
