// How a schema differs from the one that this program creates, and the statements that repair it. A pure function.

import type { SchemaElement } from '../store/schema/schema-description.js'

export interface Drift {
  readonly text: string
  /** Empty where only a person can decide. Under the schema's default name. */
  readonly sql: readonly string[]
  /** True when something that Holdfast needs is missing or different; false for something additional. */
  readonly isHarmful: boolean
}

export function driftOf(fresh: readonly SchemaElement[], live: readonly SchemaElement[]): Drift[] {
  const [wanted, found] = [byIdentity(fresh), byIdentity(live)]
  const tables = new Set(live.filter(({ kind }) => kind === 'table').map(({ owner }) => owner))
  const lost = [...wanted].flatMap(([identity, element]) => {
    const now = found.get(identity)
    if (now?.text === element.text) return []
    // A missing table is reported once, not with each of its parts; likewise a key and its index.
    if (!now && element.kind !== 'table' && OF_TABLE.has(element.kind) && !tables.has(element.owner)) return []
    if (element.kind === 'index' && wanted.has(identityOf({ ...element, kind: 'constraint' })) && !now) return []
    const fault = now ? `is ${now.text.trim() || 'plain'}, not ${element.text.trim() || 'plain'}` : 'is missing'
    return [
      {
        text: `${describe(element)} ${fault}`,
        sql: now ? changed(element, now) : added(element, fresh),
        isHarmful: true,
      },
    ]
  })
  const strange = [...found].flatMap(([identity, element]) =>
    wanted.has(identity) ? [] : [{ text: `${describe(element)} is not Holdfast’s`, sql: [], isHarmful: false }],
  )
  return [...lost, ...strange]
}

const OF_TABLE: ReadonlySet<SchemaElement['kind']> = new Set(['column', 'constraint', 'index'])

function byIdentity(elements: readonly SchemaElement[]): Map<string, SchemaElement> {
  return new Map(elements.map((element) => [identityOf(element), element]))
}

function identityOf({ kind, owner, name }: Pick<SchemaElement, 'kind' | 'owner' | 'name'>): string {
  return `${kind} ${owner} ${name}`
}

function describe({ kind, owner, name }: SchemaElement): string {
  if (kind === 'table') return `table ${name}`
  if (kind === 'function') return `function ${owner}${name}`
  return `${kind} ${name} of ${owner}`
}

function added(element: SchemaElement, fresh: readonly SchemaElement[]): string[] {
  const { kind, owner, name, text } = element
  switch (kind) {
    case 'table':
      return []
    case 'column':
      return [`alter table holdfast.${owner} add column ${name} ${columnText(text)};`]
    case 'constraint':
      return [`alter table holdfast.${owner} add constraint ${name} ${text};`]
    case 'index':
      return [`${isPartitioned(owner, fresh) ? text : text.replace(' INDEX ', ' INDEX CONCURRENTLY ')};`]
    default:
      return []
  }
}

function changed(wanted: SchemaElement, now: SchemaElement): string[] {
  const { kind, owner, name, text } = wanted
  const table = `alter table holdfast.${owner}`
  switch (kind) {
    case 'table':
      return optionsChanged(table, text, now.text)
    case 'column':
      return columnChanged(`${table} alter column ${name}`, text, now.text)
    case 'constraint':
      return [`${table} drop constraint ${name};`, `${table} add constraint ${name} ${text};`]
    case 'index':
      return [`drop index holdfast.${name};`, `${text};`]
    default:
      return []
  }
}

function columnText(text: string): string {
  return text.replace(/ identity$/, ' generated always as identity')
}

function columnChanged(alter: string, wanted: string, now: string): string[] {
  const [to, from] = [readColumn(wanted), readColumn(now)]
  const isRetyped = to.type !== from.type
  return [
    ...(isRetyped ? [`${alter} type ${to.type} using (${alter.split(' ').at(-1)}::${to.type});`] : []),
    ...(to.fallback === from.fallback
      ? []
      : [to.fallback ? `${alter} set default ${to.fallback};` : `${alter} drop default;`]),
    ...(to.isRequired === from.isRequired ? [] : [`${alter} ${to.isRequired ? 'set' : 'drop'} not null;`]),
  ]
}

function readColumn(text: string): { type: string; isRequired: boolean; fallback: string | undefined } {
  const {
    type = '',
    required,
    fallback,
  } = /^(?<type>.+?)(?<required> not null)?(?: default (?<fallback>.+)| identity)?$/.exec(text)?.groups ?? {}
  return { type, isRequired: required !== undefined, fallback }
}

function optionsChanged(alter: string, wanted: string, now: string): string[] {
  const [to, from] = [readOptions(wanted), readOptions(now)]
  const strange = [...from.keys()].filter((name) => !to.has(name))
  const lost = [...to].filter(([name, value]) => from.get(name) !== value).map(([name, value]) => `${name} = ${value}`)
  return [
    ...(lost.length > 0 ? [`${alter} set (${lost.join(', ')});`] : []),
    ...(strange.length > 0 ? [`${alter} reset (${strange.join(', ')});`] : []),
  ]
}

function readOptions(text: string): Map<string, string> {
  const inner = /^ with \((.*)\)$/.exec(text)?.[1] ?? ''
  return new Map(
    inner
      .split(', ')
      .filter(Boolean)
      .map((part) => part.split('=', 2) as [string, string]),
  )
}

/** Only plain tables can have an index built while others write. */
function isPartitioned(table: string, fresh: readonly SchemaElement[]): boolean {
  return fresh.some(({ kind, owner }) => kind === 'table' && owner.startsWith(`${table}_`))
}
