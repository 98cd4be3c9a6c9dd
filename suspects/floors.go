package suspects

// bloated is by how much a queue lengthens the round trip until it is called
// so: access lines are built for 100 ms of buffer; an AQM holds 5 to 20 ms
// (RFC 8289, section 4); 372 ms were measured on a bloated line.
const bloated = 0.1 // s

// bloatedTimes: a path of 400 ms that jitters by 100 is none.
const bloatedTimes = 2.0

// fewRetransmits: healthy hosts send 3 to 20 loss probes in half a minute;
// most are reported as duplicates and fall out anyway.
const fewRetransmits = 10

// lossFelt: at 1 in 200 and a round trip of 20 ms a Reno-like sender is held
// to about 10 Mb/s (Mathis 1997); access networks lose less than 1 in 1,000.
const lossFelt = 0.005

// fewSamples of a process: 50 give a share within a seventh of itself (1/√50).
const fewSamples = 50

// fewRefused are somebody's reload button or one restart.
const fewRefused = 5
