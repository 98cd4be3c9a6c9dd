// A server whose answers wait by design: NAME ADDR PORT POLL EVERY. /poll is answered after
// up to POLL seconds, /events every EVERY seconds without an end (server-sent events),
// /page at once.
const http = require("http");
const [name, host, port, poll, every] = process.argv.slice(2);
require("fs").writeFileSync("/proc/self/comm", name);
http.createServer((req, res) => {
  if (req.url === "/poll") {
    setTimeout(() => res.end("nothing new\n"), Math.random() * poll * 1000);
  } else if (req.url === "/events") {
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    const timer = setInterval(() => res.write("data: tick\n\n"), every * 1000);
    req.on("close", () => clearInterval(timer));
  } else {
    res.end("a page\n".repeat(70));
  }
}).listen(Number(port), host, () => console.log("ready"));
