package routes

import (
	"bytes"
	"errors"

	"golang.org/x/sys/unix"

	"snag/internal/nldump"
	"snag/recording"
)

// containsModule looks for ".../NAME.ko" in modules.builtin.
func containsModule(builtin []byte, name string) bool {
	return bytes.Contains(builtin, []byte("/"+name+".ko\n")) || bytes.HasSuffix(builtin, []byte("/"+name+".ko"))
}

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
