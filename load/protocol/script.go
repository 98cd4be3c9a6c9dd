package protocol

// Script is a protocol whose requests differ: each connection sends the same sequence of messages again and
// again, and awaits so many bytes after each.
type Script struct {
	Steps []Step
	// Conns is how many connections there are: of their requests, which are numbered together, each
	// connection sends every so many.
	Conns int
}

// Step is one message and how many bytes its answer has; 0: none is awaited.
type Step struct {
	Writes [][]byte
	Answer int
}

func (p Script) step(number int64) *Step {
	return &p.Steps[number/int64(p.Conns)%int64(len(p.Steps))]
}

// New implements Protocol.
func (p Script) New() Conversation { return &script{of: p} }

// Server implements Protocol.
func (p Script) Server() Server { return &scriptServer{of: p} }

type script struct {
	of   Script
	now  *Step // nil: no answer is awaited
	have int
}

func (s *script) Ask(number int64) [][]byte {
	s.now, s.have = s.of.step(number), 0
	return s.now.Writes
}

// Silent implements Silent.
func (s *script) Silent() bool { return s.now != nil && s.now.Answer == 0 }

func (s *script) Read(b []byte) (got Got, err error) {
	if s.now == nil || s.now.Answer == 0 {
		return Got{Stale: 1}, nil
	}
	if s.have += len(b); s.have < s.now.Answer {
		return Got{}, nil
	}
	if s.have > s.now.Answer {
		got.Stale = 1 // it says more than it said then
	}
	s.now = nil
	got.Done = 1
	return got, nil
}

type scriptServer struct {
	of       Script
	at, have int
}

func (s *scriptServer) Serve(b []byte) (out []byte) {
	s.have += len(b)
	for {
		step := &s.of.Steps[s.at%len(s.of.Steps)]
		n := sizeOf(step.Writes)
		if s.have < n {
			return out
		}
		s.have -= n
		s.at++
		out = append(out, make([]byte, step.Answer)...)
	}
}
