import type { KlinesEvent, WindowEvent } from '../../src/engine/run.js'

/** A listener that takes the warnings of a run. */
export const onWarning = (take: (message: string) => unknown) => (event: KlinesEvent) => {
  if (event.type === 'warning') take(event.message)
}

/** A listener that takes what is told of each window. */
export const onWindow = (take: (event: WindowEvent) => unknown) => (event: KlinesEvent) => {
  if ('window' in event) take(event)
}
