// What must hold after every scenario, whatever was done to workers and server.

/** @returns {Promise<{ what: string, holds: boolean, saw: unknown }[]>} */
export async function checkInvariants(ask, acknowledged) {
  const value = async (text, values) => Object.values((await ask(text, values))[0])[0]
  const misplaced = await ask('select * from holdfast.check_places()')
  const lost = await value(
    'select count(*)::int from unnest($1::bigint[]) as a(id) where not exists (select from holdfast.jobs as j where j.id = a.id)',
    [[...acknowledged]],
  )
  const living = await value(`select count(*)::int from holdfast.jobs where state in ('pending', 'running', 'waiting')`)
  const overrun = await value('select count(*)::int from holdfast.jobs where attempts > max_attempts')
  const effects = await effectFigures(ask)
  return [
    { what: 'every job is in one place', holds: misplaced.length === 0, saw: misplaced.slice(0, 3) },
    { what: 'no acknowledged job is lost', holds: lost === 0, saw: lost },
    { what: 'no job is left living', holds: living === 0, saw: living },
    { what: 'no job started more often than allowed', holds: overrun === 0, saw: overrun },
    { what: 'every effect took place once', holds: effects.doubled === 0 && effects.missing === 0, saw: effects },
    { what: 'no effect without its completion', holds: effects.orphaned === 0, saw: effects },
  ]
}

/** Waits of jobs that are over, whose effect is missing, doubled, or written by another lease than the one that completed. */
async function effectFigures(ask) {
  const [statistics] = await ask(`
    select (select count(*)::int from effect_log) - (select count(*)::int from effect) as doubled,
           (select count(*)::int from holdfast.jobs as j
             where j.type = 'effect' and j.state = 'completed'
               and not exists (select from effect as e where e.job_id = j.id)) as missing,
           (select count(*)::int from effect as e
             where not exists (select from holdfast.outcome as o
                                where o.job_id = e.job_id and o.token = e.token and o.state = 'completed')) as orphaned`)
  return statistics
}
