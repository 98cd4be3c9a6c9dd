package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
)

// qualityTools installs video-quality-tools from npm beside the run, pinned. Where it
// can't be, why says so.
func qualityTools(dir string) (command []string, why string) {
	home := filepath.Join(dir, "npm")
	out, err := exec.Command("npm", "install", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "video-quality-tools@3.0.0").CombinedOutput()
	if err != nil {
		return nil, fmt.Sprintf("video-quality-tools: npm install: %v: %s", err, bytes.TrimSpace(out))
	}
	return []string{"node", "-e", monitor, filepath.Join(home, "node_modules", "video-quality-tools")}, ""
}

// monitor counts frames with its FramesMonitor, as its README shows.
const monitor = `
const { FramesMonitor } = require(process.argv[1]);
const all = [];
for (const url of process.argv.slice(2)) {
  const m = new FramesMonitor({ ffprobePath: '/usr/bin/ffprobe', timeoutInMs: 5000, bufferMaxLengthInBytes: 1000000, errorLevel: 'error', exitProcessGuardTimeoutInMs: 3000 }, url);
  m.on('frame', () => { if (!m.seen) { m.seen = true; console.log('frame', url); } });
  m.on('error', e => console.error('video-quality-tools:', e.message));
  m.listen();
  all.push(m);
}
process.on('SIGINT', async () => { await Promise.all(all.map(m => m.stopListen())); process.exit(0); });
`
