// The names of OpenTelemetry's messaging conventions for the operations of Holdfast. They are still in development there: when
// one changes, it changes here.

export const ATTRIBUTES = {
  system: 'messaging.system.name',
  operationType: 'messaging.operation.type',
  operationName: 'messaging.operation.name',
  destination: 'messaging.destination.name',
  messageId: 'messaging.message.id',
  batchCount: 'messaging.batch.message_count',
  errorType: 'error.type',
  type: 'holdfast.job.type',
  attempt: 'holdfast.job.attempt',
  outcome: 'holdfast.job.outcome',
} as const

export const SYSTEM = 'holdfast'

/** Name and type of an operation; a span is called by its name and the queue. */
export const OPERATIONS = {
  enqueue: { name: 'enqueue', type: 'send' },
  process: { name: 'process', type: 'process' },
} as const

export const METRICS = {
  sent: 'messaging.client.sent.messages',
  consumed: 'messaging.client.consumed.messages',
  operationDuration: 'messaging.client.operation.duration',
  processDuration: 'messaging.process.duration',
} as const

/** Seconds, as the conventions advise for durations of operations. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
