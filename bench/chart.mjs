// Draws the drain as bars: one line per system, the whisker from the lowest to the highest run.

const WIDTH = 760
const LABELS = 250
const ROW = 30
const TOP = 58
const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.small{font-size:11px;fill:#57606a}
.bar{fill:#8c959f}.own{fill:#1a7f64}.whisker{stroke:#24292f;stroke-width:1.5}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.bar{fill:#6e7681}.own{fill:#3fb68b}.whisker{stroke:#e6edf3}}`

export function drawChart({ parts, machine, versions }) {
  const rows = Object.entries(parts.drain.systems).sort(([, a], [, b]) => b.median - a.median)
  const largest = Math.max(...rows.map(([, { high }]) => high))
  const x = (value) => LABELS + (value / largest) * (WIDTH - LABELS - 80)
  const height = TOP + rows.length * ROW + 34
  const about = `${machine.cores} cores, PostgreSQL ${versions.postgresql}, Node.js ${versions.node}, ${parts.drain.date.slice(0, 10)}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">
<title id="title">No-op jobs drained per second by one worker process</title>
<style>${STYLE}</style>
<text x="12" y="24" font-weight="600">No-op jobs drained per second by one worker process</text>
<text x="12" y="42" class="small">median of the runs, with the lowest and the highest; longer is better</text>
${rows.map((row, index) => bar(row, TOP + index * ROW, x)).join('\n')}
<text x="12" y="${height - 12}" class="small">${escaped(about)}</text>
</svg>
`
}

function bar([name, { median, low, high }], y, x) {
  const middle = y + 10
  const width = x(median) - LABELS
  return [
    `<text x="12" y="${y + 15}">${escaped(name)}</text>`,
    `<rect x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="20" rx="2" class="bar${name === 'holdfast' ? ' own' : ''}"/>`,
    `<line x1="${x(low).toFixed(1)}" x2="${x(high).toFixed(1)}" y1="${middle}" y2="${middle}" class="whisker"/>`,
    `<text x="${(x(high) + 8).toFixed(1)}" y="${y + 15}">${Math.round(median).toLocaleString('en')}</text>`,
  ].join('')
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
