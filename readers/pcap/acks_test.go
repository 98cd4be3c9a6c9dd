package pcap

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// flowSide is one direction of a connection, as the slow count of this test keeps it.
type flowSide struct {
	begun, acked bool
	next         uint32 // after the highest byte sent
	ack, last    uint32 // the highest said, and the last
	window       uint32 // last said
}

// Duplicate ACKs and zero windows, packet for packet beside tshark's. Its zero windows are
// ours. A duplicate ACK is here what RFC 5681 calls one (section 2: data is on its way, no
// payload, no SYN or FIN, the same ACK, the same window), and with SACK blocks one whatever
// its window (RFC 6675, section 2); tshark does not look whether data is on its way, wants
// the window unchanged, and compares with the packet before, also where that one was
// overtaken and says less. No packet may differ for another reason.
func TestSameAcksAsTshark(t *testing.T) {
	for _, name := range []string{"packet-loss-sick", "packet-reordering-sick", "packet-reordering-distractor", "peer-reset-sick", "slow-consumer-sick", "bufferbloat-sick", "small-receive-window-sick"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, file := fixture(t, name)
			args := []string{"-r", file, "-o", "tcp.relative_sequence_numbers:FALSE", "-T", "fields", "-E", "separator=;", "-E", "occurrence=f", "-Y", "tcp"}
			for _, f := range []string{"tcp.stream", "tcp.srcport", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.flags", "tcp.window_size", "tcp.options.sack_le", "tcp.analysis.duplicate_ack", "tcp.analysis.zero_window"} {
				args = append(args, "-e", f)
			}
			text, err := exec.Command(program(t, "tshark"), args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			sides := map[string]*flowSide{}
			side := func(key string) *flowSide {
				if sides[key] == nil {
					sides[key] = &flowSide{}
				}
				return sides[key]
			}
			ports := map[string][]string{}
			var slow, shut, theirs, idle, moved, late int
			for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
				f := strings.Split(line, ";")
				n := func(i int) uint32 {
					v, _ := strconv.ParseUint(f[i], 0, 32)
					return uint32(v)
				}
				all := ports[f[0]]
				if len(all) < 2 && (len(all) == 0 || all[0] != f[1]) {
					all = append(all, f[1])
					ports[f[0]] = all
				}
				peer := ""
				if len(all) == 2 {
					peer = all[0]
					if peer == f[1] {
						peer = all[1]
					}
				}
				me, other := side(f[0]+" "+f[1]), side(f[0]+" "+peer)
				seq, ack, size, flags, window := n(2), n(3), n(4), n(5), n(6)
				sack, dup, zero := f[7] != "", f[8] != "", f[9] != ""
				quiet := flags&7 == 0 // no FIN, SYN, RST
				if window == 0 && quiet {
					shut++
				}
				if zero != (window == 0 && quiet) {
					t.Errorf("zero window: %s", line)
				}
				away := other.begun && int32(other.next-ack) > 0
				same := me.acked && ack == me.ack && size == 0 && quiet && flags&0x10 != 0
				ours := same && away && (window == me.window || sack)
				if ours {
					slow++
				}
				if dup {
					theirs++
				}
				switch {
				case ours == dup:
				case dup && same && !away:
					idle++
				case ours && sack && window != me.window:
					moved++
				case ours && ack != me.last, dup && ack == me.last && ack != me.ack:
					late++
				default:
					t.Errorf("duplicate ACK here %t, tshark %t (on its way %t, window %d after %d): %s", ours, dup, away, window, me.window, line)
				}
				if flags&0x10 != 0 {
					if !me.acked || int32(ack-me.ack) > 0 {
						me.ack = ack
					}
					me.acked, me.last, me.window = true, ack, window
				}
				end := seq + size
				if flags&2 != 0 {
					end++
				}
				if !me.begun || int32(end-me.next) > 0 {
					me.begun, me.next = true, end
				}
			}
			w, _ := sums(r)
			if w.DupAcks != uint64(slow) || w.ZeroWindows != uint64(shut) {
				t.Errorf("%d duplicate ACKs and %d zero windows, want %d and %d", w.DupAcks, w.ZeroWindows, slow, shut)
			}
			t.Logf("%d zero windows; %d duplicate ACKs, tshark %d: %d with nothing on its way, %d with SACK and another window, %d behind ACKs that came late", shut, slow, theirs, idle, moved, late)
		})
	}
}
