package gbtest

import "strings"

// Seen are the requests and responses that came, in their order.
func (p *Platform) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

// Count reports how many of them are this one.
func (p *Platform) Count(what string) int {
	return strings.Count("\n"+strings.Join(p.Seen(), "\n\n")+"\n", "\n"+what+"\n")
}

// Body is that of the last request of a method.
func (p *Platform) Body(method string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies[method]
}

// Forget has it begin anew: who was registered is not known any more.
func (p *Platform) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.Forgets = false, true
}

// Hangup closes all SIP connections over TCP.
func (p *Platform) Hangup() {
	p.Set(func() {
		for _, c := range p.open {
			_ = c.Close()
		}
	})
}

// Set changes how it behaves.
func (p *Platform) Set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// URL is that of the platform.
func (p *Platform) URL() string { return "gb28181://" + p.Address + "/" + p.ID }

// Send sends a message of the test's own to who asked last.
func (p *Platform) Send(text string) {
	p.mu.Lock()
	send := p.send
	p.mu.Unlock()
	send([]byte(text))
}
