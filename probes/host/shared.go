package host

import "snag/internal/procfile"

// shared is what all namespaces use one after another on the probe's one
// goroutine: buffers, and the names of counters, so that hundreds of namespaces
// do not hold hundreds of copies.
type shared struct {
	file    []byte // content of the file that was read last
	reply   []byte // a datagram of rtnetlink
	key     []byte
	index   map[string]int // of a counter, "TcpExt_ListenDrops"
	metrics []metric       // by index
	gauges  map[string]gaugeNames
}

// metric is a counter's name as recorded; "" when it is not.
type metric struct {
	name   string
	always bool // written even while it is 0
}

// gaugeNames are those of a field of sockstat; "" when it is not recorded.
type gaugeNames struct{ plain, bytes string }

func newShared() *shared {
	return &shared{
		file: make([]byte, 1<<15), reply: make([]byte, replyMost),
		index: map[string]int{}, gauges: map[string]gaugeNames{},
	}
}

// join makes the key "Proto_Field", good until the next one.
func (s *shared) join(proto, field []byte) []byte {
	s.key = append(append(append(s.key[:0], proto...), '_'), field...)
	return s.key
}

// counter returns the index of a counter.
func (s *shared) counter(proto, field []byte) int {
	i, ok := s.index[string(s.join(proto, field))]
	if !ok {
		key := string(s.key)
		m := metric{always: procfile.Always[key]}
		if procfile.Wanted(string(proto), key) {
			m.name = "node_netstat_" + key
		}
		i = len(s.metrics)
		s.metrics = append(s.metrics, m)
		s.index[key] = i
	}
	return i
}

// gauge returns the names of a field of sockstat.
func (s *shared) gauge(proto, field []byte) gaugeNames {
	g, ok := s.gauges[string(s.join(proto, field))]
	if !ok {
		key := string(s.key)
		if procfile.SockstatFields[key] {
			g.plain = "node_sockstat_" + key
			if string(field) == "mem" {
				g.bytes = g.plain + "_bytes"
			}
		}
		s.gauges[key] = g
	}
	return g
}
