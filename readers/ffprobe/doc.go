// Package ffprobe reads what ffprobe wrote of a stream's packets or frames
// (-show_packets, -show_frames), with the time at which each line came or without, into
// the same figures and events as a stream that is watched live.
package ffprobe
