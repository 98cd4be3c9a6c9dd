package plan

import (
	"strings"
	"testing"
)

const text = `version: 1
for:
  suspect: udp-receive-buffer-full
  subject: udp 0.0.0.0:5004, relay[812]
changes:
  - id: "1"
    target: {kind: sysctl, name: net.core.rmem_max}
    now: "212992"
    then: "8388608"
    why: 2,874 of 9,000 datagrams were lost as the buffer held 208 KiB
advice:
  - who: relay[812]
    do: setsockopt(fd, SOL_SOCKET, SO_RCVBUF, 4194304)
    why: it asks for 128 KiB
`

func TestAPlanIsReadAndWrittenWithoutLoss(t *testing.T) {
	p, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	q, err := Parse(again)
	if err != nil {
		t.Fatal(err)
	}
	third, _ := q.Text()
	if string(again) != string(third) || q.Changes[0].Then != "8388608" || q.Advice[0].Who != "relay[812]" {
		t.Errorf("%s\n%s", again, third)
	}
}

func TestAPlanAsJSONIsTheSame(t *testing.T) {
	p, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	q, err := Parse(b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	one, _ := p.Text()
	two, _ := q.Text()
	if string(one) != string(two) || !strings.HasPrefix(string(b), "{\n  \"version\": 1,\n  \"for\"") {
		t.Errorf("%s\n%s\n%s", b, one, two)
	}
}

func TestWhatIsNoPlan(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", "it is empty"},
		"another file":   {"PATH=/usr/bin\n", "it is not a plan"},
		"a mistyped key": {strings.Replace(text, "then:", "than:", 1), "field than not found"},
		"two documents":  {text + "---\nversion: 1\n", "more than one document"},
		"a later one":    {strings.Replace(text, "version: 1", "version: 7", 1), "version 7"},
		"too large":      {strings.Repeat("#", maxFile+1), "larger than"},
		"bombs":          {"a: &a [1,1,1,1]\nb: &b [*a,*a,*a,*a]\n", "it is not a plan"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(text))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err != nil {
			return
		}
		_ = p.Valid(nil)
		if _, err := p.Text(); err != nil {
			t.Error(err)
		}
	})
}
