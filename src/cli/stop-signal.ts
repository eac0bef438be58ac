// The signals that stop a long-running command.

/** Resolves at the first signal; the second ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    const stop = () => {
      if (isStopping) process.exit(1)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}
