// Who may do what: each of our four roles may call its functions, only the owner touches tables, and this login has one of the roles.

import { quoteIdentifier } from '../../domain/value/schema-name.js'
import { freshElements, liveElements } from '../../store/schema/schema-description.js'
import type { Check, CheckTarget } from '../check.js'
import { type CheckResult, fail, ok, warn } from '../finding.js'

const ROLES = ['producer', 'worker', 'operator', 'viewer'] as const

export const rights: Check = {
  name: 'rights',
  needs: 'schema',
  async examine(target) {
    const results = [...(await ofRoles(target)), ...(await ofTables(target)), ...(await ofThisRole(target))]
    return results.length > 0 ? results : [ok('every role may call its functions, and only the owner touches tables')]
  },
}

async function ofRoles({ database, store: { schema } }: CheckTarget): Promise<CheckResult[]> {
  const { rows } = await database.query(
    'select t.role from unnest($1::text[]) as t(role) where to_regrole(t.role) is null',
    [ROLES.map((role) => quoteIdentifier(`${schema}_${role}`))],
  )
  if (rows.length > 0) {
    const missing = rows.map(({ role }) => role).join(', ')
    return [fail(`there is no role ${missing}`, 'run `npx holdfast migrate` as a role that may create roles')]
  }
  const live = new Map((await liveElements(database, schema)).map((one) => [`${one.owner}${one.name}`, one.grantees]))
  return (await freshElements()).flatMap((element) => {
    const has = live.get(`${element.owner}${element.name}`)
    const lacking = element.kind === 'function' && has ? element.grantees.filter((role) => !has.includes(role)) : []
    if (lacking.length === 0) return []
    const roles = lacking.map((role) => role.replace(/^holdfast_/, `${schema}_`)).join(', ')
    const sql = `grant execute on function ${quoteIdentifier(schema)}.${element.owner} to ${roles};`
    return [fail(`${roles} may not call ${element.owner}`, 'grant it, or run `npx holdfast migrate`', [sql])]
  })
}

const TABLE_RIGHTS = `
  select c.relname as name, coalesce(r.rolname, 'public') as grantee, string_agg(g.privilege_type, ', ' order by g.privilege_type) as may
    from pg_catalog.pg_class as c
   cross join lateral aclexplode(c.relacl) as g
    left join pg_catalog.pg_roles as r on r.oid = g.grantee
   where c.relnamespace = to_regnamespace($1)
     and c.relkind in ('r', 'p')
     and g.grantee <> c.relowner
     and g.privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
   group by c.relname, r.rolname
   order by 1, 2`

async function ofTables({ database, store: { schema } }: CheckTarget): Promise<CheckResult[]> {
  const own = quoteIdentifier(schema)
  const { rows } = await database.query(TABLE_RIGHTS, [own])
  return rows.map(({ name, grantee, may }) => {
    const to = grantee === 'public' ? 'public' : quoteIdentifier(String(grantee))
    const text = `${grantee} may ${String(may).toLowerCase()} on table ${name}: it can write past every guard`
    return fail(text, 'take it back', [`revoke ${String(may).toLowerCase()} on ${own}.${name} from ${to};`])
  })
}

const OWN_ROLES = `
  select current_user as own, t.role,
         pg_has_role(current_user, t.role, 'usage') as has_it
    from unnest($1::text[]) as t(role)
   where to_regrole(quote_ident(t.role)) is not null`

async function ofThisRole({ database, store: { schema } }: CheckTarget): Promise<CheckResult[]> {
  const roles = ROLES.map((role) => `${schema}_${role}`)
  const { rows } = await database.query(OWN_ROLES, [roles])
  if (rows.length === 0 || rows.some(({ has_it: hasIt }) => hasIt === true)) return []
  const own = String(rows[0]?.own)
  const grant = `grant ${schema}_producer, ${schema}_worker to ${quoteIdentifier(own)};`
  return [warn(`login ${own} has none of the roles ${ROLES.join(', ')}`, 'grant it the one that it needs', [grant])]
}
