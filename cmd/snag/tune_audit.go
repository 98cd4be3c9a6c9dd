package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/nearest"
	"snag/probes"
	"snag/recording"
	"snag/remedies"
	"snag/remedies/audit"
	"snag/remedies/plan"
)

// auditFor is how long an audit looks at the host: two samples of what is read each
// second, and one of the rest.
const auditFor = 3 * time.Second

type auditFlags struct {
	audit bool
	role  string
	rate  string
	rtt   time.Duration
}

func (f *auditFlags) registerAudit(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.audit, "audit", false, "name what is too small for a role, without a symptom")
	cmd.Flags().StringVar(&f.role, "role", "", "of an audit: udp-media, tcp-stream, cache or rpc")
	cmd.Flags().StringVar(&f.rate, "rate", "", "of an audit: what one stream must carry, as 40mbit (default: the busiest that is measured, at least 20mbit)")
	cmd.Flags().DurationVar(&f.rtt, "rtt", 0, "of an audit: the round trip to the farthest peer (default: the longest that is measured, at least 200ms)")
}

// makeAudit audits a recording, or this host as it is now.
func (f *planFlags) makeAudit(ctx context.Context, args []string) (*plan.Plan, error) {
	d := audit.Design{RTT: f.rtt.Seconds()}
	if f.rate != "" {
		bits, err := parseRate(f.rate)
		if err != nil {
			return nil, cli.Usage("--rate: %v", err)
		}
		d.Rate = bits / 8
	}
	if f.rtt < 0 {
		return nil, cli.Usage("--rtt: %v is not a round trip", f.rtt)
	}
	if err := checkRole(f.role); err != nil {
		return nil, err
	}
	r, from, err := auditedHost(ctx, args)
	if err != nil {
		return nil, err
	}
	p, err := remedies.Audit(r, audit.Role(f.role), d, hostOf(r, f.recorded))
	if err != nil {
		return nil, cli.Usage("--role: %v", err)
	}
	p.Snag, p.For.Recording = cli.Version, from
	return p, nil
}

// checkRole refuses what is no role before the host is looked at.
func checkRole(role string) error {
	if role == "" {
		return cli.Usage("--audit: give --role as well, one of %s", strings.Join(roleNames(), ", "))
	}
	if slices.Contains(roleNames(), role) {
		return nil
	}
	near := nearest.DidYouMean(role, roleNames(), func(s string) string { return s })
	if near == "" {
		near = "."
	}
	return cli.Usage("--role %s: there is no such role%s There are: %s", role, near, strings.Join(roleNames(), ", "))
}

func roleNames() (out []string) {
	for _, r := range audit.Roles {
		out = append(out, string(r))
	}
	return out
}

func auditedHost(ctx context.Context, args []string) (r *recording.Recording, from string, err error) {
	if len(args) > 0 {
		bound(args[0])
		r, err := recording.Open(args[0])
		return r, args[0], err
	}
	dir, err := os.MkdirTemp("", "snag-audit-")
	if err != nil {
		return nil, "", fmt.Errorf("look at this host: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at := dir + "/recording"
	if err := probes.Record(ctx, probes.Plan{Dir: at, For: auditFor, Snag: cli.Version, Notice: func(string) {}}); err != nil {
		return nil, "", fmt.Errorf("look at this host: %w", err)
	}
	r, err = recording.OpenOwn(at)
	return r, "", err
}

// parseRate reads bits per second as tc does: 40mbit, 2.5gbit, 800000.
func parseRate(text string) (float64, error) {
	unit := 1.0
	number := strings.ToLower(text)
	for _, u := range []struct {
		suffix string
		bits   float64
	}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}} {
		if cut, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = cut, u.bits
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || v*unit < 1000 || v*unit > 1e13 {
		return 0, fmt.Errorf("%q is not a rate: it is a number and kbit, mbit or gbit, from 1kbit to 10000gbit", text)
	}
	return v * unit, nil
}
