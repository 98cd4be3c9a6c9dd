package elimination

import "fmt"

// What is as slow on the server itself is not the path's, and what is fast there is not the service's.
const (
	asSlow     = 0.8
	muchFaster = 0.3
)

// elsewhere takes what was measured on the server into account.
func elsewhere(m *Measures, id string, s Standing) Standing {
	if m.Server == nil || s.State == RuledOut || m.kept() == 0 || m.Server.kept() == 0 {
		return s
	}
	there, here := m.Server.kept(), m.kept()
	switch id {
	case "path-length", "path-queue":
		if there >= asSlow*here {
			return Standing{State: RuledOut, By: OnServer, Why: fmt.Sprintf("it takes as long on the server itself: %s of %s", short(there), short(here))}
		}
	case "handler", "service":
		if there <= muchFaster*here && there < m.Slow {
			return Standing{State: RuledOut, By: OnServer, Why: fmt.Sprintf("on the server itself it takes %s, here %s", short(there), short(here))}
		}
	case "new-connections", "tls":
		if there, here := m.Server.whole(), m.whole(); there <= muchFaster*here && there < m.Slow {
			return Standing{State: RuledOut, By: OnServer, Why: fmt.Sprintf("on the server itself it takes %s on a new connection, here %s", short(there), short(here))}
		}
	}
	return s
}
