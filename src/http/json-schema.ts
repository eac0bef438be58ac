// What a job's or a pipeline's schema says of its input, in a form that other programs read.

import type { JobDefinition } from '../domain/job/definition.js'

interface SaysJsonSchema {
  readonly jsonSchema?: { input(options: { target: string }): Record<string, unknown> }
}

/** Standard JSON Schema is younger than Standard Schema, and not every schema has a form in it. */
export function inputSchemaOf({ schema }: Pick<JobDefinition, 'schema'>): Record<string, unknown> | null {
  try {
    const standard = schema?.['~standard'] as SaysJsonSchema | undefined
    return standard?.jsonSchema?.input({ target: 'draft-2020-12' }) ?? null
  } catch {
    return null
  }
}
