// Rooms import only downwards. A room that is not in the map has no place in the house yet.
import { importsOf, isSource, roomOf } from './imports.mjs'

const MAY_IMPORT = {
  domain: [],
  store: ['domain'],
  observe: ['domain'],
  calendar: ['domain'],
  pipeline: ['domain'],
  client: ['domain', 'store', 'observe', 'calendar', 'pipeline'],
  worker: ['domain', 'store', 'observe', 'pipeline'],
  maintenance: ['domain', 'store', 'observe', 'calendar'],
  http: ['domain', 'client', 'observe'],
  doctor: ['domain', 'store'],
  cli: ['domain', 'client', 'worker', 'maintenance', 'observe', 'doctor', 'http'],
  instruments: ['domain', 'observe', 'client'],
  testing: ['domain', 'client', 'worker', 'store', 'maintenance', 'observe'],
}

// These put the rooms together and may see all of them.
const ASSEMBLING = new Set(['src/index.ts', 'src/holdfast.ts'])

// The rooms of the worker do not import each other, and its other files import none of them. These two put them together.
const WORKER_ROOMS = ['fetch', 'run', 'lease', 'settle']
const WORKER_ASSEMBLING = new Set(['src/worker/job-life.ts', 'src/worker/worker.ts'])

// A package without a line of code: the interface that every validator speaks.
const TYPES_ONLY = new Set(['@standard-schema/spec'])

export const arrows = {
  law: 'rooms import only downwards',
  selects: (path) => isSource(path) && !ASSEMBLING.has(path),
  check(house, path) {
    const room = roomOf(path)
    if (room === undefined) return [`${path}: stands in no room`]
    if (!(room in MAY_IMPORT)) return [`${path}: "${room}" is no room of the map in scripts/house/rule-arrows.mjs`]
    const found = importsOf(house, path)
    return [
      ...found
        .filter((each) => !isAllowed(room, each))
        .map(({ specifier }) => `${path}: ${room} must not import ${specifier}`),
      ...found
        .filter((each) => !isAllowedInWorker(each))
        .map(
          ({ specifier }) => `${path}: only job-life.ts and worker.ts may import ${specifier} from outside its room`,
        ),
    ]
  },
}

function isAllowedInWorker({ from, target = '' }) {
  const other = workerRoomOf(target)
  if (!from.startsWith('src/worker/') || WORKER_ASSEMBLING.has(from) || other === undefined) return true
  return workerRoomOf(from) === other
}

function workerRoomOf(path) {
  return WORKER_ROOMS.find((room) => path.startsWith(`src/worker/${room}/`))
}

function isAllowed(room, { target, specifier }) {
  if (target === undefined) return room !== 'domain' || TYPES_ONLY.has(specifier)
  // The command line measures with a whole Holdfast, as an application has it.
  if (room === 'cli' && target === 'src/holdfast.ts') return true
  // A test's Holdfast is one, with a clock and expectations of its own.
  if (room === 'testing' && target === 'src/holdfast.ts') return true
  const other = roomOf(target)
  if (other === undefined) return false
  if (other === room || MAY_IMPORT[room].includes(other)) return true
  return room === 'cli' && /(^|\/)store\/schema\/(migrate|check-schema)[^/]*$/.test(specifier)
}
