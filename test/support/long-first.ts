// The order of the test files: those that take long begin first, so that the run does not end with one of them alone.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONG = /\/test\/(race|e2e)\//

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
