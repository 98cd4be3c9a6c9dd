// Written by types.mjs from report/*.schema.json: make ui. Not to be edited.

export type Time = string;
export type TimeOrNull = Time | null;
export type QuantilesOrNull = null | {
  mean: number;
  p50: number;
  p99: number;
  max: number;
};
export type LoadPartsOrNull = null | {
  /**
   * for a free connection
   */
  waiting: number;
  /**
   * sent late by snag itself
   */
  own_lag: number;
  /**
   * since it was sent
   */
  answer: number;
};
export type StringOrNull = string | null;

/**
 * The data of the HTML page, written by report/page and read by ui/. Times are seconds since the window's start.
 */
export interface Page {
  version: 1;
  verdict: Verdict;
  scene: Scene;
  comparison?: Comparison;
  streams: Streams | null;
  events: HostEvent[];
  /**
   * in order of what a reader asks first
   */
  charts: Chart[];
  flames: Flame[];
  tables: Table[];
  /**
   * what was not put on the page to keep it small
   */
  left_out: string[];
}
export interface Verdict {
  version: 2;
  /**
   * version of snag that recorded
   */
  snag: string;
  host: string;
  kernel: string;
  /**
   * of what the recording is, in words: the host and its kernel, or the files that it was made of
   */
  of?: string;
  /**
   * what the recording was made of, where others wrote it
   */
  files?: {
    name: string;
    format: string;
    host?: string;
    /**
     * null: it has no times
     */
    first: null | Time;
    last: null | Time;
    /**
     * that was added to its times
     */
    offset_seconds: number;
    /**
     * what was guessed of its clock and its host
     */
    doubts: string[];
  }[];
  window: {
    start: Time;
    end: Time;
    seconds: number;
  };
  /**
   * folder of the recording, for snag judge and snag show
   */
  recording?: string;
  target?: {};
  /**
   * the answer in a word
   */
  standing?: "culprit" | "unproved" | "not-enough-seen" | "error-answers" | "slow" | "nothing-wrong";
  symptoms: Symptom[];
  /**
   * the symptom that is worse than all that a culprit leads to, where no cause of it was proved, and the measurement that would tell
   */
  foremost?: {
    subject: string;
    text: string;
    next_measurement: string;
  };
  /**
   * where the time of requests went, of each service and each destination, those with the most open first
   */
  requests?: Requests[];
  /**
   * snag's own requests, which were sent meanwhile (--load): what they waited for, and how much of it the service that they asked accounts for
   */
  loads?: Load[];
  /**
   * what snag eliminate tried on a service, and which suspects it struck off; an entry that rests on one is of that service alone
   */
  experiments?: Experiment[];
  /**
   * culprits first, by what they hold up; then contributing, consequence, risk; then those elsewhere; then not-seen, cleared
   */
  verdict: Entry[];
  /**
   * why no culprit is named and nothing wrong is not said either: something is wrong and no cause was proved, too little was seen to clear anybody, or answers are slow
   */
  abstained?: string;
  /**
   * the one measurement that would tell, when abstained
   */
  next_measurement?: string;
  warnings: string[];
  coverage: Coverage[];
  /**
   * the processes that the costly probes looked at, and what that took
   */
  closer?: {
    processes: {
      pid: number;
      comm?: string;
      why: string;
    }[];
    /**
     * how many more were worth it
     */
    left?: number;
    /**
     * share of the machine's CPU time that it might take
     */
    budget: number;
    /**
     * by probe
     */
    spent_cpu_seconds: {
      [k: string]: number;
    };
  };
}
export interface Symptom {
  name:
    | "stream-freeze"
    | "stream-ended"
    | "stream-refused"
    | "stream-audio-lost"
    | "stream-frame-rate-fell"
    | "stream-bitrate-fell"
    | "stream-late"
    | "frames-skipped"
    | "request-latency"
    | "connect-latency"
    | "datagrams-lost"
    | "connection-errors"
    | "throughput-plateau"
    | "cpu-burn"
    | "log-silence"
    | "failed-answers"
    | "reported";
  subject: string;
  subject_ref: Subject;
  onset: Time;
  text: string;
  /**
   * of its traffic or time that suffered; null: nobody can tell
   */
  share: number | null;
  amount: number;
  unit: string;
  /**
   * when it was there
   */
  active?: Interval[];
  /**
   * it is not the target's, that was named
   */
  elsewhere?: boolean;
  /**
   * no culprit leads to it
   */
  unexplained?: boolean;
}
export interface Subject {
  kind:
    | "host"
    | "process"
    | "thread"
    | "socket"
    | "listener"
    | "flow"
    | "port"
    | "interface"
    | "qdisc"
    | "cgroup"
    | "netns"
    | "peer"
    | "cpu"
    | "file"
    | "stream"
    | "observer"
    | "disk"
    | "memory"
    | "function";
  name?: string;
  netns?: number;
  pid?: number;
  tid?: number;
  comm?: string;
  proto?: string;
  local?: string;
  remote?: string;
  inode?: number;
  device?: string;
  handle?: string;
  cgroup?: string;
  path?: string;
  host?: string;
  /**
   * that it is in, as --container takes it
   */
  container?: string;
  /**
   * that it is in: namespace/name, as --pod takes it; its UID where the name is not known
   */
  pod?: string;
  /**
   * the systemd unit that it is in, as --unit takes it
   */
  unit?: string;
}
export interface Interval {
  start: Time;
  end: TimeOrNull;
}
export interface Requests {
  role: "serve" | "call";
  subject: string;
  subject_ref: Subject;
  answered: number;
  /**
   * answers that were errors by their first bytes
   */
  failed?: number;
  failed_as?: string;
  rate_per_second: number;
  mean_seconds: number;
  p99_seconds: number;
  max_seconds: number;
  /**
   * requests that were open at a moment, on average
   */
  open: number;
  /**
   * request-seconds of the window; the accounts add up to it
   */
  seconds: number;
  /**
   * requests that were held up without need at a moment, on average; absent: nobody would notice
   */
  held?: number;
  accounts: {
    account:
      | "path"
      | "queue"
      | "loss"
      | "nagle"
      | "window"
      | "unread"
      | "work"
      | "cpu"
      | "quota"
      | "stopped"
      | "pause"
      | "memory"
      | "lock"
      | "disk"
      | "kernel"
      | "pipe"
      | "sleep"
      | "call"
      | "write"
      | "child"
      | "parked"
      | "unseen";
    /**
     * where the time goes on: an address, a lock
     */
    where?: string;
    seconds: number;
    /**
     * of them no thread was free for
     */
    in_line_seconds?: number;
    /**
     * avoidable by nature, and felt from the first second on
     */
    delay: boolean;
    /**
     * samples of threads that it rests on; absent: exact counters
     */
    looks?: number;
    /**
     * of them a culprit explains
     */
    claimed_seconds?: number;
    /**
     * id of that culprit
     */
    claimed_by?: string;
  }[];
}
export interface Load {
  target: string;
  connections: number;
  /**
   * requests per second; 0: one is open on each connection all the time
   */
  rate_asked: number;
  /**
   * answers per second
   */
  rate: number;
  asked: number;
  answered: number;
  /**
   * requests that were due and not sent at the end: no connection was free
   */
  behind: number;
  lost: number;
  /**
   * why the figures are not the service's; empty: they are
   */
  not_the_services: string;
  since_due: QuantilesOrNull;
  since_sent: QuantilesOrNull;
  parts: LoadPartsOrNull;
  slow_parts: LoadPartsOrNull;
  /**
   * who answered, where that was seen
   */
  server: string | null;
  /**
   * why it is not known what passed at the service; empty: it is
   */
  not_seen: string;
  /**
   * for how long the service had a request open, on average, seconds
   */
  at_server: number | null;
  /**
   * of the time since a request was sent that is accounted for at the service
   */
  share: number | null;
  /**
   * by how much share may be off (95 %)
   */
  within: number | null;
  /**
   * the parts of at_server, the greatest first
   */
  spent: {
    account: string;
    where?: string;
    /**
     * no thread, or no connection to where, was free
     */
    in_line: boolean;
    seconds: number;
    text: string;
  }[];
  /**
   * all of it in words
   */
  text: string;
}
export interface Experiment {
  target: string;
  /**
   * request, own, connect and so on: docs/eliminate.md
   */
  experiment: string;
  what: string;
  start: Time;
  end: Time;
  /**
   * why it did not run to its end; empty: it did
   */
  not_done: string;
  /**
   * its main figure; null: not measured
   */
  number: number | null;
  unit: string;
  /**
   * what the number is
   */
  of: string;
  /**
   * all that was measured, in words
   */
  shows: string;
  suspects: {
    /**
     * as snag eliminate calls it
     */
    suspect: string;
    state: "found" | "open" | "ruled out" | "not measured";
    why: string;
    /**
     * what the catalogue calls it
     */
    cause?: string;
  }[];
}
export interface Entry {
  id: string;
  /**
   * a name of snag suspects
   */
  suspect: string;
  title: string;
  state: "culprit" | "consequence" | "contributing" | "risk" | "cleared" | "not-seen";
  /**
   * neither it nor the harm that it explains is the target's, that was named
   */
  elsewhere?: boolean;
  /**
   * as a person would name it; empty where the suspect has no subject here
   */
  subject: string;
  subject_ref: Subject | null;
  /**
   * the address of another host that a culprit's cause is at or behind; absent of one on this host
   */
  beyond?: string;
  text: string;
  confidence: number;
  /**
   * of a culprit: what the accusation rests on, "1 proof, 2 strong signs"; names the confidence where it is below 0.9
   */
  proof?: string;
  /**
   * what it holds up of the requests whose time was booked; absent where nobody can tell
   */
  holds?: {
    /**
     * that wait because of it at a moment, on average
     */
    requests: number;
    /**
     * of all that is held up of those whom it hurts
     */
    share: number;
    /**
     * of most of that nobody saw what it waited for
     */
    at_most?: boolean;
  };
  since: TimeOrNull;
  /**
   * when it acted; none: it held for the whole window
   */
  active: Interval[];
  harm: null | {
    symptom: string;
    amount: number;
    /**
     * of how many in all; 0: not known
     */
    of: number;
    unit: string;
    text: string;
  };
  evidence: Evidence[];
  /**
   * the suspect that leads to this one
   */
  explained_by: string | null;
  leads_to: string[];
  chain: {
    name: string;
    subject: string;
    text: string;
    onset: Time;
    coincidence?: string;
    /**
     * the coincidence means something: enough onsets, and not a cause that fills the window
     */
    telling?: boolean;
    /**
     * the coincidence in numbers
     */
    in_time?: {
      onsets: number;
      /**
       * onsets in the cause, or within the lag after it
       */
      hits: number;
      /**
       * hits that chance gives on average
       */
      chance: number;
      /**
       * share of shifts in time with as many hits or more
       */
      p: number;
      /**
       * share of the window that the cause and the lag fill
       */
      covered: number;
      /**
       * all shifts were tried, not a sample
       */
      exact: boolean;
    };
  }[];
  remedy: null | {
    /**
     * one command line for a shell that helps as soon as it has run
     */
    now: string | null;
    /**
     * where the setting is kept
     */
    permanently: string | null;
    /**
     * what a developer changes
     */
    program: string | null;
  };
  next_measurement: StringOrNull;
  /**
   * what a plan would set (snag tune plan)
   */
  settings?: {
    what: string;
    why: string;
    risk?: string;
    needs?: string;
  }[];
  /**
   * what only a program or a person can do
   */
  calls?: {
    who: string;
    do: string;
    why: string;
  }[];
}
export interface Evidence {
  side: "for" | "against" | "missing";
  grade: "weak" | "strong" | "decisive";
  text: string;
  value: number | null;
  unit: string;
  source: string;
  doubt?: string;
  /**
   * selectors of the series behind it: name{label="value"} of samples, table.column{column="value"} of tables
   */
  series?: string[];
}
export interface Coverage {
  probe: string;
  state: "ok" | "partial" | "unavailable" | "failed" | "off";
  since: TimeOrNull;
  lost: number;
  late_seconds: number;
  cost_cpu_seconds: number;
  why: string;
  cure?: string;
}
export interface Scene {
  paths: Path[];
  /**
   * sums up what is not drawn
   */
  rest: string;
}
/**
 * one process, or what stands for it, with what its data cross
 */
