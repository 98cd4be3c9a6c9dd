// A web service in Node. It takes LISTEN SIZE WAIT STATUS SHARE LATE, times in seconds;
// SIGUSR2 begins and ends that a share of the requests is answered with that status.
"use strict";
const http = require("http");

const [listen, ...numbers] = process.argv.slice(2);
const [size, wait, status, share, late] = numbers.map(Number);
const [host, port] = listen.split(":");
let broken = false;

process.on("SIGUSR2", () => (broken = !broken));
http.createServer({ noDelay: true, keepAliveTimeout: 60000 }, (request, answer) => {
	const fails = broken && Math.random() < share;
	setTimeout(() => {
		answer.statusCode = fails ? status : 200;
		answer.end(fails ? "out of order" : "x".repeat(size));
	}, 1000 * (fails ? late : wait));
}).listen({ host, port: +port, backlog: 1024 }, () => console.log("ready"));
setTimeout(() => process.exit(0), 300000);
