package measure

// Bloated is by how much a queue lengthens the round trip until it is called
// so: access lines are built for 100 ms of buffer; an AQM holds 5 to 20 ms
// (RFC 8289, section 4); 372 ms were measured on a bloated line.
const Bloated = 0.1 // s

// BloatedTimes the usual round trip a queue must add: a path of 400 ms that jitters by 100 is
// none.
const BloatedTimes = 2.0

// FewRetransmits are everybody's: healthy hosts send 3 to 20 loss probes in half a minute;
// most are reported as duplicates and fall out anyway.
const FewRetransmits = 10

// LossFelt is the share of lost segments that is felt: at 1 in 200 and a round trip of 20 ms a
// Reno-like sender is held to about 10 Mb/s (Mathis 1997); access networks lose less than 1 in
// 1,000.
const LossFelt = 0.005

// FewSamples of a process: 50 give a share within a seventh of itself (1/√50).
const FewSamples = 50

// FewRefused are somebody's reload button or one restart.
const FewRefused = 5
