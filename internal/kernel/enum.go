package kernel

import (
	"fmt"

	"github.com/cilium/ebpf/btf"
)

// Enum maps the values of one of the running kernel's enums to their names:
// Enum(types, "skb_drop_reason")[3] is "SKB_DROP_REASON_NO_SOCKET". Values
// differ from kernel to kernel, so they are never compiled in. An enum that this
// kernel has not is an error that wraps btf.ErrNotFound.
func Enum(types *btf.Spec, name string) (map[uint64]string, error) {
	var e *btf.Enum
	if err := types.TypeByName(name, &e); err != nil {
		return nil, fmt.Errorf("looking up enum %s in the kernel's types: %w", name, err)
	}
	names := make(map[uint64]string, len(e.Values))
	for _, v := range e.Values {
		names[v.Value] = v.Name
	}
	return names, nil
}
