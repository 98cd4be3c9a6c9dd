package gb28181

import "time"

// acknowledge sends the ACK of a response that refuses, which is of the same
// transaction (17.1.1.3).
func (p *peer) acknowledge(m, answer *message) {
	ack := &message{method: "ACK", uri: m.uri}
	for _, name := range []string{"Via", "Route", "From"} {
		for _, value := range m.all(name) {
			ack.add(name, value)
		}
	}
	ack.add("To", answer.get("To"))
	ack.add("Call-ID", m.get("Call-ID"))
	ack.add("CSeq", seqOf(m)+" ACK")
	ack.add("Max-Forwards", "70")
	p.answerWith(answer, ack)
}

// mayRepeat is how long a final response may come again (64 T1).
const mayRepeat = 64 * t1

// answerWith sends an ACK, and again each time that the response comes again: then the
// one before was lost.
func (p *peer) answerWith(answer, ack *message) {
	_ = p.conn.send(ack)
	p.onceMore(callKey(answer), func() { _ = p.conn.send(ack) })
}

// onceMore has f run when a final response comes that no transaction waits for.
func (p *peer) onceMore(key string, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acks[key] = f
	time.AfterFunc(mayRepeat, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.acks, key)
	})
}

// abandon takes an INVITE back that nobody waits for any more (9.1). Where the camera
// accepts it all the same, it gets a BYE.
func (p *peer) abandon(c *call, m *message) {
	cancel := &message{method: "CANCEL", uri: m.uri}
	for _, name := range []string{"Via", "Route", "From", "To", "Call-ID"} {
		for _, value := range m.all(name) {
			cancel.add(name, value)
		}
	}
	cancel.add("CSeq", seqOf(m)+" CANCEL")
	cancel.add("Max-Forwards", "70")
	_ = p.conn.send(cancel)
	p.late(c, m)
}

// late awaits the response to an INVITE that was taken back.
func (p *peer) late(c *call, m *message) {
	t := newTransaction()
	p.expect(branchOf(m), t)
	go func() {
		defer p.forget(branchOf(m))
		over := time.NewTimer(mayRepeat)
		defer over.Stop()
		for {
			select {
			case <-p.gone:
				return
			case <-over.C:
				return
			case answer := <-t.answers:
				switch {
				case answer.status < 200:
					continue
				case answer.status >= 300:
					p.acknowledge(m, answer)
				default:
					p.establish(c, m, answer).bye()
				}
				return
			}
		}
	}()
}
