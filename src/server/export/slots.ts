import { Mirror } from '../../mirror/mirror.js'
import { HttpError } from '../http/error.js'

/** Exports at the same time. Each takes up to some 50 MB, and all share one thread. */
const EXPORTS_AT_ONCE = 4

/** The exports that run at the same time. Each reads windows into the memory of a mirror object of its own. */
export class ExportSlots {
  private readonly free: Mirror[] = []
  private count = 0

  constructor(private readonly mirror: Mirror) {}

  /** Runs an export. Throws `HttpError` 503 when too many run already. */
  async run(work: (mirror: Mirror) => Promise<void>): Promise<void> {
    const mirror = this.free.pop() ?? this.open()
    try {
      await work(mirror)
    } finally {
      this.free.push(mirror)
    }
  }

  private open(): Mirror {
    if (this.count === EXPORTS_AT_ONCE) {
      const message = `This server runs ${EXPORTS_AT_ONCE} exports at once, and no more now. Try again in a second.`
      throw new HttpError(503, message, { headers: { 'retry-after': '1' } })
    }
    this.count++
    return new Mirror(this.mirror.root, this.mirror.baseUrl)
  }
}
