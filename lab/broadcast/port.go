package broadcast

import (
	"fmt"
	"regexp"
	"strings"

	"snag/lab"
)

var localPort = regexp.MustCompile(`:([0-9]+)\s+\S+:1935\s`)

// PortOf is the local port of an encoder's connection to the server.
func (b *Broadcast) PortOf(encoder *lab.Process) string {
	out, err := b.Stage.Output(b.Encoder, "ss", "-Htnp", "state", "established", "dport", "1935")
	if err == nil {
		for line := range strings.Lines(out) {
			if strings.Contains(line, fmt.Sprintf("pid=%d,", encoder.PID)) {
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
