// Prisma without its generator: the client class that generated code makes from the runtime, for a schema without models.
import type { BeginTransaction } from '../../src/index.js'
import type { Opened } from './libraries.js'

interface PrismaTx {
  $executeRawUnsafe(text: string, ...values: unknown[]): Promise<number>
}

interface PrismaClient extends PrismaTx {
  $transaction: BeginTransaction
  $disconnect(): Promise<void>
}

interface Runtime {
  getPrismaClient(config: object): new (options: object) => PrismaClient
}

const SCHEMA = `generator client {
  provider = "prisma-client"
}
datasource db {
  provider = "postgresql"
}
`

/** undefined where the packages are not installed. */
export async function loadPrisma(): Promise<((url: string) => Promise<Opened>) | undefined> {
  // By variables, so that the types do not ask for what may be absent.
  const [runtimeName, adapterName] = ['@prisma/client/runtime/client', '@prisma/adapter-pg']
  const parts = await Promise.all([import(runtimeName), import(adapterName)]).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    return undefined
  })
  if (!parts) return undefined
  const [runtime, { PrismaPg }] = parts as [Runtime, { PrismaPg: new (options: object) => object }]
  const Client = runtime.getPrismaClient(config())
  return async (url) => {
    const prisma = new Client({ adapter: new PrismaPg({ connectionString: url }) })
    return {
      begin: (work) => prisma.$transaction(work),
      insert: (tx, id) => (tx as PrismaTx).$executeRawUnsafe('insert into account values ($1)', id),
      outside: prisma,
      close: () => prisma.$disconnect(),
    }
  }
}

function config(): object {
  const compiler = '@prisma/client/runtime/query_compiler_fast_bg.postgresql'
  return {
    previewFeatures: [],
    clientVersion: '7',
    engineVersion: '',
    activeProvider: 'postgresql',
    inlineSchema: SCHEMA,
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: 'AAAA' },
    compilerWasm: {
      getRuntime: () => import(`${compiler}.mjs`),
      async getQueryCompilerWasmModule() {
        const { wasm } = await import(`${compiler}.wasm-base64.mjs`)
        // Of Node, but in no type that this project asks for.
        const { Module } = (globalThis as unknown as { WebAssembly: { Module: new (bytes: Buffer) => object } })
          .WebAssembly
        return new Module(Buffer.from(wasm, 'base64'))
      },
      importName: './query_compiler_fast_bg.js',
    },
  }
}
