/** Work in small pieces, one in each turn of the event loop, so that everything else gets its turn in between. */
export class Turns {
  private readonly actions: (() => void)[] = []

  /** Calls `action` in a turn of its own, after those that were added before. */
  add(action: () => void): void {
    this.actions.push(action)
    if (this.actions.length === 1) this.takeNext()
  }

  private takeNext(): void {
    setImmediate(() => {
      this.actions[0]()
      this.actions.shift()
      if (this.actions.length > 0) this.takeNext()
    })
  }
}
