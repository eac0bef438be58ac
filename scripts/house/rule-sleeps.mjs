// Tests wait for facts, not for time. Whole processes (test/e2e) and the support code may have to.
import { importsOf } from './imports.mjs'
import { linesMatching } from './scan-typescript.mjs'

const EXEMPT = /^test\/(e2e|support)\//
// A bare name as the callback is the promise's own resolve: nothing but a wait. ctx.sleep ends a run, it does not wait.
const WAITS = /(?<!ctx\.)\bsleep\s*\(|\bsetTimeout\s*\(\s*\w+\s*[,)]/g

export const sleeps = {
  law: 'tests do not sleep',
  selects: (path) => /^(test\/.*|src\/.*\.test)\.ts$/.test(path) && !EXEMPT.test(path),
  check(house, path) {
    return [
      ...linesMatching(house.scan(path), WAITS).map((line) => `${path}:${line}: waits for time to pass`),
      ...importsOf(house, path)
        .filter(({ specifier }) => specifier === 'node:timers/promises')
        .map(({ specifier }) => `${path}: imports ${specifier}`),
    ]
  },
}
