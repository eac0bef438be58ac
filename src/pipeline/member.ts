// One member of an enqueue, as JSON text: its input, checked by the job's schema, and its key.

import { invalidOption } from '../domain/error/invalid-option.js'
import { acceptInput } from '../domain/job/accept-input.js'
import type { JobDefinition } from '../domain/job/definition.js'
import { commonOptions, type EnqueueManyOptions, type EnqueueOptions } from '../domain/job/enqueue-options.js'
import { canonicalKey } from '../domain/job/key.js'
import { encodeInput } from '../domain/value/json.js'

export interface Member {
  readonly input: string
  /** The options that only this member has, each with a comma before it. */
  readonly own: string
}

/** The options that depend on the input, in the order of the inputs; commonOptions has the rest. A promise only where a schema checks. */
export function membersOf(
  definition: JobDefinition,
  inputs: readonly unknown[],
  options: EnqueueManyOptions<unknown>,
): Member[] | Promise<Member[]> {
  const { type, schema } = definition
  if (!schema) return inputs.map((given, index) => memberOf(definition, given, given, index, options))
  return Promise.all(
    inputs.map(async (given, index) => {
      const accepted = acceptInput(type, await schema['~standard'].validate(given))
      return memberOf(definition, given, accepted, index, options)
    }),
  )
}

/** Stores the caller's value: a schema's transforms run again at the claim. The key is computed from the `accepted` value. */
function memberOf(
  definition: JobDefinition,
  given: unknown,
  accepted: unknown,
  index: number,
  options: EnqueueManyOptions<unknown>,
): Member {
  const key = options.key ? options.key(given, index) : definition.key?.(accepted)
  let own = ''
  if (key !== undefined) {
    const keyPolicy = options.keyPolicy ?? definition.keyPolicy
    own += `,"key":${JSON.stringify(canonicalKey(key))},"key_policy":"${keyPolicy}"`
    if (keyPolicy === 'coalesce') own += `,"coalesce":"${options.coalesce ?? definition.coalesce}"`
  }
  if (options.dedupeId) own += `,"dedupe_id":${JSON.stringify(checkDedupeId(options.dedupeId(given, index)))}`
  return { input: encodeInput(given, 'input'), own }
}

export function memberText({ input, own }: Member): string {
  return `{"input":${input}${own}}`
}

/** One member with all its options, those included that a batch shares. */
export async function wholeMemberText(
  definition: JobDefinition,
  given: unknown,
  { dedupeId, key, ...shared }: EnqueueOptions,
): Promise<string> {
  const [member] = await membersOf(definition, [given], {
    ...shared,
    ...(dedupeId !== undefined && { dedupeId: () => dedupeId }),
    ...(key !== undefined && { key: () => key }),
  })
  return `${JSON.stringify(commonOptions(definition, shared)).slice(0, -1)},${memberText(member as Member).slice(1)}`
}

function checkDedupeId(value: string): string {
  if (typeof value !== 'string') throw invalidOption('dedupeId', 'a text', value)
  return canonicalKey(value)
}
