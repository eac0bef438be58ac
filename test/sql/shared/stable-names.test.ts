// Stable names: what sql/README.md promises to other languages is there without a version, and nothing else is.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { askList } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

/** Those that a role may call, by the list of names that are meant. */
const callable = (versioned: boolean) =>
  askList<string>(
    db.admin,
    `select distinct regexp_replace(p.proname, '_v1$', '')
       from pg_catalog.pg_proc as p
      cross join lateral aclexplode(p.proacl) as a
      where p.pronamespace = 'holdfast'::regnamespace and a.grantee <> p.proowner and (p.proname ~ '_v1$') = $1
      order by 1`,
    [versioned],
  )

async function promised(): Promise<string[]> {
  const text = await readFile(new URL('../../../sql/README.md', import.meta.url), 'utf8')
  const [, section = ''] = /### Stable names\n(.*?)\n## /s.exec(text) ?? []
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'))
  return rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)).sort()
}

test('the functions without a version are those that are promised', async () => {
  expect(await callable(false)).toEqual(await promised())
})

/** The library settles by settle_jobs_v1 alone, which these wrap for one outcome each. */
const SETTLING = ['complete', 'fail', 'snooze', 'suspend', 'release', 'cancel'].map((outcome) => `${outcome}_jobs`)

test('each of them but the clock and the forms of settle_jobs is the wrapper of a version', async () => {
  const wrappers = (await promised()).filter((name) => name !== 'now' && !SETTLING.includes(name))

  expect(await callable(true)).toEqual(expect.arrayContaining(wrappers))
})
