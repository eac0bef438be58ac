// Proves that every job is in exactly one place and that the places agree with each other.
import { expect } from 'vitest'

interface Owner {
  query(text: string): Promise<{ rows: unknown[] }>
}

/** `admin` must read the tables: the checker looks behind the functions. */
export async function expectPlacesSound(admin: Owner): Promise<void> {
  const { rows } = await admin.query('select * from holdfast.check_places()')
  expect(rows).toEqual([])
}
