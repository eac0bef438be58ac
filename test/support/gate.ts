// A promise that the test resolves when it likes, to hold a handler where the test wants it.

export interface Gate<T = void> {
  /** Pending until `open` is called. */
  readonly opened: Promise<T>
  open(value: T): void
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Resolves with the signal's reason once it aborts. */
export function aborted(signal: AbortSignal): Promise<{ code?: unknown }> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
}
