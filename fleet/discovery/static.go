package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// static has the targets that are given.
type static []Target

func parseStatic(rest string, _ Dial) (Source, error) {
	var out static
	for address := range strings.SplitSeq(rest, ",") {
		if address = strings.TrimSpace(address); address != "" {
			if strings.ContainsAny(address, " /?#\t") {
				return nil, fmt.Errorf("%q is not an address: write host:port,host:port", shown(address))
			}
			out = append(out, Target{Address: address, Labels: map[string]string{}})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no address: write static:host:port,host:port")
	}
	return out, nil
}

func (s static) Name() string {
	return fmt.Sprintf("static:%s", some(s))
}

func some(all []Target) string {
	if len(all) > 1 {
		return fmt.Sprintf("%s and %d more", shown(all[0].Address), len(all)-1)
	}
	return shown(all[0].Address)
}

func (s static) List(context.Context) (List, error) { return List{Targets: s}, nil }

func (s static) Follow(ctx context.Context, on func(Update)) {
	on(Update{List: List{Targets: s}})
	<-ctx.Done()
}
