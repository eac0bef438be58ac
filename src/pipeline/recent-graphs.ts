// The graphs of running pipelines, kept in memory. To describe a chain again for each of its steps would cost the square
// of its length.

import type { PipelineDefinition } from '../domain/pipeline/pipeline.js'
import { type DescribedPipeline, describePipeline } from './builder.js'

// A few large pipelines or many small ones; about 10 MB.
const MOST_STEPS = 20_000

export class RecentGraphs {
  readonly #mostSteps: number
  readonly #graphs = new Map<string, DescribedPipeline>()
  #steps = 0

  constructor(mostSteps = MOST_STEPS) {
    this.#mostSteps = mostSteps
  }

  /** The graph of the pipeline with this input. */
  async of(pipelineId: string, definition: PipelineDefinition, given: unknown): Promise<DescribedPipeline> {
    const known = this.#graphs.get(pipelineId)
    const graph = known ?? (await describePipeline(definition, given))
    this.#forget(pipelineId)
    this.#keep(pipelineId, graph)
    return graph
  }

  /** The latest used comes last; the oldest are dropped first. */
  #keep(pipelineId: string, graph: DescribedPipeline): void {
    this.#graphs.set(pipelineId, graph)
    this.#steps += graph.steps.size
    for (const id of this.#graphs.keys()) {
      if (this.#steps <= this.#mostSteps) return
      this.#forget(id)
    }
  }

  #forget(pipelineId: string): void {
    this.#steps -= this.#graphs.get(pipelineId)?.steps.size ?? 0
    this.#graphs.delete(pipelineId)
  }
}
