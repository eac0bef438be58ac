// What commands print: JSON for programs, lines and tables for people, colours and bars only on a terminal.

import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]

/** NO_COLOR, TERM=dumb and a pipe each mean plain text. */
export function paint(format: Format, text: string): string {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(format, text) : text
}

/** One value as JSON, or the same in words. */
export function print(flags: { readonly json?: boolean }, value: unknown, words: string | (() => string)): void {
  if (flags.json) console.log(JSON.stringify(value))
  else console.log(typeof words === 'string' ? words : words())
}

/** Columns as wide as their widest cell; `none` stands for no rows at all. */
export function table(head: readonly string[], rows: readonly (readonly unknown[])[], none: string): string {
  if (rows.length === 0) return none
  const lines = [head, ...rows.map((row) => row.map((cell) => String(cell ?? '–')))]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const [first = '', ...rest] = lines.map((line) =>
    line
      .map((cell, column) => (column === head.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  return [paint('dim', first), ...rest].join('\n')
}

/** 950 ms, 12 s, 5 min, 3 h, 2 d. */
export function span(ms: number): string {
  const steps: readonly (readonly [string, number])[] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ]
  const step = steps.find(([, size]) => Math.abs(ms) >= size)
  return step ? `${Math.round(ms / step[1])} ${step[0]}` : `${Math.round(ms)} ms`
}

export function ago(moment: Date | null): string | undefined {
  return moment ? `${span(Math.max(0, Date.now() - moment.getTime()))} ago` : undefined
}

export interface Bar {
  at(done: number): void
  end(): void
}

const BAR_WIDTH = 30

/** On standard error, and only if that is a terminal: what is piped on stays clean. */
export function progressBar(what: string, total: number): Bar {
  const { stderr } = process
  if (!stderr.isTTY || total <= 0) return { at: () => {}, end: () => {} }
  let shown = -1
  return {
    at(done) {
      const filled = Math.floor((Math.min(done, total) / total) * BAR_WIDTH)
      if (filled === shown) return
      shown = filled
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
      stderr.write(`\r${what} ${bar} ${Math.floor((100 * Math.min(done, total)) / total)} %`)
    },
    end: () => stderr.write('\r\u001b[2K'),
  }
}
