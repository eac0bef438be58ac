// Who this process is to the database.

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

/** A fresh id at every start: pod names come back, and a reused id would pass for the dead worker that had it. */
export function workerIdentity(version: string): WorkerIdentity {
  return { id: `${POD}/${randomUUID().slice(0, 8)}`, pod: POD, pid: process.pid, version }
}
