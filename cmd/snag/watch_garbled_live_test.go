package main

import (
	"testing"
	"time"
)

// noise changes some bytes of each key picture from the 10th to the 26th second.
const noise = `noise=amount=500*gt(key\,0)*between(n\,250\,650)`

// The key pictures of a film are damaged for a while before it comes to a real server; another's are not.
func TestWatchTellsOfGarbledPictures(t *testing.T) {
	oneSuffers(t, "damaged", "garbled-picture", 60*time.Second, []string{"-bsf:v", noise}, nil,
		`"event":"garbled-picture"`, `"picture":"garbled-picture"`, `"state":"garbled-picture"`, `"picture":"ok"`)
}
