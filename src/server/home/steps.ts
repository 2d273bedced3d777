import { setImmediate as nextTurn } from 'node:timers/promises'

/** Files that are looked at before other requests get their turn: some milliseconds, also on a slow disk. */
const FILES_A_TURN = 100

/** Long work in small steps, so that everything else gets its turn in between. */
export class Steps {
  /** Files that were looked at. */
  files = 0
  private sinceTurn = 0

  /** `signal` ends the work. `onTurn` is called before each turn of the others. */
  constructor(
    private readonly signal: AbortSignal,
    private readonly onTurn: (steps: Steps) => void = () => {},
  ) {}

  /** Counts files, and lets others go first after some of them. Throws the signal's reason. */
  async take(files: number): Promise<void> {
    this.files += files
    this.sinceTurn += files
    if (this.sinceTurn < FILES_A_TURN) return
    this.sinceTurn = 0
    this.onTurn(this)
    await nextTurn()
    this.signal.throwIfAborted()
  }
}
