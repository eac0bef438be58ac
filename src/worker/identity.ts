// How this worker is named in the database.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

export interface WorkerIdentity {
  readonly id: string
  readonly pod: string
  readonly pid: number
  readonly version: string
}

// Read once: in Kubernetes HOSTNAME is the pod's name.
const POD = process.env.HOSTNAME || hostname()

/** A fresh id at every start: pod names come back, and a dead worker's id must not look alive. */
export function workerIdentity(version: string): WorkerIdentity {
  return { id: `${POD}/${randomUUID().slice(0, 8)}`, pod: POD, pid: process.pid, version }
}
