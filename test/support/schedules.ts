// Schedules in the state that a test starts from, and short ways to ask for them.
import type pg from 'pg'
import { ask, askRow, askValue, type Row, type Session } from './ask.js'
import { setClock } from './clock.js'

/** A plain hourly schedule named "hourly", planned for its next full hour after the session's clock says so. */
export async function givenSchedule(session: Session, settings: object = {}): Promise<void> {
  const whole = { job_key: 'hourly', type: 'report', cron: '0 * * * *', ...settings }
  await ask(session, 'select holdfast.create_schedule($1)', [JSON.stringify(whole)])
}

/** Planned by hand, as a worker would. */
export async function plan(session: Session, tick: string, jobKey = 'hourly'): Promise<boolean> {
  const { version } = await schedule(session, jobKey)
  return askValue<boolean>(session, 'select holdfast.plan_schedule_v1($1, $2, $3)', [jobKey, version, tick])
}

/** A session at 09:00:01 with the schedule "hourly" due at 09:00. */
export async function dueAtNine(client: pg.Client, settings: object = {}): Promise<void> {
  await setClock(client, at('08:30'))
  await givenSchedule(client, settings)
  await plan(client, at('09:00'))
  await setClock(client, at('09:00:01'))
}

export function schedule(session: Session, jobKey = 'hourly'): Promise<Row> {
  return askRow(session, 'select * from holdfast.find_schedule($1)', [jobKey])
}

export function ticks(session: Session, jobKey = 'hourly'): Promise<Row[]> {
  return ask(session, 'select tick, state, job_id from holdfast.schedule_ticks($1)', [jobKey])
}

/** A moment of one fixed day. */
export function at(time: string): string {
  return new Date(`2026-03-02T${time}Z`).toISOString()
}

/** What a call is refused with. */
export async function refusal(call: Promise<unknown>): Promise<{ code: string; message: string; detail: Row }> {
  const error = await call.then(
    () => {
      throw new Error('it was not refused')
    },
    (caught) => caught,
  )
  return { code: error.code, message: error.message, detail: JSON.parse(error.detail ?? '{}') }
}
