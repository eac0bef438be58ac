// The schema is a file that changes only together with a change of sql/. Rewrite it with: npx vitest run schema-snapshot -u
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/schema/migrate.js'
import { askList, type Session } from '../support/ask.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()

async function dump(session: Session): Promise<string> {
  const text = await readFile(new URL('../../sql/schema-dump.sql', import.meta.url), 'utf8')
  return `${(await askList<string>(session, text)).join('\n')}\n`
}

test('a fresh install is the snapshot', async () => {
  await expect(await dump(db.admin)).toMatchFileSnapshot('../../sql/schema.snapshot.txt')
})

test('migrating again changes nothing', async () => {
  const before = await dump(db.admin)
  await migrate(await db.connect('admin'))

  expect(await dump(db.admin)).toBe(before)
})
