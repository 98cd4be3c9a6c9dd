package main

import (
	"testing"
	"time"
)

// toned gives a film audio.
func toned(source string) []string {
	return []string{"-filter_complex", source + "[a]", "-map", "0:v", "-map", "[a]", "-c:a", "aac"}
}

// The audio of a film is silent from the 8th to the 58th second before it comes to a real server;
// another's is not. An alarm takes 30 s of silence, and the figures come every 5 s.
func TestWatchTellsOfSilentAudio(t *testing.T) {
	oneSuffers(t, "muted", "audio-silent", 100*time.Second, toned("sine=r=44100,volume=0:enable='between(t,8,58)'"), toned("sine=r=44100,volume=-20dB"),
		`"event":"silent-audio"`, `"sound":"silent"`, `"state":"audio-silent"`, `"sound":"ok"`)
}