export interface Path {
  title: string;
  nodes: Hop[];
  edges: Edge[];
}
export interface Hop {
  id: string;
  /**
   * 0 peer, 1 interface, 2 socket, 3 process, 4 socket, 5 interface, 6 peer
   */
  lane: number;
  kind: string;
  title: string;
  note: string;
  numbers: HopNumber[];
  marks: Mark[];
}
export interface HopNumber {
  label: string;
  value: string;
  /**
   * one that hurts
   */
  bad: boolean;
}
export interface Mark {
  state: "culprit" | "contributing" | "consequence" | "risk" | "symptom";
  /**
   * suspect or symptom
   */
  name: string;
  /**
   * id of the verdict's entry; empty for a symptom
   */
  entry: string;
}
export interface Edge {
  from: string;
  to: string;
  text: string;
}
/**
 * of snag compare: how this recording, B, differs from A
 */
export interface Comparison {
  outcome: "worse" | "as good" | "can't tell";
  sentence: string;
  a: string;
  b: string;
  parties: ComparedParty[];
  changes: ComparedChange[];
}
export interface ComparedParty {
  subject: string;
  change: string;
  worse: boolean;
  /**
   * seconds of an answer in A
   */
  mean_a: number;
  mean_b: number;
  /**
   * the one that grew most first
   */
  accounts: ComparedAccount[];
}
export interface ComparedAccount {
  account: string;
  delay: boolean;
  /**
   * seconds of an answer in A
   */
  a: number;
  b: number;
}
export interface ComparedChange {
  what: string;
  a: string;
  b: string;
  worse: boolean;
}
/**
 * the live streams that were watched; what was not measured is null, never 0
 */
