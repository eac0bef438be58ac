// Loggers: any that speaks pino's shape; silence by default.

import type { Logger } from '../domain/run/context.js'

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** A logger whose own failures stay its own: what it throws must not end a worker. */
export function guarded(logger: Logger): Logger {
  const guard = (level: keyof Logger) => (fields: object, message?: string) => {
    try {
      logger[level](fields, message)
    } catch {
      // there is no other place to report it
    }
  }
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') }
}

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
