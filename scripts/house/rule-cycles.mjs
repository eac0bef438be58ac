// No file imports itself by a detour, not even for a type.
import { importsOf, isSource } from './imports.mjs'

export const cycles = {
  law: 'no import cycle, types included',
  selects: isSource,
  checkAll(house, paths) {
    const done = new Set()
    const violations = []

    const visit = (path, trail) => {
      const since = trail.indexOf(path)
      if (since !== -1) violations.push([...trail.slice(since), path].join(' → '))
      if (since !== -1 || done.has(path)) return
      for (const { target } of importsOf(house, path)) {
        if (target !== undefined && house.has(target)) visit(target, [...trail, path])
      }
      done.add(path)
    }

    for (const path of paths) visit(path, [])
    return violations
  },
}
