package routes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"snag/internal/nldump"
	"snag/probes/probe"
	"snag/recording"
)

// rulesNow reads the rules that can drop, and how many there are in all.
func (sp *space) rulesNow() (out []recording.Rule, read int, err error) {
	chains := map[[3]string]chain{}
	unspecified := make([]byte, 4) // struct nfgenmsg: every family
	err = sp.netfilter(unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_GETCHAIN, unspecified, func(data []byte) error {
		c, err := decodeChain(data)
		if err != nil {
			return err
		}
		if len(chains) >= mostRules {
			return nldump.ErrEnough
		}
		chains[[3]string{c.Family, c.Table, c.Name}] = c
		if c.PolicyDrop && c.Hook != "" {
			out = append(out, withCount(recording.Rule{Netns: sp.ID, Family: c.Family, Of: c.Table, Chain: c.Name, Hook: c.Hook, Verdict: "policy"}, c.Count))
		}
		return nil
	})
	if err != nil && !errors.Is(err, nldump.ErrEnough) {
		return nil, 0, err
	}
	err = sp.netfilter(unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_GETRULE, unspecified, func(data []byte) error {
		if read++; read > mostRules {
			return nldump.ErrEnough
		}
		r, err := decodeRule(data)
		if err != nil || r.Verdict == "" {
			return err
		}
		row := recording.Rule{
			Netns: sp.ID, Family: r.Family, Of: r.Table, Chain: r.Chain, Handle: r.Handle, Verdict: r.Verdict, Text: r.Text,
			Hook: chains[[3]string{r.Family, r.Table, r.Chain}].Hook,
		}
		out = append(out, withCount(row, r.Count))
		return nil
	})
	if errors.Is(err, nldump.ErrEnough) {
		err = nil
	}
	return out, read, err
}

func withCount(r recording.Rule, c *count) recording.Rule {
	if c != nil {
		r.Packets, r.Bytes = &c.Packets, &c.Bytes
	}
	return r
}

// netfilter asks a part of netfilter on a socket of its own.
func (sp *space) netfilter(kind uint16, header []byte, one func([]byte) error) error {
	conn := nldump.Dial(unix.NETLINK_NETFILTER, sp.reply)
	defer conn.Close()
	return conn.Dump(kind, header, one)
}

// firewall writes the rules that can drop, and again those whose counters moved.
func (sp *space) firewall() error {
	if !sp.nftables {
		return nil
	}
	rules, read, err := sp.rulesNow()
	switch {
	case errors.Is(err, unix.EPERM):
		return &probe.Unavailable{Why: "nftables' rules: neither CAP_NET_ADMIN nor root", Cure: "run as root, or give the binary CAP_NET_ADMIN"}
	case errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return &probe.Unavailable{Why: "this kernel has no nf_tables", Cure: "iptables-legacy-save -c shows the rules of iptables"}
	case err != nil && !errors.Is(err, nldump.ErrInterrupted):
		return err
	}
	t := sp.env.Now()
	if read > mostRules || len(rules) > mostRows {
		sp.meter.note("routes.rules", fmt.Sprintf("of %s at most %d rules are read and %d that drop are kept", sp.called(), mostRules, mostRows), "nft -a list ruleset")
	}
	for _, r := range rules[:min(len(rules), mostRows)] {
		key := fmt.Sprint(r.Family, r.Of, r.Chain, r.Handle)
		now := uint64(0)
		if r.Packets != nil {
			now = *r.Packets
		}
		if was, known := sp.rules[key]; known && was == now {
			continue
		}
		sp.rules[key] = now
		r.T = t
		sp.env.Sink.Append(r)
	}
	if legacy, err := os.ReadFile(filepath.Join(sp.env.Proc, "thread-self/net/ip_tables_names")); err == nil && len(legacy) > 0 {
		sp.meter.note("routes.rules", "the rules of legacy iptables are not read", "iptables-legacy-save -c")
	}
	return nil
}
