// Package rtp receives live streams over RTP (RFC 3550): it puts packets in order,
// counts what is lost, late, out of order and twice there, and makes frames from
// the heads of the payloads, which it never keeps but for key pictures that are
// wanted (stream.Keys), one at a time.
//
// # Decoding times
//
// RTP carries presentation times only (RFC 3550 5.1: the sampling instant). With
// B-pictures those go to and fro in the order of arrival, so a DTS is derived: with
// pictures reordered by at most k places, the DTS of a picture is the least of the
// k+1 greatest presentation times up to it. At a constant rate that is the
// encoder's DTS but for a constant; at a changing rate it is a monotone time that
// differs from the encoder's by up to k frame times. k is learned from the first 8
// pictures (at most 0.5 s): they, and the audio between them, are given together
// then, with their true arrival. What it costs: a first figure up to 0.5 s later,
// and one or two pictures with the DTS of the one before when a later picture shows
// a greater k than the first ones did.
//
// # Clocks
//
// Each track's timestamps begin anywhere (RFC 3550 5.1). They are put on one clock,
// which is 0 at the first packet: by RTP-Info (RTSP, RFC 2326 12.33), else by
// arrival until the sender's reports tell how both tracks' timestamps stand to one
// wall clock (RFC 3550 6.4.1); the audio's times then move by the difference, once.
package rtp
