// Mounts the API into Fastify: `fastify.register(fastifyPlugin, { prefix: '/admin/jobs', holdfast, auth })`.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Client } from '../client/client.js'
import { createHttpApi } from './api.js'
import { nodeListener } from './node-listener.js'
import type { HttpOptions } from './options.js'

export type { HttpOptions } from './options.js'
export type { Permission, Principal } from './principal.js'

export interface FastifyPluginOptions extends Omit<HttpOptions<FastifyRequest>, 'basePath'> {
  readonly holdfast: Client
  readonly prefix?: string
}

/** Finds its base path by itself. `auth` gets Fastify's request too, with what earlier hooks put on it. */
export async function fastifyPlugin(fastify: FastifyInstance, options: FastifyPluginOptions): Promise<void> {
  const { holdfast, ...rest } = options
  const api = createHttpApi(holdfast, rest)
  const requests = new WeakMap<object, FastifyRequest>()
  const base = fastify.prefix
  const listener = nodeListener(api, (incoming) => ({ native: requests.get(incoming), base }))
  // Inside this plugin only: bodies stay on the connection for the API to read, with its own limits.
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null))
  for (const path of ['/', '/*']) {
    fastify.all(path, (request, reply) => {
      requests.set(request.raw, request)
      reply.hijack()
      void listener(request.raw, reply.raw)
    })
  }
  fastify.addHook('preClose', () => api.close())
}
