package actor

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func query(t *testing.T, kind dnsmessage.Type) []byte {
	t.Helper()
	name := dnsmessage.MustNewName("backend.example.")
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: name, Type: kind, Class: dnsmessage.ClassINET}}}
	raw, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestNamesAreAnswered(t *testing.T) {
	for kind, answers := range map[dnsmessage.Type]int{dnsmessage.TypeA: 1, dnsmessage.TypeAAAA: 0} {
		raw, ok := answerName(query(t, kind), dnsmessage.RCodeSuccess, 1)
		var m dnsmessage.Message
		if err := m.Unpack(raw); !ok || err != nil || m.ID != 7 || !m.Response || len(m.Answers) != answers {
			t.Errorf("%v: %v %v %+v", kind, ok, err, m)
		}
	}
	answer, _ := answerName(query(t, dnsmessage.TypeA), dnsmessage.RCodeSuccess, 1)
	for name, raw := range map[string][]byte{"nothing": nil, "no message": []byte("GET / HTTP/1.1"), "an answer": answer} {
		if _, ok := answerName(raw, dnsmessage.RCodeSuccess, 1); ok {
			t.Errorf("%s is answered", name)
		}
	}
}
