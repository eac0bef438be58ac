// What the statistics were measured on.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { peerVersions } from './peers.mjs'

export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: cpus().length,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: `${type()} ${release()}`,
  }
}

export function describeVersions(node, stores) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return { holdfast: version, node: stdout.trim().replace('v', ''), ...stores, ...peerVersions() }
}
