import { Body } from '../http/body.js'
import { pageBody } from '../pages/page.js'
import type { Tree } from '../tree/tree.js'
import { type Coverage, findCoverage, Steps } from './coverage.js'
import { homePage, underwayPage } from './page.js'

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

/** The first survey of a mirror with fewer files is waited for: some 50 ms. */
const QUICK_FILES = 10_000

/** What a server has, and how it is shown. */
interface SurveyedCoverage {
  readonly coverage: Coverage
  readonly json: Body
  readonly page: Body
}

/** How surveys are made. */
export interface SurveyOptions {
  /** How long a result is kept at least, ms. */
  readonly renewMs: number
  /** Ends the work that is under way. */
  readonly signal: AbortSignal
  /** Called with what a survey throws while there is an earlier result. */
  readonly onError: (error: Error) => void
}

/** The names and sizes of all files of a mirror. */
export class CoverageSurvey {
  private readonly kept: KeptSurvey<SurveyedCoverage>
  /** Resolves when the first survey turns out to take long. */
  private readonly isLong: Promise<void>

  constructor(
    private readonly tree: Tree,
    { renewMs, signal, onError }: SurveyOptions,
  ) {
    let sayLong = () => {}
    this.isLong = new Promise(resolve => {
      sayLong = resolve
    })
    const onTurn = ({ files }: Steps) => {
      if (files >= QUICK_FILES) sayLong()
    }
    this.kept = new KeptSurvey(() => this.find(new Steps(signal, onTurn)), renewMs, onError)
  }

  /** The latest result; the first one is waited for, however long it takes. Throws `mirror_unusable`. */
  async latest(): Promise<SurveyedCoverage> {
    return this.kept.result ?? this.kept.next()
  }

  /** The newest result that may be had: one that is due is waited for. Throws `mirror_unusable`. */
  next(): Promise<SurveyedCoverage> {
    return this.kept.next()
  }

  /** The page of the latest result; as long as there is none of a large mirror, one that says so. Throws `mirror_unusable`. */
  async page(): Promise<Body> {
    const result = this.kept.result ?? (await Promise.race([this.kept.next(), this.isLong]))
    if (result) return result.page
    const { mirror, upstream } = this.tree
    return pageBody(underwayPage(mirror, upstream !== undefined))
  }

  private async find(steps: Steps): Promise<SurveyedCoverage> {
    const coverage = await findCoverage(this.tree, this.tree.now(), steps)
    const json = new Body(Buffer.from(JSON.stringify(coverage)), { isPrivate: true })
    return { coverage, json, page: pageBody(homePage(coverage)) }
  }
}
