// Loggers: any that speaks pino's shape; silence by default.

import type { Logger } from '../domain/context.js'

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** A logger that adds `fields` to every line. */
export function withFields(logger: Logger, fields: object): Logger {
  if (logger === SILENT) return SILENT
  return {
    debug: (more, message) => logger.debug({ ...fields, ...more }, message),
    info: (more, message) => logger.info({ ...fields, ...more }, message),
    warn: (more, message) => logger.warn({ ...fields, ...more }, message),
    error: (more, message) => logger.error({ ...fields, ...more }, message),
  }
}
