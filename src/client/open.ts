// A client for programs without jobs of their own, such as the command line.

import type { JobDefinition } from '../domain/job/definition.js'
import { EventHub } from '../observe/events.js'
import type { Database } from '../store/connection/connection.js'
import { type WorkerDetails, workerDetails } from '../store/reads/workers.js'
import { openDatabase, Store, type StoreOptions } from '../store/store.js'
import { Client } from './client.js'

export type { WorkerDetails } from '../store/reads/workers.js'

export interface OpenClient {
  readonly client: Client
  workers(): Promise<WorkerDetails[]>
  close(): Promise<void>
}

export function openClient(options: StoreOptions, jobs: readonly JobDefinition[] = []): OpenClient {
  const store = new Store(options)
  return {
    client: new Client(store, new EventHub(), jobs),
    workers: () => workerDetails(store),
    close: () => store.close(),
  }
}

export type OpenDatabase = Database

/** A database that several Holdfasts of this process use in turn; the caller closes it. */
export async function openSharedDatabase(options: StoreOptions): Promise<OpenDatabase> {
  return openDatabase(options)
}
