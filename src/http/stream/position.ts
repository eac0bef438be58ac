// How far a reader is, topic by topic: the id of every event, and what a reader sends back as Last-Event-ID.

export interface Position {
  /** Of the state that was sent last; '' when none was. */
  readonly version: string
  /** Of the last log line that was sent. */
  readonly log: string
}

export const AT_THE_BEGINNING: Position = { version: '', log: '0' }

// Fifty topics of the longest names fit; a longer text is none of ours.
const MOST_CHARACTERS = 32_768

/** One line of letters, digits and percent signs, whatever the topics are called. */
export function printPositions(positions: ReadonlyMap<string, Position>): string {
  const entries = [...positions].map(([topic, { version, log }]): [string, string] => [topic, `${version}.${log}`])
  return new URLSearchParams(entries).toString()
}

/** An unknown part counts as unread: a repeated event is better than a missing one. Never throws. */
export function parsePositions(text: string): Map<string, Position> {
  const positions = new Map<string, Position>()
  if (text.length > MOST_CHARACTERS) return positions
  for (const [topic, value] of new URLSearchParams(text)) {
    const [, version, log] = /^([\w-]{0,32})\.(\d{1,19})$/.exec(value) ?? []
    if (version !== undefined && log !== undefined) positions.set(topic, { version, log })
  }
  return positions
}
