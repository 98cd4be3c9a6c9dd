// Package layers follows one stream through several places (ingest, origin, edge):
// it finds each video frame of one place again at the next, counts what went
// missing and what came from nowhere, measures the delay, and says which layer was
// the first to hurt the stream.
//
// Timestamps may be rebased at each hop, places are joined at different GOPs, and
// servers drop what is not a picture. So frames are told by what survives: the size
// of the coded picture, the DTS step from one to the next, and where key frames
// are. A run of frames that occurs once at the upper place locks the two together;
// from then on frames are matched by DTS, with the size to confirm.
//
//   - Where sizes differ by a little (another container adds access unit delimiters
//     or repeats parameter sets), little is allowed.
//   - Where all sizes differ the stream was coded again. Its frames can then only be
//     told by uneven DTS steps and key frames; where those are even, that it can't be
//     matched is the answer.
//   - Where pictures repeat (a file in a loop) the nearest in time is taken and the
//     match says that it may be off by whole loops.
//
// All is bounded: a place remembers its last 2,048 video frames, 48 KiB.
package layers
