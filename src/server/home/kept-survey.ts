/**
 * Something that takes long to find out. It is found beside other work when somebody asks, kept, and found anew at most once in a
 * while; all who ask share the work.
 */
export class KeptSurvey<T> {
  private latest: { readonly result: T } | undefined
  private work: Promise<T> | undefined
  /** When the last work has ended. */
  private endedMs = Number.NEGATIVE_INFINITY

  /** `find` gets the result before. `onError` is called with what it throws while there is an earlier result. */
  constructor(
    private readonly find: (before: T | undefined) => Promise<T>,
    private readonly renewMs: number,
    private readonly onError: (error: Error) => void,
  ) {}

  /** The latest result; undefined before the first one. Begins to find a new one when that is due. */
  get result(): T | undefined {
    this.begin()
    return this.latest?.result
  }

  /** Whether a result is being found. */
  get isWorking(): boolean {
    return this.work !== undefined
  }

  /** The result that is being found, or the latest one if none is due. Throws what `find` throws. */
  async next(): Promise<T> {
    this.begin()
    return this.work ?? (this.latest as { readonly result: T }).result
  }

  private begin(): void {
    const isDue = !this.latest || performance.now() - this.endedMs >= this.renewMs
    if (this.work || !isDue) return
    this.work = this.run()
    // Those who wait for it are told.
    this.work.catch(() => {})
  }

  private async run(): Promise<T> {
    try {
      const result = await this.find(this.latest?.result)
      this.latest = { result }
      return result
    } catch (error) {
      if (this.latest) this.onError(error as Error)
      throw error
    } finally {
      this.work = undefined
      this.endedMs = performance.now()
    }
  }
}
