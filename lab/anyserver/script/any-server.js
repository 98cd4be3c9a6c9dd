// The service of lab/anyserver in Node: one event loop, and a limit of requests that are
// at work at a time, with a queue before it, as p-limit or a connection pool makes. See
// anyserver.go for what it is started with, and for the lines that it is told.
"use strict";
const net = require("net"), fs = require("fs"), dns = require("dns"), { performance } = require("perf_hooks");

const [listen, sizeText, workersText, workText, waitText, controlPath, ...rest] = process.argv.slice(2);
const size = +sizeText, limit = +workersText;
const more = Object.fromEntries(rest.map((a) => a.split("=")));
const told = { work: +workText, wait: +waitText, hang: 0, block: 0, heavy: 0, grow: 0, keep: 0, limit: +(more.limit || 0), pool: +(more.pool || 0) };
const queue = [], backends = [], waiting = [], grown = [], journal = more.journal ? fs.openSync(more.journal, "a") : -1;
const address = (at) => (at.startsWith("/") ? { path: at } : { host: at.split(":")[0], port: +at.split(":")[1] });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
let busy = 0, conns = 0, taken = 0, kept = 0, worked = 0, heavyEvery = 0, every = 0, sum = 0, blocker;

function compute(us) {
	const end = performance.now() + us / 1000;
	while (us > 0 && performance.now() < end) for (let i = 0; i < 2000; i++) sum = (sum ^ i) * 31 | 0;
}

// Takes a connection that nobody else uses meanwhile; of a pool as soon as one is free.
async function borrow() {
	if (told.pool && taken >= told.pool) await new Promise((free) => waiting.push(free));
	else taken++;
	let c = backends.pop();
	while (c && c.destroyed) c = backends.pop(); // the other service closed it
	return c || net.connect({ ...address(more.call), noDelay: true });
}

function giveBack(c, ok) {
	taken--;
	if (ok) backends.push(c);
	else c.destroy();
	trim();
}

// Closes what is more than the pool may have, and lets those go on who wait for a free one.
function trim() {
	if (!told.pool) return;
	while (backends.length > 0 && taken + backends.length > told.pool) backends.pop().destroy();
	while (waiting.length > 0 && taken < told.pool) taken++, waiting.shift()();
}

// Takes connections of the pool, and keeps them until it is told otherwise.
async function keepConns(n, mine) {
	const has = [];
	while (has.length < n && kept === mine) has.push(await borrow());
	while (kept === mine) await sleep(20);
	for (const c of has) giveBack(c, true);
}

// Asks another service, and tells whether it answered.
async function ask() {
	const c = await borrow();
	return new Promise((done) => {
		let have = 0;
		const end = (ok) => {
			c.removeAllListeners();
			c.on("error", () => c.destroy());
			giveBack(c, ok);
			done(ok);
		};
		c.on("data", (part) => { if ((have += part.length) >= 128) end(true); });
		c.on("error", () => end(false));
		c.on("close", () => end(false));
		c.write(Buffer.alloc(128));
	});
}

async function request() {
	while (told.hang) await sleep(20);
	if (more.names) await new Promise((done) => dns.lookup("backend.example.", { all: true }, done));
	if (more.call && !(await ask()) && more.needs) return false;
	if (told.grow) grown.push(Buffer.alloc(told.grow, 1));
	compute(told.work);
	if (told.heavy && ++worked % heavyEvery === 0) compute(told.heavy);
	if (told.wait) await sleep(told.wait / 1000);
	const written = journal < 0 || await new Promise((done) => fs.write(journal, Buffer.alloc(4096), (failed) => failed ? done(false) : fs.fdatasync(journal, (failed) => done(!failed))));
	if (written && more.echo) console.log("x".repeat(more.echo - 1));
	return written;
}

async function next() {
	if (busy >= limit || queue.length === 0) return;
	busy++;
	const c = queue.shift();
	const ok = await request();
	busy--;
	if (!ok) c.destroy();
	else if (!c.destroyed) c.write(Buffer.alloc(size));
	next();
}

net.createServer({ noDelay: true }, (c) => {
	let have = 0;
	c.on("error", () => c.destroy());
	if (told.limit && conns >= told.limit) return c.end(more.refusal, () => c.destroy());
	conns++;
	c.on("close", () => conns--);
	c.on("data", (part) => {
		for (have += part.length; have >= size; have -= size) queue.push(c), next();
	});
}).listen({ ...address(listen), backlog: 1024 }, () => console.log("ready"));

let line = "";
new net.Socket({ fd: fs.openSync(controlPath, fs.constants.O_RDWR | fs.constants.O_NONBLOCK), readable: true, writable: false }).on("data", (part) => {
	const lines = (line + part).split("\n");
	line = lines.pop();
	for (const [word, a, b] of lines.map((l) => l.split(" "))) {
		told[word] = +a;
		if (word === "die") process.exit(+a);
		if (word === "heavy") heavyEvery = +b;
		if (word === "pool") trim();
		if (word === "keep" && (kept++, told.keep)) keepConns(told.keep, kept);
		if (word !== "block") continue;
		clearInterval(blocker); // a long task on the loop, again and again
		if (told.block) blocker = setInterval(() => compute(told.block), +b / 1000);
	}
});
setTimeout(() => process.exit(0), 300000);
