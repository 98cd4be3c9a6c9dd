// A shop's front: asks its upstream for each answer, through a pool of connections.
const http = require('http'), fs = require('fs'), crypto = require('crypto'), v8 = require('v8');
const env = process.env, flag = env.FLAG, fault = env.FAULT;
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(env.POOL) });
const long = Number(env.LONG), share = Number(env.SHARE);
const limit = v8.getHeapStatistics().heap_size_limit;
let cache = [], recent = [];
let on = false;
setInterval(() => {
  on = fs.existsSync(flag);
  if (!on) { cache = []; recent = []; }
}, 20);

// checksum is a calculation in the event loop's thread.
function checksum() {
  for (const end = performance.now() + long; performance.now() < end;) crypto.pbkdf2Sync('basket', 'salt', 500, 32, 'sha256');
}

// remember keeps sessions until little of the heap is left, and what the last requests made.
function remember() {
  if (v8.getHeapStatistics().used_heap_size < 0.9 * limit) {
    for (let i = 0; i < 20000; i++) cache.push({ id: i, name: 'session' + i, next: null });
  }
  recent.push(Array.from({ length: 5000 }, (_, i) => ({ i })));
  if (recent.length > 4) recent.shift();
}

http.createServer((request, response) => {
  if (on && fault === 'blocked-loop' && Math.random() < share) checksum();
  if (on && fault === 'heap-full') remember();
  http.get({ host: env.UPSTREAM_HOST, port: env.UPSTREAM_PORT, path: '/price', agent }, (answer) => {
    response.writeHead(answer.statusCode);
    answer.pipe(response);
  }).on('error', (error) => {
    console.error(error.message);
    response.writeHead(502);
    response.end();
  });
  request.resume();
}).listen(Number(env.PORT), env.HOST, 511, () => console.log('ready'));
