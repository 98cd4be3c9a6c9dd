package measure

import (
	"snag/recording"
	"snag/scene"
)

// MemoryOf is the limit of the process' control group and the most that it held,
// bytes; 0 for no limit.
func MemoryOf(r *recording.Recording, p *scene.Process) (limit, used float64) {
	group := p.Last().GroupOf("memory")
	for _, s := range r.Select("snag_cgroup_memory_limit_bytes", "cgroup", group) {
		limit, _ = s.Last()
	}
	for _, s := range r.Select("snag_cgroup_memory_bytes", "cgroup", group) {
		used, _ = s.Max()
	}
	return limit, used
}
