// Reads a property of an untrusted value: what a handler threw or returned may be a proxy, or have getters that throw.

/** The property's value; undefined if there is none or if reading it throws. Never throws. */
export function readProperty(value: unknown, name: PropertyKey): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined
  try {
    return (value as Record<PropertyKey, unknown>)[name]
  } catch {
    return undefined
  }
}
