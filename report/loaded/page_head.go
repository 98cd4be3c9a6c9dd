package loaded

// pageHead is the page up to its first sentence. Its two verbs are the target, escaped.
const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>snag load %s</title>
<style>
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#667;--paper:#fff;--grid:#e3e6ea;--p50:#0b62a8;--p99:#b4500a;--due:#8a4b9e}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa3ad;--paper:#15181c;--grid:#2c3137;--p50:#5cb2f5;--p99:#f0964e;--due:#c792d8}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:52rem;margin:0 auto;padding:1.2rem}
h1{font-size:1.15rem;overflow-wrap:anywhere}h2{font-size:1rem;margin-top:2rem}
svg{width:100%%;height:auto}svg text{font-size:12px;fill:var(--soft)}
polyline{fill:none;stroke-width:2}.grid{stroke:var(--grid)}line.knee{stroke:var(--soft);stroke-dasharray:4 4}
.p50{stroke:var(--p50);fill:var(--p50)}.p99{stroke:var(--p99);fill:var(--p99)}.due{stroke:var(--due);fill:var(--due)}polyline.p50,polyline.p99,polyline.due{fill:none}polyline.due{stroke-dasharray:2 4}
.legend span{display:inline-block;margin-right:1.2rem}.legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:50%%;margin-right:.4rem}
i.p50{background:var(--p50)}i.p99{background:var(--p99)}i.due{background:var(--due)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{text-align:right;padding:.2rem .8rem;border-bottom:1px solid var(--grid);white-space:nowrap}td:last-child{text-align:left;white-space:normal}
</style></head><body>
<h1>%s</h1>
`

// tableHead is the table up to its first row.
const tableHead = `<div class="scroll"><table><tr><th>requests/s</th><th>answers/s</th><th>p50</th><th>p99</th><th>p99 since due</th><th>lost</th><th></th></tr>
`
