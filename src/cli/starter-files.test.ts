import { expect, test } from 'vitest'
import { starterFiles, withScripts } from './starter-files.js'

test('the files of a project are in its language and know their folder', () => {
  expect(Object.keys(starterFiles({ isTypeScript: true, folder: 'jobs' }))).toEqual([
    'jobs/hello.ts',
    'jobs/index.ts',
    'holdfast.config.ts',
  ])
  const files = starterFiles({ isTypeScript: false, folder: 'src/work' })
  expect(files['holdfast.config.js']).toContain(`from './src/work/index.js'`)
  expect(files['src/work/hello.js']).not.toContain(': {')
})

test('scripts are added beside those that are there', () => {
  const { after, added } = withScripts({ name: 'shop', scripts: { dev: 'vite', test: 'vitest' } })

  expect(after).toEqual({
    name: 'shop',
    scripts: {
      dev: 'vite',
      test: 'vitest',
      'jobs:dev': 'holdfast dev',
      'jobs:worker': 'holdfast worker',
      'jobs:migrate': 'holdfast migrate',
    },
  })
  expect(Object.keys(added)).toEqual(['jobs:dev', 'jobs:worker', 'jobs:migrate'])
})

test('a project that has them already gets nothing more', () => {
  const once = withScripts({}).after

  expect(withScripts(once)).toEqual({ after: once, added: {} })
})
