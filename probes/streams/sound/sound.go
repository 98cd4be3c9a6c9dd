// Package sound listens to audio of live streams: it has a second of it decoded by ffmpeg, and judges
// whether a listener would hear anything.
package sound

import "math"

// Level is how loud audio is at its loudest sample, of 16 bits: 0 to 32768.
type Level int

// full is the largest sample; -60 dBFS is a thousandth of it. Encoders make silence of silence, and
// what a quiet room gives a microphone is louder.
const (
	full       = 1 << 15
	silentDBFS = -60
)

// DBFS is the level in decibels under the largest; minus infinity for samples that are all zero.
func (l Level) DBFS() float64 { return 20 * math.Log10(float64(l)/full) }

// Silent reports whether nothing is heard.
func (l Level) Silent() bool { return l.DBFS() < silentDBFS }
