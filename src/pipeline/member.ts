// One member of an enqueue as JSON text: its input, looked at by the job's schema, and the key that the job makes of it.

import { acceptInput } from '../domain/accept-input.js'
import type { JobDefinition } from '../domain/definition.js'
import { commonOptions, type EnqueueManyOptions, type EnqueueOptions } from '../domain/enqueue-options.js'
import { invalidOption } from '../domain/invalid-option.js'
import { encodeInput } from '../domain/json.js'
import { canonicalKey } from '../domain/key.js'

/** What differs by input; commonOptions has the rest. */
export async function memberText(
  definition: JobDefinition,
  given: unknown,
  index: number,
  options: EnqueueManyOptions<unknown>,
): Promise<string> {
  // What is stored is what the caller gave: a schema's transforms run when the job is claimed.
  const { schema } = definition
  const input = schema ? acceptInput(definition.type, await schema['~standard'].validate(given)) : given
  const key = options.key ? options.key(given, index) : definition.key?.(input)
  let text = `{"input":${encodeInput(given, 'input')}`
  if (key !== undefined) {
    const keyPolicy = options.keyPolicy ?? definition.keyPolicy
    text += `,"key":${JSON.stringify(canonicalKey(key))},"key_policy":"${keyPolicy}"`
    if (keyPolicy === 'coalesce') text += `,"coalesce":"${options.coalesce ?? definition.coalesce}"`
  }
  if (options.dedupeId) text += `,"dedupe_id":${JSON.stringify(checkDedupeId(options.dedupeId(given, index)))}`
  return `${text}}`
}

/** A member that stands for itself, with the options that others would share. */
export async function wholeMemberText(
  definition: JobDefinition,
  given: unknown,
  { dedupeId, key, ...shared }: EnqueueOptions,
): Promise<string> {
  const own = await memberText(definition, given, 0, {
    ...shared,
    ...(dedupeId !== undefined && { dedupeId: () => dedupeId }),
    ...(key !== undefined && { key: () => key }),
  })
  return `${JSON.stringify(commonOptions(definition, shared)).slice(0, -1)},${own.slice(1)}`
}

function checkDedupeId(value: string): string {
  if (typeof value !== 'string') throw invalidOption('dedupeId', 'a text', value)
  return canonicalKey(value)
}
