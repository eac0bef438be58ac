// Pipelines: rows of lists, one pipeline with its progress and result, and its steps as a graph.

import { z } from '@hono/zod-openapi'
import { JOB_STATES } from '../../domain/job/job.js'
import { ON_FAILURE, PIPELINE_STATES } from '../../domain/pipeline/pipeline.js'
import { failureSchema, jobRowSchema, stateSchema } from './job.js'
import { idSchema, momentSchema, pageOf } from './page.js'

const standing = {
  id: z.uuid(),
  name: z.string().nullable().openapi({ description: 'null for jobs that were chained one by one.' }),
  onFailure: z.enum(ON_FAILURE).nullable(),
  state: z.enum(PIPELINE_STATES),
  resultJob: idSchema.nullable().openapi({ description: 'The job whose output is the result.' }),
  stoppedBy: idSchema.nullable().openapi({ description: 'The first job that did not complete and so ended the rest.' }),
  stoppedAt: momentSchema.nullable(),
  compensatedAt: momentSchema.nullable(),
  createdAt: momentSchema,
}

const countsSchema = z.record(z.enum(JOB_STATES), z.int()).openapi('JobsByState')

export const pipelineRowSchema = z
  .object({
    ...standing,
    jobs: countsSchema,
    isCapped: z.boolean().openapi({
      description:
        'It has more than 200 jobs: the newest are counted, and `state` may miss an older one that still runs. The pipeline itself has the exact values.',
    }),
  })
  .openapi('PipelineRow')

export const pipelineStepSchema = jobRowSchema
  .extend({
    dependsOn: z.array(idSchema).openapi({ description: 'The jobs it comes after, at most the first 200.' }),
    dependencies: z.int().openapi({ description: 'How many these are in all.' }),
    compensates: idSchema.nullable().openapi({ description: 'The job that this one takes back.' }),
    compensation: z.string().nullable().openapi({ description: 'The type of the job that takes this one back.' }),
  })
  .openapi('PipelineStep')

export const pipelineStepPageSchema = pageOf(pipelineStepSchema).openapi('PipelineStepPage')

export const pipelineStorySchema = z
  .object({
    pipeline: z
      .object({
        ...standing,
        queues: z.array(z.string()),
        input: z.unknown().optional(),
        hidden: z
          .array(z.enum(['input', 'output']))
          .openapi({ description: 'What is left out for want of the permission view_input.' }),
      })
      .openapi('Pipeline'),
    progress: z
      .object({
        ...(Object.fromEntries(JOB_STATES.map((state) => [state, z.int()])) as Record<
          (typeof JOB_STATES)[number],
          z.ZodInt
        >),
        total: z.int(),
        share: z.number().openapi({ description: 'How many have ended, 0 to 1.' }),
      })
      .openapi('PipelineProgress'),
    result: z
      .object({
        jobId: idSchema,
        step: z.string().nullable(),
        state: stateSchema,
        output: z.unknown().optional(),
        error: failureSchema.nullable(),
      })
      .nullable()
      .openapi('PipelineResult', { description: 'Of the step that the pipeline returns; null when it returns none.' }),
    steps: pipelineStepPageSchema.openapi({ description: 'The first page of its jobs.' }),
  })
  .openapi('PipelineStory')

export const pipelineParam = z.object({
  pipelineId: z.string().openapi({ param: { name: 'pipelineId', in: 'path' } }),
})

export const newPipelineSchema = z
  .strictObject({ name: z.string(), input: z.unknown() })
  .openapi('NewPipeline', { description: 'The name of a pipeline that this program defines, and its input.' })

export const enqueuedPipelineSchema = z.object({ id: z.uuid() }).openapi('EnqueuedPipeline')

export const cancelledPipelineSchema = z
  .object({ id: z.uuid(), cancelled: z.int().openapi({ description: 'How many jobs were ended.' }) })
  .openapi('CancelledPipeline')

export const retriedPipelineSchema = z
  .object({ id: z.uuid(), steps: z.int().openapi({ description: 'How many steps are open again.' }) })
  .openapi('RetriedPipeline')

export const definedPipelineSchema = z
  .object({
    name: z.string(),
    onFailure: z.enum(ON_FAILURE),
    inputSchema: z.record(z.string(), z.unknown()).nullable().openapi({ description: 'JSON Schema, if it has one.' }),
  })
  .openapi('DefinedPipeline')
