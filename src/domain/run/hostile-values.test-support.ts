// Values that hit back when they are read, for tests of code that promises never to throw.

export function hostileValues(): { title: string; value: unknown }[] {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const angry = () => {
    throw new Error('do not touch')
  }
  return [
    { title: 'undefined', value: undefined },
    { title: 'null', value: null },
    { title: 'a string', value: 'boom' },
    { title: 'a symbol', value: Symbol('boom') },
    { title: 'a bigint', value: 7n },
    { title: 'a function', value: angry },
    { title: 'an object without prototype', value: Object.create(null) },
    { title: 'a circular object', value: circular },
    { title: 'a revoked proxy', value: revoked.proxy },
    {
      title: 'a proxy whose every trap throws',
      value: new Proxy({}, { get: angry, has: angry, ownKeys: angry, getPrototypeOf: angry }),
    },
    {
      title: 'an object whose getters throw',
      value: Object.defineProperties(
        {},
        Object.fromEntries(
          ['name', 'message', 'stack', 'code', 'cause', 'delayMs', 'toJSON'].map((name) => [
            name,
            { get: angry, enumerable: true },
          ]),
        ),
      ),
    },
    {
      title: 'an object whose conversions throw',
      value: { toString: angry, valueOf: angry, toJSON: angry, [Symbol.toPrimitive]: angry },
    },
  ]
}
