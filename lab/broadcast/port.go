package broadcast

import (
	"fmt"
	"regexp"

	"snag/lab"
)

var localPort = regexp.MustCompile(`:([0-9]+)\s+\S+:1935\s`)

// PortOf is the local port of an encoder's connection to the server.
func (b *Broadcast) PortOf(encoder *lab.Process) string {
	out, err := b.Stage.Output(b.Encoder, "ss", "-Htnp", "state", "established", "dport", "1935")
	if err == nil {
		for _, line := range regexp.MustCompile(`.*\n`).FindAllString(out, -1) {
			if regexp.MustCompile(fmt.Sprintf(`\bpid=%d,`, encoder.PID)).MatchString(line) {
				if m := localPort.FindStringSubmatch(line); m != nil {
					return m[1]
				}
			}
		}
		err = fmt.Errorf("%s[%d] has no connection to port 1935", encoder.Name, encoder.PID)
	}
	b.Stage.Fail("the publisher's port", err)
	return "0"
}
