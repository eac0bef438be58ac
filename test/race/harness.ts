// Plays the steps of several sessions in a given order, as PostgreSQL's isolationtester does. A step that waits for another
// session is known by what the server says of it, never by time; it is awaited when that session lets it go.
import type pg from 'pg'
import { askValue, type Row } from '../support/ask.js'
import { orSoon } from '../support/blocked.js'

/** One session. Its pid is asked for before it is busy. */
export interface Actor {
  readonly client: pg.Client
  readonly pid: number
}

export interface Step {
  readonly name: string
  readonly text: string
  readonly values?: readonly unknown[]
}

/** How a step went. `began` and `ended` count all beginnings and endings of the play, so they can be compared. */
export interface Told {
  readonly actor: number
  readonly pid: number
  readonly step: string
  /** As the server names what it did: a commit that became a ROLLBACK shows. */
  readonly command: string
  readonly rows: readonly Row[]
  /** SQLSTATE of a step that was refused or broke. */
  readonly code?: string
  readonly waited: boolean
  readonly began: number
  readonly ended: number
}

export async function openActor(client: pg.Client): Promise<Actor> {
  return { client, pid: await askValue<number>(client, 'select pg_backend_pid()') }
}

/** All orders in which sessions with so many steps each can take turns; an order names the session whose turn it is. */
export function interleavings(steps: readonly number[]): number[][] {
  if (steps.every((count) => count === 0)) return [[]]
  return steps.flatMap((count, actor) =>
    count === 0
      ? []
      : interleavings(steps.map((other, index) => (index === actor ? other - 1 : other))).map((rest) => [
          actor,
          ...rest,
        ]),
  )
}

/**
 * Each entry of `order` lets that actor take its next step. While an actor waits, its further steps wait with it and are
 * taken, in their order, once it goes on: of the impossible orders the nearest possible one is played.
 */
export async function play(
  watcher: pg.Client,
  actors: readonly Actor[],
  scripts: readonly (readonly Step[])[],
  order: readonly number[],
): Promise<Told[]> {
  const told: Told[] = []
  const count = { ticks: 0 }
  const players = actors.map((actor, index) => new Player(actor, index, scripts[index] ?? [], count, told))
  const pids = actors.map(({ pid }) => pid)

  for (const turn of order) {
    players[turn]?.mayGoOn()
    await goOnWhilePossible(players, watcher, pids)
  }
  while (players.some((player) => player.isBusy)) await goOnWhilePossible(players, watcher, pids)
  return told
}

async function goOnWhilePossible(players: Player[], watcher: pg.Client, pids: number[]): Promise<void> {
  for (let moved = true; moved; ) {
    moved = false
    for (const player of players) {
      if (!player.isBusy) continue
      const others = players.filter((other) => other !== player)
      // Only who has begun a operation and not yet ended its transaction can be in the way.
      const isFree = others.every((other) => !other.isInTransaction)
      moved = (await player.goOn(isFree ? undefined : () => isBlocked(watcher, player.pid, pids))) || moved
    }
  }
}

async function isBlocked(watcher: pg.Client, pid: number, byOneOf: number[]): Promise<boolean> {
  return askValue<boolean>(watcher, 'select race.is_blocked($1, $2)', [pid, byOneOf])
}

class Player {
  readonly pid: number
  isInTransaction = false
  private due = 0
  private next = 0
  private waited = false
  private began = 0
  private current: { step: Step; answer: Promise<void>; isDone: boolean } | undefined

  constructor(
    private readonly actor: Actor,
    private readonly index: number,
    private readonly script: readonly Step[],
    private readonly count: { ticks: number },
    private readonly told: Told[],
  ) {
    this.pid = actor.pid
  }

  get isBusy(): boolean {
    return this.current !== undefined || this.due > 0
  }

  mayGoOn(): void {
    this.due += 1
  }

  /** Takes the steps that are due, up to one that waits. False when nothing has changed: it still waits. */
  async goOn(isBlocked: (() => Promise<boolean>) | undefined): Promise<boolean> {
    let moved = false
    while (this.isBusy) {
      const isNew = this.current === undefined
      this.current ??= this.begin()
      const { current } = this
      // Most steps end at once; about those that do not, the server is asked.
      if (isNew) await orSoon(current.answer)
      while (!current.isDone) {
        if (isBlocked === undefined) await current.answer
        else if ((await isBlocked()) && !current.isDone) {
          this.waited = true
          return moved
        }
      }
      this.current = undefined
      moved = true
    }
    return moved
  }

  private begin() {
    const step = this.script[this.next]
    if (step === undefined) throw new Error(`session ${this.index} has no step ${this.next}`)
    this.next += 1
    this.due -= 1
    this.waited = false
    this.began = ++this.count.ticks
    // A bare begin takes neither a snapshot nor a lock.
    this.isInTransaction ||= step.name !== 'begin'
    const current = { step, answer: Promise.resolve(), isDone: false }
    current.answer = this.ask(step).then((answer) => {
      current.isDone = true
      if (this.next === this.script.length) this.isInTransaction = false
      const { actor, pid, waited, began } = { actor: this.index, pid: this.pid, waited: this.waited, began: this.began }
      this.told.push({ actor, pid, step: step.name, waited, began, ended: ++this.count.ticks, ...answer })
    })
    return current
  }

  private async ask(step: Step): Promise<Pick<Told, 'command' | 'rows' | 'code'>> {
    try {
      const { command, rows } = await this.actor.client.query(prepared(step))
      return { command, rows }
    } catch (error) {
      const code = (error as { code?: unknown }).code
      if (typeof code !== 'string') throw error
      return { command: 'ERROR', rows: [], code }
    }
  }
}

// A operation is done thousands of times in a session, and need be parsed once.
function prepared({ name, text, values }: Step): pg.QueryConfig {
  return values ? { name, text, values: [...values] } : { text }
}
