/** What keys do. `screens`: how far, in widths of the chart; negative to the left. */
export interface KeyActions {
  readonly pan: (screens: number) => void
  /** Zooms by a factor: below 1 shows fewer candles. */
  readonly zoom: (factor: number) => void
  readonly first: () => void
  readonly newest: () => void
  /** Lists these keys. */
  readonly help: () => void
}

const STEP = 0.1
const ZOOM = 0.8

/** Listens to keys, except those of a control that uses them itself: a button uses none of these. */
export function listenToKeys({ pan, zoom, first, newest, help }: KeyActions): void {
  addEventListener('keydown', event => {
    const { target, key, shiftKey } = event
    const isTaken = target instanceof Element && target.closest('input, select, dialog') !== null
    if (isTaken || event.ctrlKey || event.metaKey || event.altKey) return
    const actions: Record<string, () => void> = {
      ArrowLeft: () => pan(shiftKey ? -1 : -STEP),
      ArrowRight: () => pan(shiftKey ? 1 : STEP),
      '+': () => zoom(ZOOM),
      '=': () => zoom(ZOOM),
      '-': () => zoom(1 / ZOOM),
      Home: first,
      End: newest,
      '?': help,
    }
    if (!Object.hasOwn(actions, key)) return
    event.preventDefault()
    actions[key]()
  })
}
