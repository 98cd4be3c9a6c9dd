package remotewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v3"
)

// mostRelabel is how long a file of relabelling is at most, in bytes.
const mostRelabel = 1 << 20

// Relabelling reads a file that has a list of Prometheus' relabel_config, as under write_relabel_configs.
func Relabelling(name string) (func(map[string]string) (map[string]string, bool), error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the relabelling: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostRelabel+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the relabelling: %w", err)
	case len(b) > mostRelabel:
		return nil, fmt.Errorf("read the relabelling: %s has more than %d MB: is it the right file?", name, mostRelabel>>20)
	}
	var rules []*relabel.Config
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the relabelling: %s: %w: write a list, as under write_relabel_configs", name, err)
	}
	for i, r := range rules {
		if r == nil {
			return nil, fmt.Errorf("read the relabelling: %s: rule %d is empty", name, i+1)
		}
		if err := r.Validate(model.UTF8Validation); err != nil {
			return nil, fmt.Errorf("read the relabelling: %s: rule %d: %w", name, i+1, err)
		}
	}
	return func(l map[string]string) (map[string]string, bool) {
		b := labels.NewBuilder(labels.FromMap(l))
		keep := relabel.ProcessBuilder(b, rules...)
		return b.Labels().Map(), keep
	}, nil
}
