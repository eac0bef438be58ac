// The sub-path `holdfast/http`: names only.

export { createHttpApi, type HttpApi } from './api.js'
export { type BearerToken, bearerTokens } from './bearer-tokens.js'
export type { Auth, AuthAnswer, HttpOptions, Limits } from './options.js'
export type { Mount } from './parts.js'
export { PERMISSIONS, type Permission, type Principal } from './principal.js'
export type { Problem } from './problem.js'
export { type ServeOptions, type Serving, serve } from './serve.js'