export interface Streams {
  /**
   * the sick first
   */
  rows: StreamRow[];
  /**
   * rows there are; more than there are here where some were left out
   */
  total: number;
  details: StreamDetail[];
  /**
   * streams that several places saw
   */
  groups: StreamGroup[];
  /**
   * how long the rows' curves are
   */
  spark_seconds: number;
}
export interface StreamRow {
  /**
   * name, layer and side
   */
  id: string;
  state:
    | "FROZEN"
    | "DOWN"
    | "refused"
    | "no answer"
    | "no audio"
    | "garbled"
    | "black"
    | "plain"
    | "still"
    | "silent"
    | "low FPS"
    | "low kb/s"
    | "late"
    | "slow"
    | "skipping"
    | "losing"
    | "asking"
    | "waiting"
    | "ended"
    | "ok";
  /**
   * of the state: what to look at first has the least
   */
  rank: number;
  sick: boolean;
  since: number | null;
  why: string;
  name: string;
  layer: string;
  side: string;
  protocol: string;
  url: string;
  codec: string;
  size: string;
  fps: number | null;
  kbps: number | null;
  /**
   * seconds
   */
  gop: number | null;
  /**
   * seconds
   */
  drift: number | null;
  /**
   * audio less video, seconds
   */
  skew: number | null;
  freezes: number | null;
  /**
   * seconds
   */
  frozen: number | null;
  /**
   * frames per second, the least of each column: 0 is none, 9 the stream's own rate, a blank not measured
   */
  spark: string;
  /**
   * when the first trouble began
   */
  from: number | null;
  trouble: string;
}
export interface StreamDetail {
  id: string;
  /**
   * where a value stands for more than a second
   */
  note: string;
  /**
   * a value holds for the time up to it
   */
  t: number[];
  figures: StreamFigure[];
  /**
   * seconds without a frame that are a freeze
   */
  threshold: number | null;
  /**
   * single frames, where they were written
   */
  frames: StreamFrames | null;
  marks: StreamMark[];
  more_marks: number;
}
export interface StreamFigure {
  name: "late" | "clock" | "fps" | "video" | "audio" | "gop" | "gap" | "skew" | "lost";
  low: (number | null)[];
  /**
   * absent where it is the same
   */
  high?: (number | null)[];
}
export interface StreamFrames {
  t: number[];
  /**
   * seconds later than the least of the last minute; of many frames the least of each step
   */
  late: number[];
  /**
   * the most of each step; absent where each frame is there
   */
  most?: number[];
}
export interface StreamMark {
  t: number;
  end: number | null;
  /**
   * it still goes on at the end
   */
  open: boolean;
  kind:
    | "freeze"
    | "late"
    | "slow"
    | "skipped"
    | "jump"
    | "restarted"
    | "audio"
    | "picture"
    | "less"
    | "changed"
    | "ended"
    | "refused"
    | "published"
    | "first-frame"
    | "observer"
    | "verdict";
  text: string;
}
export interface StreamGroup {
  name: string;
  /**
   * of the rows, in the order in which the stream passes them
   */
  ids: string[];
  places: string[];
  hurts: StreamHurt[];
  /**
   * earlier ones that were left out
   */
  more: number;
}
export interface StreamHurt {
  t: number;
  kind: string;
  /**
   * the first place that shows it
   */
  first: number;
  /**
   * the place before it was watched then, or there is none before
   */
  sure: boolean;
  /**
   * what the places after it showed
   */
  also: string[];
  text: string;
}
export interface HostEvent {
  t: number;
  end: number | null;
  kind: string;
  /**
   * whom it happened to; of a thread its process
   */
  subject: string;
  text: string;
}
export interface Chart {
  /**
   * the selector that evidence names
   */
  id: string;
  title: string;
  /**
   * of whom
   */
  about: string;
  unit: string;
  lines: Line[];
  /**
   * every line holds one value for the whole window; of a rate, 0
   */
  flat: boolean;
  /**
   * lines that are not shown
   */
  more: number;
}
export interface Line {
  label: string;
  t: number[];
  v: number[];
}
/**
 * a profile as a tree of stacks, outermost frame first; its nodes are parallel lists, each node after its parent, node 0 the whole
 */
export interface Flame {
  name: string;
  title: string;
  /**
   * s, samples, or the event that is counted: cycles
   */
  unit: string;
  total: number;
  /**
   * what it can't tell
   */
  note: string;
  frames: string[];
  /**
   * where each frame lies
   */
  objects: string[];
  kinds: ("process" | "thread" | "user" | "kernel" | "reason")[];
  parent: number[];
  /**
   * index in frames; -1 of node 0
   */
  frame: number[];
  /**
   * children included
   */
  value: number[];
  /**
   * each node's share of the baseline's profile, 0 to 1; absent without one
   */
  before?: number[];
  /**
   * nodes whose share differs from the baseline's by no more than chance does
   */
  chance?: number[];
}
export interface Table {
  name: string;
  title: string;
  note: string;
  columns: Column[];
  rows: (string | number | null)[][];
  /**
   * rows there are; more than there are here where some were left out
   */
  total: number;
}
export interface Column {
  name: string;
  kind: "text" | "count" | "bytes" | "seconds" | "clock" | "ratio" | "rate" | "lines" | "parts";
}
